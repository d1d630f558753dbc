"""Bits of a word: counted, searched, reversed, extended, permuted and saturated."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.simcore.isa.ir.kernel import Immediate

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


@lowers("PRMT", "UPRMT")
def lower_permutation(site: Site) -> None:
    """`d, a, selector, c`: bytes of {c, a}."""
    mode = site.choose(_PERMUTATIONS, "")
    a, selector, c = (site.word(site.operand(i)) for i in (1, 2, 3))
    destination = site.destination(site.operand(0))
    suffix = f".{mode}" if mode else ""
    site.main(f"prmt.b32{suffix}", destination, a, c, selector)


@lowers("POPC", "UPOPC")
def lower_count(site: Site) -> None:
    """`d, a`: how many bits are set."""
    value = site.word(site.operand(1))
    site.main("popc.b32", site.destination(site.operand(0)), value)


@lowers("FLO", "UFLO")
def lower_leading_one(site: Site) -> None:
    """`d, a`: where the highest bit that differs from the sign is; `.SH`: how far from the top."""
    kind = "u32" if site.take("U32") else "s32"
    suffix = ".shiftamt" if site.take("SH") else ""
    value = site.word(site.operand(1), kind)
    site.main(f"bfind{suffix}.{kind}", site.destination(site.operand(0)), value)


@lowers("BREV", "UBREV")
def lower_reversal(site: Site) -> None:
    """`d, a`."""
    value = site.word(site.operand(1))
    site.main("brev.b32", site.destination(site.operand(0)), value)


@lowers("BMSK", "UBMSK")
def lower_mask(site: Site) -> None:
    """`d, a, b`: b ones from bit a on; `.W` takes both modulo 32."""
    mode = "wrap" if site.take("W") else "clamp"
    position, length = site.word(site.operand(1)), site.word(site.operand(2))
    site.main(f"bmsk.{mode}.b32", site.destination(site.operand(0)), position, length)


@lowers("SGXT", "USGXT")
def lower_extension(site: Site) -> None:
    """`d, a, b`: the low b bits of a with their sign, or without it; `.W` takes b modulo 32."""
    mode = "wrap" if site.take("W") else "clamp"
    kind = "u32" if site.take("U32") else "s32"
    value, length = site.word(site.operand(1)), site.word(site.operand(2))
    site.main(f"szext.{mode}.{kind}", site.destination(site.operand(0)), value, length)
