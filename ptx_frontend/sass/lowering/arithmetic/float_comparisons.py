"""Comparisons of floating-point numbers, into predicates and into numbers."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.arithmetic.half_operands import HalfOperands
from kernelcast.ptx_frontend.sass.lowering.arithmetic.predicates import write_predicates
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__: list[str] = []

_TRUE = Immediate(1)
_ORDERS = {
    **{name: name.lower() for name in ("LT", "LE", "GT", "GE", "EQ", "NE")},
    **{name: name.lower() for name in ("LTU", "LEU", "GTU", "GEU", "EQU", "NEU")},
    **{name: name.lower() for name in ("NUM", "NAN")},
}
_BOOLEAN = {"AND": "and", "OR": "or", "XOR": "xor"}
_BRAIN = {"BF16_V2": "bf16x2"}


def _order(site: Site) -> str:
    order = site.choose(_ORDERS, "")
    if not order:
        raise site.refuse("a comparison without order")
    return order


def _flushing(site: Site) -> str:
    return ".ftz" if site.take("FTZ") else ""


@lowers("FSETP", "UFSETP")
def lower_comparison(site: Site) -> None:
    """`p, p2, a, b, q`."""
    flushes, order = _flushing(site), _order(site)
    a, b = (site.word(site.operand(i), "f32") for i in (2, 3))
    write_predicates(site, f"setp.{order}{flushes}.f32", a, b, 4)


@lowers("DSETP")
def lower_double_comparison(site: Site) -> None:
    """`p, p2, a, b, q`; `.MIN` and `.MAX`: whether a is chosen, and whether both are NaN."""
    extremum = site.choose({"MIN": "min", "MAX": "max"}, "")
    if extremum:
        _lower_choice(site, extremum)
        return
    order = _order(site)
    a, b = (site.pair(site.operand(i), "f64") for i in (2, 3))
    write_predicates(site, f"setp.{order}.f64", a, b, 4)


def _lower_choice(site: Site, extremum: str) -> None:
    """The predicates from which the assembler makes a minimum or maximum of doubles.

    It takes a where the first holds, else b, and makes b a quiet NaN where the second does.
    """
    site.choose(_BOOLEAN, "and")
    a, b = (site.pair(site.operand(i), "f64") for i in (2, 3))
    if site.predicate(site.operand(4)) != _TRUE:
        raise site.refuse("a choice that a predicate is combined with")
    found = site.register(64)
    site.main(f"{extremum}.f64", found, a, b)
    is_first = site.compute("setp.eq.b64", 1, found, a)
    is_nan = site.compute("setp.nan.f64", 1, found, found)
    for position, value in ((0, is_first), (1, is_nan)):
        if not site.is_discarded(site.operand(position)):
            site.part("mov.pred", site.destination(site.operand(position)), value)


@lowers("FSET")
def lower_comparison_to_number(site: Site) -> None:
    """`d, a, b, q`: all ones where it holds, 1.0 with `.BF`."""
    kind = "f32" if site.take("BF") else "u32"
    flushes, order = _flushing(site), _order(site)
    boolean = site.choose(_BOOLEAN, "and")
    a, b = (site.word(site.operand(i), "f32") for i in (1, 2))
    other = site.predicate_register(site.operand(3))
    destination = site.destination(site.operand(0))
    site.main(f"set.{order}.{boolean}{flushes}.{kind}.f32", destination, a, b, other)


def _halves(site: Site, position: int) -> tuple[Operand, Operand, int]:
    """Two sources of two halves, and the position behind them."""
    reader = HalfOperands(site, position)
    return reader.next(), reader.next(), reader.position


@lowers("HSETP2")
def lower_comparison_of_halves(site: Site) -> None:
    """`p, p2, a, b, q`: of the lower halves, and of the upper ones."""
    kind = site.choose(_BRAIN, "f16x2")
    flushes, order = _flushing(site), _order(site)
    boolean = site.choose(_BOOLEAN, "and")
    a, b, position = _halves(site, 2)
    other = site.predicate_register(site.operand(position))
    low, high = (
        None if site.is_discarded(item) else site.destination(item)
        for item in (site.operand(0), site.operand(1))
    )
    site.main(f"setp.{order}.{boolean}{flushes}.{kind}", low, high, a, b, other, results=2)


@lowers("HSET2")
def lower_comparison_of_halves_to_numbers(site: Site) -> None:
    """`d, a, b, q`: in each half all ones where it holds, 1.0 with `.BF`."""
    kind = site.choose(_BRAIN, "f16x2")
    result = kind if site.take("BF") else "u32"
    flushes, order = _flushing(site), _order(site)
    boolean = site.choose(_BOOLEAN, "and")
    a, b, position = _halves(site, 1)
    other = site.predicate_register(site.operand(position))
    destination = site.destination(site.operand(0))
    site.main(f"set.{order}.{boolean}{flushes}.{result}.{kind}", destination, a, b, other)
