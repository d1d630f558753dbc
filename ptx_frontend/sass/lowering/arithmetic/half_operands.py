"""Operands of half precision: which half an instruction takes, its sign, and constants of two."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.text.operands import (
    ConstantOperand,
    ImmediateOperand,
    RegisterOperand,
    SassOperand,
)
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = ["HALF_SIGNS", "HalfOperands", "half", "is_absolute", "is_zero", "placed", "widened"]

HALF_SIGNS = 0x80008000
_MAGNITUDES = 0x7FFF7FFF
_SIGN, _MAGNITUDE = 0x8000, 0x7FFF
_HALF = 0xFFFF
_SELECTIONS = {"H1_H0": 0x3210, "H0_H0": 0x1010, "H1_H1": 0x3232, "H0_H1": 0x1032}
"""How `prmt` brings halves to their places."""
_UPPER_PARTS = ("H1", "H1_H1")
_PARTS = ("H0", "H1", *_SELECTIONS)


@dataclass(slots=True)
class HalfOperands:
    """Reads the sources of a statement from `position` on; two decimal numbers are one source."""

    site: Site
    position: int = 1
    operands: list[SassOperand] = field(default_factory=list)
    """What was read, one each."""

    def next(self, *, keeps_sign: bool = True) -> Operand:
        """The next source as two halves in 32 bits; without its sign where that is not kept."""
        site = self.site
        operand = site.operand(self.position)
        self.operands.append(operand)
        self.position += 1
        if isinstance(operand, ImmediateOperand):
            if isinstance(site.operand(self.position), ImmediateOperand):
                self.position += 1
            return Immediate(site.statement.immediate_word)
        value = _selected(site, operand)
        if not keeps_sign or not isinstance(operand, RegisterOperand | ConstantOperand):
            return value
        if operand.is_absolute:
            value = _masked(site, "and", value, _MAGNITUDES)
        return _masked(site, "xor", value, HALF_SIGNS) if operand.sign else value


def _masked(site: Site, name: str, value: Operand, mask: int) -> Operand:
    if isinstance(value, Immediate):
        return Immediate(value.bits & mask if name == "and" else value.bits ^ mask)
    return site.compute(f"{name}.b32", 32, value, Immediate(mask))


def _selected(site: Site, operand: SassOperand) -> Operand:
    """Both halves in their places, signs left out."""
    if not isinstance(operand, RegisterOperand | ConstantOperand):
        raise site.refuse("halves of no register")
    known = [part for part in operand.parts if part in _SELECTIONS]
    value = site.word(replace(operand, sign="", is_absolute=False), parts=known[:1])
    selection = _SELECTIONS[known[0]] if known else _SELECTIONS["H1_H0"]
    if isinstance(value, Immediate):
        halves = (value.bits & _HALF, value.bits >> 16)
        low, high = (halves[(selection >> place & 0xF) // 2] for place in (0, 8))
        return Immediate(low | high << 16)
    if selection == _SELECTIONS["H1_H0"]:
        return value
    return site.compute("prmt.b32", 32, value, value, Immediate(selection))


def half(site: Site, operand: SassOperand) -> Register:
    """The half of an operand that a scalar instruction takes: the lower one unless it says H1."""
    if not isinstance(operand, RegisterOperand | ConstantOperand):
        raise site.refuse("a half of no register")
    word = site.word(replace(operand, sign="", is_absolute=False), parts=_PARTS)
    if any(part in _UPPER_PARTS for part in operand.parts):
        word = site.compute("shr.u32", 32, word, Immediate(16))
    value = site.compute("cvt.u16.u32", 16, site.in_register(word, 32))
    if operand.is_absolute:
        value = site.compute("and.b16", 16, value, Immediate(_MAGNITUDE))
    if operand.sign:
        value = site.compute("xor.b16", 16, value, Immediate(_SIGN))
    return value


def widened(site: Site, operand: SassOperand, kind: str) -> Operand:
    """The half of an operand as f32; `kind` is f16 or bf16."""
    return site.compute(f"cvt.f32.{kind}", 32, half(site, operand))


def placed(site: Site, operand: SassOperand, value: Register) -> None:
    """Writes 16 bits into a 32-bit destination, zeros above them."""
    site.part("cvt.u32.u16", site.destination(operand), value)


def is_zero(operand: SassOperand, sign: str) -> bool:
    """Whether an operand is RZ with that sign."""
    return (
        isinstance(operand, RegisterOperand)
        and operand.number is None
        and operand.sign == sign
        and not operand.is_absolute
    )


def is_absolute(operand: SassOperand) -> bool:
    """Whether an operand is the magnitude of a register, as `.XORSIGN` prints all of its own."""
    return isinstance(operand, RegisterOperand | ConstantOperand) and (
        operand.is_absolute and not operand.sign
    )
