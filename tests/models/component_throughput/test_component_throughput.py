"""Zhang and Owens' model on stages made by hand: serial and overlapping, causes, variants."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelcast.errors import ModelNotApplicable
from kernelcast.models import ModelOptions, get_model, variants
from kernelcast.models.component_throughput.model import component_throughput
from kernelcast.models.component_throughput.stage_profile import StageProfile
from kernelcast.models.component_throughput.stages_from_trace import stage_profiles
from kernelcast.models.component_throughput.times import Component
from kernelcast.models.estimate import Estimate
from kernelcast.simcore.device.file import known_devices, load_device
from kernelcast.simcore.profile.derived import DerivedInputs
from kernelcast.simcore.profile.profile import (
    InstructionCounts,
    KernelProfile,
    LaunchShape,
    MemoryTraffic,
    Occupancy,
    OccupancyLimiter,
    SharedMemoryUse,
)

DEVICE = load_device("gtx-285")
ISSUES = 9.33e6
"""A millisecond of type II at 32 warps."""
IDLE = StageProfile(
    instructions=(0.0, 0.0, 0.0, 0.0),
    computations=0.0,
    folded_loads=0.0,
    active_warps=8.0,
    shared_requests=0.0,
    shared_wavefronts=0.0,
    ideal_shared_wavefronts=0.0,
    whole_shared_wavefronts=0.0,
    shared_warps=8.0,
    global_transactions=0.0,
    global_bytes=0.0,
    l2_bytes=0.0,
    requested_bytes=0.0,
)
COMPUTE = replace(IDLE, instructions=(0.0, ISSUES, 0.0, 0.0), computations=0.8 * ISSUES)
SHARE = replace(
    IDLE,
    instructions=(0.0, ISSUES / 10, 0.0, 0.0),
    computations=ISSUES / 20,
    shared_requests=ISSUES / 10,
    shared_wavefronts=4 * ISSUES,
    ideal_shared_wavefronts=ISSUES / 5,
    whole_shared_wavefronts=8 * ISSUES,
)
MOVE = replace(
    IDLE,
    instructions=(0.0, ISSUES / 10, 0.0, 0.0),
    global_transactions=1e7,
    global_bytes=3.2e8,
    requested_bytes=4e7,
)


def profile(*stages: StageProfile, resident: int = 1, thread_blocks: int = 3000) -> KernelProfile:
    """Thread blocks of 256 threads; the counts of the launch are of no interest with stages."""
    return KernelProfile(
        kernel="k",
        device="gtx-285",
        origin="by hand",
        instructions=InstructionCounts(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, warp_instructions=1.0),
        traffic=MemoryTraffic(0.0, 0.0),
        launch=LaunchShape((thread_blocks, 1, 1), (256, 1, 1)),
        occupancy=Occupancy(
            thread_blocks_per_sm=resident,
            warps_per_sm=8 * resident,
            fraction=resident / 4,
            limiter=OccupancyLimiter.SHARED_MEMORY,
            limits=(),
            registers_per_thread=16,
            registers_assumed=False,
            waves=1.0,
        ),
        inputs=DerivedInputs(given={stage_profiles: stages}),
    )


def run(found: KernelProfile, variant: str | None = None, device: str = "gtx-285") -> Estimate:
    return component_throughput(found, load_device(device), ModelOptions(variant=variant))


def test_one_thread_block_has_its_stages_one_after_the_other() -> None:
    together = run(profile(MOVE, COMPUTE, SHARE))
    each = [run(profile(stage)) for stage in (MOVE, COMPUTE, SHARE)]
    assert together.time_s == pytest.approx(sum(item.time_s for item in each))
    assert [item.bottleneck for item in each] == [
        "global memory",
        "instruction pipeline",
        "shared memory",
    ]


def test_several_thread_blocks_overlap_their_stages() -> None:
    found = run(profile(MOVE, COMPUTE, SHARE, resident=4))
    parts = {part.name: part.seconds for part in found.terms.parts}
    assert found.time_s == pytest.approx(max(parts.values()))
    assert found.time_high_s == pytest.approx(sum(parts.values()))
    assert set(parts) == {component.value for component in Component}


def test_instructions_take_their_count_over_the_throughput() -> None:
    found = run(profile(COMPUTE, resident=4))
    assert found.time_s == pytest.approx(1e-3, rel=0.01)
    typed = replace(COMPUTE, instructions=(ISSUES, ISSUES, ISSUES, ISSUES))
    expected = 1e-3 * (8 / 10 + 1 + 8 / 4 + 8 / 1)
    assert run(profile(typed, resident=4)).time_s == pytest.approx(expected, rel=0.05)


def test_shared_memory_takes_its_wavefronts_over_the_bandwidth() -> None:
    """64 bytes each, 16 banks of 4, at 1165 GB/s with 32 warps."""
    found = run(profile(SHARE, resident=4))
    assert found.time_s == pytest.approx(4 * ISSUES * 64 / 1165e9, rel=0.01)


def test_the_variant_takes_warps_as_whole() -> None:
    usual, paper = (run(profile(SHARE), variant) for variant in (None, "paper"))
    assert paper.time_s == pytest.approx(2 * usual.time_s)
    assert variants("component-throughput") == ("paper",)
    with pytest.raises(ModelNotApplicable, match="did you mean paper"):
        run(profile(SHARE), "papers")
    with pytest.raises(ModelNotApplicable, match="needs barrier stages"):
        run(replace(profile(), instructions=replace(profile().instructions)), "paper")


def test_idle_sms_lengthen_what_is_done_in_sms() -> None:
    """31 thread blocks on 30 SMs: two rounds for the work of little more than one."""
    even = run(profile(COMPUTE, thread_blocks=60)).time_s
    assert run(profile(COMPUTE, thread_blocks=31)).time_s == pytest.approx(even * 60 / 31)


@pytest.mark.parametrize(
    ("stage", "resident", "causes"),
    [
        (replace(COMPUTE, computations=0.1 * ISSUES), 4, ("low computational density",)),
        (replace(COMPUTE, instructions=(0.0, ISSUES, ISSUES, 0.0)), 4, ("expensive",)),
        (replace(COMPUTE, active_warps=2.0), 1, ("too few warps",)),
        (SHARE, 4, ("bank conflicts", "traffic of bookkeeping")),
        (replace(SHARE, shared_warps=1.0), 1, ("too few warps",)),
        (MOVE, 4, ("uncoalesced accesses", "large granularity")),
    ],
)
def test_causes_have_their_evidence(
    stage: StageProfile, resident: int, causes: tuple[str, ...]
) -> None:
    found = run(profile(stage, resident=resident))
    for cause in causes:
        assert any(cause in line and ": " in line for line in found.causes), found.causes
    assert found.advice


def test_little_traffic_lacks_parallelism() -> None:
    few = replace(IDLE, global_bytes=1e4, global_transactions=300, requested_bytes=1e4)
    assert any("too little parallelism" in line for line in run(profile(few)).causes)


def test_a_sound_kernel_has_no_cause_but_its_work() -> None:
    found = run(profile(COMPUTE, resident=4))
    assert len(found.causes) == 1
    assert not found.advice


def test_the_next_bottleneck_and_the_gain() -> None:
    both = replace(
        SHARE,
        instructions=(0.0, ISSUES, 0.0, 0.0),
        shared_wavefronts=40 * ISSUES,
    )
    found = run(profile(both, resident=4))
    alone = run(profile(COMPUTE, resident=4))
    gain = found.time_s / alone.time_s
    assert f"instruction pipeline would be next and the launch {gain:.2f} times" in found.causes[0]


def test_many_stages_are_told_by_runs_of_one_bottleneck() -> None:
    found = run(profile(*[MOVE] * 20, *[COMPUTE] * 30))
    assert [part.name for part in found.terms.parts] == ["stage 0 to 19", "stage 20 to 49"]
    assert found.time_s == pytest.approx(20 * run(profile(MOVE)).time_s + 30e-3, rel=0.08)


def test_a_profilers_counts_are_one_stage() -> None:
    counts = InstructionCounts(
        fma32=0.0,
        fma64=0.0,
        fp32=32e6,
        fp64=32e5,
        integer=0.0,
        load_store=0.0,
        warp_instructions=2e6,
        special_function=32e4,
    )
    measured = replace(
        profile(resident=4),
        instructions=counts,
        traffic=MemoryTraffic(1e5, 1e5),
        shared=SharedMemoryUse(1e5, 2e5, 1e5, 1e5, ideal_wavefronts=2e5),
    )
    found = run(measured)
    assert [found[f"N_{kind}"] for kind in ("II", "III", "IV")] == [1.89e6, 1e4, 1e5]
    assert any("does not tell barrier stages apart" in line for line in found.assumptions)


def test_what_the_model_needs() -> None:
    with pytest.raises(ModelNotApplicable, match="needs grid"):
        run(replace(profile(COMPUTE), occupancy=None))
    with pytest.raises(ModelNotApplicable, match="executes nothing"):
        run(profile(IDLE))


@pytest.mark.parametrize("name", known_devices())
def test_every_device_has_finite_times(name: str) -> None:
    for stages in ((MOVE,), (COMPUTE, SHARE, MOVE), (SHARE, replace(COMPUTE, active_warps=1.0))):
        for resident in (1, 4):
            found = run(profile(*stages, resident=resident), device=name)
            assert 0 < found.time_s <= found.time_high_s < math.inf
            assert all(math.isfinite(float(item.value)) for item in found.parameters)


@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(["shared_wavefronts", "global_bytes", "l2_bytes"]),
    st.floats(1.0, 1e9),
    st.sampled_from([1, 4]),
)
def test_more_work_never_takes_less_time(name: str, more: float, resident: int) -> None:
    changes = {name: getattr(SHARE, name) + more}
    longer = replace(SHARE, **changes)
    stages = (MOVE, COMPUTE)
    usual = run(profile(*stages, SHARE, resident=resident)).time_s
    assert run(profile(*stages, longer, resident=resident)).time_s >= usual * (1 - 1e-12)


def test_more_bandwidth_never_takes_more_time() -> None:
    assert DEVICE.measured is not None
    faster = replace(DEVICE, measured=replace(DEVICE.measured, dram_bandwidth_bytes_per_s=1.59e11))
    model = get_model("component-throughput")
    found = profile(MOVE)
    assert model(found, faster, ModelOptions()).time_s < model(found, DEVICE, ModelOptions()).time_s


def test_a_second_thread_block_never_shortens_the_launch() -> None:
    """The stages of one thread block follow each other, whatever others overlap with them."""
    few = run(profile(MOVE, COMPUTE, SHARE, thread_blocks=30)).time_s
    doubled = [
        replace(
            stage,
            instructions=(0.0, 2 * stage.instructions[1], 0.0, 0.0),
            shared_wavefronts=2 * stage.shared_wavefronts,
            global_bytes=2 * stage.global_bytes,
        )
        for stage in (MOVE, COMPUTE, SHARE)
    ]
    assert run(profile(*doubled, thread_blocks=60, resident=2)).time_s >= few * (1 - 1e-12)
