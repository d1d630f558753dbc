"""Sums and products of single precision, of pairs of them, and with factors of half precision."""

from __future__ import annotations

from dataclasses import replace

from kernelcast.ptx_frontend.sass.lowering.arithmetic.half_operands import widened
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import (
    ConstantOperand,
    ImmediateOperand,
    RegisterOperand,
    SassOperand,
)
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["ROUNDING", "arithmetic_suffix"]

ROUNDING = {"RN": ".rn", "RM": ".rm", "RP": ".rp", "RZ": ".rz"}
_SCALES = {"D2": 0x3F000000, "D4": 0x3E800000, "D8": 0x3E000000, "M2": 0x40000000}
"""What multiplies a product besides its factors, as f32."""
_WORD_PART, _PAIR_PARTS, _SWAPPED_PARTS = "F32", ("F32x2", "HI_LO"), ("F32x2", "LO_HI")
_SIGNS, _MAGNITUDES = 0x80000000_80000000, 0x7FFFFFFF_7FFFFFFF


def arithmetic_suffix(site: Site) -> str:
    """Rounding, flushing and saturation as the opcode table spells them."""
    rounding = site.choose(ROUNDING, ".rn")
    flushes = ".ftz" if site.take("FTZ") else ""
    saturates = ".sat" if site.take("SAT") else ""
    return rounding + flushes + saturates


@lowers("FADD", "UFADD", "FADD32I")
def lower_sum(site: Site) -> None:
    """`d, a, b`."""
    suffix = arithmetic_suffix(site)
    a, b = _sources(site, 2)
    site.main(f"add{suffix}.f32", site.destination(site.operand(0)), a, b)


@lowers("FMUL", "UFMUL", "FMUL32I")
def lower_product(site: Site) -> None:
    """`d, a, b`; `.D2`, `.D4`: divided by as much before it is rounded."""
    suffix = arithmetic_suffix(site)
    scale = site.choose(_SCALES, 0)
    a, b = _sources(site, 2)
    if scale:
        if not isinstance(site.operand(2), ImmediateOperand):
            raise site.refuse("a scaled product of registers")
        b = site.compute("mul.f32", 32, site.in_register(b, 32), Immediate(scale))
    site.main(f"mul{suffix}.f32", site.destination(site.operand(0)), a, b)


@lowers("FFMA", "UFFMA", "FFMA32I")
def lower_fused(site: Site) -> None:
    """`d, a, b, c`."""
    suffix = arithmetic_suffix(site)
    a, b, c = _sources(site, 3)
    site.main(f"fma{suffix}.f32", site.destination(site.operand(0)), a, b, c)


def _sources(site: Site, count: int) -> tuple[Operand, ...]:
    return tuple(site.word(site.operand(1 + i), "f32") for i in range(count))


@lowers("FSEL", "UFSEL")
def lower_selection(site: Site) -> None:
    """`d, a, b, p`: a where p holds, else b; `.FTZ` flushes what is chosen."""
    flushes = site.take("FTZ")
    a, b = _sources(site, 2)
    chosen = site.predicate(site.operand(3))
    destination = site.destination(site.operand(0))
    if not flushes:
        site.main("selp.b32", destination, a, b, chosen)
        return
    found = site.register(32)
    site.main("selp.b32", found, a, b, chosen)
    site.part("cvt.ftz.f32.f32", destination, found)


@lowers("FADD2", "FMUL2", "FFMA2")
def lower_packed(site: Site) -> None:
    """`d, a, b[, c]` of pairs of f32; `.F32` takes one register for both, `.LO_HI` swaps."""
    name = {"FADD2": "add", "FMUL2": "mul", "FFMA2": "fma"}[site.statement.opcode]
    suffix = arithmetic_suffix(site)
    count = 3 if name == "fma" else 2
    sources = [_packed_source(site, site.operand(1 + i)) for i in range(count)]
    site.main(f"{name}{suffix}.f32x2", site.pair_destination(site.operand(0)), *sources)


def _packed_source(site: Site, operand: SassOperand) -> Operand:
    """Both numbers of an operand, the upper one in the upper half; a constant is both."""
    if isinstance(operand, ImmediateOperand):
        bits = site.statement.immediate_word
        return Immediate(bits << 32 | bits)
    if not isinstance(operand, RegisterOperand | ConstantOperand):
        raise site.refuse("a pair that is no register")
    plain = replace(operand, sign="", is_absolute=False)
    if operand.parts == (_WORD_PART,):
        word = site.word(plain, "b32", parts=operand.parts)
        value: Operand = site.compute("mov.b64", 64, word, word)
    elif operand.parts == _PAIR_PARTS or not operand.parts:
        value = site.pair(plain, parts=_PAIR_PARTS)
    elif operand.parts == _SWAPPED_PARTS:
        low, high = site.register(32), site.register(32)
        site.part("mov.b64", low, high, site.pair(plain, parts=_SWAPPED_PARTS), results=2)
        value = site.compute("mov.b64", 64, high, low)
    else:
        raise site.refuse("an operand with '." + ".".join(operand.parts) + "'")
    if operand.is_absolute:
        value = site.compute("and.b64", 64, value, Immediate(_MAGNITUDES))
    if operand.sign:
        value = site.compute("xor.b64", 64, value, Immediate(_SIGNS))
    return value


@lowers("FHADD", "FHFMA")
def lower_mixed(site: Site) -> None:
    """`d, a, b` with a of half precision, `d, a, b, c` with a and b of it; the rest is f32."""
    suffix = arithmetic_suffix(site)
    kind = site.choose({"BF16": "bf16", "BF16_V2": "bf16", "F16": "f16"}, "f16")
    is_fused = site.statement.opcode == "FHFMA"
    narrow = 2 if is_fused else 1
    sources = [widened(site, site.operand(1 + i), kind) for i in range(narrow)]
    sources.append(site.word(site.operand(1 + narrow), "f32"))
    name = "fma" if is_fused else "add"
    site.main(f"{name}{suffix}.f32", site.destination(site.operand(0)), *sources)
