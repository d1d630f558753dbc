"""Which statements compute addresses in shared memory of a cluster.

On hardware such an address holds the rank of its thread block from bit 24 on, of the own one as
well: `LEA d, rank, place, 0x18`, where the rank is `SR_CgaCtaId`. Addresses here name no thread
block, or another one by its rank plus one (`isa.analysis.cluster_addresses`). So what makes an
address of the own thread block must leave the rank out, what names another one (`PRMT d, rank,
0x654, address`, PTX's `mapa`), the leader of a pair (a mask) or asks for a rank must know that it
has to do with an address: values are followed from where they are made through moves and sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from kernelcast.ptx_frontend.sass.lowering.flow import (
    INSTRUCTION_BYTES,
    Body,
    collective_end,
    goes_on,
    is_always,
    jumps,
)
from kernelcast.ptx_frontend.sass.text.operands import (
    ImmediateOperand,
    MemoryOperand,
    NameOperand,
    RegisterOperand,
    SassOperand,
)
from kernelcast.ptx_frontend.sass.text.statements import Statement

__all__ = ["Making", "shared_places"]

RANK_NAME = "SR_CgaCtaId"
_RANK_SHIFT, _MAP, _LED = 0x18, 0x654, 0xFEFFFFFF
_RANK_OF = (8, "HI")
_READERS = ("S2R", "S2UR", "CS2R", "CS2UR")
_COPIES = ("MOV", "UMOV", "R2UR")
_SUMS = (
    *("MOV", "R2UR", "IADD3", "IADD", "VIADD", "LEA", "IMAD", "SEL", "LOP3", "PRMT", "SHFL"),
    *("VIMNMX", "IMNMX", "VIADDMNMX"),
)
"""Opcodes whose result may be an address where an operand is one; of most the uniform twins too."""
_SECOND = ("R2UR", "SHFL", "ELECT", "ATOMS", "ATOMG", "ATOM", "UTCATOMSWS")
"""Opcodes whose register is written after a predicate."""
_WIDTHS = {"WIDE": 2, "64": 2, "128": 4, "256": 8, "F64": 2, "S64": 2, "U64": 2, "2": 2, "4": 4}
_MANY, _TILE = 8, 128


class Making(Enum):
    """What a statement has to do with addresses of shared memory."""

    ONLY_PLACE = "a rank that is asked for addresses only"
    OWN = "an address in the own thread block"
    MAPPED = "an address in another thread block"
    LED = "an address in the leader of the pair"
    RANK_OF = "the rank that an address names"


_Name = tuple[str, int]
_PLACE = -1
"""The mark of an address; other marks are where a rank was read."""
_State = dict[_Name, frozenset[int]]


def shared_places(body: Body) -> Mapping[int, Making]:
    """Places by the addresses of statements; empty where no rank is read."""
    if not any(_reads_rank(statement) for statement in body.statements):
        return {}
    found = _Following(body)
    found.follow()
    return found.made()


def _reads_rank(statement: Statement) -> bool:
    if statement.opcode not in _READERS or len(statement.operands) < 2:
        return False
    return statement.operands[1] == NameOperand(RANK_NAME)


@dataclass(slots=True)
class _Following:
    """Marks of registers where each basic block begins, until none is new."""

    body: Body
    _at: dict[int, Statement] = field(default_factory=dict)
    _before: dict[int, _State] = field(default_factory=dict)

    def follow(self) -> None:
        self._at = {statement.address: statement for statement in self.body.statements}
        self._before[self.body.entry] = {}
        pending = [self.body.entry]
        while pending:
            start = pending.pop()
            state = dict(self._before[start])
            for statement in self._block(start):
                _pass(statement, state)
                last = statement
            pending.extend(t for t in self._targets(last) if self._joined(t, state))

    def _block(self, start: int) -> Iterator[Statement]:
        """Statements up to one that may not go on to the next, or the next basic block."""
        address = start
        while True:
            statement = self._at[address]
            yield statement
            address += INSTRUCTION_BYTES
            if not goes_on(statement) or jumps(statement, self.body.section):
                return
            if address in self.body.starts or address not in self._at:
                return
            if collective_end(statement, self.body.section) is not None:
                return

    def _targets(self, statement: Statement) -> Iterable[int]:
        found = list(jumps(statement, self.body.section))
        end = collective_end(statement, self.body.section)
        if end is not None:
            found.append(end)
        if goes_on(statement):
            found.append(statement.address + INSTRUCTION_BYTES)
        return [address for address in found if address in self._at]

    def _joined(self, target: int, state: _State) -> bool:
        """Brings marks to a basic block; whether it learns any."""
        if target not in self._before:
            self._before[target] = dict(state)
            return True
        known, is_new = self._before[target], False
        for name, marks in state.items():
            if not marks <= known.get(name, frozenset()):
                known[name] = known.get(name, frozenset()) | marks
                is_new = True
        return is_new

    def made(self) -> dict[int, Making]:
        """What statements make, with all marks known."""
        found: dict[int, Making] = {}
        numbers: set[int] = set()
        readers = [s.address for s in self.body.statements if _reads_rank(s)]
        for start, before in self._before.items():
            state = dict(before)
            for statement in self._block(start):
                making = _making(statement, state)
                if making is not None:
                    found[statement.address] = making
                numbers |= _as_number(statement, state, making)
                _pass(statement, state)
        for address in readers:
            if address not in numbers:
                found[address] = Making.ONLY_PLACE
        return found


def _name(operand: SassOperand) -> _Name | None:
    if isinstance(operand, RegisterOperand) and operand.number is not None:
        return operand.file, operand.number
    return None


def _marks(operand: SassOperand, state: _State) -> frozenset[int]:
    name = _name(operand)
    return frozenset() if name is None else state.get(name, frozenset())


def _constant(operand: SassOperand) -> int | None:
    if isinstance(operand, ImmediateOperand) and operand.value is not None:
        return operand.value & 0xFFFFFFFF
    return None


def _plain(statement: Statement) -> str:
    """The opcode, of uniform ones that of the vector twin."""
    opcode = statement.opcode
    return opcode[1:] if opcode.startswith("U") else opcode


def _making(statement: Statement, state: _State) -> Making | None:
    operands, opcode = statement.operands, _plain(statement)
    if opcode == "LEA" and len(operands) == 4 and _constant(operands[3]) == _RANK_SHIFT:
        return Making.OWN if _marks(operands[1], state) - {_PLACE} else None
    if opcode == "PRMT" and len(operands) == 4 and _constant(operands[2]) == _MAP:
        return Making.MAPPED if _PLACE in _marks(operands[3], state) else None
    if opcode == "LOP3" and len(operands) > 2 and _constant(operands[2]) == _LED:
        return Making.LED if _PLACE in _marks(operands[1], state) else None
    shift, half = _RANK_OF
    if opcode == "SHF" and {"L", half} <= set(statement.modifiers) and len(operands) == 4:
        is_rank = _constant(operands[2]) == shift and _name(operands[3]) is None
        return Making.RANK_OF if is_rank and _PLACE in _marks(operands[1], state) else None
    return None


def _as_number(statement: Statement, state: _State, making: Making | None) -> frozenset[int]:
    """Where ranks were read that the statement takes as numbers."""
    if _plain(statement) in ("MOV", "R2UR") or _is_move(statement):
        return frozenset()
    found: set[int] = set()
    for position, operand in enumerate(statement.operands):
        if position == 0 and _written(statement) == _name(operand):
            continue
        if position == 1 and making is Making.OWN:
            continue
        found |= _marks(operand, state)
        if isinstance(operand, MemoryOperand):
            for part in filter(None, (operand.base, operand.uniform)):
                found |= _marks(part, state)
    return frozenset(found - {_PLACE})


def _is_move(statement: Statement) -> bool:
    """`IMAD.MOV d, RZ, RZ, a` and the like."""
    return _plain(statement) == "IMAD" and "MOV" in statement.modifiers


def _written(statement: Statement) -> _Name | None:
    """The first register that the statement writes."""
    operands = statement.operands
    for position, operand in enumerate(operands[:2]):
        if not isinstance(operand, RegisterOperand):
            return None
        if operand.file in ("R", "UR"):
            return _name(operand)
        if position == 0 and statement.opcode not in _SECOND:
            return None
    return None


def _width(statement: Statement) -> int:
    """How many neighbours a destination may stand for."""
    opcode = statement.opcode
    if opcode.endswith("GMMA") or opcode.startswith("LDT"):
        return _TILE
    if opcode.endswith("MMA") or opcode.startswith(("T", "SU")):
        return _MANY
    usual = 2 if opcode.startswith("D") or opcode in ("SYNCS", "CS2R") else 1
    return max((_WIDTHS.get(name, usual) for name in statement.modifiers), default=usual)


def _pass(statement: Statement, state: _State) -> None:
    """The marks behind a statement."""
    target = _written(statement)
    if target is None:
        return
    marks = _result(statement, state)
    if is_always(statement):
        for distance in range(_width(statement)):
            state.pop((target[0], target[1] + distance), None)
    if marks:
        state[target] = state.get(target, frozenset()) | marks


def _result(statement: Statement, state: _State) -> frozenset[int]:
    if _reads_rank(statement):
        return frozenset((statement.address,))
    if _making(statement, state) in (Making.OWN, Making.MAPPED, Making.LED):
        return frozenset((_PLACE,))
    opcode = _plain(statement) if statement.opcode not in _SUMS else statement.opcode
    if opcode not in _SUMS:
        return frozenset()
    found: frozenset[int] = frozenset()
    for operand in statement.operands[1:]:
        found |= _marks(operand, state)
    if opcode in ("MOV", "R2UR") or _is_move(statement):
        return found
    return found & {_PLACE}
