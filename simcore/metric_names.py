"""A simulated profile under the names that NVIDIA's profilers give its quantities.

nvprof: CUDA Profiler User's Guide, metrics reference. ncu: Nsight Compute CLI guide, metric
comparison table. Memory transactions are 32 bytes there whatever the device's sectors are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from kernelcast.simcore.profile import (
    InstructionCounts,
    KernelProfile,
    MemoryTraffic,
    SharedMemoryUse,
)

__all__ = ["METRICS", "Metric", "MetricValue", "Naming", "metrics"]

_TRANSACTION_BYTES = 32

Getter: TypeAlias = Callable[[KernelProfile], float | None]


class Naming(Enum):
    """Whose names to use."""

    NVPROF = "nvprof"
    NCU = "ncu"


@dataclass(frozen=True, slots=True)
class Metric:
    """One quantity of a profile; a name is empty where the profiler has none for it."""

    nvprof: str
    ncu: str
    description: str
    unit: str
    value: Getter

    def name(self, naming: Naming) -> str:
        return self.nvprof if naming is Naming.NVPROF else self.ncu


@dataclass(frozen=True, slots=True)
class MetricValue:
    name: str
    value: float
    unit: str
    description: str


def metrics(profile: KernelProfile, naming: Naming) -> tuple[MetricValue, ...]:
    """All metrics that the profile knows, per launch."""
    return tuple(
        MetricValue(metric.name(naming), value, metric.unit, metric.description)
        for metric in METRICS
        if metric.name(naming) and (value := metric.value(profile)) is not None
    )


def _instructions(field: str) -> Getter:
    assert field in InstructionCounts.__dataclass_fields__, field

    def get(profile: KernelProfile) -> float | None:
        count: float | None = getattr(profile.instructions, field)
        return count

    return get


def _requests(field: str) -> Getter:
    assert field in MemoryTraffic.__dataclass_fields__, field

    def get(profile: KernelProfile) -> float | None:
        count: float | None = getattr(profile.traffic, field)
        return count

    return get


def _transactions(field: str) -> Getter:
    """A count of transactions in units of 32 bytes."""
    count_of = _requests(field)

    def get(profile: KernelProfile) -> float | None:
        count = count_of(profile)
        return None if count is None else count * profile.traffic.sector_bytes / _TRANSACTION_BYTES

    return get


def _shared(field: str) -> Getter:
    assert field in SharedMemoryUse.__dataclass_fields__, field

    def get(profile: KernelProfile) -> float | None:
        count: float | None = getattr(profile.shared, field) if profile.shared else None
        return count

    return get


def _percent(part: float | None, whole: float | None) -> float | None:
    return 100.0 * part / whole if part is not None and whole else None


def _hit_rate(hits: str, reads: str) -> Getter:
    part, whole = _requests(hits), _requests(reads)
    return lambda profile: _percent(part(profile), whole(profile))


def _efficiency(requested_bytes: str, sectors: str) -> Getter:
    part, whole = _requests(requested_bytes), _requests(sectors)

    def get(profile: KernelProfile) -> float | None:
        moved = whole(profile)
        return _percent(part(profile), moved and moved * profile.traffic.sector_bytes)

    return get


def _shared_efficiency(profile: KernelProfile) -> float | None:
    if profile.shared is None:
        return None
    taken = profile.shared.load_wavefronts + profile.shared.store_wavefronts
    return _percent(profile.shared.ideal_wavefronts, taken)


def _active_lanes_percent(profile: KernelProfile) -> float | None:
    return None if profile.divergence is None else 100.0 * profile.divergence


def _active_lanes(profile: KernelProfile) -> float | None:
    return None if profile.divergence is None else profile.divergence * profile.warp_width


def _occupancy_percent(profile: KernelProfile) -> float | None:
    return 100.0 * profile.occupancy.fraction if profile.occupancy else None


def _registers(profile: KernelProfile) -> float | None:
    return float(profile.occupancy.registers_per_thread) if profile.occupancy else None


_SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
_L1 = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
_BANKS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
_USED_BYTES = "smsp__sass_average_data_bytes_per_sector_mem_global_op_{}.pct"
