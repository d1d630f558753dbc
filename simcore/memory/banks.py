"""Shared-memory bank conflicts and constant-cache serialisation, per access pattern.

In one pass ("wavefront") every bank serves one word, to any number of lanes. A warp whose lanes
together want more than banks * bank_bytes is served in groups of lanes that do not: halves for
64-bit and quarters for 128-bit accesses on 32 banks of 4 bytes, half-warps on 16 banks. A warp that
one pass can serve as a whole, a broadcast, is not split, but where each half-warp is a request of
its own (compute capability 1.x). From Volta on two groups are served together, and only where each
lane has a neighbour with the same address: an H100 counts two passes for a broadcast of 128 bits,
and four for lanes in turn at four addresses (`validation/measured/h100-sxm.json`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.banked_l1 import has_banked_l1
from kernelcast.simcore.device.device import ConstantFacts, Device, SharedMemoryFacts
from kernelcast.simcore.host.compiled import compiled
from kernelcast.simcore.memory.bitmask import ONE, ZERO, low_bits
from kernelcast.simcore.memory.coalescer import SectorRoom, coalesce_into, new_room, sector_room
from kernelcast.simcore.memory.native_accesses import LaneAccesses, NativeAccesses
from kernelcast.simcore.memory.sets.way_search import trailing_zeros
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import PatternCounts

__all__ = [
    "Wavefronts",
    "are_paired",
    "banked_wavefronts",
    "constant_wavefronts",
    "shared_wavefronts",
]

MOST_LANES = 64
"""The widest warp of any device."""
_JOINED_GROUPS = 2
"""Major compute capability of Volta."""
_REMEMBERED = 7
"""Numbers that are kept of each pattern: what its last access was like, and the passes of it."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Wavefronts:
    """Passes of one access of each row, shape (rows,).

    `ideal` is how few could have served the same distinct words; taken / ideal is the degree of
    conflict.
    """

    taken: Ints
    ideal: Ints

    @property
    def degree(self) -> npt.NDArray[np.float64]:
        """The degree of bank conflicts: passes per pass that would do without conflicts."""
        return self.taken / self.ideal


def banked_wavefronts(
    rows: PatternCounts, patterns: PatternTable, native: NativeAccesses, device: Device
) -> Wavefronts:
    """Passes of each row of `rows`, shared-memory accesses, on the banks of `device`."""
    if device.segments is None:
        joined = np.full(len(rows), MOST_LANES)
        if has_banked_l1(device):
            joined = np.where(are_paired(patterns)[rows.pattern], _JOINED_GROUPS, 1)
        return shared_wavefronts(rows, patterns, native, device.shared, joined_groups=joined)
    threads = device.segments.request_threads
    alone = np.ones(len(rows), np.int64)
    return shared_wavefronts(
        rows, patterns, native, device.shared, joined_groups=alone, request_threads=threads
    )


def are_paired(patterns: PatternTable) -> npt.NDArray[np.bool_]:
    """Whether lanes n and n ^ 1, or n and n ^ 2, ask for the same wherever active, by pattern."""
    lanes = np.arange(patterns.offsets.shape[1])
    is_active = (patterns.mask[:, None] >> lanes.astype(np.uint64)) & np.uint64(1) != 0
    paired = np.zeros(len(patterns.mask), np.bool_)
    for distance in (1, 2):
        other = lanes ^ distance
        differs = patterns.offsets != patterns.offsets[:, other]
        paired |= ~(differs & is_active & is_active[:, other]).any(axis=1)
    return paired


def shared_wavefronts(
    rows: PatternCounts,
    patterns: PatternTable,
    native: NativeAccesses,
    facts: SharedMemoryFacts,
    *,
    joined_groups: Ints | None = None,
    request_threads: int = MOST_LANES,
) -> Wavefronts:
    """Passes that the banks need for each row of `rows`, all of them shared-memory accesses.

    `joined_groups`: how many neighbouring groups are served together where one pass can, for each
    row; all unless given. `request_threads`: the most that are in a group.
    """
    taken, ideal = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    most = _most_words(rows, patterns, native, facts.bank_bytes)
    everybody = np.full(len(rows), MOST_LANES)
    _serve(
        native.of_lanes(rows.pc, rows.start, rows.pattern, patterns),
        _Groups(
            np.minimum(_lane_groups(native.bytes, facts), request_threads)[rows.pc],
            everybody if joined_groups is None else joined_groups,
            request_threads == MOST_LANES,
        ),
        facts.bank_bytes,
        _Asked(np.empty((facts.banks, most), np.int64), np.empty(facts.banks, np.int64)),
        np.full((len(patterns.mask), _REMEMBERED), -1, np.int64),
        taken,
        ideal,
    )
    return Wavefronts(taken, ideal)


def constant_wavefronts(
    rows: PatternCounts, patterns: PatternTable, native: NativeAccesses, facts: ConstantFacts
) -> Wavefronts:
    """Passes of the constant cache: `words_per_pass` distinct words each.

    An access wider than a word asks for one wide word.
    """
    words = np.empty(len(rows), np.int64)
    most = _most_words(rows, patterns, native, facts.word_bytes)
    _count_words(
        native.of_lanes(rows.pc, rows.start, rows.pattern, patterns),
        facts.word_bytes,
        new_room(patterns.offsets.shape[1], most),
        words,
    )
    return Wavefronts(-(-words // facts.words_per_pass), np.ones(len(rows), np.int64))


def _lane_groups(access_bytes: Ints, facts: SharedMemoryFacts) -> Ints:
    """Lanes that are served together: the largest power of two that one pass has room for."""
    room = np.maximum(facts.banks * facts.bank_bytes // np.maximum(access_bytes, 1), 1)
    lanes: Ints = (2 ** np.floor(np.log2(room))).astype(np.int64)
    return lanes


def _most_words(
    rows: PatternCounts, patterns: PatternTable, native: NativeAccesses, word_bytes: int
) -> int:
    """An upper bound of the distinct words of one access."""
    widest = int(native.bytes[rows.pc].max(initial=0))
    return sector_room(patterns.offsets.shape[1], widest, word_bytes)


class _Access(NamedTuple):
    """One access of a warp: where it starts and each lane from there, and how wide lanes' are."""

    start: int
    offsets: Ints
    alignment: int
    bytes: int
    bank_bytes: int


class _Asked(NamedTuple):
    """Working space: bank b is asked for the words words[b, : load[b]]."""

    words: Ints
    load: Ints


class _Groups(NamedTuple):
    """Lanes of a group in each row, and how many groups are served together where one pass can.

    `are_needed`: passes for groups that are not served together are no conflict.
    """

    lanes: Ints
    joined: Ints
    are_needed: bool


@compiled
def _ask_banks(access: _Access, lanes: np.uint64, asked: _Asked) -> tuple[int, int]:
    """Distinct words of the lanes, and the most of them that fall to one bank."""
    load, banks, shift = asked.load, len(asked.load), trailing_zeros(access.bank_bytes)
    is_power = banks & (banks - 1) == 0
    load[:] = 0
    found, most = 0, 0
    while lanes != ZERO:
        lane = np.uint64(trailing_zeros(int(np.int64(lanes))))
        begin = (access.start + access.offsets[lane]) & access.alignment
        lanes &= np.uint64(lanes - ONE)
        for word in range(begin >> shift, ((begin + access.bytes - 1) >> shift) + 1):
            bank = np.uint64(word & (banks - 1) if is_power else word % banks)
            held, at = load[bank], 0
            while at < held and asked.words[bank, np.uint64(at)] != word:
                at += 1
            if at == held:
                asked.words[bank, np.uint64(at)] = word
                load[bank] = at + 1
                found += 1
                most = max(most, at + 1)
    return found, most


@compiled
def _in_groups(
    access: _Access, lanes: np.uint64, asked: _Asked, together: int, alone: int
) -> tuple[int, int]:
    """Passes of groups of so many lanes, and how many of the groups have any.

    A group that one pass cannot serve is served as smaller ones, of `alone` lanes.
    """
    width = len(access.offsets)
    total, groups, first = 0, 0, 0
    while first < width:
        group = lanes & np.uint64(low_bits(together) << np.uint64(first))
        passes = _ask_banks(access, group, asked)[1]
        groups += passes > 0
        if passes > 1 and alone < together:
            passes = 0
            for begin in range(first, min(first + together, width), alone):
                part = group & np.uint64(low_bits(alone) << np.uint64(begin))
                passes += _ask_banks(access, part, asked)[1]
        total += passes
        first += together
    return total, groups


@compiled
def _serve(
    accesses: LaneAccesses,
    groups: _Groups,
    bank_bytes: int,
    asked: _Asked,
    last: Ints,
    taken: Ints,
    ideal: Ints,
) -> None:
    """Passes of each row; `last` holds -1 in the rows of all patterns.

    Where accesses of one pattern begin so many whole words apart that the alignment is the same,
    the banks only change their numbers: the passes are those of the one before.
    """
    for row in range(len(accesses.start)):
        size, alignment = accesses.bytes[row], accesses.alignment[row]
        known = last[accesses.pattern[row]]
        place = int(accesses.start[row]) & (max(bank_bytes, -alignment) - 1)
        lanes_in_turn, joined = groups.lanes[row], groups.joined[row]
        if (
            known[0] == place
            and known[1] == size
            and known[2] == alignment
            and known[3] == lanes_in_turn
            and known[4] == joined
        ):
            taken[row], ideal[row] = known[5], known[6]
            continue
        places = accesses.offsets[accesses.pattern[row]]
        lanes = accesses.masks[accesses.pattern[row]]
        access = _Access(
            int(accesses.start[row]),
            places,
            alignment,
            size,
            bank_bytes,
        )
        found, total = _ask_banks(access, lanes, asked)
        alone = min(int(lanes_in_turn), len(places))
        together = min(alone * joined, len(places))
        served = int(total > 0)
        if alone < len(places):
            total, served = _in_groups(access, lanes, asked, together, alone)
        taken[row] = max(1, total)
        ideal[row] = max(1, -(-found // len(asked.load)))
        if groups.are_needed:
            ideal[row] = max(ideal[row], served)
        known[0], known[1], known[2] = place, size, alignment
        known[3], known[4] = lanes_in_turn, joined
        known[5], known[6] = taken[row], ideal[row]


@compiled
def _count_words(accesses: LaneAccesses, word_bytes: int, room: SectorRoom, words: Ints) -> None:
    """Distinct words of each row, at least one."""
    pattern, access_bytes = accesses.pattern, accesses.bytes
    for row in range(len(pattern)):
        size = max(word_bytes, access_bytes[row])
        count = coalesce_into(
            int(accesses.start[row]),
            accesses.offsets[pattern[row]],
            accesses.masks[pattern[row]],
            accesses.alignment[row],
            access_bytes[row],
            size,
            room,
        )
        words[row] = max(1, count)
