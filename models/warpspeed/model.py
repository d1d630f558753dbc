"""Model `warpspeed`: Ernst, Holzer, Hager, Knorr, Wellein 2022, section 2: the slowest of four.

Roofline with two further limiters: floating-point operations, DRAM, L2 to L1, and L1 to registers,
the last in cycles rather than bytes. Volumes come from address expressions, or from a profile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kernelcast.errors import ModelNotApplicable
from kernelcast.models.estimate import Combine, Estimate, Parameter, Term
from kernelcast.models.model import (
    ModelOptions,
    Recording,
    declared,
    dominant_work_type,
    launch_validity,
)
from kernelcast.models.tensor_work import refuse_tensor_work
from kernelcast.models.warpspeed.volumes.volumes import Volumes
from kernelcast.models.warpspeed.volumes.wavefronts import RequestRules
from kernelcast.models.warpspeed.warpspeed_facts import WARPSPEED
from kernelcast.simcore.address.kernel import AddressKernel
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.profile import KernelProfile, LaunchValidity, WorkType
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline
from kernelcast.units import format_seconds

__all__ = ["NAME", "warpspeed", "warpspeed_estimate"]

NAME = "warpspeed"
_BASIS = (
    "the slowest limiter alone is a lower bound: the paper's predictions are faster than what it "
    "measured; the upper end adds all limiters, as if they never overlapped"
)
_OVERLAP = "the four limiters overlap completely and each runs at its highest sustained rate"
_CELL_VOLUMES = (
    ("V_L2L1_comp", "l2_load_compulsory_bytes", "L2 to L1, distinct sectors of thread blocks"),
    ("V_L2L1_cap", "l2_load_capacity_bytes", "L2 to L1, capacity misses of L1"),
    ("V_L1L2", "l2_store_bytes", "L1 to L2, stores"),
    ("V_DRAM_comp", "dram_compulsory_bytes", "DRAM, touched for the first time"),
    ("V_over_y", "y_layer_overlap_bytes", "shared with the y layer before a wave"),
    ("V_over_z", "z_layer_overlap_bytes", "shared with the z layer before a wave"),
    ("V_miss_y", "y_layer_miss_bytes", "DRAM, of those in y that L2 lost"),
    ("V_miss_z", "z_layer_miss_bytes", "DRAM, of those in z that L2 lost"),
    ("V_miss_wave", "wave_miss_bytes", "DRAM, of what a wave itself uses again"),
    ("V_fill", "partial_store_fill_bytes", "DRAM, read to complete partly written sectors"),
    ("V_store", "dram_store_bytes", "DRAM, written back"),
)


@dataclass(frozen=True, slots=True)
class _Limiter:
    """`amount` of one launch over `rate` a second; None where the amount is not known."""

    symbol: str
    name: str
    unit: str
    amount: float | None
    rate: float
    source: str


@dataclass(frozen=True, slots=True)
class _Told:
    """What an estimate says beside its terms; `validity` of a time."""

    repeats: int
    assumptions: tuple[str, ...]
    validity: Callable[[float], LaunchValidity]


def warpspeed_estimate(volumes: Volumes, kernel: AddressKernel, device: Device) -> Estimate:
    """The estimate from address expressions; ModelNotApplicable for devices without [timing]."""
    work = WorkType.FP64 if kernel.is_double else WorkType.FP32
    limiters = _limiters(
        device,
        (kernel.flops * kernel.cells, work),
        volumes.dram_bytes,
        volumes.l2_bytes,
        volumes.l1_cycles,
    )
    parameters = (
        Parameter("Lup", volumes.work, "", "units of work"),
        *(
            Parameter(symbol, volumes.per_work(name), "B", f"{meaning}, a unit of work")
            for symbol, name, meaning in _CELL_VOLUMES
        ),
        Parameter("O_L1", volumes.l1_oversubscription, "", "oversubscription of L1, equation 4"),
        Parameter("O_wave", volumes.wave_oversubscription, "", "of L2 by a wave"),
        Parameter("O_y", volumes.y_layer_oversubscription, "", "of L2 by the y layer"),
        Parameter("O_z", volumes.z_layer_oversubscription, "", "of L2 by the z layer"),
        Parameter("wave", "x".join(map(str, volumes.wave_cells)), "", "cells that a wave spans"),
    )
    assumptions = (
        _OVERLAP,
        "thread blocks run in waves in x-y-z order and share nothing in L1",
        *(
            ()
            if kernel.registers
            else ("registers do not limit occupancy: their number is unknown",)
        ),
    )
    x, y, z = kernel.grid
    enough = kernel.threads_per_thread_block >= 64, x * y * z >= 90
    told = _Told(1, assumptions, lambda time_s: LaunchValidity(*enough, time_s >= 0.5e-3))
    return _estimate(kernel.name, device, limiters, 1.0, parameters, told)


@declared(needs={Recording.PATHS}, sections=(WARPSPEED,))
def warpspeed(profile: KernelProfile, device: Device, options: ModelOptions) -> Estimate:
    """The estimate from volumes that were simulated or measured.

    The limiters are those of addresses. Passes of L1 are those of the paths of warps; without them
    the sectors that warps ask for fill lines. ModelNotApplicable for a profile without traffic of
    L2, and for devices without [timing].
    """
    traffic = profile.traffic
    refuse_tensor_work(profile, NAME)
    work = options.work_type or dominant_work_type(profile)
    if traffic.l2_read_sectors is None:
        raise ModelNotApplicable(
            f"{NAME} needs the traffic between L2 and L1, which the profile of {profile.kernel} "
            "does not have"
        )
    limiters = _limiters(
        device,
        (profile.instructions.flops(work), work),
        traffic.dram_bytes,
        traffic.known_l2_bytes,
        _l1_cycles(profile, device),
    )
    factor = options.utilization or 1.0
    assumptions = (
        _OVERLAP,
        "passes of L1 as the timed warps need, else as many as the sectors that warps ask for fill"
        if limiters[2].amount is not None
        else "no limiter of L1: the profile does not count what warps ask for",
        *profile.assumptions,
    )
    told = _Told(profile.repeats, assumptions, lambda time_s: launch_validity(profile, time_s))
    return _estimate(profile.kernel, device, limiters, profile.repeats * factor, (), told)


def _limiters(
    device: Device,
    work: tuple[float, WorkType],
    dram_bytes: float,
    l2_bytes: float,
    l1_cycles: float | None,
) -> tuple[_Limiter, ...]:
    """DRAM, L2, L1, floating point, each with the highest rate that it sustains."""
    timing = device.timing
    if timing is None:
        raise ModelNotApplicable(f"{device.title} has no section [timing] in its device file")
    amount, kind = work
    peak = device.peak
    rate = peak.fp64_flops_per_s if kind is WorkType.FP64 else peak.fp32_flops_per_s
    if amount and not rate:
        raise ModelNotApplicable(f"{device.title} has no {kind.value} operations")
    if device.measured is None:
        dram = device.dram.bandwidth_bytes_per_s * timing.dram_efficiency
        source = "attainable bandwidth"
    else:
        dram, source = device.measured.dram_bandwidth_bytes_per_s, "measured bandwidth"
    cycles = device.architecture.sm_count * device.architecture.clock_hz
    return (
        _Limiter("DRAM", "DRAM bandwidth", "B", dram_bytes, dram, source),
        _Limiter(
            "L2", "L2 bandwidth", "B", l2_bytes, timing.l2_bandwidth_bytes_per_s, "rate of [timing]"
        ),
        _Limiter("L1", "L1 throughput", "cycles", l1_cycles, cycles, "cycles of all SMs"),
        _Limiter(kind.value, f"{kind.value} peak", "flop", amount, rate, "theoretical peak"),
    )


def _l1_cycles(profile: KernelProfile, device: Device) -> float | None:
    """L1 cycles of all global requests: as timed warps need, else by their sectors."""
    traffic = profile.traffic
    if traffic.global_load_requests is None or traffic.global_load_sectors is None:
        return None
    rules = RequestRules.of(device, device.section(WARPSPEED))
    requests = traffic.global_load_requests + (traffic.global_store_requests or 0.0)
    timed = profile.derived(timed_warps)
    if timed is not None:
        pc = timed.paths.pc
        chosen = np.array([item is Pipeline.GLOBAL for item in timed.pipeline])[pc]
        if chosen.any():
            moved_bytes = timed.paths.lanes * timed.levels.bytes_per_lane[pc]
            cycles = rules.cycles(timed.wavefronts[chosen], moved_bytes[chosen])
            return requests * float(cycles.mean())
    sectors = traffic.global_load_sectors + (traffic.global_store_sectors or 0.0)
    moved = np.array(sectors * traffic.sector_bytes)
    return float(rules.cycles(np.maximum(requests, moved / rules.line_bytes), moved))


def _estimate(
    kernel: str,
    device: Device,
    limiters: Sequence[_Limiter],
    factor: float,
    parameters: tuple[Parameter, ...],
    told: _Told,
) -> Estimate:
    """The maximum over `limiters`, times `factor`."""
    terms = tuple(
        Term(
            limiter.name,
            f"{limiter.symbol} {limiter.unit} / {limiter.source}",
            leaf_seconds=factor * limiter.amount / limiter.rate,
        )
        for limiter in limiters
        if limiter.amount is not None and limiter.rate
    )
    whole = Term("kernel", "max(limiters)", Combine.MAX, parts=terms)
    if not whole.seconds:
        raise ModelNotApplicable(f"kernel {kernel} neither moves data nor computes")
    shares = ", ".join(f"{term.name} {format_seconds(term.seconds)}" for term in terms)
    return Estimate(
        kernel=kernel,
        device=device.name,
        model=NAME,
        terms=whole,
        bottleneck=whole.bottleneck.name,
        time_low_s=whole.seconds,
        time_high_s=sum(term.seconds for term in terms),
        basis=_BASIS,
        repeats=told.repeats,
        parameters=(*parameters, *_amounts(limiters)),
        causes=(f"each limiter alone takes: {shares}",),
        assumptions=told.assumptions,
        validity=told.validity(whole.seconds),
    )


def _amounts(limiters: Sequence[_Limiter]) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(f"W_{limiter.symbol}", limiter.amount, limiter.unit, f"{limiter.name}, a launch")
        for limiter in limiters
        if limiter.amount is not None
    )
