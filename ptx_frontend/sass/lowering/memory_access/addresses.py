"""The places that memory operands name, `[R.X4+UR+imm]` and the like."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.text.operands import (
    MemoryOperand,
    RegisterOperand,
    SassOperand,
)
from kernelcast.simcore.isa.ir.kernel import Address, Immediate, Operand, Register
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["address_of"]


def address_of(site: Site, operand: SassOperand, space: AddressSpace) -> Address:
    """The place that a memory operand names."""
    if not isinstance(operand, MemoryOperand):
        raise site.refuse("an address that is none")
    is_wide = space in (AddressSpace.GLOBAL, AddressSpace.GENERIC)
    base = _base(site, operand, is_wide)
    uniform = _uniform(site, operand, is_wide)
    offset = operand.offset
    bits = 64 if is_wide else 32
    if base is None or uniform is None:
        found = base if base is not None else uniform
    elif isinstance(base, Immediate) and base.bits == 0:
        found = uniform
    else:
        found = site.compute(f"add.s{bits}", bits, base, uniform)
    if found is None or isinstance(found, Immediate):
        found = site.compute(f"mov.b{bits}", bits, found or Immediate(0))
    assert isinstance(found, Register)
    return Address(space, found, offset)


def _base(site: Site, operand: MemoryOperand, is_wide: bool) -> Operand | None:
    base = operand.base
    if base is None or base.number is None:
        return None
    plain = RegisterOperand(base.file, base.number)
    if not is_wide:
        value = site.word(plain)
        if operand.scale > 1:
            shift = Immediate(operand.scale.bit_length() - 1)
            value = site.compute("shl.b32", 32, value, shift)
        return value
    if operand.is_wide:
        return site.pair(plain)
    if "U32" in base.parts or operand.uniform is not None:
        return site.compute("cvt.u64.u32", 64, site.word(plain))
    # without `.64` the disassembler leaves out what `.E` says already
    if "E" in site.statement.modifiers:
        return site.pair(plain)
    return site.compute("cvt.u64.u32", 64, site.word(plain))


def _uniform(site: Site, operand: MemoryOperand, is_wide: bool) -> Operand | None:
    uniform = operand.uniform
    if uniform is None or uniform.number is None:
        return None
    plain = RegisterOperand(uniform.file, uniform.number)
    return site.pair(plain) if is_wide else site.word(plain)
