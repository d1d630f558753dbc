"""`v_frexp`: mantissa and exponent of a number, of single and double precision.

AMD Instinct MI200 Instruction Set Architecture, chapter 12.8: the mantissa lies between a half and
one; zero, infinities and what is no number are mantissas themselves, with the exponent 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.doubles import double_operand
from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["FRACTIONS"]


@dataclass(frozen=True, slots=True)
class _Format:
    """`bits` of the number, of which `fraction` are behind the point; `operand` reads one."""

    bits: int
    fraction: int
    operand: Callable[[Site, int], Operand]

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)

    @property
    def infinity(self) -> int:
        """The bits of the exponent."""
        return self.sign - (1 << self.fraction)

    @property
    def bias(self) -> int:
        """What the exponent of numbers from a half to one is in the bits."""
        return (self.infinity >> self.fraction) // 2 - 1

    @property
    def scale(self) -> int:
        """The bits of a power of two that makes the smallest numbers normal ones."""
        return (self.bias + 1 + self.bits) << self.fraction


_SINGLE = _Format(32, 23, Site.number)
_DOUBLE = _Format(64, 52, double_operand)


def _parts(of: _Format, site: Site) -> tuple[Operand, Operand, Operand, Operand]:
    """The number, whether it has no exponent, its bits as a normal number, and if it was scaled."""
    code, b = site.code, of.bits
    number = of.operand(site, 1)
    size = code.compute(f"and.b{b}", b, number, Immediate(of.sign - 1))
    is_zero = code.compute(f"setp.eq.u{b}", 1, size, Immediate(0))
    is_large = code.compute(f"setp.ge.u{b}", 1, size, Immediate(of.infinity))
    is_small = code.compute(f"setp.lt.u{b}", 1, size, Immediate(1 << of.fraction))
    scaled = code.compute(f"mul.f{b}", b, number, Immediate(of.scale))
    normal = code.compute(f"selp.b{b}", b, scaled, number, is_small)
    return number, code.compute("or.pred", 1, is_zero, is_large), normal, is_small


def _mantissa(of: _Format, site: Site) -> None:
    code, b = site.code, of.bits
    number, has_none, normal, _ = _parts(of, site)
    rest = code.compute(f"and.b{b}", b, normal, Immediate(of.sign * 2 - 1 - of.infinity))
    half = code.compute(f"or.b{b}", b, rest, Immediate(of.bias << of.fraction))
    found = site.main(f"selp.b{b}", b, number, half, has_none)
    code.set_vector(site.operands[0], *([found] if b == 32 else code.halves(found)))


def _exponent(of: _Format, site: Site) -> None:
    code, b = site.code, of.bits
    _, has_none, normal, is_small = _parts(of, site)
    size = code.compute(f"and.b{b}", b, normal, Immediate(of.sign - 1))
    field = code.compute(f"shr.u{b}", b, size, Immediate(of.fraction))
    word = field if b == 32 else code.halves(field)[0]
    scaled = Immediate(of.bias + of.bits)
    bias = code.compute("selp.b32", 32, scaled, Immediate(of.bias), is_small)
    exponent = code.compute("sub.u32", 32, word, bias)
    code.set_vector(site.operands[0], site.main("selp.b32", 32, Immediate(0), exponent, has_none))


FRACTIONS: Mapping[str, Lowering] = {
    "v_frexp_mant_f32": partial(_mantissa, _SINGLE),
    "v_frexp_mant_f64": partial(_mantissa, _DOUBLE),
    "v_frexp_exp_i32_f32": partial(_exponent, _SINGLE),
    "v_frexp_exp_i32_f64": partial(_exponent, _DOUBLE),
}
