"""The ceilings of the hierarchical roofline: what a kernel asks of each, and how fast it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kernelcast.simcore.device import Device
from kernelcast.simcore.profile import InstructionCounts, KernelProfile, SharedMemoryUse, WorkType

__all__ = ["Ceiling", "arithmetic_ceilings", "bandwidth_ceilings", "flops", "unknown_ceilings"]

_SPECIAL = "special_function_throughput_ops_per_s"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """`work` of one launch, bytes or operations; `rate` of them per second; `source` of the rate.

    `symbol` begins the names of the model's parameters. `work` is None where the profile cannot
    tell it, `rate` where nobody knows it.
    """

    symbol: str
    name: str
    unit: str
    work: float | None
    rate: float | None
    source: str

    @property
    def seconds(self) -> float | None:
        """Of one launch; None when either part is unknown."""
        if self.work is None or not self.rate:
            return None
        return self.work / self.rate


def bandwidth_ceilings(profile: KernelProfile, device: Device) -> Iterator[Ceiling]:
    """From the memory to the SM. Traffic is counted as Yang, Kurth and Williams do (2020): DRAM and
    L2 by transactions, L1 by the sectors of loads and stores, shared memory by wavefronts."""
    traffic, size = profile.traffic, profile.traffic.sector_bytes
    peak = device.dram.bandwidth_bytes_per_s
    yield Ceiling("DRAM", "DRAM bandwidth", "B", traffic.dram_bytes, peak, "theoretical rate")
    l2_bytes = _bytes(size, traffic.l2_read_sectors, traffic.l2_write_sectors)
    yield Ceiling("L2", "L2 bandwidth", "B", l2_bytes, *_l2_rate(device))
    if device.l1 is not None:
        l1_bytes = _bytes(size, traffic.l1_read_sectors, traffic.global_store_sectors)
        yield Ceiling("L1", "L1 bandwidth", "B", l1_bytes, *_l1_rate(device))
    shared_bytes = _shared_bytes(profile.shared, device)
    yield Ceiling("shared", "shared memory bandwidth", "B", shared_bytes, *_shared_rate(device))


def arithmetic_ceilings(profile: KernelProfile, device: Device) -> Iterator[Ceiling]:
    """Floating-point operations of each precision, and special functions."""
    for work_type, peak in (
        (WorkType.FP32, device.peak.fp32_flops_per_s),
        (WorkType.FP64, device.peak.fp64_flops_per_s),
    ):
        kind = work_type.value
        reached = device.ceilings.get(f"work_item_{kind}_multiply_add_throughput_ops_per_s")
        source = "theoretical rate" if reached is None else "rate of plain work-items"
        work = flops(profile.instructions, work_type)
        yield Ceiling(kind, f"{kind} floating-point peak", "flop", work, reached or peak, source)
    work_of_functions = profile.instructions.special_function
    yield Ceiling("SFU", "special functions", "op", work_of_functions, *_special_rate(device))


def unknown_ceilings(ceilings: tuple[Ceiling, ...]) -> Iterator[str]:
    """A sentence for each ceiling that the model has to leave out."""
    for ceiling in ceilings:
        if ceiling.work is None:
            yield f"no ceiling of {ceiling.name}: the profile does not count what it serves"
        elif ceiling.work and not ceiling.rate:
            yield f"no ceiling of {ceiling.name}: nobody measured it on this device"


def flops(counts: InstructionCounts, work_type: WorkType) -> float:
    """Floating-point operations of that precision in one launch; a multiply-add is two."""
    match work_type:
        case WorkType.FP64:
            return counts.fp64 + counts.fma64
        case WorkType.FP32:
            return counts.fp32 + counts.fma32
        case WorkType.INT:
            return 0.0


def _bytes(sector_bytes: int, *sectors: float | None) -> float | None:
    known = [count for count in sectors if count is not None]
    return sector_bytes * sum(known) if len(known) == len(sectors) else None


def _shared_bytes(use: SharedMemoryUse | None, device: Device) -> float | None:
    """A request moves a word for each lane at first, then all banks in each further wavefront."""
    if use is None:
        return None
    shared, requests = device.shared, use.load_requests + use.store_requests
    further = use.load_wavefronts + use.store_wavefronts - requests
    lanes = min(shared.banks, device.architecture.warp_width)
    return (requests * lanes + further * shared.banks) * shared.bank_bytes


def _l2_rate(device: Device) -> tuple[float | None, str]:
    observed = _observed(device, "l2_read_bandwidth_bytes_per_s")
    if observed is None and device.timing is not None:
        return device.timing.l2_bandwidth_bytes_per_s, "rate of [timing]"
    return observed, "highest measured rate"


def _l1_rate(device: Device) -> tuple[float | None, str]:
    observed = _observed(device, "l1_read_bandwidth_bytes_per_s")
    if observed is None and device.timing is not None:
        return device.timing.l1_wavefront_bytes * _sm_clocks(device), "rate of [timing]"
    return observed, "highest measured rate"


def _shared_rate(device: Device) -> tuple[float, str]:
    observed = _observed(device, "shared_bandwidth_bytes_per_s")
    if observed is None:
        shared = device.shared
        return shared.banks * shared.bank_bytes * _sm_clocks(device), "theoretical rate"
    return observed, "highest measured rate"


def _special_rate(device: Device) -> tuple[float | None, str]:
    observed = device.ceilings.get(_SPECIAL)
    if observed is None and device.timing is not None:
        return device.timing.special_function.lanes * _sm_clocks(device), "rate of [timing]"
    return observed, "measured rate of fp32"


def _observed(device: Device, quantity: str) -> float | None:
    """What work-items of plain source reach where a processor's file tells it, else the best."""
    return device.ceilings.get(f"work_item_{quantity}", device.ceilings.get(quantity))


def _sm_clocks(device: Device) -> float:
    """Cycles of all SMs in a second."""
    return device.architecture.sm_count * device.running_clock_hz
