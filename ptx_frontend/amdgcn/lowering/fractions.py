"""`v_frexp` and `v_cmp_class`: mantissa, exponent and class of a number of either precision.

AMD Instinct MI200 Instruction Set Architecture, chapter 12.8: the mantissa lies between a half and
one; zero, infinities and what is no number are mantissas themselves, with the exponent 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.doubles import double_operand
from kernelcast.ptx_frontend.amdgcn.lowering.halves import half_operand, write_half
from kernelcast.ptx_frontend.amdgcn.lowering.shorts import with_halves
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
_HALF = _Format(16, 10, half_operand)


def _half_as_single(site: Site, index: int) -> Operand:
    return site.code.compute("cvt.f32.f16", 32, half_operand(site, index))


_WIDENED = _Format(32, 23, _half_as_single)


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
    if of is _WIDENED:
        write_half(site, code.compute("cvt.rn.f16.f32", 16, found))
    else:
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
    found = site.main("selp.b32", 32, Immediate(0), exponent, has_none)
    if of is _WIDENED:
        code.set_half(site.operands[0], found)
    else:
        code.set_vector(site.operands[0], found)


def _class(of: _Format, site: Site) -> None:
    """Whether the second operand has the bit of the number's class (ISA, 12.8: V_CMP_CLASS_F32).

    From bit 0 on: signalling and quiet NaN, negative infinity, normal, subnormal number and zero,
    then the positive ones, zero first.
    """
    code, b = site.code, of.bits
    number = of.operand(site, 1)
    size = code.compute(f"and.b{b}", b, number, Immediate(of.sign - 1))
    steps: Operand = Immediate(6)
    for bound in (1, 1 << of.fraction, of.infinity):
        above = code.compute(f"setp.ge.u{b}", 1, size, Immediate(bound))
        one = code.compute("selp.b32", 32, Immediate(1), Immediate(0), above)
        steps = code.compute("add.u32", 32, steps, one)
    mirrored = code.compute("sub.u32", 32, Immediate(11), steps)
    is_negative = code.compute(f"setp.ge.u{b}", 1, number, Immediate(of.sign))
    index = code.compute("selp.b32", 32, mirrored, steps, is_negative)
    quiet = code.compute(f"and.b{b}", b, size, Immediate(1 << (of.fraction - 1)))
    is_quiet = code.compute(f"setp.ne.u{b}", 1, quiet, Immediate(0))
    kind = code.compute("selp.b32", 32, Immediate(1), Immediate(0), is_quiet)
    is_nan = code.compute(f"setp.gt.u{b}", 1, size, Immediate(of.infinity))
    index = code.compute("selp.b32", 32, kind, index, is_nan)
    bit = code.compute(
        "and.b32", 32, site.main("shr.u32", 32, site.integer(2), index), Immediate(1)
    )
    found = code.compute("setp.ne.u32", 1, bit, Immediate(0))
    code.set_mask(site.operands[0], code.compute("and.pred", 1, found, code.exec))


FRACTIONS: Mapping[str, Lowering] = {
    "v_frexp_mant_f32": partial(_mantissa, _SINGLE),
    "v_frexp_mant_f64": partial(_mantissa, _DOUBLE),
    "v_frexp_exp_i32_f32": partial(_exponent, _SINGLE),
    "v_frexp_exp_i32_f64": partial(_exponent, _DOUBLE),
    "v_frexp_mant_f16": with_halves(partial(_mantissa, _WIDENED)),
    "v_frexp_exp_i16_f16": with_halves(partial(_exponent, _WIDENED)),
    "v_cmp_class_f16": partial(_class, _HALF),
    "v_cmp_class_f32": partial(_class, _SINGLE),
    "v_cmp_class_f64": partial(_class, _DOUBLE),
}
