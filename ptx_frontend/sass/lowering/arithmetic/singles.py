"""Arithmetic of single precision."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.arithmetic.predicates import write_predicates
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.simcore.isa.ir.kernel import Operand
from kernelcast.simcore.isa.types import Unit

__all__ = ["ROUNDING", "arithmetic_suffix"]

ROUNDING = {"RN": ".rn", "RM": ".rm", "RP": ".rp", "RZ": ".rz"}


def arithmetic_suffix(site: Site) -> str:
    """Rounding, flushing and saturation as the opcode table spells them."""
    rounding = site.choose(ROUNDING, ".rn")
    flushes = ".ftz" if site.take("FTZ") else ""
    saturates = ".sat" if site.take("SAT") else ""
    return rounding + flushes + saturates


@lowers("FADD", "UFADD", unit=Unit.FP32)
def lower_sum(site: Site) -> None:
    """`d, a, b`."""
    suffix = arithmetic_suffix(site)
    a, b = _sources(site, 2)
    site.main(f"add{suffix}.f32", site.destination(site.operand(0)), a, b)


@lowers("FMUL", "UFMUL", unit=Unit.FP32)
def lower_product(site: Site) -> None:
    """`d, a, b`."""
    suffix = arithmetic_suffix(site)
    a, b = _sources(site, 2)
    site.main(f"mul{suffix}.f32", site.destination(site.operand(0)), a, b)


@lowers("FFMA", "UFFMA", unit=Unit.FP32)
def lower_fused(site: Site) -> None:
    """`d, a, b, c`."""
    suffix = arithmetic_suffix(site)
    a, b, c = _sources(site, 3)
    site.main(f"fma{suffix}.f32", site.destination(site.operand(0)), a, b, c)


def _sources(site: Site, count: int) -> tuple[Operand, ...]:
    return tuple(site.word(site.operand(1 + i), "f32") for i in range(count))


_ORDERS = {
    **{name: name.lower() for name in ("LT", "LE", "GT", "GE", "EQ", "NE")},
    **{name: name.lower() for name in ("LTU", "LEU", "GTU", "GEU", "EQU", "NEU")},
    **{name: name.lower() for name in ("NUM", "NAN")},
}


@lowers("FSETP", "UFSETP", unit=Unit.FP32)
def lower_comparison(site: Site) -> None:
    """`p, p2, a, b, q`."""
    flushes = ".ftz" if site.take("FTZ") else ""
    order = site.choose(_ORDERS, "")
    if not order:
        raise site.refuse("a comparison without order")
    a, b = (site.word(site.operand(i), "f32") for i in (2, 3))
    write_predicates(site, f"setp.{order}{flushes}.f32", a, b, 4)


@lowers("FSEL", "UFSEL", unit=Unit.FP32)
def lower_selection(site: Site) -> None:
    """`d, a, b, p`: a where p holds, else b."""
    site.ignore("FTZ")
    a, b = (site.word(site.operand(i), "f32") for i in (1, 2))
    chosen = site.predicate(site.operand(3))
    site.main("selp.b32", site.destination(site.operand(0)), a, b, chosen)
