"""Functions that a kernel has once: recursive ones, and those that are called through registers.

All others stand anew where they are called. A shared function goes back by the address that its
caller put into a register: it is compared with the places behind all calls of the function.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kernelcast.ptx_frontend.sass.lowering.flow import body_from, callee
from kernelcast.ptx_frontend.sass.text.operands import RegisterOperand
from kernelcast.ptx_frontend.sass.text.statements import Section, Statement
from kernelcast.simcore.isa.ir.kernel import Register

__all__ = ["CallGraph", "SharedFunction"]

_FUNCTION, _INTERNAL = "$", "$__internal_"


@dataclass(slots=True)
class SharedFunction:
    """A function that stands in the kernel once.

    `entry` and `leave` are basic blocks: its first, and where it returns. `back`: the register
    with the address to return to. `sites`: basic blocks behind calls by their addresses.
    """

    address: int
    entry: int
    leave: int
    back: Register
    sites: dict[int, int] = field(default_factory=dict)


class CallGraph:
    """Which functions of a section call which, from its beginning.

    `pointed`: functions that a register may hold. `shared`: those that cannot stand anew at each
    call.
    """

    def __init__(self, section: Section) -> None:
        self._section = section
        self._calls: dict[int, set[int]] = {}
        self._through_registers: set[int] = set()
        self._follow([0])
        self.pointed: tuple[int, ...] = ()
        if self._through_registers:
            self.pointed = _pointed(section)
            self._follow(self.pointed)
        recursive = {entry for entry in self._calls if self._reaches(entry, {entry})}
        kept = recursive | set(self.pointed) | self._through_registers
        self.shared = frozenset(
            entry for entry in self._calls if entry in kept or self._reaches(entry, kept)
        ) - {0}

    def _follow(self, entries: Iterable[int]) -> None:
        pending = [entry for entry in entries if entry not in self._calls]
        while pending:
            entry = pending.pop()
            if entry in self._calls:
                continue
            statements = body_from(self._section, entry).statements
            found = {callee(statement, self._section) for statement in statements} - {None}
            self._calls[entry] = {address for address in found if address is not None}
            if any(_is_through_register(statement) for statement in statements):
                self._through_registers.add(entry)
            pending.extend(self._calls[entry])

    def _reaches(self, entry: int, targets: set[int]) -> bool:
        """Whether a function calls one of the targets, by whatever way."""
        seen: set[int] = set()
        pending = list(self._calls[entry])
        while pending:
            address = pending.pop()
            if address in targets:
                return True
            if address not in seen:
                seen.add(address)
                pending.extend(self._calls[address])
        return False


def _is_through_register(statement: Statement) -> bool:
    """Whether the statement calls a function of the section that a register holds."""
    if statement.opcode != "CALL" or "ABS" in statement.modifiers:
        return False
    return any(isinstance(operand, RegisterOperand) for operand in statement.operands)


def _pointed(section: Section) -> tuple[int, ...]:
    """The places of all functions in a section but the compiler's own."""
    return tuple(
        sorted(
            address
            for name, address in section.labels.items()
            if name.startswith(_FUNCTION) and not name.startswith(_INTERNAL) and address
        )
    )
