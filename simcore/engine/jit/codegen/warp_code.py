"""Where the warp function is written: its instructions, labels and lane masks.

A mask is an integer of one bit per lane, `FULL` when it is known to hold every lane.
"""

from __future__ import annotations

from kernelcast.simcore.isa.numerics.lane_code import LaneCode

__all__ = ["FULL", "WarpCode"]

FULL = "-1"


class WarpCode:
    """`scalar` and `vector` write the body for one and for all lanes, `entry` what precedes it.

    `together`: how many warps the lanes are of; they are executed as one and counted apart.
    """

    def __init__(self, scalar: LaneCode, entry: LaneCode, width: int, together: int = 1) -> None:
        self.scalar = scalar
        self.entry = entry
        self.width = width
        self.together = together
        self.vector = scalar.with_lanes(width)
        self.mask_type = f"i{width}"

    def label(self, name: str) -> None:
        """Begins an LLVM basic block."""
        self.scalar.lines.append(f"{name}:")

    def labels(self, *stems: str) -> tuple[str, ...]:
        """New names for LLVM basic blocks."""
        return tuple(f"{stem}{self.scalar.fresh()[1:]}" for stem in stems)

    def here(self) -> str:
        """The label of the LLVM basic block that is being written."""
        for line in reversed(self.scalar.lines):
            if line.endswith(":"):
                return line[:-1]
        raise AssertionError("no label yet")

    def load_mask(self, slot: str) -> str:
        """Emits the load of a lane mask from its slot."""
        return self.scalar.op(f"load {self.mask_type}, ptr {slot}")

    def store_mask(self, mask: str, slot: str) -> None:
        """Emits the store of a lane mask to its slot."""
        self.scalar.do(f"store {self.mask_type} {mask}, ptr {slot}")

    def add_mask(self, mask: str, slot: str) -> None:
        """Adds lanes to those in `slot`."""
        known = self.load_mask(slot)
        self.store_mask(self.scalar.op(f"or {self.mask_type} {known}, {mask}"), slot)

    def both_masks(self, one: str, other: str) -> str:
        """The lanes in both."""
        if other == FULL:
            return one
        if one == FULL:
            return other
        return self.scalar.op(f"and {self.mask_type} {one}, {other}")

    def is_empty(self, mask: str) -> str:
        """Emits the test whether no lane is in a mask."""
        return self.scalar.op(f"icmp eq {self.mask_type} {mask}, 0")

    def of_each_warp(self, mask: str) -> list[str]:
        """The lanes of a mask that are of each warp, as masks of all lanes."""
        if self.together == 1:
            return [mask]
        size = self.width // self.together
        parts = [((1 << size) - 1) << first for first in range(0, self.width, size)]
        return [self.scalar.op(f"and {self.mask_type} {mask}, {part}") for part in parts]

    def warps_in(self, mask: str) -> list[str]:
        """Whether each warp has a lane in a mask, as i1."""
        kind, code = self.mask_type, self.scalar
        return [code.op(f"icmp ne {kind} {part}, 0") for part in self.of_each_warp(mask)]

    def as_i64(self, value: str) -> str:
        """A mask, or a number of its type, as i64."""
        if self.width == 64:
            return value
        return self.scalar.op(f"zext {self.mask_type} {value} to i64")

    def wide_mask(self, mask: str) -> str:
        """The mask as i64, a constant where it is `FULL`."""
        if mask == FULL:
            return str((1 << self.width) - 1) if self.width < 64 else FULL
        return self.as_i64(mask)

    def mask_vector(self, mask: str) -> str:
        """The mask as a vector of i1."""
        if mask == FULL:
            return "splat (i1 true)"
        return self.scalar.op(f"bitcast {self.mask_type} {mask} to <{self.width} x i1>")

    def broadcast(self, value: str, lane: str) -> str:
        """A scalar of LLVM type `lane` in every lane."""
        kind = f"<{self.width} x {lane}>"
        single = self.scalar.op(f"insertelement {kind} poison, {lane} {value}, i32 0")
        return self.scalar.op(
            f"shufflevector {kind} {single}, {kind} poison, <{self.width} x i32> zeroinitializer"
        )
