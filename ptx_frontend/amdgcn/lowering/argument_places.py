"""Which pairs of scalar registers point into the arguments of the launch, and where to."""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.ptx_frontend.amdgcn.lowering.writer import Writer
from kernelcast.ptx_frontend.amdgcn.text import AsmInstruction

__all__ = ["ArgumentPlaces"]

_WRITES_NOTHING = (
    *("s_cmp", "s_bitcmp", "s_cbranch", "s_branch", "s_waitcnt", "s_wait_", "s_nop", "s_barrier"),
)


_LEAVES = ("s_branch", "s_cbranch", "s_endpgm")


def _agreed(
    one: dict[tuple[str, str], int], other: dict[tuple[str, str], int]
) -> dict[tuple[str, str], int]:
    return {pair: place for pair, place in one.items() if other.get(pair) == place}


class ArgumentPlaces:
    """`known`: the distance from the first argument, bytes, by the names of a pair."""

    def __init__(self, code: Writer) -> None:
        self._code = code
        self.known: dict[tuple[str, str], int] = {}
        self._at_labels: dict[str, dict[tuple[str, str], int]] = {}
        """What is known on all ways forward to a label."""
        self._is_reached = True
        self._half_made: dict[str, tuple[str, int]] = {}
        """Lower halves of sums: the upper register that goes with the source, and the distance."""

    def distance(self, operand: str) -> int | None:
        """Where an operand points to; None where that is elsewhere."""
        names = self._code.names(operand)
        return self.known.get((names[0], names[1])) if len(names) == 2 else None

    def has_half(self, operand: str) -> bool:
        """Whether an operand is a register of a pair that points into the arguments."""
        return any(operand in pair for pair in self.known)

    def arrive(self, labels: Sequence[str]) -> None:
        """Goes on at labels: what all ways to them agree on is known."""
        for label in labels:
            other = self._at_labels.get(label)
            if other is not None:
                self.known = _agreed(self.known, other) if self._is_reached else dict(other)
                self._is_reached = True
        self._is_reached = True

    def leave(self, instruction: AsmInstruction) -> None:
        """Takes note of a branch, which leaves what is known at its target."""
        if not instruction.opcode.startswith(_LEAVES):
            return
        for label in instruction.operands[:1]:
            other = self._at_labels.get(label)
            found = self.known if other is None else _agreed(self.known, other)
            self._at_labels[label] = dict(found)
        self._is_reached = instruction.opcode.startswith("s_cbranch")

    def follow(self, instruction: AsmInstruction) -> None:
        """Takes note of what an instruction writes."""
        opcode, operands = instruction.opcode, instruction.operands
        if not operands or not opcode.startswith("s_") or opcode.startswith(_WRITES_NOTHING):
            return
        moved = self.distance(operands[1]) if opcode == "s_mov_b64" else None
        summed = self._summed(opcode, operands)
        half = self._half(opcode, operands)
        whole = self._whole(opcode, operands)
        written = self._code.names(operands[0])
        self.known = {p: d for p, d in self.known.items() if not set(p) & set(written)}
        for name in written:
            self._half_made.pop(name, None)
        if moved is not None:
            self.known[written[0], written[1]] = moved
        if summed is not None:
            self.known[written[0], written[1]] = summed
        if half is not None:
            self._half_made[written[0]] = half
        if whole is not None:
            self.known[whole[0]] = whole[1]

    def _summed(self, opcode: str, operands: tuple[str, ...]) -> int | None:
        """Where the sum of such a pair and a constant points to."""
        if opcode != "s_add_nc_u64" or not operands[2][:1].isdigit():
            return None
        distance = self.distance(operands[1])
        return None if distance is None else distance + int(operands[2], 0)

    def _half(self, opcode: str, operands: tuple[str, ...]) -> tuple[str, int] | None:
        """The lower half of a sum of such a pair and a constant."""
        if opcode != "s_add_u32" or not operands[2][:1].isdigit():
            return None
        for (low, high), distance in self.known.items():
            if low == operands[1]:
                return high, distance + int(operands[2], 0)
        return None

    def _whole(self, opcode: str, operands: tuple[str, ...]) -> tuple[tuple[str, str], int] | None:
        """The pair that the upper half of such a sum completes."""
        if opcode != "s_addc_u32" or operands[2] != "0" or not operands[0][1:].isdigit():
            return None
        low = f"s{int(operands[0][1:]) - 1}"
        high, distance = self._half_made.get(low, ("", 0))
        return ((low, operands[0]), distance) if high == operands[1] else None
