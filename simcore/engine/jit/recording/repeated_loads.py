"""Loads that are left out because their thread block has asked for the same just before.

What caches hold in the end depends little on them, and regular kernels make mostly such: the
threads of a thread block share what they read, and loops come to a sector again and again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.compiled import compiled

__all__ = [
    "OfRows",
    "Patterns",
    "Repeats",
    "is_repeated",
    "mark",
    "new_period",
    "no_repeats",
    "taken",
    "with_room",
]

_SECTOR_BITS = 5
"""No device's sectors are shorter than 32 bytes."""
_GROUP_BITS = 6
"""Sectors that share a slot: one bit each of a word."""
_ROW_BITS, _WAYS, _WORDS = 13, 4, 2
"""Slots are searched in rows of a few, which a line of the processor's cache holds."""
_NOTHING = -1
_SPREAD, _MIX = 0x1E3779B97F4A7C15, 0x3F58476D1CE4E5B9
_FIRST_WARP, _LAST_WARP, _BEGIN, _UNTIL, _OF_BOTH = range(5)

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Column = npt.NDArray[np.int32]


class Patterns(NamedTuple):
    """Lanes that take part, and their offsets, by pattern."""

    mask: Words
    offsets: Ints


class OfRows(NamedTuple):
    """What rows ask for."""

    address: Ints
    pattern: Column


class Repeats(NamedTuple):
    """What was asked for in a period.

    `is_load` by pc. `asked`: two words for each slot, a hash of a group of sectors, thread block
    and period, and which of the group; what has no room is asked for again. `last`, three words by
    pc: first sector, pattern and hash of the access before. `period`: instructions, 0 where repeats
    are as all others. `now`: warps and times that share the hash in its last word.

    Pattern p has `distinct[p]` sectors, those of `steps[p]` from that of its first lane on, where
    this is at `phase[p]` within its sector; `is_apart[p]`: lanes are whole sectors apart, so that
    it does not matter. `lanes[p]` take part.
    `left_out`, two words by pc: loads that were left out, and the lanes of them.
    """

    is_load: Ints
    asked: Ints
    last: Ints
    period: Ints
    now: Ints
    phase: Ints
    distinct: Ints
    is_apart: Ints
    lanes: Ints
    steps: Ints
    left_out: Ints


def no_repeats(is_load: npt.NDArray[np.bool_], width: int) -> Repeats:
    """Nothing is left out at first; `width` lanes of a warp."""

    def zeros(size: int) -> Ints:
        return np.zeros(size, np.int64)

    return Repeats(
        is_load=is_load.astype(np.int64),
        asked=zeros(_WAYS * _WORDS << _ROW_BITS),
        last=zeros(3 * len(is_load)),
        period=zeros(1),
        now=zeros(5),
        phase=zeros(0),
        distinct=zeros(0),
        is_apart=zeros(0),
        lanes=zeros(0),
        steps=np.zeros((0, width), np.int64),
        left_out=zeros(2 * len(is_load)),
    )


def new_period(repeats: Repeats, instructions: int) -> None:
    """Sets the period, and forgets what was asked for."""
    repeats.period[0] = instructions
    repeats.now[:] = 0
    if instructions:
        repeats.asked[::_WORDS] = _NOTHING
        repeats.last[:] = _NOTHING


def taken(repeats: Repeats) -> Ints:
    """(loads, lanes) by pc that were left out since the last time, shape (instructions, 2).

    Patterns get new numbers.
    """
    repeats.phase[:] = _NOTHING
    repeats.last[:] = _NOTHING
    found = repeats.left_out.reshape(-1, 2).copy()
    repeats.left_out[:] = 0
    return found


def with_room(repeats: Repeats, patterns: int) -> Repeats:
    """What is known, with room for so many patterns, at least as many as before."""
    if not repeats.period[0] or patterns <= len(repeats.phase):
        return repeats
    repeats.last[:] = _NOTHING
    return repeats._replace(
        phase=np.full(patterns, _NOTHING, np.int64),
        distinct=np.zeros(patterns, np.int64),
        is_apart=np.zeros(patterns, np.int64),
        lanes=np.zeros(patterns, np.int64),
        steps=np.zeros((patterns, repeats.steps.shape[1]), np.int64),
    )


@compiled
def _learn(
    repeats: Repeats, offsets: Ints, mask: np.uint64, pattern: np.uint64, phase: int
) -> None:
    """Finds the distinct sectors of a pattern whose first lane is at a phase."""
    count, apart, lanes = 0, 0, 0
    for lane in range(len(offsets)):
        if (mask >> np.uint64(lane)) & np.uint64(1) == np.uint64(0):
            continue
        apart |= offsets[lane]
        lanes += 1
        step, known = (phase + offsets[lane]) >> _SECTOR_BITS, count - 1
        while known >= 0 and repeats.steps[pattern, known] != step:
            known -= 1
        if known < 0:
            repeats.steps[pattern, count] = step
            count += 1
    is_apart = apart & ((1 << _SECTOR_BITS) - 1) == 0
    repeats.distinct[pattern] = count
    repeats.is_apart[pattern] = 1 if is_apart else 0
    repeats.phase[pattern] = phase
    repeats.lanes[pattern] = lanes


@compiled
def _tag(repeats: Repeats, warp: int, warps: int, time: int) -> int:
    """A hash of thread block and period: divisions take longer than all else."""
    now = repeats.now
    if not (now[_FIRST_WARP] <= warp < now[_LAST_WARP] and now[_BEGIN] <= time < now[_UNTIL]):
        period = repeats.period[0]
        thread_block, number = warp // warps, time // period
        now[_FIRST_WARP], now[_LAST_WARP] = thread_block * warps, (thread_block + 1) * warps
        now[_BEGIN], now[_UNTIL] = number * period, (number + 1) * period
        now[_OF_BOTH] = (thread_block << 32 | number) * _MIX
    return int(now[_OF_BOTH])


@compiled
def _slot_of(asked: Ints, key: int) -> np.uint64:
    """The slot of a key; a new one comes first in its row, and the oldest goes."""
    row = np.uint64(((key >> 20) & ((1 << _ROW_BITS) - 1)) * (_WAYS * _WORDS))
    for way in range(_WAYS):
        slot = np.uint64(row + np.uint64(way * _WORDS))
        if asked[slot] == key:
            return slot
    for word in range(_WAYS * _WORDS - 1, _WORDS - 1, -1):
        asked[np.uint64(row + np.uint64(word))] = asked[np.uint64(row + np.uint64(word - _WORDS))]
    asked[row] = key
    asked[np.uint64(row + np.uint64(1))] = 0
    return row


@compiled
def _has_asked(repeats: Repeats, pattern: np.uint64, first: int, tag: int) -> bool:
    """Whether all sectors of an access were asked for before; notes them."""
    asked, has_all = repeats.asked, True
    for number in range(repeats.distinct[pattern]):
        sector = first + repeats.steps[pattern, np.uint64(number)]
        bit = np.int64(1) << (sector & ((1 << _GROUP_BITS) - 1))
        key = (((sector >> _GROUP_BITS) ^ tag) * _SPREAD) & ((1 << 62) - 1)
        known = np.uint64(_slot_of(asked, key) + np.uint64(1))
        if asked[known] & bit == 0:
            asked[known] |= bit
            has_all = False
    return has_all


@compiled
def _is_as_before(repeats: Repeats, at: np.uint64, sector: int, pattern: int, tag: int) -> bool:
    """Whether an instruction asks for what it has just asked for; notes what it asks for."""
    last, second, third = repeats.last, np.uint64(at + np.uint64(1)), np.uint64(at + np.uint64(2))
    if last[at] == sector and last[second] == pattern and last[third] == tag:
        return True
    last[at], last[second], last[third] = sector, pattern, tag
    return False


@compiled
def is_repeated(
    repeats: Repeats,
    pc: int,
    warp: int,
    warps: int,
    time: int,
    address: int,
    pattern: int,
    patterns: Patterns,
) -> bool:
    """Whether an access repeats others; notes what it asks for, and what is left out."""
    if repeats.period[0] == 0 or repeats.is_load[pc] == 0:
        return False
    tag, which = _tag(repeats, warp, warps, time), np.uint64(pattern)
    phase, sector = address & ((1 << _SECTOR_BITS) - 1), address >> _SECTOR_BITS
    at, known = np.uint64(3 * pc), repeats.phase[which]
    if known != phase and (known < 0 or repeats.is_apart[which] == 0):
        _learn(repeats, patterns.offsets[which], patterns.mask[which], which, phase)
        repeats.last[np.uint64(at + np.uint64(1))] = _NOTHING
    is_repeat = _is_as_before(repeats, at, sector, pattern, tag) or _has_asked(
        repeats, which, sector, tag
    )
    if is_repeat:
        repeats.left_out[np.uint64(2 * pc)] += 1
        repeats.left_out[np.uint64(2 * pc + 1)] += repeats.lanes[which]
    return is_repeat


@compiled
def mark(
    repeats: Repeats,
    order: Ints,
    pc: Column,
    warp: Column,
    time: Column,
    of_rows: OfRows,
    warps: int,
    patterns: Patterns,
) -> None:
    """Gives repeats the number of their instruction and as many more as there are.

    `order`: the rows of one thread block after the other, in the order of time.
    """
    for row in order:
        address, pattern = of_rows.address[row], of_rows.pattern[row]
        at = pc[row], warp[row], warps, time[row]
        if is_repeated(repeats, *at, address, pattern, patterns):
            pc[row] += len(repeats.is_load)
