"""Minima and maxima of floating-point numbers: a predicate says which of the two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kernelcast.ptx_frontend.sass.lowering.arithmetic.half_operands import (
    HalfOperands,
    is_absolute,
)
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import ConstantOperand, RegisterOperand, SassOperand
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__: list[str] = []


def _modes(site: Site, sources: tuple[SassOperand, ...]) -> str:
    """Modifiers as the opcode table spells them; `.XORSIGN` takes magnitudes by itself."""
    modes = ".ftz" if site.take("FTZ") else ""
    modes += ".NaN" if site.take("NAN") else ""
    if site.take("XORSIGN"):
        if not all(is_absolute(source) for source in sources):
            raise site.refuse("signs of operands that are no magnitudes")
        modes += ".xorsign.abs"
    return modes


def _plain(operand: SassOperand) -> SassOperand:
    if isinstance(operand, RegisterOperand | ConstantOperand):
        return replace(operand, is_absolute=False)
    return operand


def _write(
    site: Site,
    suffix: str,
    sources: tuple[Operand, ...],
    position: int,
    destination: Callable[[], Register],
) -> None:
    """The minimum where the predicate at `position` holds, else the maximum."""
    is_minimum = site.predicate(site.operand(position))
    if isinstance(is_minimum, Immediate):
        name = "min" if is_minimum.bits else "max"
        site.main(f"{name}{suffix}", destination(), *sources)
        return
    bits = 64 if suffix.endswith("f64") else 32
    smaller = site.register(bits)
    site.main(f"min{suffix}", smaller, *sources)
    larger = site.compute(f"max{suffix}", bits, *sources)
    site.part(f"selp.b{bits}", destination(), smaller, larger, is_minimum)


@lowers("FMNMX", "UFMNMX")
def lower_extremum(site: Site) -> None:
    """`d, a, b, p`."""
    operands = (site.operand(1), site.operand(2))
    modes = _modes(site, operands)
    if "xorsign" in modes:
        operands = (_plain(operands[0]), _plain(operands[1]))
    sources = tuple(site.word(operand, "f32") for operand in operands)
    _write(site, f"{modes}.f32", sources, 3, lambda: site.destination(site.operand(0)))


@lowers("FMNMX3")
def lower_extremum_of_three(site: Site) -> None:
    """`d, a, b, c, p`."""
    operands = tuple(site.operand(1 + i) for i in range(3))
    modes = _modes(site, operands)
    if "xorsign" in modes:
        raise site.refuse("signs of three operands")
    sources = tuple(site.word(operand, "f32") for operand in operands)
    _write(site, f".three{modes}.f32", sources, 4, lambda: site.destination(site.operand(0)))


@lowers("DMNMX")
def lower_double_extremum(site: Site) -> None:
    """`d, a, b, p`."""
    sources = tuple(site.pair(site.operand(1 + i), "f64") for i in range(2))
    _write(site, ".f64", sources, 3, lambda: site.pair_destination(site.operand(0)))


@lowers("HMNMX2")
def lower_extremum_of_halves(site: Site) -> None:
    """`d, a, b, p`, half by half."""
    kind = site.choose({"BF16_V2": "bf16x2"}, "f16x2")
    takes_signs = "XORSIGN" in site.statement.modifiers
    reader = HalfOperands(site)
    sources = (reader.next(keeps_sign=not takes_signs), reader.next(keeps_sign=not takes_signs))
    modes = _modes(site, tuple(reader.operands))
    position = reader.position
    _write(site, f"{modes}.{kind}", sources, position, lambda: site.destination(site.operand(0)))
