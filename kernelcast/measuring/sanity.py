"""Marks on rows that cannot be trusted as they stand; no row is ever dropped for one."""

from __future__ import annotations

from collections.abc import Iterator

from kernelcast.validation.measured_times import DeviceFacts, MeasuredRow

__all__ = ["row_warnings"]

_MOST_SPREAD = 0.05
_MOST_CLOCK_CHANGE = 0.05
_MOST_OF_PEAK = 1.0
_DRAM_BYTES = ("dram__bytes_read.sum", "dram__bytes_write.sum")
_DURATION_NS = "gpu__time_duration.sum"


def row_warnings(row: MeasuredRow, facts: DeviceFacts, buffer_bytes: int) -> tuple[str, ...]:
    """What is odd about a row of a launch with `buffer_bytes` of arguments, one line each."""
    return tuple(_warnings(row, facts, buffer_bytes))


def _warnings(row: MeasuredRow, facts: DeviceFacts, buffer_bytes: int) -> Iterator[str]:
    if row.check is None:
        yield "results were not compared with a reference"
    elif not row.check.passed:
        yield "results differ from the reference"
    if row.time_s.spread > _MOST_SPREAD:
        yield f"spread of {row.time_s.spread:.1%} of the median exceeds {_MOST_SPREAD:.0%}"
    yield from _clock_warnings(row)
    yield from _dram_warnings(row, facts, buffer_bytes)


def _clock_warnings(row: MeasuredRow) -> Iterator[str]:
    for name in ("sm_hz", "memory_hz"):
        before, after = row.clocks.get(f"{name}_before"), row.clocks.get(f"{name}_after")
        if not before or not after:
            continue
        if abs(after - before) > _MOST_CLOCK_CHANGE * before:
            yield f"{name} went from {before / 1e6:.0f} to {after / 1e6:.0f} MHz"


def _dram_warnings(row: MeasuredRow, facts: DeviceFacts, buffer_bytes: int) -> Iterator[str]:
    if not all(name in row.metrics for name in _DRAM_BYTES):
        return
    moved = sum(row.metrics[name] for name in _DRAM_BYTES)
    if facts.l2_bytes and buffer_bytes > facts.l2_bytes and moved < buffer_bytes:
        yield (
            f"{moved:.0f} bytes of DRAM traffic are less than the {buffer_bytes} of the buffers, "
            "which exceed the L2 cache; right only if parts of them are not touched"
        )
    peak, duration = facts.peak_bytes_per_s, row.metrics.get(_DURATION_NS, 0.0) * 1e-9
    if peak and duration and moved / duration > _MOST_OF_PEAK * peak:
        yield f"{moved / duration / 1e9:.1f} GB/s of DRAM traffic exceed the peak {peak / 1e9:.1f}"
