"""The section `[observed]` of a measured device's file: all figures that no other section holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kernelcast.opencl_bench.device_file.basis import DeviceBasis
from kernelcast.opencl_bench.device_file.ceiling_figures import ceiling_figures
from kernelcast.opencl_bench.device_file.derived_facts import MemoryLevel
from kernelcast.opencl_bench.device_file.entry import Entry, derived, measured
from kernelcast.opencl_bench.device_file.fitted_figures import fitted_figures
from kernelcast.opencl_bench.device_file.sections import near_cache, sm_section
from kernelcast.opencl_bench.measurement import Measurement, Unit

__all__ = ["observations", "quantity"]

_SUFFIXES = {
    Unit.OPERATIONS_PER_S: "_ops_per_s",
    Unit.BYTES_PER_S: "_bytes_per_s",
    Unit.SECONDS: "_s",
    Unit.BYTES: "_bytes",
    Unit.HERTZ: "_hz",
    Unit.COUNT: "_count",
    Unit.RATIO: "_ratio",
}
_DRAM_NAMES = {
    f"global_{kind}_bandwidth": f"dram_{kind}_bandwidth_bytes_per_s"
    for kind in ("read", "write", "copy", "triad")
}


def observations(basis: DeviceBasis) -> Mapping[str, Sequence[Entry]]:
    """Every measured figure under its own name, then what the curves say of each level."""
    found = {
        quantity(item): [basis.entry(name)] for name, item in basis.session.measurements.items()
    }
    for name, entry in (
        *_level_figures(basis),
        *_detections(basis),
        *_model_figures(basis),
        *ceiling_figures(basis),
        *fitted_figures(basis, int(sm_section(basis)["max_warps"].value)),
    ):
        found.setdefault(name, []).append(entry)
    return found


def quantity(item: Measurement) -> str:
    """The name of a finding in `[observed]`, which ends with the unit: `barrier_cost_s`."""
    if item.name in _DRAM_NAMES:
        return _DRAM_NAMES[item.name]
    suffix = _SUFFIXES[item.unit]
    return item.name if item.name.endswith(suffix) else item.name + suffix


def _level_figures(basis: DeviceBasis) -> Iterator[tuple[str, Entry]]:
    """All levels by number: what the file calls L1 and L2 is a choice."""
    number = 0
    for level in basis.derived.levels:
        if level.capacity_bytes is None:
            prefix = "memory"
        else:
            number += 1
            prefix = f"cache_level_{number}"
        for name, value in (
            ("capacity_bytes", level.capacity_bytes),
            ("latency_s", level.latency_s),
            ("read_bandwidth_bytes_per_s", level.bandwidth_bytes_per_s),
        ):
            if value is not None:
                yield f"{prefix}_{name}", measured(value, _level_reference(basis, level))


def _detections(basis: DeviceBasis) -> Iterator[tuple[str, Entry]]:
    """What the detectors found, whatever the driver says about it."""
    facts = basis.derived
    for name, found in (
        ("detected_line_bytes", facts.line_bytes),
        ("detected_sector_bytes", facts.sector_bytes),
        ("detected_local_banks_count", facts.local_banks),
        ("detected_local_bank_bytes", facts.local_bank_bytes),
        ("detected_wavefront_width_count", facts.wavefront_width),
        ("detected_compute_units_count", facts.compute_units),
        *(("units_sharing_a_cache_count", sharing) for sharing in facts.sharing),
    ):
        if found.value is not None:
            reference = f"{found.reason}; residual {found.residual:.1%}; {basis.date}"
            yield name, measured(found.value, reference)


def _model_figures(basis: DeviceBasis) -> Iterator[tuple[str, Entry]]:
    """Latencies and read bandwidths of the levels that the file's L1, L2 and memory are.

    Only those in order: a level that noise puts before its neighbour has its figures by number.
    """
    near = near_cache(basis)
    levels = (
        ("l1", None if near is None else near.level),
        ("l2", basis.caches[-1].level),
        ("dram", basis.memory_level),
    )
    slowest = 0.0
    for name, level in levels:
        if level is not None and level.latency_s is not None:
            cycles = level.latency_s * basis.clock_hz
            if cycles > slowest * (1 + 1e-5):
                slowest = cycles
                reason = f"{_level_reference(basis, level)}; times clock_hz"
                yield f"{name}_latency_cycles", derived(cycles, reason)
    smallest = max(basis.dram_bandwidths.values())
    nearer = []
    for name, level in reversed(levels[:2]):
        rate = None if level is None else level.bandwidth_bytes_per_s
        if level is not None and rate is not None and rate > smallest * (1 + 1e-5):
            smallest = rate
            entry = measured(rate, _level_reference(basis, level))
            nearer.append((f"{name}_read_bandwidth_bytes_per_s", entry))
    yield from reversed(nearer)


def _level_reference(basis: DeviceBasis, level: MemoryLevel) -> str:
    return f"{level.method}; {basis.date}"
