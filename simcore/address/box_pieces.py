"""What boxes have in common, in compiled code: pieces between all ends of all boxes.

All ends cut each axis into pieces; a product of pieces is in a set or out of it as a whole, so
counting multiplies lengths. Imports numba. Functions find their room among the arguments:

`ends`: lower and upper ends of boxes, shape (axes, 2, boxes), then the numbers of their cuts.
`cuts`: of each axis, shape (axes, 2 boxes), `counts` of them. `masks`: the sets of each piece, one
bit a set, shape (pieces, words of 64 bits), the last axis of a piece running fastest.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.compiled import compiled, inlined

__all__ = ["add_distinct_since", "count_shared", "count_uses", "mark_pieces", "number_ends"]

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]


@compiled
def number_ends(ends: Ints, cuts: Ints, counts: Ints) -> int:
    """Numbers the ends of boxes by the distinct ends of each axis; returns the number of pieces.

    Puts the distinct ends into `cuts`, ascending, and the number of its cut in the place of each
    end.
    """
    pieces, boxes = 1, ends.shape[2]
    for axis in range(ends.shape[0]):
        for box in range(boxes):
            cuts[axis, 2 * box], cuts[axis, 2 * box + 1] = ends[axis, 0, box], ends[axis, 1, box]
        order(cuts[axis])
        count = 1
        for at in range(1, 2 * boxes):
            if cuts[axis, at] != cuts[axis, count - 1]:
                cuts[axis, count] = cuts[axis, at]
                count += 1
        counts[axis] = count
        pieces *= count - 1
        for side in range(2):
            for box in range(boxes):
                ends[axis, side, box] = place(cuts[axis], count, ends[axis, side, box])
    return pieces


@inlined
def order(values: Ints) -> None:
    """Ascending, in place (Shell's sort)."""
    gap = 1
    while 3 * gap < len(values):
        gap = 3 * gap + 1
    while gap:
        for begin in range(gap, len(values)):
            value, at = values[begin], begin
            while at >= gap and values[at - gap] > value:
                values[at] = values[at - gap]
                at -= gap
            values[at] = value
        gap //= 3


@inlined
def place(ordered: Ints, count: int, value: int) -> int:
    """The number of `value` among the first `count`."""
    low, high = 0, count - 1
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def mark_pieces(ends: Ints, counts: Ints, owner: Ints, at: Ints, masks: Words) -> None:
    """Sets the bit of `owner` in all pieces of each box; `at`: room for a piece, shape (axes,)."""
    axes = ends.shape[0]
    last = axes - 1
    for box in range(ends.shape[2]):
        word = owner[box] // 64
        bit = np.uint64(1) << np.uint64(owner[box] % 64)
        for axis in range(axes):
            at[axis] = ends[axis, 0, box]
        axis = 0
        while axis >= 0:
            row = 0
            for before in range(last):
                row = row * (counts[before] - 1) + at[before]
            row *= counts[last] - 1
            for piece in range(row + ends[last, 0, box], row + ends[last, 1, box]):
                masks[piece, word] |= bit
            axis = last - 1
            while axis >= 0:
                at[axis] += 1
                if at[axis] < ends[axis, 1, box]:
                    break
                at[axis] = ends[axis, 0, box]
                axis -= 1


@inlined
def size_of(piece: int, cuts: Ints, counts: Ints) -> int:
    """Units of one piece."""
    size = 1
    for axis in range(cuts.shape[0] - 1, -1, -1):
        number = piece % (counts[axis] - 1)
        piece //= counts[axis] - 1
        size *= cuts[axis, number + 1] - cuts[axis, number]
    return size


@compiled
def count_shared(masks: Words, cuts: Ints, counts: Ints, found: Floats) -> None:
    """Adds to `found`, shape (offsets, 2, sets), units of each set and those it shares.

    They are shared with the first set of the offset. Sets of all offsets follow each other in
    `masks`.
    """
    sets = found.shape[2]
    for piece in range(masks.shape[0]):
        size = 0
        for number in range(found.shape[0] * sets):
            if masks[piece, number // 64] >> np.uint64(number % 64) & np.uint64(1):
                if not size:
                    size = size_of(piece, cuts, counts)
                offset, own = number // sets, number % sets
                found[offset, 0, own] += size
                first = offset * sets
                if own and masks[piece, first // 64] >> np.uint64(first % 64) & np.uint64(1):
                    found[offset, 1, own] += size


@compiled
def count_uses(masks: Words, cuts: Ints, counts: Ints, found: Floats) -> None:
    """Adds to `found`, shape (sets, 1 + sets), units of each set by the last one that has them.

    Only sets before it count; the first column are units that none of them has.
    """
    for piece in range(masks.shape[0]):
        size, before = 0, 0
        for number in range(found.shape[0]):
            if masks[piece, number // 64] >> np.uint64(number % 64) & np.uint64(1):
                if not size:
                    size = size_of(piece, cuts, counts)
                found[number, before] += size
                before = number + 1


@compiled
def add_distinct_since(used_before: Floats, at: Ints, between: Floats) -> None:
    """[j, i] of `between`: units that the steps i to j touch, those of one field `at` among them.

    From step a on each step b adds what was used last before a: `used_before[b, a]`.
    """
    own, steps = len(at), len(between)
    for first in range(own):
        units, begin = 0.0, at[first - 1] + 1 if first else 0
        for last in range(first, own):
            units += used_before[last, first]
            for later in range(at[last], at[last + 1] if last + 1 < own else steps):
                for earlier in range(begin, at[first] + 1):
                    between[later, earlier] += units
