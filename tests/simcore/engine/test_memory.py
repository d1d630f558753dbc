"""Address spaces, widths, errors and the recorded accesses of the engine."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import LaunchError, MemoryAccessError
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.traces.trace import Trace

Run = Callable[..., Trace]


@pytest.fixture(autouse=True, params=sorted(ENGINES))
def every_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test runs once with each engine as the one that `execute` takes by default."""
    defaults = {**(execute.__kwdefaults__ or {}), "engine": request.param}
    monkeypatch.setattr(execute, "__kwdefaults__", defaults)


THREAD = "mov.u32 %r4, %tid.x; cvt.u64.u32 %rd10, %r4;"


def out_address(size: int) -> str:
    return f"ld.param.u64 %rd1, [out]; mad.lo.u64 %rd3, %rd10, {size}, %rd1;"


@pytest.mark.parametrize(
    ("load", "register", "store", "dtype", "wide"),
    [
        ("u8", "%r5", "u32", np.uint8, np.uint32),
        ("s8", "%r5", "u32", np.int8, np.int32),
        ("u16", "%r5", "u32", np.uint16, np.uint32),
        ("s16", "%r5", "u32", np.int16, np.int32),
        ("s8", "%rs5", "u16", np.int8, np.int16),
        ("u32", "%rd5", "u64", np.uint32, np.uint64),
        ("s32", "%rd5", "u64", np.int32, np.int64),
        ("f32", "%f5", "f32", np.float32, np.float32),
        ("b32", "%f5", "b32", np.float32, np.float32),
    ],
)
def test_loads_extend_into_wider_registers(
    run_ptx: Run, load: str, register: str, store: str, dtype: type, wide: type
) -> None:
    source: npt.NDArray[Any] = np.random.default_rng(1).integers(-100, 100, 32).astype(dtype)
    out: npt.NDArray[Any] = np.zeros(32, wide)
    body = (
        THREAD
        + out_address(out.itemsize)
        + f"""
    ld.param.u64 %rd5, [src]; mad.lo.u64 %rd6, %rd10, {source.itemsize}, %rd5;
    ld.global.{load} {register}, [%rd6]; st.global.{store} [%rd3], {register}; ret;"""
    )
    run_ptx(body, "u64 out, u64 src", [out, source])
    np.testing.assert_array_equal(out, source.astype(wide))


def test_stores_take_the_low_bits_of_wider_registers(run_ptx: Run) -> None:
    out = np.zeros(32, np.uint8)
    body = THREAD + out_address(1) + "mad.lo.u32 %r5, %r4, 9, 250; st.global.u8 [%rd3], %r5; ret;"
    run_ptx(body, "u64 out", [out])
    np.testing.assert_array_equal(out, (np.arange(32) * 9 + 250) % 256)


def test_vectors(run_ptx: Run) -> None:
    source = np.arange(128, dtype=np.float32)
    out = np.zeros(128, np.float32)
    body = (
        THREAD
        + out_address(16)
        + """
    ld.param.u64 %rd5, [src]; mad.lo.u64 %rd6, %rd10, 16, %rd5;
    ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd6];
    st.global.v4.f32 [%rd3], {%f4, %f3, %f2, %f1}; ret;"""
    )
    trace = run_ptx(body, "u64 out, u64 src", [out, source])
    np.testing.assert_array_equal(out, source.reshape(-1, 4)[:, ::-1].reshape(-1))
    assert {row.access_bytes for row in trace.instructions if row.space == "global"} == {16}


def test_shared_local_constant_and_variables(run_ptx: Run) -> None:
    module = """
    .const .align 4 .u32 table[8] = {3, 1, 4, 1, 5};
    .global .align 4 .u32 scale = 10;
    """
    out = np.zeros(64, np.uint32)
    body = (
        """
    .shared .align 4 .b8 tile[256]; .local .align 4 .b8 depot[16];
    """
        + THREAD
        + out_address(4)
        + """
    mov.u32 %r6, tile; shl.b32 %r7, %r4, 2; add.u32 %r8, %r6, %r7; st.shared.u32 [%r8], %r4;
    and.b32 %r9, %r4, 7; shl.b32 %r10, %r9, 2; cvt.u64.u32 %rd5, %r10;
    mov.u64 %rd6, table; add.s64 %rd7, %rd6, %rd5; ld.const.u32 %r11, [%rd7];
    mov.u64 %rd8, depot; st.local.u32 [%rd8+4], %r11; st.local.u32 [%rd8+8], %r4;
    bar.sync 0;
    sub.u32 %r12, 252, %r7; add.u32 %r13, %r6, %r12; ld.shared.u32 %r14, [%r13];
    ld.local.u32 %r15, [%rd8+4]; ld.local.u32 %r16, [%rd8+8];
    ld.global.u32 %r17, [scale];
    mad.lo.u32 %r18, %r15, %r17, %r14; add.u32 %r18, %r18, %r16;
    st.global.u32 [%rd3], %r18; ret;"""
    )
    run_ptx(body, "u64 out", [out], module=module, block=64)
    index = np.arange(64)
    table = np.array([3, 1, 4, 1, 5, 0, 0, 0])
    np.testing.assert_array_equal(out, table[index % 8] * 10 + (63 - index) + index)


def test_dynamic_shared_memory_follows_the_static(run_ptx: Run) -> None:
    out = np.zeros(32, np.uint32)
    body = (
        """
    .shared .align 4 .b8 fixed[128];
    """
        + THREAD
        + out_address(4)
        + """
    mov.u32 %r6, dyn; mov.u32 %r20, fixed; shl.b32 %r7, %r4, 2;
    add.u32 %r8, %r6, %r7; add.u32 %r9, %r20, %r7;
    st.shared.u32 [%r9], 1000; st.shared.u32 [%r8], %r4;
    ld.shared.u32 %r10, [%r9]; ld.shared.u32 %r11, [%r8]; add.u32 %r5, %r10, %r11;
    st.global.u32 [%rd3], %r5; ret;"""
    )
    module = ".extern .shared .align 16 .b8 dyn[];"
    trace = run_ptx(body, "u64 out", [out], module=module, shared_bytes=128)
    np.testing.assert_array_equal(out, np.arange(32) + 1000)
    assert trace.resources.shared_bytes == 256
    with pytest.raises(MemoryAccessError, match="outside shared memory of 192 bytes"):
        run_ptx(body, "u64 out", [out], module=module, shared_bytes=64)


def test_generic_addresses_find_their_space(run_ptx: Run) -> None:
    """Half of the lanes point to shared memory, the others to a buffer, in one instruction."""
    source = np.arange(100, 132, dtype=np.uint32)
    out = np.zeros(32, np.uint32)
    body = (
        """
    .shared .align 4 .b8 tile[128];
    """
        + THREAD
        + out_address(4)
        + """
    mov.u64 %rd6, tile; mad.lo.u64 %rd7, %rd10, 4, %rd6; st.shared.u32 [%rd7], %r4;
    cvta.shared.u64 %rd8, %rd7;
    ld.param.u64 %rd5, [src]; mad.lo.u64 %rd9, %rd10, 4, %rd5;
    and.b32 %r6, %r4, 1; setp.eq.u32 %p1, %r6, 0; selp.b64 %rd11, %rd8, %rd9, %p1;
    ld.u32 %r7, [%rd11]; st.global.u32 [%rd3], %r7; ret;"""
    )
    run_ptx(body, "u64 out, u64 src", [out, source])
    index = np.arange(32)
    np.testing.assert_array_equal(out, np.where(index % 2 == 0, index, source))


def test_struct_parameters(run_kernel: Run) -> None:
    text = """.version 8.0\n.target sm_75\n.address_size 64
    .visible .entry k(.param .align 8 .b8 s[16], .param .u64 out) {
    .reg .b32 %r<4>; .reg .b64 %rd<6>; .reg .f64 %fd<3>;
    ld.param.f64 %fd1, [s+8]; ld.param.u32 %r1, [s]; ld.param.u64 %rd1, [out];
    st.global.f64 [%rd1], %fd1; st.global.u32 [%rd1+8], %r1; ret; }"""
    kernel = read_ptx(text, "struct.ptx").kernels["k"]
    out = np.zeros(16, np.uint8)
    run_kernel(kernel, [struct.pack("<Iid", 77, -1, 2.5), out], block=1)
    assert struct.unpack("<dI", out[:12].tobytes()) == (2.5, 77)
    with pytest.raises(LaunchError, match="has 8 bytes, the kernel takes 16"):
        run_kernel(kernel, [b"12345678", out], block=1)


def test_out_of_bounds_names_line_thread_and_address(run_ptx: Run) -> None:
    out = np.zeros(30, np.uint32)
    body = THREAD + out_address(4) + "\nst.global.u32 [%rd3], %r4;\nret;"
    with pytest.raises(MemoryAccessError) as caught:
        run_ptx(body, "u64 out", [out])
    text = str(caught.value)
    assert "thread (30, 0, 0) of thread block (0, 0, 0)" in text
    assert "0 bytes past the end of out (120 bytes)" in text
    assert "st.global.u32" in text
    assert caught.value.span is not None


def test_errors_name_the_line_that_the_ptx_was_compiled_from(run_ptx: Run) -> None:
    body = THREAD + out_address(4) + "\n.loc 1 42 7\nst.global.u32 [%rd3], %r4;\nret;"
    with pytest.raises(MemoryAccessError, match=r"compiled from kernel\.cu:42"):
        run_ptx(body, "u64 out", [np.zeros(30, np.uint32)], module='.file 1 "kernel.cu"')


def test_null_pointer(run_ptx: Run) -> None:
    with pytest.raises(MemoryAccessError, match="address 0x0"):
        run_ptx("mov.u64 %rd1, 0; ld.global.u32 %r1, [%rd1]; ret;", "u64 out", [np.zeros(4)])


def test_misaligned_access(run_ptx: Run) -> None:
    body = THREAD + out_address(4) + "st.global.u64 [%rd3], %rd10; ret;"
    with pytest.raises(MemoryAccessError, match=r"misaligned for 8 bytes, thread \(1, 0, 0\)"):
        run_ptx(body, "u64 out", [np.zeros(64, np.uint32)])


def test_accesses_are_rows_of_pooled_patterns(run_ptx: Run) -> None:
    out = np.zeros(32 * 8, np.float32)
    body = (
        """
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;
    cvt.u64.u32 %rd10, %r4; """
        + out_address(4)
        + """
    ld.global.f32 %f1, [%rd3]; add.f32 %f1, %f1, 0f3F800000; st.global.f32 [%rd3], %f1; ret;"""
    )
    trace = run_ptx(body, "u64 out", [out], grid=4, block=64)
    np.testing.assert_array_equal(out, 1)
    assert len(trace.accesses) == 16
    assert len(trace.patterns.mask) == 1
    np.testing.assert_array_equal(trace.patterns.offsets[0], np.arange(32) * 4)
    for pc in np.unique(trace.accesses.pc):
        chosen = trace.accesses.pc == pc
        order = np.argsort(trace.accesses.warp[chosen])
        address = trace.accesses.address[chosen][order]
        np.testing.assert_array_equal(np.diff(address), 128)
        assert address[0] % 256 == 0
    load, store = (
        trace.accesses.time[trace.accesses.pc == pc] for pc in np.unique(trace.accesses.pc)
    )
    np.testing.assert_array_equal(store - load, 2)


def test_pattern_counts_of_shared_accesses(run_ptx: Run) -> None:
    body = """
    .shared .align 4 .b8 tile[8192];
    mov.u32 %r4, %tid.x; mov.u32 %r6, tile; mad.lo.u32 %r8, %r4, 128, %r6; mov.u32 %r9, 0;
L:  st.shared.u32 [%r8], %r4; bar.sync 0; add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 3; @%p1 bra L;
    ret;"""
    trace = run_ptx(body, "u64 out", [np.zeros(1)], block=64, grid=5)
    counts = trace.pattern_counts
    assert counts.count.sum() == 5 * 2 * 3
    assert sorted(set(counts.stage.tolist())) == [0, 1, 2]
    np.testing.assert_array_equal(trace.patterns.offsets[counts.pattern[0]], np.arange(32) * 128)
    assert trace.stage_warp_issues.shape[0] == 4
    warps, _ = trace.classes.totals()
    np.testing.assert_array_equal(trace.stage_warp_issues.sum(axis=0), warps)


def test_local_memory_is_interleaved(run_ptx: Run) -> None:
    body = """
    .local .align 4 .b8 depot[64];
    mov.u64 %rd8, depot; mov.u32 %r4, %tid.x; st.local.u32 [%rd8+12], %r4; ret;"""
    trace = run_ptx(body, "u64 out", [np.zeros(1)], block=64)
    np.testing.assert_array_equal(trace.patterns.offsets[0], np.arange(32) * 4)
    assert np.diff(trace.accesses.address).tolist() == [128]


def test_the_same_array_twice_is_one_buffer(run_ptx: Run) -> None:
    data = np.arange(32, dtype=np.uint32)
    body = (
        THREAD
        + out_address(4)
        + """
    ld.param.u64 %rd5, [src]; mad.lo.u64 %rd6, %rd10, 4, %rd5;
    ld.global.u32 %r5, [%rd6]; add.u32 %r5, %r5, 1; st.global.u32 [%rd3], %r5;
    ld.global.u32 %r6, [%rd6]; add.u32 %r6, %r6, 1; st.global.u32 [%rd3], %r6; ret;"""
    )
    run_ptx(body, "u64 out, u64 src", [data, data])
    np.testing.assert_array_equal(data, np.arange(32) + 2)


def test_initialisers_may_hold_addresses(run_ptx: Run) -> None:
    """A table of pointers, one of them into the middle of an array."""
    module = """
    .global .align 4 .u32 values[4] = {10, 20, 30, 40};
    .global .align 8 .u64 pointers[2] = {generic(values), generic(values)+8};
    """
    out = np.zeros(2, np.uint32)
    body = (
        THREAD
        + out_address(4)
        + """
    mov.u64 %rd5, pointers; mad.lo.u64 %rd6, %rd10, 8, %rd5; ld.global.u64 %rd7, [%rd6];
    ld.u32 %r5, [%rd7]; st.global.u32 [%rd3], %r5; ret;"""
    )
    run_ptx(body, "u64 out", [out], module=module, block=2)
    assert out.tolist() == [10, 30]


def test_parameters_by_address(run_ptx: Run) -> None:
    out = np.zeros(1, np.uint32)
    body = """mov.u64 %rd5, n; ld.param.u32 %r5, [%rd5]; ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], %r5; ret;"""
    run_ptx(body, "u64 out, u32 n", [out, 77], block=1)
    assert out[0] == 77


@pytest.mark.parametrize(
    ("code", "access"),
    [
        ("cp.async.ca.shared.global [%r1], [%rd1], 16; cp.async.wait_all;", "store of 16 bytes"),
        ("mov.u64 %rd2, 4096; st.bulk.shared::cta [tile], %rd2, 0;", "store of 8 bytes"),
        (
            ".reg .b128 %q<2>; mov.b128 %q0, {%rd1, %rd1}; atom.shared.exch.b128 %q1, [%r1], %q0;",
            "load of 16 bytes",
        ),
    ],
)
def test_faulting_parts_of_instructions_are_no_texels(run_ptx: Run, code: str, access: str) -> None:
    body = f"ld.param.u64 %rd1, [out]; mov.u32 %r1, tile; add.u32 %r1, %r1, 99984; {code} ret;"
    with pytest.raises(MemoryAccessError, match=f"{access} at address"):
        run_ptx(body, "u64 out", [np.zeros(4, np.uint32)], module=".shared .align 16 .b8 tile[64];")
