"""Which registers are used as the lower half of 64 bits somewhere in a kernel.

Loads and stores of several registers take such pairs as elements of 64 bits, so that what computes
with them finds them whole.
"""

from __future__ import annotations

from collections.abc import Iterable

from kernelcast.ptx_frontend.sass.text.operands import MemoryOperand, RegisterOperand
from kernelcast.ptx_frontend.sass.text.statements import Statement

__all__ = ["wide_registers"]

_OF_DOUBLES = ("DADD", "DMUL", "DFMA", "DSETP", "DMNMX", "DMMA", "FADD2", "FMUL2", "FFMA2")


def wide_registers(statements: Iterable[Statement]) -> frozenset[tuple[str, int]]:
    """(file, number) of the lower halves."""
    found: set[tuple[str, int]] = set()
    for statement in statements:
        is_of_doubles = statement.opcode in _OF_DOUBLES
        for operand in statement.operands:
            if isinstance(operand, RegisterOperand) and is_of_doubles:
                found.add((operand.file, operand.number or 0))
            elif isinstance(operand, MemoryOperand) and operand.is_wide and operand.base:
                found.add((operand.base.file, operand.base.number or 0))
    return frozenset(found)
