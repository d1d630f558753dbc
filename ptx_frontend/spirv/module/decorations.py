"""What a module says about its identifiers besides their definitions."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

from kernelcast.ptx_frontend.spirv.module.binary import Instruction

__all__ = ["Decoration", "Decorations"]


class Decoration(IntEnum):
    """The decorations that change the meaning of a kernel."""

    SPEC_ID = 1
    C_PACKED = 10
    BUILT_IN = 11
    VOLATILE = 21
    CONSTANT = 22
    SATURATED_CONVERSION = 28
    FUNCTION_PARAMETER_ATTRIBUTE = 38
    ROUNDING_MODE = 39
    FAST_MATH_MODE = 40
    LINKAGE_ATTRIBUTES = 41
    ALIGNMENT = 44
    NO_SIGNED_WRAP = 4469
    NO_UNSIGNED_WRAP = 4470


class Decorations:
    """Every decoration of an identifier as the instruction that gave it."""

    def __init__(self) -> None:
        self._given: dict[int, list[tuple[int, Instruction]]] = {}

    def read(self, instruction: Instruction) -> bool:
        """Takes the instruction if it decorates; decorations of members say nothing here."""
        if instruction.name == "OpDecorate":
            kind = instruction.operand(1)
            self._given.setdefault(instruction.operand(0), []).append((kind, instruction))
        elif instruction.name == "OpGroupDecorate":
            given = self._given.get(instruction.operand(0), [])
            for target in instruction.operands[1:]:
                self._given.setdefault(target, []).extend(given)
        return instruction.name in _NAMES

    def has(self, identifier: int, kind: Decoration) -> bool:
        """Whether an identifier has a decoration of that kind."""
        return any(found == kind for found, _ in self._given.get(identifier, ()))

    def literals(self, identifier: int, kind: Decoration) -> Iterator[int]:
        """The first literal of each such decoration."""
        for found, instruction in self._given.get(identifier, ()):
            if found == kind:
                yield instruction.operand(2)

    def literal(self, identifier: int, kind: Decoration) -> int | None:
        """The literal of the last such decoration."""
        found = None
        for literal in self.literals(identifier, kind):
            found = literal
        return found

    def linkage(self, identifier: int) -> tuple[str, int] | None:
        """The name under which other modules know it, and the kind of linkage."""
        for found, instruction in self._given.get(identifier, ()):
            if found == Decoration.LINKAGE_ATTRIBUTES:
                name, after = instruction.string(2)
                return name, instruction.operand(after)
        return None


_NAMES = (
    *("OpDecorate", "OpMemberDecorate", "OpDecorationGroup", "OpGroupDecorate", "OpDecorateId"),
    *("OpGroupMemberDecorate", "OpDecorateString", "OpMemberDecorateString"),
)
