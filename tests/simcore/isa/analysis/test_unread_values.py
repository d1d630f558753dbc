"""Paths recorded without the arithmetic and products that decide none: the same as with them."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import execute, path_sample
from kernelcast.simcore.engine.path_sample import record_paths
from kernelcast.simcore.isa.analysis.unread_values import without_unread_values
from kernelcast.simcore.isa.ir.kernel import Compute, Kernel, TensorMemoryOperation, WarpOperation
from kernelcast.simcore.isa.matrix.tensor_memory import TensorProduct
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.warp_paths import WarpPaths

Compile = Callable[..., Kernel]
tensor_memory: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[2] / "tcgen05_program.py"))
)

PARAMETERS = "u64 out, u64 data"
PRODUCT = """
    .shared .align 8 .b8 tile[256]; .local .align 8 .b8 depot[8];
    mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
    ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [data]; add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3; ld.global.u32 %r2, [%rd5]; mov.u32 %r5, 0; mov.u32 %r6, 0;
    mov.u32 %r7, tile; shl.b32 %r8, %r1, 2; add.u32 %r9, %r7, %r8;
    mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r10, %r11}, {%r2}, {%r2}, {%r5, %r6};
"""
"""%r10 and %r11 are what the product gives."""
TRIPS = """
    and.b32 %r20, %r12, 7; mov.u32 %r21, 0;
    LOOP: add.u32 %r21, %r21, 1; setp.le.u32 %p1, %r21, %r20; @%p1 bra LOOP;
"""
"""A loop of as many trips as %r12 says."""
END = "st.global.u32 [%rd4], %r11; ret;"
DECIDED = {
    "trips": f"mov.u32 %r12, %r10; {TRIPS}",
    "of another lane": f"shfl.sync.bfly.b32 %r12, %r10, 1, 31, -1; {TRIPS}",
    "guard": f"setp.gt.s32 %p2, %r10, 9; mov.u32 %r12, 1; @%p2 mov.u32 %r12, 5; {TRIPS}",
    "a guarded store": "setp.gt.s32 %p2, %r10, 9; @%p2 st.global.u32 [%rd4], %r1;",
    "address": "and.b32 %r13, %r10, 28; add.u32 %r13, %r7, %r13; st.shared.u32 [%r13], %r1;",
    "shared memory": f"st.shared.u32 [%r9], %r10; bar.sync 0; ld.shared.u32 %r12, [%r9]; {TRIPS}",
    "local memory": f"st.local.u32 [depot], %r10; ld.local.u32 %r12, [depot]; {TRIPS}",
    "global memory": f"st.global.u32 [%rd4], %r10; ld.global.u32 %r12, [%rd4]; {TRIPS}",
    "generic addresses": f"st.global.u32 [%rd4], %r10; ld.u32 %r12, [%rd4]; {TRIPS}",
    "a reduction": "red.global.add.u32 [%rd4], %r10; bar.sync 0; "
    f"ld.global.u32 %r12, [%rd4]; {TRIPS}",
    "what an atomic finds": f"atom.global.exch.b32 %r13, [%rd4], %r10; "
    f"atom.global.add.u32 %r12, [%rd4], 1; {TRIPS}",
    "a vote": f"setp.gt.s32 %p2, %r10, 9; vote.sync.ballot.b32 %r12, %p2, -1; {TRIPS}",
    "a reduction of the barrier": "setp.gt.s32 %p2, %r10, 9; bar.red.popc.u32 %r12, 0, %p2;"
    + TRIPS,
    "another product": "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 "
    "{%r12, %r13}, {%r10}, {%r11}, {%r5, %r6};" + TRIPS,
    "an mbarrier": """setp.eq.u32 %p3, %r1, 0; @%p3 mbarrier.init.shared.b64 [tile], 32; bar.sync 0;
        setp.gt.s32 %p2, %r10, 9; selp.u32 %r14, 1, 2, %p2;
        mbarrier.arrive.noComplete.shared.b64 %rd7, [tile], 1;
        mbarrier.expect_tx.relaxed.cta.shared.b64 [tile], %r14;""",
}
UNDECIDED = {
    "nothing of it": f"mov.u32 %r12, %r1; {TRIPS}",
    "stored where nothing is read": "st.shared.u32 [%r9], %r10; st.global.u32 [%rd4], %r10;",
    "read, but only to be stored": "st.shared.u32 [%r9], %r10; bar.sync 0; "
    "ld.shared.u32 %r12, [%r9]; st.global.u32 [%rd4], %r12;",
    "other memory is read": f"st.shared.u32 [%r9], %r10; ld.global.u32 %r12, [%rd4]; {TRIPS}",
    "a reduction nobody reads": "red.global.add.u32 [%rd4], %r10;",
    "beside a wait for an mbarrier": """setp.eq.u32 %p3, %r1, 0; st.shared.u32 [tile+64], %r10;
        @%p3 mbarrier.init.shared.b64 [tile], 32; bar.sync 0;
        mbarrier.arrive.shared.b64 %rd7, [tile];
        WAIT: mbarrier.test_wait.shared.b64 %p4, [tile], %rd7; @!%p4 bra WAIT;""",
}


def products(kernel: Kernel) -> list[bool]:
    """Whether each product is still computed."""
    return [
        bool(i.destinations)
        for i in kernel.instructions
        if isinstance(i, WarpOperation) and i.mnemonic.startswith("mma")
    ]


def launch() -> Launch:
    data = np.random.default_rng(3).integers(0, 1 << 32, 4 * 32, np.uint32)
    return Launch((4, 1, 1), (32, 1, 1), (np.zeros(4 * 32, np.uint32), data))


def columns(paths: WarpPaths) -> dict[str, npt.NDArray[Any]]:
    found = {}
    for field in fields(paths):
        value = getattr(paths, field.name)
        if isinstance(value, np.ndarray):
            found[field.name] = value
        elif isinstance(value, PatternTable):
            found |= {"mask": value.mask, "offsets": value.offsets}
    return found


def recorded(kernel: Kernel) -> WarpPaths:
    sample = record_paths(kernel, launch(), 32, Limits())
    assert sample.paths is not None, sample.reason
    return sample.paths


def is_the_same_without(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the paths are those with all products."""
    found = columns(recorded(kernel))
    monkeypatch.setattr(path_sample, "without_unread_values", lambda kernel: kernel)
    wanted = columns(recorded(kernel))
    assert len(wanted) > 5
    return all(np.array_equal(found[name], wanted[name]) for name in wanted)


@pytest.mark.parametrize("name", DECIDED)
def test_what_decides_a_path_is_computed(
    name: str, compile_ptx: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = compile_ptx(PRODUCT + DECIDED[name] + END, PARAMETERS)
    assert all(products(without_unread_values(kernel)))
    assert is_the_same_without(kernel, monkeypatch)


@pytest.mark.parametrize("name", ["trips", "shared memory", "another product"])
def test_issues_are_those_of_the_launch(name: str, compile_ptx: Compile) -> None:
    """The trips differ from one thread block to the next, as the products do."""
    kernel = compile_ptx(PRODUCT + DECIDED[name] + END, PARAMETERS)
    classes = execute(kernel, launch(), engine="reference").classes
    paths = recorded(kernel)
    for number in range(4):
        own = paths.pc[paths.start[number] : paths.start[number + 1]]
        issues = classes.warp_issues[classes.of_thread_block[number]]
        assert np.array_equal(np.bincount(own, minlength=len(issues)), issues)


@pytest.mark.parametrize("name", UNDECIDED)
def test_the_rest_is_left_out(
    name: str, compile_ptx: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = "ret;" if name == "other memory is read" else END
    kernel = compile_ptx(PRODUCT + UNDECIDED[name] + end, PARAMETERS)
    assert not any(products(without_unread_values(kernel)))
    assert is_the_same_without(kernel, monkeypatch)


def computed(kernel: Kernel) -> list[str]:
    """What is left of the arithmetic."""
    return [i.mnemonic for i in kernel.instructions if isinstance(i, Compute) and i.destinations]


@pytest.mark.parametrize("load", ["ld.global.u32", "ld.shared.u32"])
def test_arithmetic_that_is_only_stored_is_left_out(
    load: str, compile_ptx: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address, and the trips by it, are computed; what is added up is not."""
    base = "%rd4" if load.startswith("ld.global") else "%r9"
    body = f"""{PRODUCT} mov.u32 %r20, 3; mov.u32 %r21, 0;
        AGAIN: {load} %r22, [{base}]; mad.lo.u32 %r21, %r22, %r22, %r21; sub.u32 %r20, %r20, 1;
        setp.ne.u32 %p5, %r20, 0; @%p5 bra AGAIN; st.global.u32 [%rd4], %r21; ret;"""
    kernel = compile_ptx(body, PARAMETERS)
    assert "mad.lo.u32" not in computed(without_unread_values(kernel))
    assert {"sub.u32", "setp.ne.u32"} <= set(computed(without_unread_values(kernel)))
    assert is_the_same_without(kernel, monkeypatch)


LOOP = "AGAIN: sub.u32 %w, %w, 1; setp.gt.s32 %p1, %w, 0; @%p1 bra AGAIN;"
LOADED = "tcgen05.ld.sync.aligned.32x32b.x1.b32 %w, [%q];"
PASSED_ON = (
    f"{LOADED} tcgen05.st.sync.aligned.32x32b.x1.b32 [%q+8], {{%w}}; "
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 %w, [%q+8];"
)


@pytest.mark.parametrize(
    ("after", "is_needed"),
    [("", False), (LOADED, False), (LOADED + LOOP, True), (PASSED_ON + LOOP, True)],
)
def test_products_in_tensor_memory(after: str, is_needed: bool) -> None:
    body = f"""mov.b32 %r6, 0; setp.ne.u32 %p3, %r0, %r0;
        @%first tcgen05.mma.cta_group::1.kind::f16 [%t], %rd5, %rd6, %r6, %first; {after}
        {tensor_memory.COMMIT}"""
    text = tensor_memory.program(body, "", 32)
    text = text.replace("ld.shared.b32 %t, [%place];", "mov.b32 %t, 0;")
    kernel = read_ptx(text, "k.ptx").kernels["k"]
    left_out = [
        i.operation.is_left_out
        for i in without_unread_values(kernel).instructions
        if isinstance(i, TensorMemoryOperation) and isinstance(i.operation, TensorProduct)
    ]
    assert left_out == [not is_needed]
