"""Bits of a word: counted, searched, reversed, extended, permuted and saturated."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import RegisterOperand
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand
from kernelcast.simcore.isa.types import Unit

__all__: list[str] = []

_ZERO = Immediate(0)
_PERMUTATIONS = {name: name.lower() for name in ("F4E", "B4E", "RC8", "ECL", "ECR", "RC16")}
_LIMITS = {
    "U8": (0, 0xFF),
    "S8": (-0x80, 0x7F),
    "U16": (0, 0xFFFF),
    "S16": (-0x8000, 0x7FFF),
}
_WORD, _WIDTH = 0xFFFFFFFF, 32


@lowers("PRMT", "UPRMT", unit=Unit.INTEGER)
def lower_permutation(site: Site) -> None:
    """`d, a, selector, c`: bytes of {c, a}."""
    mode = site.choose(_PERMUTATIONS, "")
    a, selector, c = (site.word(site.operand(i)) for i in (1, 2, 3))
    destination = site.destination(site.operand(0))
    suffix = f".{mode}" if mode else ""
    site.main(f"prmt.b32{suffix}", destination, a, c, selector)


@lowers("POPC", "UPOPC", unit=Unit.CONVERSION)
def lower_count(site: Site) -> None:
    """`d, a`: how many bits are set."""
    value = site.word(site.operand(1))
    site.main("popc.b32", site.destination(site.operand(0)), value)


@lowers("FLO", "UFLO", unit=Unit.CONVERSION)
def lower_leading_one(site: Site) -> None:
    """`d, a`: where the highest bit that differs from the sign is; `.SH`: how far from the top."""
    kind = "u32" if site.take("U32") else "s32"
    suffix = ".shiftamt" if site.take("SH") else ""
    value = site.word(site.operand(1), kind)
    site.main(f"bfind{suffix}.{kind}", site.destination(site.operand(0)), value)


@lowers("BREV", "UBREV", unit=Unit.CONVERSION)
def lower_reversal(site: Site) -> None:
    """`d, a`."""
    value = site.word(site.operand(1))
    site.main("brev.b32", site.destination(site.operand(0)), value)


@lowers("BMSK", "UBMSK", unit=Unit.INTEGER)
def lower_mask(site: Site) -> None:
    """`d, a, b`: b ones from bit a on; `.W` takes both modulo 32."""
    mode = "wrap" if site.take("W") else "clamp"
    position, length = site.word(site.operand(1)), site.word(site.operand(2))
    site.main(f"bmsk.{mode}.b32", site.destination(site.operand(0)), position, length)


@lowers("SGXT", "USGXT", unit=Unit.INTEGER)
def lower_extension(site: Site) -> None:
    """`d, a, b`: the low b bits of a with their sign, or without it; `.W` takes b modulo 32."""
    mode = "wrap" if site.take("W") else "clamp"
    kind = "u32" if site.take("U32") else "s32"
    value, length = site.word(site.operand(1)), site.word(site.operand(2))
    site.main(f"szext.{mode}.{kind}", site.destination(site.operand(0)), value, length)


@lowers("I2I", "UI2I", unit=Unit.CONVERSION)
def lower_integer_conversion(site: Site) -> None:
    """`.TO.FROM[.SAT] d, a`: a, or a part of it, as another type; `.SAT` clamps."""
    target, source, saturates = _types(site)
    value = _part(site, source)
    if not saturates or target in ("U32", "S32"):
        if target not in ("U32", "S32"):
            size = Immediate(int(target[1:]))
            value = site.compute(f"bfe.{_word_type(target)}", 32, value, _ZERO, size)
        elif saturates and (target == "U32") != source.startswith("U"):
            low = "max.s32" if target == "U32" else "min.u32"
            bound = _ZERO if target == "U32" else Immediate(0x7FFFFFFF)
            value = site.compute(low, 32, value, bound)
        site.main("mov.b32", site.destination(site.operand(0)), value)
        return
    low_bound, high_bound = _LIMITS[target]
    if source.startswith("U"):
        site.main("min.u32", site.destination(site.operand(0)), value, Immediate(high_bound))
        return
    value = site.compute("max.s32", 32, value, Immediate(low_bound & _WORD))
    site.main("min.s32", site.destination(site.operand(0)), value, Immediate(high_bound))


def _word_type(name: str) -> str:
    """The word that a type is a part of."""
    return "s32" if name.startswith("S") else "u32"


def _types(site: Site) -> tuple[str, str, bool]:
    saturates = site.take("SAT")
    names = site.rest()
    known = (*_LIMITS, "U32", "S32")
    if len(names) != 2 or any(name not in known for name in names):
        raise site.refuse("a conversion of integers of no known form")
    return names[0], names[1], saturates


def _part(site: Site, source: str) -> Operand:
    """The part of the operand that the source type and `.B1` and the like name, as a word."""
    operand = site.operand(1)
    bits = int(source[1:])
    parts = operand.parts if isinstance(operand, RegisterOperand) else ()
    value = site.word(operand, _word_type(source), parts=("B0", "B1", "B2", "B3", "H0", "H1"))
    if bits == 32:
        if parts:
            raise site.refuse("a part of a word as a word")
        return value
    start = sum(int(part[1:]) * (8 if part.startswith("B") else 16) for part in parts)
    kind = _word_type(source)
    return site.compute(f"bfe.{kind}", 32, value, Immediate(start), Immediate(bits))


@lowers("I2IP", "UI2IP", unit=Unit.CONVERSION)
def lower_integer_packing(site: Site) -> None:
    """`d, a, b, c`: a and b, clamped, side by side; below them narrow ones leave room for c."""
    saturates, names = site.take("SAT"), site.rest()
    if len(names) != 2 or names[1] != "S32" or not saturates:
        raise site.refuse("a packing of integers of no known form")
    target = names[0].lower()
    a, b = site.word(site.operand(1)), site.word(site.operand(2))
    room = f"{_WIDTH - 2 * int(target[1:])}"
    c = site.word(site.operand(3), parts=(room,))
    destination = site.destination(site.operand(0))
    if target.endswith("16"):
        site.main(f"cvt.pack.sat.{target}.s32", destination, a, b)
        return
    site.main(f"cvt.pack.sat.{target}.s32.b32", destination, a, b, c)
