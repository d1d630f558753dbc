"""Constants that indices add to something come out of them, as native compilers arrange it.

The index of `a[i + 16]` is a sum of 32 bits that is extended to 64 and scaled. When `i` is extended
instead, all neighbours of `a[i]` have one base address and differ in the offset of the access.
"""

from __future__ import annotations

from collections.abc import Collection

from kernelcast.ptx_frontend.llvm.lowering.scope import Site
from kernelcast.ptx_frontend.llvm.text.types import ScalarIrType
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = ["constant_part", "extended", "note_addition"]

_WORD_MASK = (1 << 64) - 1
_NEEDED = {"sext": "nsw", "zext": "nuw"}
"""What says that the sum of the extended terms is the extended sum."""
_KEY_SCALE = 0
"""No index has it: extensions are known by it among the sums of a basic block."""


def note_addition(
    site: Site, flags: Collection[str], type_: ScalarIrType, terms: tuple[Operand, Operand]
) -> None:
    """Remembers that the value of this instruction is a register and a constant."""
    value, constant = terms
    known = site.scope.values.get(site.instruction.result)
    if known is None or not isinstance(value, Register) or not isinstance(constant, Immediate):
        return
    (result,) = known.parts
    if not isinstance(result, Register):
        return
    parts, number = site.scope.constant_parts, constant.bits
    if type_ is ScalarIrType.I32:
        parts.narrow[result] = value, number, frozenset(flags)
    elif type_ is ScalarIrType.I64:
        base, before = parts.wide.get(value, (value, 0))
        parts.wide[result] = base, before + number


def extended(site: Site, opcode: str, part: Register) -> Register:
    """`sext` or `zext` from 32 to 64 bits; of a sum, that of its first term plus the constant."""
    code, scope = site.code, site.scope
    base, constant, flags = scope.constant_parts.narrow.get(part, (part, 0, frozenset()))
    if _NEEDED[opcode] not in flags:
        base, constant = part, 0
    elif opcode == "sext" and constant >> 31:
        constant -= 1 << 32
    key = base, Immediate(int(opcode == "sext")), _KEY_SCALE
    wide = scope.sums.get(key)
    if wide is None:
        kind = "s" if opcode == "sext" else "u"
        wide = scope.sums[key] = code.compute(f"mul.wide.{kind}32", 64, base, Immediate(1))
    else:
        code.move(code.register(64), wide)  # this instruction of the source, which is done already
    if not constant:
        return wide
    moved = code.compute("add.s64", 64, wide, Immediate(constant & _WORD_MASK))
    scope.constant_parts.wide[moved] = wide, constant
    return moved


def constant_part(site: Site, number: Operand) -> tuple[Operand, int]:
    """An index as what varies and what is constant, modulo 2**64."""
    if not isinstance(number, Register):
        return number, 0
    base, constant = site.scope.constant_parts.wide.get(number, (number, 0))
    constant &= _WORD_MASK
    return base, constant - (1 << 64) if constant >> 63 else constant
