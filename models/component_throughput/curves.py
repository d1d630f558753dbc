"""Throughput of an SM's components over its warps, and of global memory over the launch.

From the curves of a device file where it has them (Zhang and Owens, section 4); elsewhere one warp
has one instruction and one access of shared memory under way, until the units are busy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kernelcast.errors import ModelNotApplicable
from kernelcast.models.component_throughput.component_facts import COMPONENTS
from kernelcast.models.component_throughput.saturation import Saturation, saturation_of
from kernelcast.models.component_throughput.stage_profile import InstructionType
from kernelcast.simcore.device.device import Device, MeasuredCurve

__all__ = [
    "INSTRUCTION_CURVE",
    "SHARED_CURVE",
    "WORD_BYTES",
    "GlobalBandwidth",
    "ThroughputOverWarps",
    "global_bandwidth",
    "instruction_throughput",
    "lanes",
    "shared_bandwidth",
    "wavefront_bytes",
]

INSTRUCTION_CURVE = "fp32_multiply_add_throughput_over_warps"
SHARED_CURVE = "local_bandwidth_over_warps"
"""Names of curves as `kernelcast bench` writes them."""
_OPERATIONS = 2
_SHARP = 64.0
WORD_BYTES = 4
_USUAL_STAGES = 6
"""Stages of the pipeline of type II, where no latency is known (Zhang and Owens, 4.1)."""
_ONE_ACCESS_BYTES = 1.0


@dataclass(frozen=True, slots=True)
class ThroughputOverWarps:
    """Throughput of all SMs, each with `warps` at work: instructions or bytes per second.

    Each warp adds `warp_rate` at most. `basis` says where the curve comes from.
    """

    saturation: Saturation
    basis: str
    warp_rate: float = math.inf

    def at(self, warps: float) -> float:
        """The throughput with that many warps on each SM."""
        return min(self.saturation.at(float(warps)), warps * self.warp_rate)

    @property
    def ceiling(self) -> float:
        """The throughput with warps enough."""
        return self.saturation.ceiling


def lanes(device: Device, kind: InstructionType) -> float:
    """Functional units of an SM for one type of instruction, in threads a cycle."""
    facts, timing = device.section(COMPONENTS), device.timing
    match kind:
        case InstructionType.I:
            return float(facts.type_1_lanes if facts else device.sm.fp32_lanes)
        case InstructionType.II:
            return float(facts.type_2_lanes if facts else device.sm.fp32_lanes)
        case InstructionType.III:
            if facts:
                return float(facts.type_3_lanes)
            special = timing.special_function.lanes if timing else device.sm.fp32_lanes / 2
            return min(special, float(device.sm.fp32_lanes))
        case InstructionType.IV:
            return float(facts.type_4_lanes if facts else device.sm.fp64_lanes)


def instruction_throughput(device: Device, kind: InstructionType) -> ThroughputOverWarps:
    """Warp instructions per second; ModelNotApplicable for a type that the device cannot run.

    Of a curve for type II: one warp issues as fast whatever the type, in proportion below the
    first point, where the pipeline is full for the first time (section 4.1), and the ceilings are
    in the ratio of the functional units.
    """
    units = lanes(device, kind)
    if not units:
        raise ModelNotApplicable(
            f"{device.name} has no units for instructions of type {kind.value}"
        )
    curve = device.curves.get(INSTRUCTION_CURVE)
    if curve is None:
        warp_rate = device.sm_cycles_per_s / _latency_cycles(device, kind)
        ceiling = min(units / device.architecture.warp_width, _issue_rate(device))
        return ThroughputOverWarps(
            Saturation(warp_rate, ceiling * device.sm_cycles_per_s, _SHARP, 0.0),
            "one instruction of a warp at a time, until all functional units are busy (assumed)",
        )
    base = _fitted(curve, _OPERATIONS * device.architecture.warp_width)
    first = next(x for x, y in zip(curve.x, curve.y, strict=True) if x > 0 and y > 0)
    warp_rate = base.at(first) / first
    share = units / lanes(device, InstructionType.II)
    scaled = Saturation(base.slope, base.ceiling * share, base.sharpness, base.residual)
    return ThroughputOverWarps(scaled, curve.provenance.reference, warp_rate)


def shared_bandwidth(device: Device) -> ThroughputOverWarps:
    """Bytes per second, `wavefront_bytes` for each wavefront."""
    curve = device.curves.get(SHARED_CURVE)
    if curve is not None:
        return ThroughputOverWarps(_fitted(curve), curve.provenance.reference)
    peak = device.sm_cycles_per_s * wavefront_bytes(device)
    if device.measured is not None:
        peak = device.measured.load_store_ops_per_s * WORD_BYTES
    request_bytes = device.architecture.warp_width * WORD_BYTES
    slope = peak / _USUAL_STAGES
    if device.timing is not None:
        latency = device.timing.shared_latency_cycles
        slope = request_bytes * device.sm_cycles_per_s / latency
    return ThroughputOverWarps(
        Saturation(slope, peak, _SHARP, 0.0),
        "one access of a warp at a time, until all banks are busy (assumed)",
    )


def wavefront_bytes(device: Device) -> float:
    """Bytes of a wavefront of 32-bit words, as bandwidths count: one of each bank, or lane."""
    return float(min(device.shared.banks, device.architecture.warp_width) * WORD_BYTES)


def global_bandwidth(device: Device) -> GlobalBandwidth:
    """The synthetic benchmark of section 4.3, in accesses of one byte.

    The clusters are SMs that share a way to memory, all of them where that is not known.
    """
    sms = device.architecture.sm_count
    facts = device.section(COMPONENTS)
    together = facts.sms_per_memory_pipeline if facts else sms
    latency_s, peak = 0.0, device.dram.bandwidth_bytes_per_s
    if device.timing is not None:
        latency_s = device.seconds(device.timing.dram_latency_cycles)
        peak *= device.timing.dram_efficiency
    if device.measured is not None:
        peak = device.measured.dram_bandwidth_bytes_per_s
    clusters = -(-sms // together)
    return GlobalBandwidth(clusters, latency_s, peak, _ONE_ACCESS_BYTES)


def _fitted(curve: MeasuredCurve, divisor: float = 1.0) -> Saturation:
    """A saturation fitted to the points above 0; ModelNotApplicable for fewer than two."""
    points = [(x, y / divisor) for x, y in zip(curve.x, curve.y, strict=True) if x > 0 and y > 0]
    if len(points) < 2:
        raise ModelNotApplicable(f"a curve over warps needs two points above 0: {curve.y_name}")
    xs, ys = zip(*points, strict=True)
    return saturation_of(xs, ys)


def _issue_rate(device: Device) -> float:
    """Warp instructions of an SM and cycle that its schedulers can issue."""
    if device.timing is None:
        return float(device.sm.warp_schedulers)
    timing = device.timing
    return device.sm.warp_schedulers * timing.issues_per_scheduler / timing.issue_cycles


def _latency_cycles(device: Device, kind: InstructionType) -> float:
    timing = device.timing
    if timing is None:
        cycles = device.architecture.warp_width / lanes(device, InstructionType.II)
        return _USUAL_STAGES * cycles
    pipeline = {
        InstructionType.I: timing.fp32,
        InstructionType.II: timing.fp32,
        InstructionType.III: timing.special_function,
        InstructionType.IV: timing.fp64,
    }[kind]
    return pipeline.latency_cycles


@dataclass(frozen=True, slots=True)
class GlobalBandwidth:
    """Global memory throughput (Zhang and Owens, Figure 3).

    Thread blocks are dealt to `clusters`, each with its share of `peak_bytes_per_s`.

    The time is `latency_s`, which more work hides, plus what the cluster with most thread blocks
    transfers: linear far below the peak, a sawtooth of period `clusters` near it.
    """

    clusters: int
    latency_s: float
    peak_bytes_per_s: float
    access_bytes: float
    residual: float = 0.0

    def bytes_per_s(self, thread_blocks: int, threads: int, transactions: float) -> float:
        """Each of `threads` in each of `thread_blocks` makes `transactions` accesses."""
        per_thread_block = threads * transactions * self.access_bytes
        rounds = -(-thread_blocks // self.clusters)
        busiest = rounds * per_thread_block * self.clusters / self.peak_bytes_per_s
        return thread_blocks * per_thread_block / (self.latency_s + busiest)
