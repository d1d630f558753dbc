"""Address sets of one field, as boxes in a space with one axis for each stride.

Sets whose axes would overlap have no boxes: two tuples may be one address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.address.boxes import StridedFamily

__all__ = ["AddressSets", "Boxes"]

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes of `count` address sets.

    Lower and upper ends, shape (1 + outer strides, 2, boxes), bytes first; the set of each box.
    """

    ends: Ints
    owner: Ints
    count: int
    strides: tuple[int, ...]

    @property
    def are_tuples_addresses(self) -> bool:
        """Whether each axis ends before the next one repeats it."""
        extent = (self.ends[:, 1].max(axis=1) - self.ends[:, 0].min(axis=1)).tolist()
        pairs = zip(extent, (1, *self.strides), self.strides, strict=False)
        return all(count * below <= above for count, below, above in pairs)

    def shared(self, unit: int, offsets: Sequence[int]) -> Floats:
        """Counts units of each set and what it shares with the first, shape (offsets, 2, sets).

        Row 0 has units of each set, row 1 units that it shares with the first set. Addresses begin
        an offset behind a unit.
        """
        from kernelcast.simcore.address.box_pieces import count_shared

        found = np.zeros((len(offsets), 2, self.count))
        count_shared(*self._pieces(unit, offsets), found)
        return found

    def uses(self, unit: int, offset: int) -> Floats:
        """Counts units of each set by the last set before it that has them.

        The shape is (sets, 1 + sets): the first column are those that none has.
        """
        from kernelcast.simcore.address.box_pieces import count_uses

        found = np.zeros((self.count, 1 + self.count))
        count_uses(*self._pieces(unit, (offset,)), found)
        return found

    def _pieces(self, unit: int, offsets: Sequence[int]) -> tuple[Words, Ints, Ints]:
        """Masks, cuts and counts as `box_pieces` has them; a set for each offset."""
        from kernelcast.simcore.address.box_pieces import mark_pieces, number_ends

        axes, _, boxes = self.ends.shape
        owner, ends = self.owner, np.empty((axes, 2, len(offsets), boxes), np.int64)
        ends[:] = self.ends[:, :, None]
        ends[0, 1] -= 1
        ends[0] = (ends[0] + np.array(offsets)[:, None]) // unit
        ends[0, 1] += 1
        if len(offsets) > 1:
            owner = np.add.outer(self.count * np.arange(len(offsets)), owner).ravel()
        of_axes = ends.reshape(axes, 2, -1)
        cuts, counts = np.empty((axes, 2 * len(owner)), np.int64), np.empty(axes, np.int64)
        pieces = number_ends(of_axes, cuts, counts)
        masks = np.zeros((pieces, -(-self.count * len(offsets) // 64)), np.uint64)
        mark_pieces(of_axes, counts, owner, np.empty(axes, np.int64), masks)
        return masks, cuts, counts


_KnownBoxes = dict[tuple[int, ...], Boxes | None]


@dataclass(frozen=True, slots=True)
class AddressSets:
    """`count` sets: families of addresses, and the set that each base of them belongs to."""

    count: int
    members: tuple[tuple[StridedFamily, tuple[int, ...]], ...]
    _known: _KnownBoxes = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of_families(cls, sets: Sequence[Sequence[StridedFamily]]) -> AddressSets:
        """Equal families of a set once."""
        return cls(
            len(sets),
            tuple(
                (member, (number,) * len(member.bases))
                for number, members in enumerate(sets)
                for member in dict.fromkeys(members)
            ),
        )

    @property
    def joined(self) -> AddressSets:
        """All of them as one set."""
        members = ((family, (0,) * len(owners)) for family, owners in self.members)
        return AddressSets(1, tuple(members))

    def outer_strides(self, unit: int) -> tuple[int, ...]:
        """Strides that leave out whole units between neighbours, ascending."""
        found = {
            stride
            for member, _ in self.members
            for stride, _, _ in member.spans
            if stride - member.access_bytes >= unit
        }
        return tuple(sorted(found))

    def boxes(self, unit: int) -> Boxes | None:
        """None where two tuples may be one address."""
        strides = self.outer_strides(unit)
        if strides not in self._known:
            found = self._as_boxes(strides)
            self._known[strides] = found if found.are_tuples_addresses else None
        return self._known[strides]

    def _as_boxes(self, strides: tuple[int, ...]) -> Boxes:
        place = {stride: at + 1 for at, stride in enumerate(strides)}
        each = [len(owners) for _, owners in self.members]
        bases = [base for member, _ in self.members for base in member.bases]
        corners = np.array([_corners(member, place) for member, _ in self.members])
        ends = corners.repeat(each, axis=0).transpose(2, 1, 0) + _digits(bases, strides)[:, None]
        owner = np.array([number for _, owners in self.members for number in owners])
        return Boxes(ends, owner, self.count, strides)


def _corners(member: StridedFamily, place: Mapping[int, int]) -> list[list[int]]:
    """First coordinates and ends of the set whose base is 0, shape (2, axes)."""
    low, high = [0] * (1 + len(place)), [1] * (1 + len(place))
    first, end = 0, member.access_bytes
    for stride, begin, after in member.spans:
        at = place.get(stride)
        if at is None:
            first, end = first + stride * begin, end + stride * (after - 1)
        else:
            low[at], high[at] = begin, after
    low[0], high[0] = first, end
    return [low, high]


def _digits(bases: Sequence[int], strides: tuple[int, ...]) -> Ints:
    """Bases as coordinates, shape (axes, bases).

    These are multiples of the largest stride, then of the next; what is left are bytes. Each axis
    begins in the middle of the widest gap between bases.
    """
    found = np.zeros((1 + len(strides), len(bases)), np.int64)
    rest = np.array(bases, np.int64)
    for at in range(len(strides), 0, -1):
        stride = strides[at - 1]
        places = np.sort(rest % stride)
        gaps = np.empty_like(places)
        gaps[:-1], gaps[-1] = places[1:] - places[:-1], places[0] + stride - places[-1]
        widest = gaps.argmax()
        found[at] = (rest - (places[widest] + gaps[widest] // 2)) // stride + 1
        rest -= found[at] * stride
    found[0] = rest
    return found
