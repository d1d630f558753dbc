"""Which banks of the register file an instruction reads.

Since Volta a scheduler's registers lie in two banks, even and odd numbers, each of which gives one
register of a warp a cycle (Huerta et al. 2025, "Analyzing Modern NVIDIA GPU Cores",
arXiv:2503.20481, section 5.3; Jia et al. 2018, arXiv:1804.06826, section 3.1.2). Operands stand in
three slots; one that an instruction marks for reuse stays in a cache beside its slot, where the
warp's next instruction finds it without reading a bank.
"""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.text.operands import RegisterOperand
from kernelcast.ptx_frontend.sass.text.statements import Statement

__all__ = ["bank_reads"]

_SLOTS = (24, 32, 64)
"""The first bit of each slot's register in an encoding."""
_REUSE = 122
"""The bit of an encoding that marks the first slot for reuse."""
_BANKS = 2


def bank_reads(statement: Statement, before: Statement | None) -> tuple[int, ...]:
    """Reads of the banks with even and with odd registers; `before` came just before it."""
    kept = set() if before is None else _kept(before)
    read = {register for slot, register in _slots(statement) if (slot, register) not in kept}
    odd = sum(register % _BANKS for register in read)
    return len(read) - odd, odd


def _slots(statement: Statement) -> list[tuple[int, int]]:
    """The slots that hold registers, with their numbers; the first operand is written."""
    sources = {
        operand.number
        for operand in statement.operands[1:]
        if isinstance(operand, RegisterOperand) and operand.file == "R"
    }
    found = [(slot, statement.encoding >> bit & 0xFF) for slot, bit in enumerate(_SLOTS)]
    return [(slot, register) for slot, register in found if register in sources]


def _kept(statement: Statement) -> set[tuple[int, int]]:
    return {item for item in _slots(statement) if statement.encoding >> _REUSE + item[0] & 1}
