"""Copies between host and device memory, both ways, over size."""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.measurement import Finding, Unit
from kernelcast.opencl_bench.memory.rates import (
    bandwidth,
    bandwidth_curve,
    curve_point,
    per_second,
)
from kernelcast.opencl_bench.memory.sizes import REPEATS
from kernelcast.opencl_bench.target import Target

__all__ = ["measure_transfers"]

_SIZES = {
    Effort.QUICK: tuple(1 << bits for bits in (12, 16, 20, 24, 26)),
    Effort.FULL: tuple(1 << bits for bits in range(10, 29, 2)),
}


def _direction(
    target: Target, effort: Effort, name: str, to_device: bool
) -> tuple[Finding, Finding]:
    """The bandwidth of the largest copy, and the curve."""
    facts = target.facts
    limit = min(facts.max_buffer_bytes, facts.global_bytes // 4)
    sizes = [size for size in _SIZES[effort] if size <= limit] or [limit]
    samples = {
        size: per_second(name, size, target.transfer_seconds(size, to_device, REPEATS[effort]))
        for size in sizes
    }
    method = "blocking copies from or to pageable host memory, timed by the host"
    largest = bandwidth(name, samples[sizes[-1]], f"{method}; {sizes[-1]} bytes")
    points = [curve_point(size, samples[size]) for size in sizes]
    curve = bandwidth_curve(f"{name}_over_size", "bytes copied", Unit.BYTES, points, method)
    return largest, curve


def measure_transfers(target: Target, effort: Effort) -> Sequence[Finding]:
    """Measures copies from host to device and back, over size."""
    return (
        *_direction(target, effort, "host_to_device_bandwidth", to_device=True),
        *_direction(target, effort, "device_to_host_bandwidth", to_device=False),
    )
