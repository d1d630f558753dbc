"""Small kernels in PTX, executed and timed: their cycles are known on paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.device.timing_facts import PipelineFacts, TimingFacts
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel
from kernelcast.simcore.timing.launch.launch_timing import launch_timing

DEVICES = ("v100-pcie", "gtx-1070", "quadro-rtx-4000", "mi210")
WITHIN, AT_THE_KNEE = 0.05, 0.15

on_all = pytest.mark.parametrize("name", DEVICES)
Buffer = npt.NDArray[np.generic]
START = """
    .reg .pred %p<3>; .reg .b32 %r<60>; .reg .b64 %rd<9>; .reg .f32 %f<40>; .reg .f64 %fd<40>;
    ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x;
"""


def facts(device: Device) -> TimingFacts:
    assert device.timing is not None
    return device.timing


def timed(
    body: str,
    device: Device,
    warps: int = 1,
    thread_blocks: int | None = None,
    buffers: Sequence[Buffer] = (),
    module: str = "",
    shared_bytes: int = 0,
) -> TimedKernel:
    """A launch of so many thread blocks, by default one for each SM; buffers are a, b."""
    text = f"""
        .version 8.0\n.target sm_75\n.address_size 64\n{module}
        .visible .entry k(.param .u64 a, .param .u64 b) {{ {START} {body} END: ret; }}
    """
    spare = [np.zeros(64, np.uint64), np.zeros(64, np.uint64)]
    trace = kc.load_ptx(text)["k"].run(
        grid=thread_blocks or device.architecture.sm_count,
        block=warps * device.architecture.warp_width,
        args=[*buffers, *spare[len(buffers) :]],
        shared_bytes=shared_bytes,
        devices=[device],
        engine="reference",
        record_paths=True,
    )
    found = trace.profile(device).derived(timed_warps)
    assert found is not None
    return found


def cycles(body: str, device: Device, warps: int = 1, **launch: Any) -> int:
    return launch_timing(timed(body, device, warps, **launch), device).cycles


def turn(device: Device, least: float) -> int:
    """Cycles rounded up to the next issue."""
    every = facts(device).issue_cycles
    return math.ceil(math.ceil(least) / every) * every


def unit_cycles(device: Device, unit: PipelineFacts) -> float:
    """Cycles of a warp instruction in the units of a scheduler, or of the SM if they are few."""
    schedulers = device.sm.warp_schedulers
    return device.architecture.warp_width / (
        unit.lanes / schedulers if unit.lanes >= schedulers else unit.lanes
    )


def chain(count: int) -> str:
    return "fma.rn.f32 %f1, %f1, %f2, %f3;" * count


def chain_cycles(device: Device, count: int, warps_of_a_scheduler: int = 1) -> float:
    unit = facts(device).fp32
    busy = warps_of_a_scheduler * max(unit_cycles(device, unit), facts(device).issue_cycles)
    return count * turn(device, max(unit.latency_cycles, busy))


@on_all
def test_dependent_multiply_adds(name: str) -> None:
    device = load_device(name)
    assert cycles(chain(300), device) == pytest.approx(chain_cycles(device, 300), rel=WITHIN)


@on_all
def test_independent_multiply_adds(name: str) -> None:
    device = load_device(name)
    warps = min(4 * device.sm.warp_schedulers, 1024 // device.architecture.warp_width)
    body = "".join(f"fma.rn.f32 %f{i}, %f{i}, %f38, %f39;" for i in range(24)) * 12
    instructions = 24 * 12 * warps
    units = instructions * device.architecture.warp_width / facts(device).fp32.lanes
    slots = device.sm.warp_schedulers * facts(device).issues_per_scheduler
    least = max(units, instructions * facts(device).issue_cycles / slots)
    assert cycles(body, device, warps) == pytest.approx(least, rel=WITHIN)


@on_all
@pytest.mark.parametrize("kept", ["ca", "cg"])
def test_a_pointer_to_itself(name: str, kept: str) -> None:
    """One thread: its first look goes to DRAM, others to the first cache that keeps the line."""
    device, steps = load_device(name), 150
    body = "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; st.global.u64 [%rd1], %rd1;"
    body += f"ld.global.{kept}.u64 %rd1, [%rd1];" * steps
    has_l1 = kept == "ca" and device.l1 is not None and device.l1.caches_global_loads
    latency = getattr(facts(device), f"{'l1' if has_l1 else 'l2'}_latency_cycles")
    expected = math.ceil(facts(device).dram_latency_cycles) + (steps - 1) * math.ceil(latency)
    assert cycles(body, device, thread_blocks=1) == pytest.approx(expected, rel=WITHIN)


@pytest.mark.drawn(12)
@on_all
@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.7, 0.9, 1.1, 1.5, 1.9])
def test_a_streaming_copy_at_every_occupancy(name: str, share: float) -> None:
    """Little's law: each warp has one load on its way, behind its own last store.

    This holds until DRAM has all that it can take.
    """
    device = load_device(name)
    least = device.l2.line_bytes * device.l2.ways * device.l2.partitions
    device = replace(device, l2=replace(device.l2, capacity_bytes=least))  # which keeps no store
    width, trips = device.architecture.warp_width, 24
    attainable = device.dram.bandwidth_bytes_per_s * facts(device).dram_efficiency
    attainable *= facts(device).dram_mixed_efficiency / device.architecture.sm_count
    both = 2 * 4 * width / (attainable / device.running_clock_hz)
    latency = facts(device).dram_latency_cycles
    warps = min(max(1, round(share * latency / both)), 1024 // width)
    pitch = 4 * width * warps
    copies = "".join(
        f"ld.global.cs.u32 %r{5 + i}, [%rd3+{pitch * i}];"
        f"st.global.u32 [%rd4+{pitch * i}], %r{5 + i};"
        for i in range(trips)
    )
    body = f"""
        ld.param.u64 %rd2, [b]; mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd5, %r2, {pitch * trips};
        mul.wide.u32 %rd6, %r1, 4; add.u64 %rd5, %rd5, %rd6;
        add.u64 %rd3, %rd1, %rd5; add.u64 %rd4, %rd2, %rd5; {copies}
    """
    arrays = [np.zeros(pitch * trips // 4 * device.architecture.sm_count, np.uint32)] * 2
    found = cycles(body, device, warps, buffers=[arrays[0], arrays[1].copy()])
    knee = warps * both / latency
    tolerance = AT_THE_KNEE if 0.75 <= knee <= 1.33 else WITHIN
    assert found == pytest.approx(trips * max(latency + both / 2, warps * both), rel=tolerance)


@pytest.mark.drawn(12)
@on_all
@pytest.mark.parametrize("stride", [1, 2, 3, 4, 8, 16, 32])
def test_bank_conflict_strides(name: str, stride: int) -> None:
    """Lanes share a bank by the common divisors of stride and banks."""
    device = load_device(name)
    warps, loads, width = 16, 96, device.architecture.warp_width
    assert device.measured is not None
    words = device.measured.load_store_ops_per_s / (
        device.architecture.sm_count * device.running_clock_hz
    )
    body = f"mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, {4 * stride}, %r2; and.b32 %r3, %r3, 8191;"
    body += "".join(f"ld.shared.u32 %r{8 + i % 48}, [%r3];" for i in range(loads))
    found = cycles(body, device, warps, module=".shared .align 4 .b8 tile[8192];")
    banks = device.shared.banks
    passes = width / banks * math.gcd(stride, banks)
    each = passes * banks / min(banks, round(words))
    assert found == pytest.approx(warps * loads * each, rel=WITHIN)


@on_all
@pytest.mark.parametrize("warps", [2, 8, 16])
def test_barrier_ping_pong(name: str, warps: int) -> None:
    device = load_device(name)
    rounds, issue = -(-warps // device.sm.warp_schedulers), facts(device).issue_cycles
    arrival = (rounds - 1) * issue + facts(device).barrier_latency_cycles
    each = turn(device, max(arrival, rounds * issue))
    assert cycles("bar.sync 0;" * 100, device, warps) == pytest.approx(100 * each, rel=WITHIN)


@on_all
def test_divergent_halves(name: str) -> None:
    """Lanes 0 to 15 of each 32 go one way and the others another: one after the other."""
    device = load_device(name)
    body = f"""
        and.b32 %r2, %r1, 16; setp.ne.u32 %p1, %r2, 0; @%p1 bra OTHER;
        {chain(150)} bra.uni END; OTHER: {chain(150)}
    """
    assert cycles(body, device) == pytest.approx(chain_cycles(device, 300), rel=WITHIN)


@pytest.mark.parametrize("name", ["gtx-1070", "quadro-rtx-4000", "gtx-960"])
def test_double_precision_at_a_32nd_of_the_rate(name: str) -> None:
    device = load_device(name)
    assert device.sm.fp32_lanes == 32 * device.sm.fp64_lanes
    body = "".join(f"fma.rn.f64 %fd{i}, %fd{i}, %fd38, %fd39;" for i in range(8)) * 12
    expected = 8 * 12 * 8 * 32 / facts(device).fp64.lanes
    assert cycles(body, device, 8) == pytest.approx(expected, rel=WITHIN)


@on_all
@pytest.mark.parametrize("words", [1, 2, 8, 32])
def test_constant_serialisation(name: str, words: int) -> None:
    """A pass for each word that the lanes of a warp name."""
    device = load_device(name)
    warps, loads = 16, 96
    body = f"mov.u32 %r2, table; and.b32 %r3, %r1, {words - 1}; mad.lo.u32 %r3, %r3, 4, %r2;"
    body += "".join(f"ld.const.u32 %r{8 + i % 48}, [%r3];" for i in range(loads))
    found = cycles(body, device, warps, module=".const .align 4 .b8 table[128];")
    slots = device.sm.warp_schedulers * facts(device).issues_per_scheduler
    issue = warps * loads * facts(device).issue_cycles / slots
    assert found == pytest.approx(max(warps * loads * words, issue), rel=WITHIN)


@on_all
def test_one_thread_block_alone_takes_as_long_as_one_on_each_sm(name: str) -> None:
    device = load_device(name)
    sms = device.architecture.sm_count
    found = [cycles(chain(300), device, 4, thread_blocks=blocks) for blocks in (1, sms)]
    assert found[0] == found[1]
    assert found[0] == pytest.approx(chain_cycles(device, 300), rel=WITHIN)


@on_all
def test_a_tail_of_one_thread_block_over_a_wave(name: str) -> None:
    """Dependent chains share nothing: the thread block too many takes as long as the wave."""
    device = load_device(name)
    kernel = timed(chain(300), device, 4, shared_bytes=47 << 10)
    full = kernel.thread_blocks_per_sm * device.architecture.sm_count
    wave, more = (
        launch_timing(replace(kernel, thread_blocks=count), device) for count in (full, full + 1)
    )
    alone = chain_cycles(device, 300)
    launch = facts(device).thread_block_launch_cycles
    assert wave.cycles == pytest.approx(alone, rel=WITHIN)
    assert more.cycles == pytest.approx(2 * alone + launch, rel=WITHIN)
    assert more.imbalance_cycles == more.cycles - wave.cycles
