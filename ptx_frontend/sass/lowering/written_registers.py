"""Which registers a statement may write, told from its text alone."""

from __future__ import annotations

from collections.abc import Iterable

from kernelcast.ptx_frontend.sass.lowering.registers import PREDICATE_FILES
from kernelcast.ptx_frontend.sass.text.operands import RegisterOperand
from kernelcast.ptx_frontend.sass.text.statements import Statement

__all__ = ["may_write"]

_WIDEST, _WIDEST_TILE = 8, 128
"""Registers that one destination may stand for."""
_DESTINATIONS = 3
"""Operands among which destinations are."""
_ANYTHING = ("CALL", "R2P", "WARPSYNC", "BMOV", "BRX", "BRXU", "RET")
_NOTHING = ("STG", "STS", "STL", "ST", "RED", "BRA", "BSSY", "BSYNC", "NOP", "EXIT", "BAR")
_OF_PREDICATES = ("ISETP", "FSETP", "DSETP", "HSETP2", "PLOP3", "FCHK")
_OF_ONE_WORD = frozenset(
    (
        *("IADD3", "IADD", "VIADD", "IMAD", "LEA", "LOP3", "LOP", "SHF", "SHL", "SHR", "MOV"),
        *("SEL", "FSEL", "PRMT", "IABS", "POPC", "FLO", "BREV", "SGXT", "BMSK", "IMNMX", "VIMNMX"),
        *("FADD", "FMUL", "FFMA", "FMNMX", "MUFU", "FRND", "I2FP", "S2R", "HADD2", "HMUL2"),
        *("HFMA2", "R2UR", "S2UR", "IDP", "LDG", "LDS", "LDL", "LD", "LDC", "P2R"),
    )
)
_WIDTHS = {"WIDE": 2, "64": 2, "S64": 2, "U64": 2, "128": 4, "256": 8}


def may_write(statement: Statement, registers: Iterable[RegisterOperand]) -> bool:
    """Whether the statement may write one of the registers."""
    opcode = statement.opcode
    if opcode in _ANYTHING:
        return True
    if opcode in _NOTHING:
        return False
    wanted = {(r.file, r.number) for r in registers if r.number is not None}
    named = [
        item
        for item in statement.operands[:_DESTINATIONS]
        if isinstance(item, RegisterOperand) and item.number is not None
    ]
    if any((item.file, item.number) in wanted for item in named if item.file in PREDICATE_FILES):
        return True
    if opcode.removeprefix("U") in _OF_PREDICATES:
        return False
    words = [item for item in named if item.file not in PREDICATE_FILES]
    count = _words(statement)
    if count is None:
        count = _WIDEST_TILE if opcode.endswith("GMMA") or opcode.startswith("LDT") else _WIDEST
    else:
        words = words[:1] if _begins_with_register(statement) else []
    return any(
        item.file == file and number is not None and 0 <= number - (item.number or 0) < count
        for item in words
        for file, number in wanted
    )


def _begins_with_register(statement: Statement) -> bool:
    """Whether the first operand that is no predicate is a register, none of RZ."""
    for item in statement.operands:
        if isinstance(item, RegisterOperand) and item.file in PREDICATE_FILES:
            continue
        return isinstance(item, RegisterOperand) and item.number is not None
    return False


def _words(statement: Statement) -> int | None:
    """How many neighbours the only destination stands for; None where that is not known."""
    opcode = statement.opcode
    if opcode not in _OF_ONE_WORD and opcode.removeprefix("U") not in _OF_ONE_WORD:
        return None
    return max((_WIDTHS.get(name, 1) for name in statement.modifiers), default=1)
