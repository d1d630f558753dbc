"""What all sections of a measured device's file rest on: findings, the driver's facts, levels."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.device_file.derived_facts import (
    DerivedFacts,
    MemoryLevel,
    derive_facts,
)
from kernelcast.opencl_bench.device_file.entry import Entry, assumed, datasheet, derived, measured
from kernelcast.opencl_bench.measurement import Curve, Measurement, work_item_name
from kernelcast.opencl_bench.session import Session
from kernelcast.opencl_bench.target import DeviceFacts

__all__ = ["CacheLevel", "DeviceBasis", "power_of_two_above"]

_CLOCK = "clock_under_load"
_ASSUMED_CLOCK_HZ = 1e9
_WARP_WIDTHS = (8, 16, 32, 64)
_ASSUMED_WARP_WIDTH = 32
_ASSUMED_LINE_BYTES = 64
_HIDDEN_LEVEL = 2.0
"""A CPU whose driver reports a cache this much larger than all found has one more level."""


@dataclass(frozen=True, slots=True)
class CacheLevel:
    """A cache as the file describes it: its capacity with the source, and what was measured."""

    capacity: Entry
    level: MemoryLevel | None


@dataclass(frozen=True)
class DeviceBasis:
    """Entries that several sections need. BenchmarkError for a finding that was not measured."""

    session: Session

    @property
    def facts(self) -> DeviceFacts:
        """The driver's facts."""
        return self.session.facts

    @cached_property
    def derived(self) -> DerivedFacts:
        """What the session's curves tell of the device."""
        return derive_facts(self.session.findings, self.facts)

    def has(self, *names: str) -> bool:
        """Whether all of these figures were measured."""
        return all(name in self.session.measurements for name in names)

    def value(self, name: str) -> float:
        """A measured figure; BenchmarkError where it is missing."""
        try:
            return self.session.measurements[name].value
        except KeyError:
            raise BenchmarkError(f"{name} was not measured") from None

    def of_work_items(self, name: str) -> str:
        """The name of that finding of plain work-items, where it was measured."""
        return work_item_name(tuple(self.session.measurements), name)

    def highest(self, name: str) -> float:
        """The higher figure of explicit vectors and plain work-items."""
        return max(self.value(name), self.value(self.of_work_items(name)))

    def entry(self, name: str) -> Entry:
        """A measured figure as an entry with its reference."""
        return measured(self.value(name), self.reference(self.session.measurements[name]))

    def reference(self, finding: Measurement | Curve) -> str:
        """Method, spread and date."""
        if isinstance(finding, Measurement):
            spread, count = finding.spread, f"{finding.samples} samples"
        else:
            spread = max((point.spread for point in finding.points), default=0.0)
            count = f"{len(finding.points)} points"
        noisy = ", NOISY" if finding_is_noisy(finding) else ""
        kind = "spread" if isinstance(finding, Measurement) else "largest spread"
        date = self.session.dates[finding.name]
        return f"{finding.method.rstrip('.')}; {count}, {kind} {spread:.1%}{noisy}; {date}"

    @property
    def date(self) -> str:
        """The latest date of all findings, today without any."""
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        return max(self.session.dates.values(), default=today)

    @cached_property
    def clock(self) -> Entry:
        """The clock: measured, as the driver reports it, or assumed."""
        if self.has(_CLOCK):
            return self.entry(_CLOCK)
        if self.facts.clock_hz > 0:
            return datasheet(self.facts.clock_hz, "CL_DEVICE_MAX_CLOCK_FREQUENCY")
        return assumed(_ASSUMED_CLOCK_HZ, "the driver reports no clock; a round figure")

    @property
    def clock_hz(self) -> float:
        """The clock in Hz."""
        return float(self.clock.value)

    @property
    def cores(self) -> int:
        """Compute units, at least one."""
        return max(1, self.facts.compute_units)

    @cached_property
    def warp_width(self) -> Entry:
        """SIMD lanes of a CPU; of a GPU what the driver prefers, then what was found."""
        if self.facts.is_cpu:
            lanes = self.facts.llvm_float_width
            width = min(max(lanes, _WARP_WIDTHS[0]), _WARP_WIDTHS[-1])
            return derived(
                power_of_two_above(width),
                f"SIMD lanes stand for a warp: CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT is {lanes}",
            )
        preferred = self.facts.preferred_work_group_multiple
        if preferred in _WARP_WIDTHS:
            return datasheet(preferred, "CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE")
        found = self.derived.wavefront_width
        if found.value is not None and round(found.value) in _WARP_WIDTHS:
            return measured(round(found.value), f"{found.reason}; {self.date}")
        return assumed(_ASSUMED_WARP_WIDTH, "neither told nor found; that of most GPUs")

    @cached_property
    def line(self) -> Entry:
        """The driver's word on the cache line, else what the curves show."""
        told, found = self.facts.cache_line_bytes, self.derived.line_bytes
        if _is_power_of_two(told):
            if found.value is None:
                return datasheet(told, "CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE")
            note = f"the curves show {found.value:g} bytes"
            return datasheet(told, f"CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE; {note}: {found.reason}")
        if found.value is not None and _is_power_of_two(round(found.value)):
            return measured(round(found.value), f"{found.reason}; {self.date}")
        return assumed(_ASSUMED_LINE_BYTES, "neither told nor found")

    @cached_property
    def sector(self) -> Entry:
        """No larger than a line; a CPU moves whole lines."""
        line, found = int(self.line.value), self.derived.sector_bytes
        if self.facts.is_cpu:
            return derived(line, "processors move whole cache lines")
        value = None if found.value is None else round(found.value)
        if value is not None and _is_power_of_two(value) and value <= line:
            return measured(value, f"{found.reason}; {self.date}")
        return assumed(line, f"whole lines, because no smaller unit was found: {found.reason}")

    @cached_property
    def caches(self) -> tuple[CacheLevel, ...]:
        """Caches from the nearest to the last; at least one, so that a file has its [l2]."""
        found = [
            CacheLevel(measured(round(level.capacity_bytes), f"{level.method}; {self.date}"), level)
            for level in self.derived.levels
            if level.capacity_bytes is not None
        ]
        told = self.facts.cache_bytes
        query = "CL_DEVICE_GLOBAL_MEM_CACHE_SIZE"
        if not found:
            if told > 0:
                return (CacheLevel(datasheet(told, query), None),)
            return (CacheLevel(assumed(16 * int(self.line.value), "no cache was found"), None),)
        if self.facts.is_cpu and told > _HIDDEN_LEVEL * float(found[-1].capacity.value):
            found.append(CacheLevel(datasheet(told, f"{query}; no curve shows it"), None))
        return tuple(found)

    @property
    def memory_level(self) -> MemoryLevel | None:
        """Main memory, where the curves reach it."""
        last = self.derived.levels[-1] if self.derived.levels else None
        return last if last is not None and last.capacity_bytes is None else None

    @cached_property
    def dram_bandwidths(self) -> Mapping[str, float]:
        """Read, write, copy and triad, as far as they were measured."""
        names = (f"global_{kind}_bandwidth" for kind in ("read", "write", "copy", "triad"))
        return {name: self.value(name) for name in names if self.has(name)}


def finding_is_noisy(finding: Measurement | Curve) -> bool:
    """Whether the samples scatter too much, of any point of a curve."""
    if isinstance(finding, Measurement):
        return finding.is_noisy
    return any(point.is_noisy for point in finding.points)


def power_of_two_above(value: float) -> int:
    """The smallest power of two that is not below `value`; 1 for less than 1."""
    return 1 << max(0, math.ceil(math.log2(value) - 1e-9)) if value > 1 else 1


def _is_power_of_two(value: int) -> bool:
    return value > 0 and value.bit_count() == 1
