"""Which registers point into the arguments of the launch, and where to.

A pair of scalar registers points to a distance that is known, or one of any registers to one that
is computed, such as an element of an array in a structure. There the registers hold the distance
from the first argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from kernelcast.ptx_frontend.amdgcn.lowering.writer import Writer
from kernelcast.ptx_frontend.amdgcn.text import AsmInstruction

__all__ = ["ArgumentPlaces"]

_WRITES_NOTHING = (
    *("s_cmp", "s_bitcmp", "s_cbranch", "s_branch", "s_waitcnt", "s_wait_", "s_nop", "s_barrier"),
)


_LEAVES = ("s_branch", "s_cbranch", "s_endpgm")


_KEEP = re.compile(
    r"s_(?:add_u32|add_nc_u64|lshl\d_add_u32|or_b32|mov_b32|mov_b64)"
    r"|v_(?:add_co_u32|add_u32|add3_u32|lshl_add_u32|lshl_add_u64|mov_b32|mov_b64)"
    r"|v_(?:or_b32|lshl_or_b32)"
)
"""Instructions whose result points into the arguments where an operand does."""
_TWO_RESULTS = re.compile(r"_co_|v_div_scale|v_mad_[ui]64")
_Known: TypeAlias = dict[tuple[str, str], int]
_State: TypeAlias = tuple[_Known, frozenset[str]]


def _agreed(one: _State, other: _State) -> _State:
    """What holds on two ways: a place that differs, or that one of them computes, is computed."""
    known = {pair: place for pair, place in one[0].items() if other[0].get(pair) == place}
    return known, (_lows(one) & _lows(other)) - _lows((known, frozenset()))


def _lows(state: _State) -> frozenset[str]:
    """The lower registers of all that points into the arguments."""
    known, computed = state
    return computed | {low for low, _ in known}


def _halves(instruction: AsmInstruction) -> Iterator[AsmInstruction]:
    """The instruction, and the one that is issued with it."""
    yield instruction
    if instruction.partner is not None:
        yield instruction.partner


def _written(code: Writer, instruction: AsmInstruction) -> frozenset[str]:
    """The registers that an instruction may write: its first operand, a mask of carries."""
    found: set[str] = set()
    for item in _halves(instruction):
        results = item.operands[: _results(item)]
        found.update(name for text in results for name in code.names(text))
    return frozenset(found)


def _results(instruction: AsmInstruction) -> int:
    """How many operands are results, as far as there are any."""
    return 2 if _TWO_RESULTS.search(instruction.opcode) else 1


def _loops(
    code: Writer, instructions: Sequence[AsmInstruction]
) -> Iterator[tuple[str, frozenset[str]]]:
    """The labels that later branches lead to, and what is written from there to the last one."""
    starts = {label: at for at, item in enumerate(instructions) for label in item.labels}
    ends: dict[str, int] = {}
    for at, item in enumerate(instructions):
        if item.opcode.startswith(_LEAVES):
            ends |= {label: at for label in item.operands[:1] if starts.get(label, at + 1) <= at}
    for label, end in ends.items():
        body = instructions[starts[label] : end + 1]
        halves = (item for whole in body for item in (whole, whole.partner) if item is not None)
        written = (
            name for item in halves for text in item.operands[:1] for name in code.names(text)
        )
        yield label, frozenset(written)


class ArgumentPlaces:
    """`known`: the distance from the first argument, bytes, by the names of a pair.

    `computed`: lower registers of pairs that point to a distance that only they know.
    """

    def __init__(self, code: Writer, instructions: Sequence[AsmInstruction]) -> None:
        self._code = code
        self._loops = dict(_loops(code, instructions))
        self.known: _Known = {}
        self.computed: frozenset[str] = frozenset()
        self._at_labels: dict[str, _State] = {}
        """What is known on all ways forward to a label."""
        self._is_reached = True
        self._half_made: dict[str, tuple[str, int]] = {}
        """Lower halves of sums: the upper register that goes with the source, and the distance."""

    def distance(self, operand: str) -> int | None:
        """Where an operand points to; None where that is elsewhere."""
        names = self._code.names(operand)
        return self.known.get((names[0], names[1])) if len(names) == 2 else None

    def is_computed(self, operand: str) -> bool:
        """Whether the registers of an operand hold a distance from the first argument."""
        return not self.computed.isdisjoint(self._code.names(operand)[:1])

    def arrive(self, labels: Sequence[str]) -> None:
        """Goes on at labels: what all ways to them agree on is known."""
        for label in labels:
            other = self._at_labels.get(label)
            if other is not None:
                mine = self.known, self.computed
                self.known, self.computed = _agreed(mine, other) if self._is_reached else other
                self._is_reached = True
            self._enter_loop(self._loops.get(label, frozenset()))
        self._is_reached = True

    def _enter_loop(self, written: frozenset[str]) -> None:
        """What a loop writes points to another place on each trip."""
        changing = {pair for pair in self.known if not written.isdisjoint(pair)}
        self.known = {pair: place for pair, place in self.known.items() if pair not in changing}
        self.computed |= frozenset(low for low, _ in changing)

    def leave(self, instruction: AsmInstruction) -> None:
        """Takes note of a branch, which leaves what is known at its target."""
        if not instruction.opcode.startswith(_LEAVES):
            return
        for label in instruction.operands[:1]:
            other = self._at_labels.get(label)
            mine = self.known, self.computed
            self._at_labels[label] = mine if other is None else _agreed(mine, other)
        self._is_reached = instruction.opcode.startswith("s_cbranch")

    def follow(self, instruction: AsmInstruction) -> None:
        """Takes note of what an instruction writes."""
        opcode, operands = instruction.opcode, instruction.operands
        if not operands or opcode.startswith(_WRITES_NOTHING):
            return
        self._compute(instruction)
        moved = self.distance(operands[1]) if opcode == "s_mov_b64" else None
        summed = self._summed(opcode, operands)
        half = self._half(opcode, operands)
        whole = self._whole(opcode, operands)
        written = self._code.names(operands[0])
        all_written = _written(self._code, instruction)
        self.known = {p: d for p, d in self.known.items() if all_written.isdisjoint(p)}
        for name in all_written:
            self._half_made.pop(name, None)
        if moved is not None:
            self.known[written[0], written[1]] = moved
        if summed is not None:
            self.known[written[0], written[1]] = summed
        if half is not None:
            self._half_made[written[0]] = half
        if whole is not None:
            self.known[whole[0]] = whole[1]

    def _compute(self, instruction: AsmInstruction) -> None:
        """Takes note of whether what is written points to a distance of its own."""
        lows = _lows((self.known, self.computed))
        pointing: set[str] = set()
        for item in _halves(instruction):
            sources = item.operands[_results(item) :]
            read = {name for text in sources for name in self._code.names(text)[:1]}
            if _KEEP.fullmatch(item.opcode) and not lows.isdisjoint(read):
                pointing.update(self._code.names(item.operands[0])[:1])
        self.computed = self.computed - _written(self._code, instruction) | pointing

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
