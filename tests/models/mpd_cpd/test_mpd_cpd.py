"""Model `mpd-cpd`: estimates from hand-made streams, limits, variants and all devices."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelcast as kc
from kernelcast.errors import KernelcastError, ModelNotApplicable
from kernelcast.models import ModelOptions, get_model, needs_paths
from kernelcast.models.estimate import Estimate
from kernelcast.models.mpd_cpd.calculate_periods import (
    ACCESS,
    CalculatePeriods,
    InstructionStream,
    PtxOperation,
)
from kernelcast.models.mpd_cpd.equations import Reading
from kernelcast.models.mpd_cpd.instruction_stream import instruction_stream
from kernelcast.models.mpd_cpd.model import COMPUTATION_PROPORTION, NAME, mpd_cpd
from kernelcast.models.mpd_cpd.ptx_costs import PTX_COSTS
from kernelcast.models.mpd_cpd.wave import Wave
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import known_devices, load_device
from kernelcast.simcore.profile.derived import DerivedInputs
from kernelcast.simcore.profile.profile import (
    InstructionCounts,
    KernelProfile,
    LaunchShape,
    MemoryTraffic,
)
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.warp_paths import NO_PATTERN, WarpPaths

DEVICE = load_device("gtx-260")
ADD = PtxOperation("add", "int_const")  # 22 clocks
MUL = PtxOperation("mul", "float_reg")  # 65 clocks
NO_COUNTS = InstructionCounts(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

COPY = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
    .reg .f32 %f<3>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<7>;
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4];
    add.f32 %f2, %f1, 0f3F800000;
    st.global.f32 [%rd5], %f2;
    ret;
}
"""


def stream(
    operations: list[PtxOperation | None],
    thread_blocks: int = 24 * 6,
    thread_blocks_per_sm: int = 4,
    warps: int = 2,
) -> InstructionStream:
    """All warps execute the same; accesses move 4 bytes a thread in two transactions."""
    kinds = list(dict.fromkeys(operations))
    pc = np.tile([kinds.index(item) for item in operations], warps).astype(np.int32)
    is_access = np.array([item == ACCESS for item in kinds], np.bool_)
    paths = WarpPaths(
        thread_blocks=np.zeros(1, np.int64),
        warps_per_thread_block=warps,
        start=np.arange(warps + 1, dtype=np.int64) * len(operations),
        pc=pc,
        lanes=np.full(len(pc), 32, np.uint8),
        pattern=np.full(len(pc), NO_PATTERN, np.int32),
        address=np.zeros(len(pc), np.int64),
        patterns=PatternTable.empty(32),
    )
    return InstructionStream(
        paths=paths,
        operations=tuple(kinds),
        bytes_per_thread=np.where(is_access, 4.0, 0.0),
        transactions=np.where(is_access[pc], 2.0, 0.0),
        thread_blocks=thread_blocks,
        thread_blocks_per_sm=thread_blocks_per_sm,
        warp_width=32,
    )


def profile(found: InstructionStream | None, **known: object) -> KernelProfile:
    made = KernelProfile(
        kernel="k",
        device=DEVICE.name,
        origin="by hand",
        instructions=NO_COUNTS,
        traffic=MemoryTraffic(dram_read_transactions=1.0, dram_write_transactions=0.0),
        launch=LaunchShape((144, 1, 1), (64, 1, 1)),
        inputs=DerivedInputs(given={instruction_stream: found}),
    )
    return replace(made, **known)  # type: ignore[arg-type]


def run(
    found: InstructionStream, device: Device = DEVICE, options: ModelOptions | None = None
) -> Estimate:
    return mpd_cpd(profile(found), device, options or ModelOptions())


def memory_bound(proportion: float, periods: int = 100) -> CalculatePeriods:
    """Periods of two loads and as much computation as gives the proportion."""
    return CalculatePeriods(
        start=np.array([0, periods]),
        computation_clocks=np.full(periods, 400.0 * proportion / (1 - proportion)),
        access_clocks=np.full(periods, 400.0),
        bytes_per_thread=np.full(periods, 8.0),
        transactions=np.full(periods, 4.0),
    )


def clocks_of_the_same_work(proportion: float, warps: int, reading: Reading) -> float:
    costs = DEVICE.section(PTX_COSTS)
    assert costs is not None
    wave = Wave(memory_bound(proportion), proportion, warps, DEVICE, costs, reading)
    return wave.total_clocks / warps


def test_the_equations_give_the_time() -> None:
    """Three periods, of types 2, 4 and 3, of eight warps."""
    found = run(stream([ADD, ACCESS, MUL, ACCESS, *[MUL] * 8, ACCESS]))
    c, m = [22.0, 65.0, 520.0], [200.0, 200.0, 200.0]
    proportion = sum(c) / (sum(c) + sum(m))
    cpd = 80 * (proportion - 0.5) ** 2 / 31 * math.sqrt(31**2 - 24**2) + 3
    assert found["P"] == pytest.approx(proportion, rel=1e-12)
    assert found["CPD"] == pytest.approx(cpd)
    assert found["MPD"] == 8.0
    assert [found[f"type {kind}"] for kind in (1, 2, 3, 4)] == pytest.approx(
        [0, 1 / 3, 1 / 3, 1 / 3]
    )
    computation = sum(math.ceil(8 * clocks / cpd) for clocks in c)
    own = max(m[0] - 7 * c[0], 0) + max(m[1] - 7 * c[1], 0)
    wave = max(computation + own, sum(c) + sum(m))
    assert found["wave"] == pytest.approx(wave)
    assert found["waves"] == 144 / (4 * 24)
    assert found.time_s == pytest.approx(1.5 * wave / 1.242e9)


def test_a_wave_takes_no_less_than_one_warp_alone() -> None:
    """Where the print's T_i are shorter together; `strict` keeps their sum."""
    found = stream([ADD, ACCESS] * 50, thread_blocks_per_sm=16, thread_blocks=24 * 16)
    usual = run(found)
    assert usual["wave"] == pytest.approx(50 * 222)
    assert usual.bottleneck == "latency of one warp"
    strict = run(found, options=ModelOptions(variant="strict"))
    assert {part.name for part in strict.terms.parts} <= {
        "computation",
        "wait for the period before",
        "wait for own memory",
    }


@pytest.mark.parametrize("proportion", [0.2623, 0.282, 0.4584, 0.5297])
def test_time_of_memory_bound_kernels_falls_and_saturates_over_warps(proportion: float) -> None:
    """Section 4.2: the same data, 1 to 32 warps; with MPD as printed it rises again."""
    times = [clocks_of_the_same_work(proportion, n, Reading.USUAL) for n in range(1, 33)]
    assert times[7] < 0.5 * times[0]
    assert times[15] < times[7]
    assert times[31] <= 1.001 * min(times)
    assert 1 - times[31] / times[15] < 0.5 * (1 - times[15] / times[0])
    strict = [clocks_of_the_same_work(proportion, n, Reading.STRICT) for n in range(1, 33)]
    assert strict[31] > 1.2 * min(strict)
    assert strict[31] > times[31]


def test_a_given_proportion_replaces_the_counted_one() -> None:
    found = run(stream([ADD, ACCESS]), options=ModelOptions(own={"computation_proportion": 0.8697}))
    assert found["P"] == 0.8697
    assert "P is as given, not as counted" in found.assumptions
    for wrong in (-0.1, 1.1, math.nan):
        with pytest.raises(KernelcastError, match="between 0 and 1"):
            COMPUTATION_PROPORTION.read(wrong)


def test_repeats_and_utilization_scale() -> None:
    found = profile(stream([ADD, ACCESS]), repeats=3)
    once = run(stream([ADD, ACCESS])).time_s
    assert mpd_cpd(found, DEVICE, ModelOptions()).time_s == pytest.approx(3 * once)
    half = mpd_cpd(found, DEVICE, ModelOptions(utilization=0.5))
    assert half.time_s == pytest.approx(1.5 * once)
    assert half.time_low_s < half.time_s < half.time_high_s


def test_what_recorded_paths_lack_is_made_up_for() -> None:
    found = stream([ADD, ACCESS])
    cut = replace(found, path_share=0.5, paths=replace(found.paths, is_complete=False))
    assert run(cut).time_s == pytest.approx(2 * run(found).time_s)
    assert any("hold 50%" in item for item in run(cut).assumptions)


@pytest.mark.parametrize(
    ("operations", "bottleneck"),
    [
        ([ADD], "computation"),
        ([ACCESS], "wait for own memory"),
        ([None, ADD], "computation"),
    ],
)
def test_limits(operations: list[PtxOperation | None], bottleneck: str) -> None:
    """No memory instruction, nothing else; one warp; each finite."""
    for blocks, resident, warps in ((1, 1, 1), (24 * 16, 16, 2)):
        found = run(stream(operations, blocks, resident, warps))
        assert 0 < found.time_low_s <= found.time_s <= found.time_high_s < 1e-3
        if warps == 1:
            assert found.bottleneck == bottleneck
            clocks = {ADD: 22, ACCESS: 200}[operations[-1]]  # type: ignore[index]
            assert found.time_s == pytest.approx(clocks / 1.242e9)
        assert all(
            math.isfinite(item.value) for item in found.parameters if isinstance(item.value, float)
        )


@pytest.mark.parametrize("operations", [[], [None]])
def test_nothing_executed_is_refused(operations: list[PtxOperation | None]) -> None:
    with pytest.raises(ModelNotApplicable, match="executes anything"):
        run(stream(operations))


def test_refusals_name_what_is_missing() -> None:
    with pytest.raises(ModelNotApplicable, match="paths of warps: from a file"):
        mpd_cpd(profile(None, not_timed="from a file"), DEVICE, ModelOptions())
    bare = replace(DEVICE.with_section(PTX_COSTS, None), timing=None)
    with pytest.raises(ModelNotApplicable, match=r"\[ptx_costs\]"):
        run(stream([ADD]), bare)
    with pytest.raises(ModelNotApplicable, match="did you mean strict"):
        run(stream([ADD]), options=ModelOptions(variant="strickt"))


def test_it_is_registered_and_needs_paths() -> None:
    assert get_model(NAME) is mpd_cpd
    assert needs_paths(NAME)


@pytest.mark.parametrize("variant", [None, "strict"])
def test_every_device_has_an_estimate(variant: str | None) -> None:
    kernel = kc.load_ptx(COPY)["k"]
    n = 128 * 500
    devices = [load_device(name) for name in known_devices()]
    trace = kernel.run(
        grid=n // 128,
        block=128,
        args=[np.zeros(n, np.float32), np.zeros(n, np.float32)],
        devices=devices,
        record_paths=True,
    )
    for device in devices:
        costs = device.section(PTX_COSTS)
        if device.timing is None and costs is None:
            continue
        found = kc.estimate(trace.profile(device), NAME, variant=variant)
        assert 0 < found.time_low_s <= found.time_s <= found.time_high_s < 1, device.name
        is_assumed = any("costs of instructions are assumed" in item for item in found.assumptions)
        assert is_assumed == (costs is None)


def test_a_kernel_from_ptx() -> None:
    """A load and a store, 128 bytes of a warp each: two transactions of 64 bytes on the GTX 260."""
    n = 256 * 24 * 4
    arrays = [np.zeros(n, np.float32), np.zeros(n, np.float32)]
    trace = kc.load_ptx(COPY)["k"].run(
        grid=n // 256, block=256, args=arrays, devices=["gtx-260"], record_paths=True
    )
    found = kc.estimate(trace.profile(DEVICE), NAME)
    before, between, after = 2 * 22 + 3 * 22 + 44 + 44 + 2 * 65, 22, 22
    c = before + between + after
    assert found["P"] == pytest.approx(c / (c + 400))
    assert found["c"] == c
    assert found["MPD"] == pytest.approx(11.0)
    assert found["N_act"] == 32.0
    assert found["waves"] == 1.0


@given(
    trips=st.integers(1, 20),
    more=st.integers(1, 20),
    resident=st.integers(1, 16),
    faster=st.floats(1.0, 8.0),
)
def test_more_of_the_same_takes_longer_and_bandwidth_never_does(
    trips: int, more: int, resident: int, faster: float
) -> None:
    once: list[PtxOperation | None] = [ADD, MUL, ACCESS]
    few = run(stream(once * trips, 24 * resident, resident))
    many = run(stream(once * (trips + more), 24 * resident, resident))
    assert few.time_s <= many.time_s
    blocks = run(stream(once * trips, 24 * resident + more, resident))
    assert few.time_s <= blocks.time_s
    dram = replace(DEVICE.dram, bandwidth_bytes_per_s=DEVICE.dram.bandwidth_bytes_per_s * faster)
    quick = run(stream(once * trips, 24 * resident, resident), replace(DEVICE, dram=dram))
    assert quick.time_s <= few.time_s * (1 + 1e-12)
