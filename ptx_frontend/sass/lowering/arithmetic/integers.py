"""Sums and magnitudes of integers, in vector and uniform registers."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.arithmetic.carries import (
    Terms,
    has_minus,
    predicates_from,
    sum_from_halves,
    without_sign,
    write_total,
)
from kernelcast.ptx_frontend.sass.lowering.arithmetic.packed_integers import (
    PACKED,
    write_packed,
)
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.lowering.wide_sum_code import write_sum

__all__: list[str] = []

_VOLTA = 70


@lowers("IADD3", "UIADD3")
def lower_sum(site: Site) -> None:
    """`d[, carry[, carry2]], a, b, c[, carry in[, carry in 2]]`; `.X` takes carries."""
    found = predicates_from(site, 1)
    first = 1 + len(found)
    outputs = [output for output in found if not site.is_discarded(output)]
    sources = [site.operand(first + i) for i in range(3)]
    bits = 64 if site.take("64") else 32
    extended = site.take("X")
    inputs = predicates_from(site, first + 3) if extended else []
    whole = sum_from_halves(site)
    if whole is not None and extended:
        write_sum(site, whole)
        return
    write_total(site, Terms(sources, outputs, inputs), bits)


@lowers("IADD", "UIADD")
def lower_sum_of_two(site: Site) -> None:
    """`d[, carry], a, b[, carry in]`, of words or pairs (sm_120); `.X` takes a carry."""
    if site.architecture < _VOLTA:
        raise site.refuse("a sum of an architecture before Volta")
    bits = 64 if site.take("64") else 32
    extended = site.take("X")
    found = predicates_from(site, 1)
    first = 1 + len(found)
    outputs = [output for output in found if not site.is_discarded(output)]
    inputs = predicates_from(site, first + 2) if extended else []
    sources = [site.operand(first), site.operand(first + 1)]
    write_total(site, Terms(sources, outputs, inputs), bits)


@lowers("VIADD", "UVIADD")
def lower_video_sum(site: Site) -> None:
    """`d, a, b`: a word, or the bytes or halves of one, each modulo its size."""
    a, b = site.operand(1), site.operand(2)
    packed = site.choose(PACKED, None)
    if packed is not None:
        subtracts = has_minus(b)
        values = site.word(a), site.word(without_sign(b) if subtracts else b)
        name = "vsub" if subtracts else "vadd"
        write_packed(site, site.destination(site.operand(0)), name, packed, values, is_main=True)
        return
    site.ignore("U32")
    site.take("S32")
    if site.take("ISAT"):
        mnemonic = "sub.s32.sat" if has_minus(b) else "add.s32.sat"
        first, second = site.word(a), site.word(without_sign(b))
        site.main(mnemonic, site.destination(site.operand(0)), first, second)
        return
    write_total(site, Terms([a, b]))


@lowers("IABS", "UIABS")
def lower_magnitude(site: Site) -> None:
    """`d, a`."""
    value = site.word(site.operand(1), "s32")
    site.main("abs.s32", site.destination(site.operand(0)), value)
