"""Predicates of predicates: truth tables, and predicates packed into registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from kernelcast.ptx_frontend.sass.lowering.registers import PREDICATE_FILES
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import (
    ImmediateOperand,
    NameOperand,
    RegisterOperand,
    SassOperand,
)
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__: list[str] = []

_ZERO, _FALSE, _TRUE = Immediate(0), Immediate(0), Immediate(1)
_PACKED_PREDICATES = 7
"""P0 to P6; the last of eight is PT."""


@dataclass(frozen=True, slots=True)
class _Formula:
    """An instruction that gives a predicate."""

    mnemonic: str
    sources: tuple[Operand, ...]


_Value: TypeAlias = Operand | _Formula


class _Tables:
    """Writes truth tables of at most three predicates, by cases of the first of them."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def formula(self, table: int, sources: Sequence[Operand]) -> _Value:
        """What a table gives; bit 4a + 2b + c of it is the result for a, b and c."""
        if not sources:
            return _TRUE if table & 1 else _FALSE
        first, *others = sources
        size = 1 << len(others)
        low, high = table & (1 << size) - 1, table >> size & (1 << size) - 1
        if isinstance(first, Immediate):
            return self.formula(high if first.bits else low, others)
        if low == high:
            return self.formula(low, others)
        if low ^ high == (1 << size) - 1:
            return self._differing(first, self.formula(low, others))
        return self._case(first, self.formula(high, others), self.formula(low, others))

    def value(self, found: _Value) -> Operand:
        """The predicate of a formula."""
        if isinstance(found, _Formula):
            return self._site.compute(found.mnemonic, 1, *found.sources)
        return found

    def _differing(self, first: Operand, other: _Value) -> _Value:
        if other == _FALSE:
            return first
        if other == _TRUE:
            return _Formula("not.pred", (first,))
        return _Formula("xor.pred", (first, self.value(other)))

    def _case(self, first: Operand, high: _Value, low: _Value) -> _Value:
        if low == _FALSE:
            return _Formula("and.pred", (first, self.value(high)))
        if high == _TRUE:
            return _Formula("or.pred", (first, self.value(low)))
        if high == _FALSE:
            return _Formula("and.pred", (self._opposite(first), self.value(low)))
        if low == _TRUE:
            return _Formula("or.pred", (self._opposite(first), self.value(high)))
        return _Formula("selp.pred", (self.value(high), self.value(low), first))

    def _opposite(self, value: Operand) -> Register:
        return self._site.compute("not.pred", 1, value)


def _number(site: Site, position: int) -> int:
    operand = site.operand(position)
    if not isinstance(operand, ImmediateOperand) or operand.value is None:
        raise site.refuse("a number that is none")
    return operand.value


def _source(site: Site, operand: SassOperand) -> Operand:
    """A predicate, or the sign of a register."""
    if isinstance(operand, RegisterOperand) and operand.file not in PREDICATE_FILES:
        if operand.parts != ("SIGN",):
            raise site.refuse("a register in a truth table of predicates")
        value = site.word(RegisterOperand(operand.file, operand.number))
        found = site.compute("setp.lt.s32", 1, value, _ZERO)
        return site.compute("not.pred", 1, found) if operand.sign else found
    return site.predicate(operand)


@lowers("PLOP3", "UPLOP3")
def lower_predicate_table(site: Site) -> None:
    """`p, p2, a, b, c, table, table2`."""
    site.ignore("LUT")
    sources = [_source(site, site.operand(position)) for position in (2, 3, 4)]
    _write_tables(site, [_number(site, 5), _number(site, 6)], sources)


def _write_tables(site: Site, tables: Sequence[int], sources: Sequence[Operand]) -> None:
    writer = _Tables(site)
    found: list[tuple[Register, _Value]] = []
    for position, table in enumerate(tables):
        if not site.is_discarded(site.operand(position)):
            formula = writer.formula(table, sources)
            found.append((site.destination(site.operand(position)), formula))
    if not found:
        return
    if len(found) > 1:
        # the sources may be destinations
        found = [(target, writer.value(formula)) for target, formula in found]
    for position, (target, formula) in enumerate(found):
        write = site.main if position == 0 else site.part
        if isinstance(formula, _Formula):
            write(formula.mnemonic, target, *formula.sources)
        else:
            write("mov.pred", target, formula)


_COMBINATIONS = {"AND": 0x8, "OR": 0xE, "XOR": 0x6}


@lowers("PSETP", "UPSETP")
def lower_predicate_pair(site: Site) -> None:
    """`p, p2, a, b, c`: p = (a op b) op2 c, and p2 = !(a op b) op2 c."""
    inner, outer = site.choose(_COMBINATIONS, 0), site.choose(_COMBINATIONS, 0)
    if not inner or not outer:
        raise site.refuse("predicates without operation")
    sources = [site.predicate(site.operand(position)) for position in (2, 3, 4)]
    tables = [0, 0]
    for index in range(8):
        held, c = inner >> (index >> 1) & 1, index & 1
        for position, value in enumerate((held, 1 - held)):
            tables[position] |= (outer >> (2 * value + c) & 1) << index
    _write_tables(site, tables, sources)


def _file(site: Site, position: int) -> str:
    operand = site.operand(position)
    if not isinstance(operand, NameOperand) or operand.name not in ("PR", "UPR"):
        raise site.refuse("predicates that are none")
    return operand.name.removesuffix("R")


def _start_of(site: Site, parts: Sequence[str]) -> int:
    """The lowest bit of the byte that `.B1` and the like name."""
    names = [f"B{number}" for number in range(4)]
    start = site.choose({name: 8 * number for number, name in enumerate(names)}, 0)
    for part in parts:
        if part not in names:
            raise site.refuse(f"an operand with '.{part}'")
        start = 8 * names.index(part)
    return start


@lowers("P2R", "UP2UR")
def lower_predicates_to_register(site: Site) -> None:
    """`d, PR, a, mask`: a, where the bits of the mask, in one of its bytes, are predicates."""
    file, mask = _file(site, 1), _number(site, 3)
    start = _start_of(site, ())
    total = site.word(site.operand(2))
    kept = ~((mask & 0xFF) << start) & 0xFFFFFFFF
    if total != _ZERO:
        total = site.compute("and.b32", 32, total, Immediate(kept))
    terms: list[Operand] = [] if total == _ZERO else [total]
    for number in range(_PACKED_PREDICATES):
        if mask >> number & 1:
            held = site.predicate(RegisterOperand(file, number))
            bit = Immediate(1 << (start + number))
            terms.append(site.compute("selp.b32", 32, bit, _ZERO, held))
    if mask >> _PACKED_PREDICATES & 1:
        terms.append(Immediate(1 << (start + _PACKED_PREDICATES)))
    _write_union(site, site.destination(site.operand(0)), terms)


def _write_union(site: Site, destination: Register, terms: Sequence[Operand]) -> None:
    if len(terms) < 2:
        site.main("mov.b32", destination, terms[0] if terms else _ZERO)
        return
    total = terms[0]
    for term in terms[1:-1]:
        total = site.compute("or.b32", 32, total, term)
    site.main("or.b32", destination, total, terms[-1])


_ALL_PREDICATES = (1 << _PACKED_PREDICATES) - 1


@lowers("R2P", "UR2UP")
def lower_register_to_predicates(site: Site) -> None:
    """`PR, a[, mask]`: predicates of the mask become bits of a, or of one of its bytes."""
    file = _file(site, 0)
    mask = _number(site, 2) if len(site.operands) > 2 else _ALL_PREDICATES
    operand = site.operand(1)
    parts = operand.parts if isinstance(operand, RegisterOperand) else ()
    start = _start_of(site, parts)
    value = site.word(operand, parts=parts)
    if site.guard is not None:  # it may be one of those that are written
        site.guard = replace(site.guard, register=site.compute("mov.pred", 1, site.guard.register))
    site.nothing()
    for number in range(_PACKED_PREDICATES):
        if mask >> number & 1:
            bit = site.compute("and.b32", 32, value, Immediate(1 << (start + number)))
            site.part("setp.ne.b32", site.destination(RegisterOperand(file, number)), bit, _ZERO)
