"""What holds for every model and device: more work takes no less time, better hardware no more.

Profiles are made up, of counts alone, or come from a loop that is executed with paths of its warps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import kernelcast as kc
from kernelcast.errors import ModelNotApplicable
from kernelcast.models import MODELS
from kernelcast.simcore.device.changed import changed_device
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import known_devices, load_device
from kernelcast.simcore.device.named_facts import device_facts
from kernelcast.simcore.profile.profile import (
    InstructionCounts,
    KernelProfile,
    LaunchShape,
    MemoryTraffic,
    WorkType,
)
from tests.drawn_cases import ALL_CASES, drawn

_FRAME = """
.version 6.4
.target sm_60
.address_size 64
.visible .entry loop(.param .u64 data, .param .u32 iterations) {{
  .reg .u32 %r<16>;
  .reg .u64 %d<8>;
  .reg .f32 %f<8>;
  .reg .pred %p<2>;
  .shared .align 4 .b8 tile[16384];
  ld.param.u64 %d0, [data];
  ld.param.u32 %r0, [iterations];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %d1, %r4, 4;
  add.u64 %d2, %d0, %d1;
  mul.lo.u32 %r5, %r1, {shared_stride};
  and.b32 %r5, %r5, 4095;
  shl.b32 %r5, %r5, 2;
  mov.u32 %r6, tile;
  add.u32 %r5, %r5, %r6;
  cvt.rn.f32.u32 %f0, %r1;
  mov.f32 %f1, %f0;
  mov.u32 %r7, 0;
again:
  setp.ge.u32 %p0, %r7, %r0;
  @%p0 bra done;
{body}
  add.u32 %r7, %r7, 1;
  bra again;
done:
  ret;
}}
"""
_STREAM = """  ld.global.f32 %f2, [%d2];
  add.f32 %f1, %f1, %f2;
  add.u64 %d2, %d2, {bytes};
"""
_STORE = "  st.global.f32 [%d2], %f1;\n"
_SHARED = "  ld.shared.f32 %f3, [%r5];\n  add.f32 %f1, %f1, %f3;\n"
_FMA = "  fma.rn.f32 %f1, %f1, %f0, %f0;\n"
_BARRIER = "  bar.sync 0;\n"


@dataclass(frozen=True, slots=True)
class LoopKernel:
    """Work of one iteration of each thread; loads stream through memory, the store ends them.

    Threads are `shared_stride` words apart in shared memory.
    """

    arithmetic: int = 4
    loads: int = 0
    stores: int = 0
    shared: int = 0
    shared_stride: int = 1
    barriers: int = 0
    iterations: int = 4
    thread_blocks: int = 60
    threads: int = 128

    @property
    def ptx(self) -> str:
        grid_bytes = 4 * self.thread_blocks * self.threads
        body = _STREAM.format(bytes=grid_bytes) * self.loads + _FMA * self.arithmetic
        body += _SHARED * self.shared + _BARRIER * self.barriers + _STORE * self.stores
        return _FRAME.format(body=body, shared_stride=self.shared_stride)


@cache
def executed(kernel: LoopKernel, warp_width: int = 32) -> kc.KernelTrace:
    """The kernel's trace, with accesses and paths."""
    words = kernel.thread_blocks * kernel.threads * (1 + kernel.iterations * kernel.loads)
    return kc.load_ptx(kernel.ptx)["loop"].run(
        grid=kernel.thread_blocks,
        block=kernel.threads,
        args=[np.zeros(words, np.float32), np.uint32(kernel.iterations)],
        warp_width=warp_width,
        record_paths=True,
    )


DEVICES = st.sampled_from(known_devices())
COUNTS = st.integers(0, 10**10)
FEW = settings(
    max_examples=8 if ALL_CASES else 4,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
"""Each example is executed and simulated several times; to shorten one would take minutes."""
MANY = settings(max_examples=60, deadline=None)
SOME_DEVICES = 12
SENSIBLE_S = 1e-3
"""The longest time that makes sense for a few thousand instructions."""
ROUNDING = 1e-9
"""Sums of floats in another order."""


def times(
    profile: KernelProfile, device: Device, work_type: WorkType | None = None
) -> dict[str, float]:
    """Times by model, of those that apply; the others say why in a line."""
    found, reasons = {}, []
    for model in MODELS:
        try:
            found[model] = kc.estimate(profile, model, device, work_type=work_type).time_s
        except ModelNotApplicable as reason:
            reasons.append(str(reason))
    assert all(math.isfinite(time_s) and time_s > 0 for time_s in found.values())
    assert all(reason and "\n" not in reason for reason in reasons)
    return found


@cache
def loop_times(kernel: LoopKernel, device: Device) -> dict[str, float]:
    return times(executed(kernel, device.architecture.warp_width).profile(device), device)


@st.composite
def counted_profiles(draw: st.DrawFn) -> KernelProfile:
    """Profiles as a profiler's file gives them: no launch, no paths, no stages."""
    fma32, fma64, fp32, fp64, other = (draw(COUNTS) for _ in range(5))
    integer, load_store = draw(COUNTS), draw(COUNTS)
    total = fma32 + fp32 + fma64 + fp64 + integer + load_store + other
    return KernelProfile(
        kernel="made up",
        device="gtx-480",
        origin="made up",
        instructions=InstructionCounts(
            fma32=fma32,
            fma64=fma64,
            fp32=fp32 + fma32,
            fp64=fp64 + fma64,
            integer=integer,
            load_store=load_store,
            warp_instructions=-(-total // 32),
            thread_instructions=total,
        ),
        traffic=MemoryTraffic(draw(COUNTS), draw(COUNTS)),
        launch=LaunchShape((draw(st.integers(1, 10**5)), 1, 1), (32, 1, 1)),
    )


@MANY
@given(counted_profiles(), DEVICES, st.sampled_from((None, *WorkType)), st.data())
def test_more_work_takes_no_less_time_by_counts(
    profile: KernelProfile, name: str, work_type: WorkType | None, data: st.DataObject
) -> None:
    device = load_device(name)
    before = times(profile, device, work_type)
    for model, time_s in times(more_work(profile, data), device, work_type).items():
        assert time_s >= before.get(model, 0.0) * (1 - ROUNDING), model


def more_work(profile: KernelProfile, data: st.DataObject) -> KernelProfile:
    """More of one kind of instructions, or more DRAM traffic."""
    kind = data.draw(st.sampled_from(("fma32", "fma64", "fp32", "fp64", "integer", "load_store")))
    added = data.draw(COUNTS)
    counts, traffic = profile.instructions, profile.traffic
    kinds = {"fma32": ("fma32", "fp32"), "fma64": ("fma64", "fp64")}.get(kind, (kind,))
    assert counts.thread_instructions is not None
    return replace(
        profile,
        instructions=replace(
            counts,
            **{item: getattr(counts, item) + added for item in kinds},
            warp_instructions=counts.warp_instructions + -(-added // 32),
            thread_instructions=counts.thread_instructions + added,
        ),
        traffic=replace(
            traffic, dram_read_transactions=traffic.dram_read_transactions + data.draw(COUNTS)
        ),
    )


CLOCK, DRAM, BANKS = "architecture.clock_hz", "dram.bandwidth_bytes_per_s", "shared.banks"
FASTER = (CLOCK, DRAM, BANKS)
"""Facts of which more is better for any kernel."""
SMS = "architecture.sm_count"
LATENCY = ("timing.dram_latency_cycles", "ptx_costs.access_cycles")


@MANY
@given(counted_profiles(), DEVICES, st.sampled_from((*FASTER, SMS)))
def test_faster_hardware_takes_no_more_time_by_counts(
    profile: KernelProfile, name: str, fact: str
) -> None:
    device = load_device(name)
    before = times(profile, device)
    for model, time_s in times(profile, faster(device, fact)).items():
        assert time_s <= before[model] * (1 + ROUNDING), model


LOOPS = st.builds(
    LoopKernel,
    arithmetic=st.integers(0, 6),
    loads=st.integers(0, 2),
    stores=st.integers(0, 1),
    shared=st.integers(0, 4),
    shared_stride=st.sampled_from((1, 2, 16, 32)),
    barriers=st.integers(0, 2),
    iterations=st.integers(1, 3),
    thread_blocks=st.sampled_from((1, 40, 640)),
    threads=st.sampled_from((32, 96, 256)),
)


@FEW
@given(LOOPS, DEVICES, st.integers(1, 2))
def test_more_of_the_same_work_takes_no_less_time(loop: LoopKernel, name: str, added: int) -> None:
    """More work of one mix takes no less time, from a full wave on.

    The mix must not change because the time of `mpd-cpd` depends on the share of each kind, and
    before a full wave further thread blocks hide latencies.
    """
    device = load_device(name)
    wave = device.architecture.sm_count * (device.sm.max_threads // 256)
    enough = replace(loop, threads=256, thread_blocks=wave)
    for less, more in (
        (loop, replace(loop, iterations=loop.iterations + added)),
        (enough, replace(enough, thread_blocks=2 * enough.thread_blocks)),
    ):
        before = loop_times(less, device)
        for model, time_s in loop_times(more, device).items():
            assert time_s >= before[model] * (1 - ROUNDING), (model, less, more)


def faster(device: Device, *facts: str) -> Device:
    """The device with twice as much of each fact."""
    known = device_facts(device)
    return changed_device(device, {fact: 2 * float(known[fact]) for fact in facts})


def twice_as_fast(device: Device) -> Device:
    """The device, twice as fast in everything but the overhead of a launch.

    The latency of DRAM, most of which does not follow the clock, is kept in cycles.
    """
    known = device_facts(device)
    clocked = {fact: 2 * float(known[fact]) for fact in (CLOCK, DRAM)}
    return changed_device(
        device, {**clocked, **{fact: known[fact] for fact in LATENCY if fact in known}}
    )


def of_whole_warps(loop: LoopKernel, device: Device) -> LoopKernel:
    """The kernel in whole warps.

    A wavefront of part of a warp counts as a whole one in `component-throughput`, so that more
    banks would make it larger.
    """
    width = device.architecture.warp_width
    return replace(loop, threads=-(-loop.threads // width) * width)


GREEDY, IN_STEPS = "interval", "mpd-cpd"
GRAHAM = 2.0
"""Shorter tasks lengthen a greedy schedule by less than this factor (Graham 1969, theorem 1)."""


@FEW
@given(LOOPS, DEVICES, st.sampled_from(FASTER))
def test_faster_hardware_takes_no_more_time(loop: LoopKernel, name: str, fact: str) -> None:
    """Greedy schedulers of several warps have anomalies (docs/deviations.md, TS6).

    A faster clock leaves `mpd-cpd` fewer whole warps whose accesses DRAM serves at a time (equation
    2).
    """
    device = load_device(name)
    whole = of_whole_warps(loop, device)
    after = loop_times(whole, faster(device, fact))
    for model, time_s in loop_times(whole, device).items():
        if (model, fact) != (IN_STEPS, CLOCK):
            most = GRAHAM if model == GREEDY else 1 + ROUNDING
            assert after[model] <= time_s * most, model


@FEW
@given(LOOPS, DEVICES, st.sampled_from(FASTER))
def test_a_warp_alone_takes_no_more_time_on_faster_hardware(
    loop: LoopKernel, name: str, fact: str
) -> None:
    device = load_device(name)
    alone = of_whole_warps(replace(loop, threads=1, thread_blocks=1), device)
    after = loop_times(alone, faster(device, fact))
    for model, time_s in loop_times(alone, device).items():
        assert after[model] <= time_s * (1 + ROUNDING), model


@FEW
@given(LOOPS, DEVICES)
def test_a_faster_clock_of_sms_and_memory_takes_no_more_time(loop: LoopKernel, name: str) -> None:
    """All of it takes as many cycles as before, so that no model has an excuse."""
    device = load_device(name)
    after = loop_times(loop, twice_as_fast(device))
    for model, time_s in loop_times(loop, device).items():
        assert time_s / 2 * (1 - ROUNDING) <= after[model] <= time_s * (1 + ROUNDING), model


@pytest.mark.drawn(3)
@pytest.mark.parametrize(
    "loop",
    [
        LoopKernel(arithmetic=4, threads=32, thread_blocks=1),
        LoopKernel(arithmetic=0, iterations=0, threads=1, thread_blocks=1),
        LoopKernel(arithmetic=0, loads=2, threads=32, thread_blocks=1),
        LoopKernel(arithmetic=0, shared=2, barriers=0),
        LoopKernel(arithmetic=1, barriers=1),
    ],
    ids=["no memory", "nothing at all", "one warp", "no barriers", "barriers only"],
)
def test_limits_are_finite_for_all_models_on_all_devices(loop: LoopKernel) -> None:
    for name in drawn(known_devices(), SOME_DEVICES):
        device = load_device(name)
        profile = executed(loop, device.architecture.warp_width).profile(device)
        for model, time_s in times(profile, device).items():
            assert time_s < SENSIBLE_S, (model, name)


def test_every_model_has_something_to_say_of_an_executed_loop() -> None:
    loop = LoopKernel(arithmetic=2, loads=1, stores=1, shared=1, barriers=1)
    for name in drawn(known_devices(), SOME_DEVICES):
        device = load_device(name)
        missing = {model for model in MODELS if model not in loop_times(loop, device)}
        assert not missing or device.measured is None or device.timing is None, (name, missing)


KERNELS = {
    "arithmetic": LoopKernel(arithmetic=32, iterations=6, thread_blocks=640, threads=256),
    "stream": LoopKernel(arithmetic=1, loads=4, iterations=4, thread_blocks=1280, threads=256),
    "shared": LoopKernel(arithmetic=1, shared=8, barriers=1, thread_blocks=640, threads=256),
}
ELASTICITIES = (
    ("architecture.clock_hz", "arithmetic", 1.2),
    ("architecture.sm_count", "arithmetic", 2.0),
    ("dram.bandwidth_bytes_per_s", "stream", 1.5),
    ("shared.banks", "shared", 2.0),
    ("timing.dram_latency_cycles", "stream", 1 / 1.1),
    ("sm.registers", "arithmetic", 2.0),
    ("l2.capacity_bytes", "stream", 2.0),
)
"""A fact, a kernel that leans on it, and a factor for the better."""
REACT = {
    "architecture.clock_hz": set(MODELS),
    "architecture.sm_count": set(MODELS),
    "dram.bandwidth_bytes_per_s": {"roofline", "quantitative-roofline"},
    "shared.banks": {"interval", "quantitative-roofline"},
}
"""Models whose time must fall."""


@pytest.mark.drawn(2)
@pytest.mark.parametrize("name", ["gtx-285", "gtx-480", "v100-pcie", "mi210"])
def test_elasticities_have_the_right_sign(name: str) -> None:
    device = load_device(name)
    for fact, kernel, factor in ELASTICITIES:
        loop = replace(KERNELS[kernel], shared_stride=device.shared.banks)  # the worst conflicts
        before = loop_times(loop, device)
        made = changed_device(device, {fact: factor * float(device_facts(device)[fact])})
        after = loop_times(loop, made)
        for model in MODELS:
            assert after[model] <= before[model] * (1 + ROUNDING), (fact, model)
            if model in REACT.get(fact, set()):
                assert after[model] < before[model] * 0.999, (fact, model)
