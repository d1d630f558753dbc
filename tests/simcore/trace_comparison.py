"""Whether two engines did the same: all that a trace holds, and the buffers of a launch."""

from __future__ import annotations

import copy
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import KernelcastError
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Argument, Launch, Limits
from kernelcast.simcore.launch.tensor_maps import TensorMap
from kernelcast.traces.trace import Trace


def run_on_both(
    kernel: Kernel, launch: Launch, *, same_trace: bool = True, width: int = 32
) -> Trace:
    """The trace of the JIT engine, whose results are in the buffers.

    The reference engine must do the same, or fail with the same words; so must the JIT engine
    where it records nothing, which may execute two warps as one. `same_trace` False: threads look
    at memory as often as it takes, so that only results are compared.
    """
    arguments = copy.deepcopy(launch.arguments)
    limits = Limits(seconds=600)
    counting = replace(launch, arguments=copy.deepcopy(launch.arguments))
    try:
        other = replace(launch, arguments=arguments)
        expected = execute(kernel, other, warp_width=width, engine="reference", limits=limits)
    except KernelcastError as error:
        with pytest.raises(type(error), match=f"^{re.escape(str(error))}$"):
            execute(kernel, launch, warp_width=width, engine="jit", limits=limits)
        if _may_be_paired(launch, width):
            with pytest.raises(type(error), match=f"^{re.escape(str(error))}$"):
                _counted(kernel, counting, width, limits)
        raise
    found = execute(kernel, launch, warp_width=width, engine="jit", limits=limits)
    assert found.engine == "jit"
    _assert_same_results(arguments, launch)
    if same_trace:
        assert_same_trace(expected, found)
    if _may_be_paired(launch, width):
        counted = _counted(kernel, counting, width, limits)
        _assert_same_results(arguments, counting)
        if same_trace:
            assert_same_counts(expected, counted)
    return found


def _may_be_paired(launch: Launch, width: int) -> bool:
    return width == 32 and launch.threads_per_thread_block % 64 == 0


def _counted(kernel: Kernel, launch: Launch, width: int, limits: Limits) -> Trace:
    return execute(
        kernel, launch, warp_width=width, engine="jit", limits=limits, record_memory=False
    )


def _assert_same_results(arguments: tuple[Argument, ...], launch: Launch) -> None:
    for one, same in zip(arguments, launch.arguments, strict=True):
        if isinstance(one, TensorMap) and isinstance(same, TensorMap):
            one, same = one.array, same.array
        np.testing.assert_array_equal(np.asarray(same), np.asarray(one))


def by_thread_block(trace: Trace) -> dict[str, Any]:
    """Counts with a row for each thread block."""
    classes = trace.classes
    counts = {"warp issues": classes.warp_issues, "lane executions": classes.lane_executions}
    if classes.later_arrivals is not None:
        counts["later arrivals"] = classes.later_arrivals
    return {name: rows[classes.of_thread_block] for name, rows in counts.items()}


def _patterns(trace: Trace) -> list[tuple[int, bytes]]:
    table = trace.patterns
    return [(int(m), o.tobytes()) for m, o in zip(table.mask, table.offsets, strict=True)]


def _accesses(trace: Trace) -> list[tuple[Any, ...]]:
    """(warp, time, pc, stage, address, mask, offsets), by warp in program order."""
    table, patterns = trace.accesses, _patterns(trace)
    order = np.argsort(table.warp, kind="stable")
    assert (np.diff(table.time[order])[np.diff(table.warp[order]) == 0] >= 0).all(), (
        f"{trace.engine}: accesses of a warp are not in program order"
    )
    columns = (table.warp, table.time, table.pc, table.stage, table.address, table.pattern)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return sorted((*row[:5], *patterns[row[5]]) for row in rows)


def _pattern_counts(trace: Trace) -> list[tuple[Any, ...]]:
    table, patterns = trace.pattern_counts, _patterns(trace)
    columns = (table.pc, table.stage, table.start, table.pattern, table.count)
    counts: Counter[tuple[Any, ...]] = Counter()
    for pc, stage, phase, pattern, count in zip(*(c.tolist() for c in columns), strict=True):
        counts[(pc, stage, phase, *patterns[pattern])] += count
    return sorted((*key, count) for key, count in counts.items())


def assert_same_trace(one: Trace, other: Trace) -> None:
    """All but the engine, the time that it took and the numbers that it gave to patterns."""
    assert_same_counts(one, other)
    for rows, name in ((_accesses, "accesses"), (_pattern_counts, "pattern counts")):
        expected, found = Counter(rows(one)), Counter(rows(other))
        missing, extra = sorted((expected - found).items()), sorted((found - expected).items())
        assert not missing, f"{name}: {other.engine} lacks {missing[0]}, has {extra[:1]}"
        assert not extra, f"{name}: only {other.engine} has {extra[0]}"


def assert_same_counts(one: Trace, other: Trace) -> None:
    """All of a trace that is there without records of accesses."""
    for name in ("kernel", "grid", "thread_block", "warp_width", "resources", "instructions"):
        assert getattr(one, name) == getattr(other, name), name
    tables = {"stage warp issues": "stage_warp_issues", "warp times": "warp_time"}
    mine = by_thread_block(one) | {name: getattr(one, field) for name, field in tables.items()}
    others = by_thread_block(other) | {n: getattr(other, field) for n, field in tables.items()}
    for name, expected in mine.items():
        np.testing.assert_array_equal(others[name], expected, f"{name} differ", strict=True)
