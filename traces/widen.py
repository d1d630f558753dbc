"""An execution in warps of twice the width: each two neighbours as one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kernelcast.errors import TraceFormatError
from kernelcast.traces.pattern_numbers import PatternNumbers
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.pattern_tally import PatternTally
from kernelcast.traces.trace import AccessTable, Trace

__all__ = ["widened"]

_MOST_LANES = 64
_LOOK_AT_WARPS = ("shfl", "vote", "match", "activemask", "redux")
_PLACED_BY_LANE = ("local", "generic")
_NONE = -1

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Pairs:
    """Accesses of pairs by the rows of their halves, `_NONE` where a half has none.

    They are in the order of the first of them.
    """

    low: Ints
    high: Ints


def widened(trace: Trace) -> Trace:
    """Warps 2i and 2i + 1 of each thread block joined; the second one's lanes are the upper half.

    TraceFormatError where only another execution can tell: when pairs took different branches,
    and when what a kernel did or what was recorded of it depends on the width.
    """
    _check(trace)
    warps = trace.warps_per_thread_block
    numbers, tally = PatternNumbers(), PatternTally()
    accesses = _joined_accesses(trace, numbers)
    tally.add(trace.pattern_counts, _lower_halves(trace.patterns))
    counts = tally.counts(numbers)
    share = 1 if warps == 1 else 2
    classes = replace(trace.classes, warp_issues=trace.classes.warp_issues // share)
    return replace(
        trace,
        warp_width=2 * trace.warp_width,
        classes=classes,
        stage_warp_issues=trace.stage_warp_issues // share,
        warp_time=_joined_times(trace),
        patterns=numbers.table(),
        accesses=accesses,
        pattern_counts=counts,
        pairs_agree=warps <= 2,
        paths=None,
        no_paths=f"the trace was recorded in warps of {trace.warp_width} threads",
    )


def _check(trace: Trace) -> None:
    width, warps = trace.warp_width, trace.warps_per_thread_block
    rows = trace.instructions
    odd_places = warps % 2 == 1 and any(
        rows[pc].space in _PLACED_BY_LANE for pc in np.unique(trace.accesses.pc)
    )
    for fails, reason in (
        (2 * width > _MOST_LANES, f"no trace holds warps of more than {_MOST_LANES} threads"),
        (not trace.pairs_agree, "neighbouring warps are not known to take the same branches"),
        (
            warps > 1 and warps % 2 == 1,
            f"the counts of the last of {warps} warps are not held apart",
        ),
        (odd_places, "where local memory lies depends on the width"),
        (
            warps > 1 and len(trace.pattern_counts) > 0,
            "accesses to shared and constant memory are not held warp by warp",
        ),
        (
            any(row.opcode.lower().startswith(_LOOK_AT_WARPS) for row in rows),
            "lanes exchange values within warps",
        ),
    ):
        if fails:
            raise TraceFormatError(
                f"the trace's warps of {width} threads cannot be joined to warps of {2 * width}: "
                f"{reason}"
            )


def _joined_times(trace: Trace) -> npt.NDArray[np.int32]:
    times = trace.warp_time.reshape(-1, trace.warps_per_thread_block)
    if trace.warps_per_thread_block > 1 and (times[:, ::2] != times[:, 1::2]).any():
        raise _contradiction("issued different numbers of instructions")
    return times[:, ::2].reshape(-1).copy()


def _joined_accesses(trace: Trace, numbers: PatternNumbers) -> AccessTable:
    """Halves of a pair access at the same time of their own clocks."""
    accesses, warps = trace.accesses, trace.warps_per_thread_block
    thread_block, warp = np.divmod(accesses.warp, np.int32(warps))
    pair = thread_block * np.int32(-(-warps // 2)) + warp // 2
    pairs = _pairs(trace, pair, warp % 2)
    first = np.where(pairs.low != _NONE, pairs.low, pairs.high)
    patterns, pattern = _joined_patterns(trace, pairs)
    return AccessTable(
        accesses.pc[first],
        pair[first],
        accesses.time[first],
        accesses.stage[first],
        accesses.address[first],
        numbers.of(patterns, pattern),
    )


def _pairs(trace: Trace, pair: npt.NDArray[np.int32], half: npt.NDArray[np.int32]) -> _Pairs:
    accesses = trace.accesses
    key = pair.astype(np.int64) << 32 | accesses.time
    order = np.argsort(key, kind="stable")
    key = key[order]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = key[1:] != key[:-1]
    group = np.cumsum(begins) - 1
    rows = np.full((2, int(begins.sum())), _NONE, np.int64)
    rows[half[order], group] = order
    if np.count_nonzero(rows != _NONE) < len(order):
        raise TraceFormatError("an instruction that accesses memory twice cannot be joined")
    low, high = rows
    both = (low != _NONE) & (high != _NONE)
    for column in (accesses.pc, accesses.stage):
        if (column[low[both]] != column[high[both]]).any():
            raise _contradiction("access memory by different instructions")
    in_order = np.argsort(order[begins], kind="stable")
    return _Pairs(low[in_order], high[in_order])


def _joined_patterns(trace: Trace, pairs: _Pairs) -> tuple[PatternTable, npt.NDArray[np.int32]]:
    """Each combination of two patterns and a distance once, and which one each access has."""
    accesses, known = trace.accesses, trace.patterns
    lower, upper = _pattern(accesses, pairs.low), _pattern(accesses, pairs.high)
    both = (lower != _NONE) & (upper != _NONE)
    distance = np.where(both, accesses.address[pairs.high] - accesses.address[pairs.low], 0)
    shape = np.unique((lower + 1) * (len(known.mask) + 1) + upper + 1, return_inverse=True)[1]
    distances, step = np.unique(distance, return_inverse=True)
    _, example, number = np.unique(
        shape * len(distances) + step, return_index=True, return_inverse=True
    )
    low_mask, low_offsets = _half(known, lower[example], np.zeros(len(example), np.int64))
    high_mask, high_offsets = _half(known, upper[example], distance[example])
    mask = low_mask | (high_mask << np.uint64(trace.warp_width)).astype(np.uint64)
    return PatternTable(mask, np.concatenate((low_offsets, high_offsets), axis=1)), number.astype(
        np.int32
    )


def _pattern(accesses: AccessTable, rows: Ints) -> Ints:
    """The patterns of those rows, `_NONE` where there is no row."""
    found = np.full(len(rows), _NONE, np.int64)
    found[rows != _NONE] = accesses.pattern[rows[rows != _NONE]]
    return found


def _half(
    known: PatternTable, patterns: Ints, distance: Ints
) -> tuple[npt.NDArray[np.uint64], Ints]:
    """Mask and offsets of half a warp whose first active lane is `distance` away."""
    width = known.offsets.shape[1]
    mask = np.where(patterns != _NONE, known.mask[patterns], np.uint64(0))
    is_active = (mask[:, None] >> np.arange(width, dtype=np.uint64)) & np.uint64(1) != 0
    return mask, np.where(is_active, known.offsets[patterns] + distance[:, None], 0)


def _lower_halves(patterns: PatternTable) -> PatternTable:
    """The patterns of warps whose upper half is empty."""
    width = patterns.offsets.shape[1]
    return PatternTable(patterns.mask, np.pad(patterns.offsets, ((0, 0), (0, width))))


def _contradiction(what: str) -> TraceFormatError:
    return TraceFormatError(f"the trace contradicts itself: warps that should agree {what}")
