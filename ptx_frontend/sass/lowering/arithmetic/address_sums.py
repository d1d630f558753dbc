"""`LEA`: a shifted word and another one, as addresses of elements are made."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.arithmetic.carries import (
    Terms,
    has_minus,
    predicates_from,
    sum_from_halves,
    without_sign,
    write_total,
)
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.lowering.wide_sum_code import write_sum
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__: list[str] = []

_ZERO = Immediate(0)
_WIDTH = 32


@lowers("LEA", "ULEA")
def lower_address_sum(site: Site) -> None:
    """`d[, carry], a, b, n`: (a << n) + b; `.HI`: the upper half of {c, a} << n, plus b."""
    if site.take("HI"):
        _upper_address_sum(site)
        return
    outputs = [o for o in predicates_from(site, 1) if not site.is_discarded(o)]
    first = 1 + len(predicates_from(site, 1))
    extended = site.take("X")
    a, b = site.operand(first), site.operand(first + 1)
    amount, shifted = site.word(site.operand(first + 2)), site.word(without_sign(a))
    if _ZERO not in (amount, shifted):
        shifted = site.compute("shl.b32", 32, shifted, amount)
    sum_from_halves(site)
    inputs = [site.operand(first + 3)] if extended else []
    if has_minus(a):  # what is shifted is subtracted
        write_total(site, Terms([b], outputs, inputs, subtracted=[shifted]))
    else:
        write_total(site, Terms([b], outputs, inputs, added=[shifted]))


def _upper_address_sum(site: Site) -> None:
    extended, is_signed = site.take("X"), site.take("SX32")
    whole = sum_from_halves(site)
    if whole is not None and extended:
        write_sum(site, whole)
        return
    found = predicates_from(site, 1)
    outputs = [output for output in found if not site.is_discarded(output)]
    first = 1 + len(found)
    a, b = site.operand(first), site.operand(first + 1)
    position = first + (2 if is_signed else 3)
    if has_minus(a):
        raise site.refuse("the upper half of what is subtracted")
    low = site.word(a, "s32")
    upper = None if is_signed else site.word(site.operand(first + 2))
    high = _upper_word(site, low, upper, site.word(site.operand(position)))
    inputs = [site.operand(position + 1)] if extended else []
    write_total(site, Terms([b], outputs, inputs, added=[high]))


def _upper_word(site: Site, low: Operand, upper: Operand | None, shift: Operand) -> Operand:
    """The upper half of {upper, low} << shift; the sign of `low` stands above it for None."""
    if isinstance(shift, Immediate) and 0 < shift.bits < _WIDTH and upper in (None, _ZERO):
        kind = "s32" if upper is None else "u32"
        return site.compute(f"shr.{kind}", 32, low, Immediate(_WIDTH - shift.bits))
    if upper is None:
        upper = site.compute("shr.s32", 32, low, Immediate(_WIDTH - 1))
    if isinstance(shift, Immediate):
        return site.compute("shf.l.clamp.b32", 32, low, upper, shift)
    wide, high = site.register(64), site.register(32)
    site.part("mov.b64", wide, low, upper)
    site.part("mov.b64", None, high, site.compute("shl.b64", 64, wide, shift), results=2)
    return high
