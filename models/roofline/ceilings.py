"""The ceilings of the hierarchical roofline: what a kernel asks of each, and how fast it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from kernelcast.models.tensor_work import tensor_rate
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.profile import (
    KernelProfile,
    SharedMemoryUse,
    WorkType,
)

__all__ = [
    "Ceiling",
    "arithmetic_ceilings",
    "bandwidth_ceilings",
    "gathered_seconds",
    "unknown_ceilings",
]

_SPECIAL = "special_function_throughput_ops_per_s"
_PLAIN = "work_item_"
"""Begins the names of what a processor's plain work-items reach: scalars, as kernels for GPUs."""

_WORD_BYTES = 4
"""Bytes of each access of the copies by which gathers are measured."""

_Rate: TypeAlias = tuple[float | None, str, float | None]
"""A ceiling's rate, the source of it, and the highest rate."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """`work` of one launch, bytes or operations; `rate` of them per second; `source` of the rate.

    `symbol` begins the names of the model's parameters. `work` is None where the profile cannot
    tell it, `rate` where nobody knows it. `highest` is the rate of a processor's explicit vectors
    where `rate` is that of plain work-items.
    """

    symbol: str
    name: str
    unit: str
    work: float | None
    rate: float | None
    source: str
    highest: float | None = None

    @property
    def seconds(self) -> float | None:
        """Seconds of one launch; None when either part is unknown."""
        if self.work is None or not self.rate:
            return None
        return self.work / self.rate

    @property
    def least_seconds(self) -> float | None:
        """Seconds of one launch at the highest rate that anything reaches; None if unknown."""
        if self.work is None or not self.rate:
            return None
        return self.work / max(self.rate, self.highest or 0.0)


def bandwidth_ceilings(profile: KernelProfile, device: Device) -> Iterator[Ceiling]:
    """The ceilings of memory levels, from DRAM to the SM.

    Traffic is counted as Yang, Kurth and Williams do (2020): DRAM and L2 by transactions, of which
    an atomic is one a sector, L1 by the sectors of loads and stores, shared memory by wavefronts.
    """
    traffic, size = profile.traffic, profile.traffic.sector_bytes
    yield Ceiling("DRAM", "DRAM bandwidth", "B", traffic.dram_bytes, *_dram_rate(device))
    yield Ceiling("L2", "L2 bandwidth", "B", traffic.l2_bytes, *_l2_rate(device))
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
        reached = device.ceilings.get(f"{_PLAIN}{kind}_multiply_add_throughput_ops_per_s")
        rates = _plain_or_highest(reached, peak, "theoretical rate")
        work = profile.instructions.flops(work_type)
        yield Ceiling(kind, f"{kind} floating-point peak", "flop", work, *rates)
    if profile.instructions.tensor_operations:
        types = ", ".join(profile.instructions.tensor_operations)
        work, rate = profile.instructions.tensor_total, tensor_rate(profile, device)
        kind = WorkType.TENSOR.value
        yield Ceiling(kind, f"tensor peak of {types}", "flop", work, rate, "theoretical rate")
    work_of_functions = profile.instructions.special_function
    yield Ceiling("SFU", "special functions", "op", work_of_functions, *_special_rate(device))


def gathered_seconds(profile: KernelProfile, device: Device) -> float:
    """Seconds of one launch if a processor's compiler gathered every word loaded or stored.

    The rate is that of a copy where it must gather; 0 where the file has no such rate.
    """
    rate = device.ceilings.get(f"{_PLAIN}int_index_copy_bandwidth_bytes_per_s")
    return profile.instructions.load_store * _WORD_BYTES / rate if rate else 0.0


def unknown_ceilings(ceilings: tuple[Ceiling, ...]) -> Iterator[str]:
    """A sentence for each ceiling that the model has to leave out."""
    for ceiling in ceilings:
        if ceiling.work is None:
            yield f"no ceiling of {ceiling.name}: the profile does not count what it serves"
        elif ceiling.work and not ceiling.rate:
            yield f"no ceiling of {ceiling.name}: nobody measured it on this device"


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


def _dram_rate(device: Device) -> _Rate:
    plain = device.ceilings.get(f"{_PLAIN}dram_read_bandwidth_bytes_per_s")
    return _plain_or_highest(plain, device.dram.bandwidth_bytes_per_s, "theoretical rate")


def _l2_rate(device: Device) -> _Rate:
    observed, timing = _cache_rate(device, "l2_read_bandwidth_bytes_per_s"), device.timing
    if observed[0] is None and timing is not None:
        return timing.l2_bandwidth_bytes_per_s, "rate of [timing]", None
    return observed


def _l1_rate(device: Device) -> _Rate:
    observed, timing = _cache_rate(device, "l1_read_bandwidth_bytes_per_s"), device.timing
    if observed[0] is None and timing is not None:
        return timing.l1_wavefront_bytes * device.sm_cycles_per_s, "rate of [timing]", None
    return observed


def _shared_rate(device: Device) -> tuple[float, str]:
    observed = device.ceilings.get("shared_bandwidth_bytes_per_s")
    if observed is None:
        shared = device.shared
        return shared.banks * shared.bank_bytes * device.sm_cycles_per_s, "theoretical rate"
    return observed, "highest measured rate"


def _special_rate(device: Device) -> tuple[float | None, str]:
    observed = device.ceilings.get(_SPECIAL)
    if observed is None and device.timing is not None:
        return device.timing.special_function.lanes * device.sm_cycles_per_s, "rate of [timing]"
    return observed, "measured rate of fp32"


def _cache_rate(device: Device, quantity: str) -> _Rate:
    plain = device.ceilings.get(f"{_PLAIN}{quantity}")
    return _plain_or_highest(plain, device.ceilings.get(quantity), "highest measured rate")


def _plain_or_highest(plain: float | None, highest: float | None, source: str) -> _Rate:
    """What work-items of plain source reach where a processor's file tells it, else the best."""
    if plain is None:
        return highest, source, None
    return plain, "rate of plain work-items", highest
