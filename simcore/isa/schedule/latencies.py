"""Cycles from an instruction to its result, as an assembler takes them for any GPU."""

from __future__ import annotations

from kernelcast.simcore.isa.ir.kernel import Compute, Instruction, Load, WarpOperation
from kernelcast.simcore.isa.opcodes.columns import Expansion
from kernelcast.simcore.isa.opcodes.table import Context
from kernelcast.simcore.isa.types import AddressSpace, Unit

__all__ = ["latency"]

_ARITHMETIC = 5
_SHARED = 30
_GLOBAL = 400
_EXCHANGE = 25
_SLOW_UNIT = 18
_EXPANDED = 60
_SLOW = (Unit.SPECIAL_FUNCTION, Unit.FP64, Unit.CONVERSION)


def latency(instruction: Instruction) -> int:
    """The latency of one instruction: the order of magnitude is what an order depends on."""
    if isinstance(instruction, Load):
        is_near = instruction.address.space in (AddressSpace.SHARED, AddressSpace.CONST)
        return _SHARED if is_near else _GLOBAL
    if isinstance(instruction, WarpOperation):
        return _EXCHANGE
    if not isinstance(instruction, Compute):
        return _ARITHMETIC
    if instruction.opcode.expansion in (Expansion.ROUNDED, Expansion.APPROXIMATED):
        return _EXPANDED
    context = Context(instruction.type, instruction.source_type, instruction.modifiers)
    return _SLOW_UNIT if instruction.opcode.unit(context) in _SLOW else _ARITHMETIC
