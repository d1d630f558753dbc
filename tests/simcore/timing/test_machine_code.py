"""Machine code in the walk, from the assembler to cycles."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.simcore.timing.launch.launch_timing import launch_timing

pytestmark = pytest.mark.usefixtures("assembler")

LENGTH = 400
HEAD = """.version 8.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n) {
.reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .pred %p<3>;
ld.param.u64 %rd1, [a]; ld.param.u32 %r9, [n]; mov.u32 %r1, %tid.x;
cvta.to.global.u64 %rd1, %rd1;
mul.wide.u32 %rd3, %r1, 4; add.s64 %rd1, %rd1, %rd3; ld.global.f32 %f1, [%rd1];
"""
END = "st.global.f32 [%rd1], %f1; ret; }"
FUSED = "fma.rn.f32 %f1, %f1, %f1, %f1;"


def timed(body: str, device: str, n: int = 0, block: int = 32) -> TimedKernel:
    kernel = kc.load_ptx(HEAD + body + END)["k"]
    values: npt.NDArray[np.float32] = np.zeros(max(block, 32), np.float32)
    trace = kernel.run(
        grid=1, block=block, args=[values, np.uint32(n)], devices=[device], code="native"
    )
    found = trace.profile(device).derived(timed_warps)
    assert found is not None
    assert found.schedule is not None
    return found


def cycles(kernel: TimedKernel, device: str) -> float:
    return launch_timing(kernel, load_device(device), is_exact=True).full_cycles


@pytest.mark.drawn(2)
@pytest.mark.parametrize("device", ["v100-pcie", "quadro-rtx-4000", "a100-40gb", "rtx-a6000"])
def test_dependent_multiply_adds_take_four_cycles_each(device: str) -> None:
    """Jia et al. (arXiv:1804.06826, 1903.07486) and Abdelkhalik et al. (arXiv:2208.11174)."""
    longer, shorter = (timed(FUSED * count, device) for count in (2 * LENGTH, LENGTH))
    each = (cycles(longer, device) - cycles(shorter, device)) / LENGTH
    assert each == pytest.approx(4.0, rel=0.02)


def test_an_access_whose_guard_holds_nowhere_asks_for_nothing() -> None:
    """Two of four warps store."""
    body = "setp.lt.u32 %p1, %r1, %r9; @%p1 st.global.f32 [%rd1], %r9;"
    found = timed(body.replace("f32 [%rd1], %r9", "u32 [%rd1], %r9"), "a100-40gb", 64, 128)
    stores = np.flatnonzero(found.is_store[found.paths.pc])
    asking = [found.pipeline[pc] is Pipeline.GLOBAL for pc in found.paths.pc[stores].tolist()]
    lanes = found.paths.lanes[stores]
    assert (lanes == 0).sum() == 2
    assert asking == (lanes > 0).tolist()


def test_the_uniform_datapath_takes_no_lane() -> None:
    found = timed(
        "add.u32 %r9, %r9, 5; shl.b32 %r9, %r9, 3; cvt.rn.f32.u32 %f2, %r9;add.f32 %f1, %f1, %f2;",
        "a100-40gb",
    )
    uniform = [row.pc for row in found.instructions if row.opcode in ("UIADD3", "ULEA", "USHF")]
    assert uniform
    assert {found.pipeline[pc] for pc in uniform} == {Pipeline.WAIT}


def test_integer_products_share_the_unit_of_single_precision_where_it_is_one() -> None:
    for device, unit in (("v100-pcie", Pipeline.FP32), ("rtx-a6000", Pipeline.INTEGER_MULTIPLY)):
        found = timed("mad.lo.u32 %r2, %r1, %r1, %r9; cvt.rn.f32.u32 %f1, %r2;", device)
        products = [row.pc for row in found.instructions if row.mnemonic == "IMAD"]
        assert products
        assert {found.pipeline[pc] for pc in products} == {unit}


def test_places_come_by_the_banks_and_constants_by_their_unit_or_as_operands() -> None:
    """Counters of an H100 have a wavefront of shared memory for each `S2R` of a thread's place.

    They have nothing for `ULDC`, which the assembler sets no scoreboard for.
    """
    found = timed("mov.u32 %r2, %ctaid.x; mad.lo.u32 %r9, %r2, %r9, %r1; " * 2, "h100-sxm")
    by_opcode = {
        (row.opcode, row.special_register): found.pipeline[row.pc] for row in found.instructions
    }
    assert by_opcode["S2R", "SR_TID.X"] is Pipeline.SHARED
    assert by_opcode["LDC", ""] is Pipeline.CONSTANT
    assert by_opcode["ULDC", ""] is Pipeline.WAIT
    places = [unit for (_, name), unit in by_opcode.items() if name.startswith("SR_CTAID")]
    assert Pipeline.SHARED not in places


@pytest.mark.parametrize(
    ("fence", "unit"),
    [
        ("membar.cta", Pipeline.WAIT),
        ("fence.proxy.async.shared::cta", Pipeline.WAIT),
        ("membar.gl", Pipeline.FENCE),
        ("fence.proxy.async", Pipeline.FENCE),
    ],
)
def test_fences_of_the_thread_block_wait_for_nothing_outside_of_it(
    fence: str, unit: Pipeline
) -> None:
    """An H200 takes 8 to 17 cycles for the former, 150 and 270 for the latter."""
    for code in ("native", "source"):
        text = HEAD.replace("sm_70", "sm_90") + f"st.global.f32 [%rd1], %f1; {fence};" + END
        trace = kc.load_ptx(text)["k"].run(
            grid=1,
            block=32,
            args=[np.zeros(32, np.float32), np.uint32(0)],
            devices=["h100-sxm"],
            code=code,
        )
        found = trace.profile("h100-sxm").derived(timed_warps)
        assert found is not None
        fences = [found.pipeline[row.pc] for row in found.instructions if row.kind == "fence"]
        assert fences
        assert unit in fences
        assert (Pipeline.FENCE in fences) is (unit is Pipeline.FENCE)
