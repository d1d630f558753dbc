"""Arithmetic on pairs of halves, f16 and bf16."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.arithmetic.half_operands import (
    HalfOperands,
    half,
    is_zero,
    widened,
)
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import RegisterOperand, SassOperand
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__: list[str] = []

_KINDS = {"BF16_V2": "bf16x2", "BF16": "bf16x2"}
_SINGLE_PART = "F32"
_BOTH = Immediate(0x10001)
"""Times it, 16 bits stand in both halves."""


def _suffix(site: Site) -> str:
    """Rounding, flushing and limits as the opcode table spells them, with the type."""
    flushes = ".ftz" if site.take("FTZ") else ""
    saturates = ".sat" if site.take("SAT") else ""
    rectifies = ".relu" if site.take("RELU") else ""
    return f".rn{flushes}{saturates}{rectifies}." + site.choose(_KINDS, "f16x2")


@lowers("HADD2", "HADD2_32I")
def lower_sum(site: Site) -> None:
    """`d, a, b`; `.F32`: of the lower halves, as f32."""
    if site.take("F32"):
        _lower_wide_sum(site)
        return
    if _takes_single(site.operand(1)):
        _lower_narrowing(site)
        return
    suffix = _suffix(site)
    reader = HalfOperands(site)
    a, b = reader.next(), reader.next()
    site.main(f"add{suffix}", site.destination(site.operand(0)), a, b)


def _lower_wide_sum(site: Site) -> None:
    """A sum in f32; with -0 it is a conversion, and the assembler takes it for that."""
    kind = "bf16" if site.choose(_KINDS, "f16x2") == "bf16x2" else "f16"
    flushes = ".ftz" if site.take("FTZ") else ""
    saturates = ".sat" if site.take("SAT") else ""
    operands = [site.operand(1), site.operand(2)]
    others = [operand for operand in operands if not is_zero(operand, "-")]
    destination = site.destination(site.operand(0))
    if len(others) == 1 and kind == "f16":
        site.main(f"cvt{flushes}{saturates}.f32.f16", destination, half(site, others[0]))
        return
    a, b = (widened(site, operand, kind) for operand in operands)
    site.main(f"add.rn{flushes}{saturates}.f32", destination, a, b)


def _takes_single(operand: SassOperand) -> bool:
    return isinstance(operand, RegisterOperand) and operand.parts == (_SINGLE_PART,)


def _lower_narrowing(site: Site) -> None:
    """A source of f32 loses its last digits; seen as a conversion only, with -0 as the other."""
    saturates = ".sat" if site.take("SAT") else ""
    if not is_zero(site.operand(2), "-"):
        raise site.refuse("a source of f32 in a sum of halves")
    value = site.word(site.operand(1), "f32", parts=(_SINGLE_PART,))
    narrow = site.register(16)
    site.main(f"cvt.rz{saturates}.f16.f32", narrow, value)
    site.part("mov.b32", site.destination(site.operand(0)), _doubled(site, narrow))


def _doubled(site: Site, value: Operand) -> Operand:
    """16 bits in both halves."""
    word = site.compute("cvt.u32.u16", 32, value)
    return site.compute("mul.lo.s32", 32, word, _BOTH)


@lowers("HMUL2", "HMUL2_32I")
def lower_product(site: Site) -> None:
    """`d, a, b`."""
    suffix = _suffix(site)
    reader = HalfOperands(site)
    a, b = reader.next(), reader.next()
    site.main(f"mul{suffix}", site.destination(site.operand(0)), a, b)


@lowers("HFMA2", "HFMA2_32I")
def lower_fused(site: Site) -> None:
    """`d, a, b, c`; `-RZ, RZ, c` is a move. `.MMA` is another pipeline."""
    site.ignore("MMA")
    suffix = _suffix(site)
    reader = HalfOperands(site)
    a, b, c = reader.next(), reader.next(), reader.next()
    destination = site.destination(site.operand(0))
    first, second = reader.operands[:2]
    is_move = is_zero(first, "-") and is_zero(second, "")
    if is_move and suffix in (".rn.f16x2", ".rn.bf16x2"):
        site.main("mov.b32", destination, c)
        return
    site.main(f"fma{suffix}", destination, a, b, c)
