"""Conversions of two numbers into one register, and of narrow pairs into wider ones."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.arithmetic.conversions import INTEGRAL
from kernelcast.ptx_frontend.sass.lowering.arithmetic.half_operands import half
from kernelcast.ptx_frontend.sass.lowering.arithmetic.singles import ROUNDING
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import SassOperand
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__: list[str] = []

_ZERO = Immediate(0)
_NARROW = {
    "E4M3": "e4m3x2",
    "E5M2": "e5m2x2",
    "E2M3": "e2m3x2",
    "E3M2": "e3m2x2",
    "E2M1": "e2m1x2",
    "E8": "ue8m0x2",
}
_WIDE = {"F16": "f16", "BF16": "bf16", "TF32": "tf32"}
_SHORTEST = "e2m1x2"
"""The pairs that have 8 bits; others have 16."""


@lowers("F2FP")
def lower_packing(site: Site) -> None:
    """`d, a, b` or one of the forms below; a is the upper number.

    `.PACK_AB` packs two f32, `.PACK_AB_MERGE_C` into the lower half, below a third operand;
    `.UNPACK_B` takes a pair, `.PACK_B` and `.MERGE_C` one number.
    """
    narrow = site.choose(_NARROW, "")
    wide = site.choose(_WIDE, "")
    is_single = site.take("F32")
    modes = site.choose(ROUNDING, ".rn")
    modes += ".relu" if site.take("RELU") else ""
    modes += ".satfinite" if site.take("SATFINITE") else ""
    if site.take("PACK_AB_MERGE_C"):
        _pack_narrow(site, modes, narrow)
    elif site.take("UNPACK_B_MERGE_C"):
        _narrow_pair(site, modes, f"{narrow}.{wide or 'f16'}x2", narrow)
    elif site.take("UNPACK_B"):
        source = _pair_source(site, site.operand(1), narrow)
        site.main(f"cvt{modes}.{wide}x2.{narrow}", site.destination(site.operand(0)), source)
    elif site.take("PACK_B"):
        number = site.word(site.operand(1), "f32")
        site.main(f"cvt{modes}.{wide}.f32", site.destination(site.operand(0)), number)
    elif site.take("MERGE_C"):
        _convert_one(site, modes, wide or "f16")
    elif site.take("PACK_AB", "PACK_AB_"):
        kind = f"{wide or 'f16'}x2"
        _pack_wide(site, modes, kind)
    elif not is_single:
        raise site.refuse("a packing of an unknown kind")


def _pack_wide(site: Site, modes: str, kind: str) -> None:
    """`d, a, b[, bits]`: with `.RS` by random bits that stand in the last operand."""
    sources: list[Operand] = [site.word(site.operand(i), "f32") for i in (1, 2)]
    if site.take("RS"):
        modes = modes.replace(".rn", ".rs")
        sources.append(site.word(site.operand(3)))
    site.main(f"cvt{modes}.{kind}.f32", site.destination(site.operand(0)), *sources)


def _pair_source(site: Site, operand: SassOperand, narrow: str) -> Register:
    """The pair of narrow numbers in a half of an operand."""
    value = half(site, operand)
    if narrow != _SHORTEST:
        return value
    return site.compute("cvt.u8.u16", 8, value)


def _pack_narrow(site: Site, modes: str, narrow: str) -> None:
    """`d, a, b, c`."""
    a, b = (site.word(site.operand(i), "f32") for i in (1, 2))
    c = site.word(site.operand(3))
    bits = 8 if narrow == _SHORTEST else 16
    packed = site.register(bits)
    site.main(f"cvt{modes}.{narrow}.f32", packed, a, b)
    _write_below(site, packed, c)


def _narrow_pair(site: Site, modes: str, kinds: str, narrow: str) -> None:
    """`d, b, c`."""
    b, c = site.word(site.operand(1)), site.word(site.operand(2))
    packed = site.register(8 if narrow == _SHORTEST else 16)
    site.main(f"cvt{modes}.{kinds}", packed, b)
    _write_below(site, packed, c)


def _write_below(site: Site, packed: Register, c: Operand) -> None:
    """A packed pair, above it the lower bits of c."""
    destination = site.destination(site.operand(0))
    if c == _ZERO:
        site.part(f"cvt.u32.u{packed.bits}", destination, packed)
        return
    word = site.compute(f"cvt.u32.u{packed.bits}", 32, packed)
    if packed.bits == 8:
        raise site.refuse("a merge above 8 bits")
    above = site.compute("shl.b32", 32, c, Immediate(packed.bits))
    site.part("or.b32", destination, above, word)


def _convert_one(site: Site, modes: str, wide: str) -> None:
    """`d, b, c`: the compiler keeps nothing of c."""
    b, c = site.word(site.operand(1), "f32"), site.word(site.operand(2))
    if c != _ZERO:
        raise site.refuse("a merge with a register")
    narrow = site.register(16)
    site.main(f"cvt{modes}.{wide}.f32", narrow, b)
    site.part("cvt.u32.u16", site.destination(site.operand(0)), narrow)


@lowers("F2IP")
def lower_packed_integers(site: Site) -> None:
    """`d, a, b, c`: two clamped integers of 8 bits, b the lower, below the lower half of c."""
    kind = site.choose({"U8": "u8", "S8": "s8"}, "")
    site.take("F32")
    rounding = site.choose(INTEGRAL, ".rni")
    flushes = ".ftz" if site.take("FTZ") else ""
    if not kind or not site.take("NTZ"):
        raise site.refuse("integers of an unknown kind")
    a, b = (
        site.compute(f"cvt{rounding}{flushes}.s32.f32", 32, site.word(site.operand(i), "f32"))
        for i in (1, 2)
    )
    c = site.word(site.operand(3))
    site.main(f"cvt.pack.sat.{kind}.s32.b32", site.destination(site.operand(0)), a, b, c)


@lowers("I2IP", "UI2IP")
def lower_packed_from_integers(site: Site) -> None:
    """`d, a, b, c`: two clamped integers, b the lower, below the lower half of c."""
    kinds = {name: name.lower() for name in ("U2", "S2", "U4", "S4", "U8", "S8", "U16", "S16")}
    kind = site.choose(kinds, "")
    site.take("S32")
    if not kind or not site.take("SAT"):
        raise site.refuse("integers of an unknown kind")
    a, b = site.word(site.operand(1)), site.word(site.operand(2))
    room = str(32 - 2 * int(kind[1:]))  # `.24`: the bits of c that are left above two of 4
    c = site.word(site.operand(3), parts=(room,))
    destination = site.destination(site.operand(0))
    if not kind.endswith("16"):
        site.main(f"cvt.pack.sat.{kind}.s32.b32", destination, a, b, c)
        return
    if c != _ZERO:
        raise site.refuse("a third operand above two of 16 bits")
    site.main(f"cvt.pack.sat.{kind}.s32", destination, a, b)
