"""Where control goes: the statements that a function reaches, and where its basic blocks begin."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kernelcast.errors import UnsupportedInstruction
from kernelcast.ptx_frontend.sass.text.operands import LabelOperand, RegisterOperand
from kernelcast.ptx_frontend.sass.text.statements import Section, Statement

__all__ = [
    "INSTRUCTION_BYTES",
    "Blocks",
    "Body",
    "body_from",
    "callee",
    "collective_end",
    "goes_on",
    "jumps",
]

INSTRUCTION_BYTES = 16
_ENDS = ("EXIT", "RET", "BRX", "BRXU", "KILL")
_RETURNS = ("RET", "BRX", "BRXU", "JMX", "JMXU")
"""What may go back to a caller."""
_BRANCHES = ("BRA", "BRX", "BRXU")
COLLECTIVE = "COLLECTIVE"
COLLECTIVE_END = "ENDCOLLECTIVE"


class Blocks(dict[int, int]):
    """Basic blocks by the address that they begin at."""

    def __missing__(self, address: int) -> int:
        raise UnsupportedInstruction(f"a jump to {address:#x}, where no instruction begins")


@dataclass(slots=True)
class Body:
    """The statements that are reached from `entry` without a call, and where basic blocks begin.

    `starts`: addresses. `blocks`: numbers of basic blocks at those addresses, once they are made.
    `return_to`: the basic block behind the call, None for a kernel.
    """

    section: Section
    entry: int
    statements: tuple[Statement, ...]
    starts: frozenset[int]
    blocks: Blocks = field(default_factory=Blocks)
    return_to: int | None = None


def is_always(statement: Statement) -> bool:
    """Whether every lane that comes to the statement executes it."""
    guard = statement.guard
    return guard is None or (guard.number is None and not guard.sign)


def label_of(statement: Statement) -> str | None:
    """The label that a statement names last."""
    labels = [item.name for item in statement.operands if isinstance(item, LabelOperand)]
    return labels[-1] if labels else None


def _conditions(statement: Statement) -> list[RegisterOperand]:
    """Predicates among the operands of a branch."""
    return [
        item
        for item in statement.operands
        if isinstance(item, RegisterOperand) and item.file in ("P", "UP")
    ]


def jumps(statement: Statement, section: Section) -> tuple[int, ...]:
    """Addresses that a statement may send lanes to, besides the next one.

    The assembler also writes `CALL` for a branch: to a place from which nothing returns.
    """
    if statement.opcode == "CALL":
        target = _called(statement, section)
        return () if target is None or _returns(section, target) else (target,)
    if statement.opcode not in _BRANCHES:
        return ()
    names = statement.targets or tuple(filter(None, (label_of(statement),)))
    found = (section.target(name) for name in names)
    return tuple(dict.fromkeys(address for address in found if address is not None))


def goes_on(statement: Statement) -> bool:
    """Whether lanes may come to the next statement."""
    if not is_always(statement):
        return True
    if statement.opcode == "BRA":
        modifiers = statement.modifiers
        return bool(_conditions(statement)) or "DIV" in modifiers or "CONV" in modifiers
    if statement.opcode == "BPT" or statement.opcode == COLLECTIVE_END:
        return False
    return statement.opcode not in _ENDS


def callee(statement: Statement, section: Section) -> int | None:
    """Where a direct call within the section goes; None of what only branches."""
    if statement.opcode != "CALL":
        return None
    target = _called(statement, section)
    return None if target is None or not _returns(section, target) else target


def _called(statement: Statement, section: Section) -> int | None:
    """The place that a call names."""
    if any(isinstance(item, RegisterOperand) for item in statement.operands):
        return None
    label = label_of(statement)
    return None if label is None else section.target(label)


def _returns(section: Section, entry: int) -> bool:
    """Whether a `RET` is reached from there, when calls come back."""
    if entry in section.returning:
        return section.returning[entry]
    at = {statement.address: statement for statement in section.statements}
    seen: set[int] = set()
    pending, found = [entry], False
    while pending and not found:
        address = pending.pop()
        statement = at.get(address)
        if statement is None or address in seen:
            continue
        seen.add(address)
        found = statement.opcode in _RETURNS
        if statement.opcode != "CALL":
            pending.extend(jumps(statement, section))
        if goes_on(statement):
            pending.append(address + INSTRUCTION_BYTES)
    section.returning[entry] = found
    return found


def collective_end(statement: Statement, section: Section) -> int | None:
    """Where lanes go after the collective that `WARPSYNC.COLLECTIVE` begins."""
    if COLLECTIVE not in statement.modifiers:
        return None
    label = label_of(statement)
    return None if label is None else section.target(label)


def body_from(section: Section, entry: int) -> Body:
    """The statements that `entry` reaches, in the order of their addresses.

    UnsupportedInstruction where no instruction begins at `entry`.
    """
    at = {statement.address: statement for statement in section.statements}
    if entry not in at:
        raise UnsupportedInstruction(f"{section.name!r} has no instruction at {entry:#x}")
    reached: set[int] = set()
    starts = {entry}
    pending = [entry]
    while pending:
        address = pending.pop()
        if address in reached or address not in at:
            continue
        reached.add(address)
        statement = at[address]
        targets = jumps(statement, section)
        end = collective_end(statement, section)
        if end is not None:
            targets = (*targets, end)
        starts.update(targets)
        following = address + INSTRUCTION_BYTES
        if goes_on(statement):
            targets = (*targets, following)
        pending.extend(targets)
    statements = tuple(at[address] for address in sorted(reached))
    return Body(section, entry, statements, frozenset(starts & reached | _behind(statements)))


def _behind(statements: Iterable[Statement]) -> set[int]:
    """Addresses that do not follow the one before them."""
    previous = None
    found = set()
    for statement in statements:
        if previous is not None and statement.address != previous + INSTRUCTION_BYTES:
            found.add(statement.address)
        previous = statement.address
    return found
