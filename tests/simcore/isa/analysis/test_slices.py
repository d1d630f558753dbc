"""Slices of handwritten kernels: what their path and their addresses depend on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernelcast.simcore.isa.analysis.slices import Slice, address_slice, control_slice, data_slice
from kernelcast.simcore.isa.ir.kernel import Kernel

SAXPY = """
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mul.wide.s32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4]; ld.global.f32 %f2, [%rd5];
    fma.rn.f32 %f3, %f1, 0f40000000, %f2;
    st.global.f32 [%rd5], %f3;
DONE: ret;
"""
SPMV = """
    ld.param.u64 %rd1, [rows]; ld.param.u64 %rd2, [columns]; ld.param.u64 %rd3, [x];
    mov.u32 %r1, %tid.x;
    mul.wide.s32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4;
    ld.global.u32 %r2, [%rd5]; ld.global.u32 %r3, [%rd5+4];
LOOP:
    setp.ge.s32 %p1, %r2, %r3;
    @%p1 bra DONE;
    mul.wide.s32 %rd6, %r2, 4; add.s64 %rd7, %rd2, %rd6;
    ld.global.u32 %r4, [%rd7];
    mul.wide.s32 %rd8, %r4, 4; add.s64 %rd9, %rd3, %rd8;
    ld.global.f32 %f1, [%rd9];
    add.f32 %f2, %f2, %f1;
    add.s32 %r2, %r2, 1;
    bra LOOP;
DONE: ret;
"""


def mnemonics(kernel: Kernel, pcs: frozenset[int] | tuple[int, ...]) -> list[str]:
    by_pc = {instruction.pc: instruction.mnemonic for instruction in kernel.instructions}
    return [by_pc[pc] for pc in sorted(pcs)]


def sliced(
    compile_ptx: Callable[..., Kernel], body: str, parameters: str, module: str = ""
) -> tuple[Kernel, Slice, Slice]:
    kernel = compile_ptx(body, parameters, module)
    return kernel, control_slice(kernel), address_slice(kernel)


def test_bounds_check_and_affine_index_are_static(compile_ptx: Callable[..., Kernel]) -> None:
    kernel, control, address = sliced(compile_ptx, SAXPY, "u64 x, u64 y, u32 n")
    assert mnemonics(kernel, control.pcs) == [
        "ld.param.u32", *["mov.u32"] * 3, "mad.lo.s32", "setp.ge.s32",
    ]  # fmt: skip
    assert mnemonics(kernel, address.pcs - control.pcs) == [
        "ld.param.u64", "ld.param.u64", "mul.wide.s32", "add.s64", "add.s64",
    ]  # fmt: skip
    assert control.is_static
    assert address.is_static


def test_sparse_rows_depend_on_their_bounds_and_columns(
    compile_ptx: Callable[..., Kernel],
) -> None:
    kernel, control, address = sliced(compile_ptx, SPMV, "u64 rows, u64 columns, u64 x")
    assert mnemonics(kernel, control.loads) == ["ld.global.u32"] * 2
    assert mnemonics(kernel, address.loads) == ["ld.global.u32"] * 3
    assert not control.is_static
    assert "ld.global.f32" not in mnemonics(kernel, address.pcs)
    assert "add.f32" not in mnemonics(kernel, address.pcs)


def test_loop_with_a_loaded_bound_and_static_addresses(compile_ptx: Callable[..., Kernel]) -> None:
    body = """
        ld.param.u64 %rd1, [x]; ld.global.u32 %r1, [%rd1];
        LOOP: add.s32 %r2, %r2, 1; st.global.u32 [%rd1+4], %r2;
        setp.lt.s32 %p1, %r2, %r1; @%p1 bra LOOP; ret;
    """
    kernel, control, address = sliced(compile_ptx, body, "u64 x")
    assert mnemonics(kernel, control.loads) == ["ld.global.u32"]
    assert control.pcs == address.pcs
    # the address of the load is needed to run the load
    assert "ld.param.u64" in mnemonics(kernel, control.pcs)


def test_guard_of_any_instruction_decides_how_many_lanes_count(
    compile_ptx: Callable[..., Kernel],
) -> None:
    body = """
        ld.param.u64 %rd1, [x]; ld.global.f32 %f1, [%rd1];
        setp.gt.f32 %p1, %f1, 0f00000000;
        @%p1 add.f32 %f2, %f1, %f1; ret;
    """
    kernel, control, _ = sliced(compile_ptx, body, "u64 x")
    assert mnemonics(kernel, control.loads) == ["ld.global.f32"]
    assert "add.f32" not in mnemonics(kernel, control.pcs)


def test_guard_of_a_definition_belongs_to_the_slice(compile_ptx: Callable[..., Kernel]) -> None:
    body = """
        ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;
        setp.lt.u32 %p1, %r2, %r1; @%p1 add.s64 %rd1, %rd1, 128;
        ld.global.f32 %f1, [%rd1]; ret;
    """
    kernel, control, address = sliced(compile_ptx, body, "u64 x, u32 n")
    assert mnemonics(kernel, control.pcs) == ["ld.param.u32", "mov.u32", "setp.lt.u32"]
    assert mnemonics(kernel, address.pcs - control.pcs) == ["ld.param.u64", "add.s64"]
    assert address.is_static


def test_guarded_barrier_is_control(compile_ptx: Callable[..., Kernel]) -> None:
    body = """
        ld.param.u64 %rd1, [x]; ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0;
        @%p1 bar.sync 0; ret;
    """
    kernel, control, _ = sliced(compile_ptx, body, "u64 x")
    assert mnemonics(kernel, control.loads) == ["ld.global.u32"]


@pytest.mark.parametrize("space", ["shared", "local"])
def test_address_out_of_writable_memory_depends_on_data(
    compile_ptx: Callable[..., Kernel], space: str
) -> None:
    body = f"""
        .{space} .align 4 .b8 table[128];
        ld.param.u64 %rd1, [x]; mov.u32 %r1, table; st.{space}.u32 [%r1], 64;
        ld.{space}.u32 %r2, [%r1]; cvt.u64.u32 %rd2, %r2; add.s64 %rd3, %rd1, %rd2;
        ld.global.f32 %f1, [%rd3]; ret;
    """
    kernel, control, address = sliced(compile_ptx, body, "u64 x")
    assert control.is_static
    assert mnemonics(kernel, address.loads) == [f"ld.{space}.u32"]


def test_constant_memory_is_known_before_the_launch(compile_ptx: Callable[..., Kernel]) -> None:
    body = "ld.const.u32 %r1, [steps]; setp.eq.u32 %p1, %r1, 3; @%p1 bra DONE; DONE: ret;"
    _, control, _ = sliced(compile_ptx, body, "u64 x", ".const .align 4 .u32 steps = 3;")
    assert control.is_static
    assert control.pcs


def test_ticket_from_an_atomic_depends_on_data(compile_ptx: Callable[..., Kernel]) -> None:
    body = """
        ld.param.u64 %rd1, [x]; atom.global.add.u32 %r1, [%rd1], 1;
        mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1; ret;
    """
    kernel, control, address = sliced(compile_ptx, body, "u64 x")
    assert control.is_static
    assert mnemonics(kernel, address.loads) == ["atom.global.add.u32"]


def test_clock_makes_a_path_dynamic(compile_ptx: Callable[..., Kernel]) -> None:
    body = """
        mov.u32 %r1, %clock; LOOP: mov.u32 %r2, %clock; sub.s32 %r3, %r2, %r1;
        setp.lt.s32 %p1, %r3, 100; @%p1 bra LOOP; ret;
    """
    _, control, _ = sliced(compile_ptx, body, "u64 x")
    assert len(control.clocks) == 2
    assert not control.loads
    assert not control.is_static


def test_value_that_goes_round_a_loop_is_followed_once(compile_ptx: Callable[..., Kernel]) -> None:
    body = """
        ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [n];
        LOOP: ld.global.f32 %f1, [%rd1]; add.s64 %rd1, %rd1, 128; sub.s32 %r1, %r1, 1;
        setp.ne.s32 %p1, %r1, 0; @%p1 bra LOOP; ret;
    """
    kernel, control, address = sliced(compile_ptx, body, "u64 x, u32 n")
    assert mnemonics(kernel, control.pcs) == ["ld.param.u32", "sub.s32", "setp.ne.s32"]
    assert mnemonics(kernel, address.pcs - control.pcs) == ["ld.param.u64", "add.s64"]


def test_a_register_that_is_used_again_brings_nothing_along(
    compile_ptx: Callable[..., Kernel],
) -> None:
    body = """
        ld.param.u64 %rd1, [x]; ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1+4], %r1;
        mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
        ld.global.u32 %r2, [%rd3]; ret;
    """
    kernel, _, address = sliced(compile_ptx, body, "u64 x")
    assert address.is_static
    assert mnemonics(kernel, address.pcs) == ["ld.param.u64", "mov.u32", "mul.wide.u32", "add.s64"]


@pytest.mark.parametrize(("guard", "is_static"), [("%p1", True), ("!%p1", False), ("%p2", False)])
def test_a_definition_under_the_guard_of_its_use_is_the_last_word(
    compile_ptx: Callable[..., Kernel], guard: str, is_static: bool
) -> None:
    body = f"""
        ld.param.u64 %rd1, [x]; ld.global.u64 %rd2, [%rd1]; mov.u32 %r1, %tid.x;
        setp.eq.u32 %p1, %r1, 3; setp.eq.u32 %p2, %r1, 4;
        @{guard} mov.u64 %rd2, %rd1; @%p1 ld.global.u32 %r2, [%rd2]; ret;
    """
    _, _, address = sliced(compile_ptx, body, "u64 x")
    assert address.is_static == is_static


def test_a_guard_that_changes_in_between_says_nothing(compile_ptx: Callable[..., Kernel]) -> None:
    body = """
        ld.param.u64 %rd1, [x]; ld.global.u64 %rd2, [%rd1]; mov.u32 %r1, %tid.x;
        setp.eq.u32 %p1, %r1, 3; @%p1 mov.u64 %rd2, %rd1; setp.eq.u32 %p1, %r1, 4;
        @%p1 ld.global.u32 %r2, [%rd2]; ret;
    """
    assert not sliced(compile_ptx, body, "u64 x")[2].is_static


def test_what_a_thread_block_keeps_for_itself_belongs_to_a_slice_with_data(
    compile_ptx: Callable[..., Kernel],
) -> None:
    body = """
        .shared .align 4 .b8 table[128];
        ld.param.u64 %rd1, [x]; ld.global.u32 %r1, [%rd1]; mov.u32 %r3, table;
        st.shared.u32 [%r3], %r1; bar.sync 0; ld.shared.u32 %r2, [%r3];
        mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3]; ret;
    """
    kernel = compile_ptx(body, "u64 x")
    found = data_slice(kernel)
    assert found is not None
    assert mnemonics(kernel, found.loads) == ["ld.global.u32"]
    assert "st.shared.u32" in mnemonics(kernel, found.pcs)
    assert "ld.global.f32" not in mnemonics(kernel, found.pcs)


def test_what_an_atomic_returns_is_no_data_to_find(compile_ptx: Callable[..., Kernel]) -> None:
    body = """
        ld.param.u64 %rd1, [x]; atom.global.add.u32 %r1, [%rd1], 1;
        mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1; ret;
    """
    assert data_slice(compile_ptx(body, "u64 x")) is None
