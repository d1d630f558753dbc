"""Address sets as boxes: what the accesses of a set of thread blocks touch in one field.

An affine access over a box of thread blocks touches base + sum of stride * coordinate. Strides that
are not larger than a sector make one dense axis of bytes, each larger one an axis of its own: an
address space of several dimensions (Ernst et al. 2022, section 4.4.1).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernelcast.simcore.address.expression import AXES, AddressExpression, AffineForm
from kernelcast.simcore.address.kernel import Access, AddressKernel
from kernelcast.simcore.address.waves import GridBox

__all__ = [
    "BoundAccess",
    "Span",
    "StridedFamily",
    "affine_forms",
    "bound_accesses",
    "families",
    "joined_spans",
]

Span = tuple[int, int, int]
"""Stride in bytes, first coordinate, end of the coordinates."""


@dataclass(frozen=True, slots=True)
class BoundAccess:
    """Accesses of one thread-block size that differ in their constants, bytes, only.

    `coefficients` of the indices and of loops in bytes, `loops` with their trips.
    """

    field: str
    coefficients: tuple[tuple[str, int], ...]
    constants: tuple[int, ...]
    access_bytes: int
    loops: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class StridedFamily:
    """All of each base + sum of stride * coordinate, `access_bytes` from each."""

    bases: tuple[int, ...]
    spans: tuple[Span, ...]
    access_bytes: int


def affine_forms(accesses: Iterable[Access], kernel: AddressKernel) -> Iterator[AffineForm]:
    """The affine form of each access; those that differ in a constant only are bound once.

    ModelNotApplicable for what is not affine.
    """
    parameters = dict(kernel.parameters)
    known: dict[tuple[Any, ...], AffineForm] = {}
    for access in accesses:
        terms, constant = access.offset.terms, 0
        if terms and not terms[0][0]:
            constant, terms = terms[0][1], terms[1:]
        form = known.get((terms, access.loops))
        if form is None:
            form = AddressExpression(terms).bind(
                kernel.block, parameters, kernel.folding, access.loops
            )
            known[terms, access.loops] = form
        yield AffineForm(form.constant + constant, form.coefficients)


def bound_accesses(accesses: Sequence[Access], kernel: AddressKernel) -> tuple[BoundAccess, ...]:
    """Equal accesses once. ModelNotApplicable for what is not affine."""
    trips = {loop.name: loop.trips for loop in kernel.loops}
    found: dict[tuple[Any, ...], dict[int, None]] = {}
    for access, form in zip(accesses, affine_forms(accesses, kernel), strict=True):
        loops = tuple((name, trips[name]) for name in access.loops)
        key = (access.field, form.coefficients, access.access_bytes, loops)
        found.setdefault(key, {})[form.constant] = None
    return tuple(
        BoundAccess(field, coefficients, tuple(constants), size, loops)
        for (field, coefficients, size, loops), constants in found.items()
    )


def families(
    accesses: Iterable[BoundAccess], kernel: AddressKernel, boxes: Sequence[GridBox]
) -> tuple[StridedFamily, ...]:
    """What the thread blocks in `boxes` touch; cells outside of the domain do nothing."""
    found = []
    for access in accesses:
        factors = dict(access.coefficients)
        loops = [(factors.get(name, 0), 0, trips) for name, trips in access.loops]
        for low, high in boxes:
            axes = [_axis_pieces(factors, kernel, axis, low[axis], high[axis]) for axis in range(3)]
            for parts in itertools.product(*axes):
                spans = joined_spans((*itertools.chain(*parts), *loops))
                found.append(StridedFamily(access.constants, spans, access.access_bytes))
    return tuple(found)


def _axis_pieces(
    factors: Mapping[str, int], kernel: AddressKernel, axis: int, low: int, high: int
) -> list[tuple[Span, ...]]:
    """Spans along one axis: one of cells, or of thread blocks and threads."""
    name, threads, cells = AXES[axis], kernel.block[axis], kernel.folding[axis]
    by_block, by_thread = factors.get(f"ctaid.{name}", 0), factors.get(f"tid.{name}", 0)
    by_fold, tile = factors.get(f"fold.{name}", 0), threads * cells
    first = max(kernel.origin[axis], low * tile)
    end = min(kernel.domain[axis], high * tile)
    if first >= end:
        return []
    if by_block == by_thread == by_fold == 0:
        return [()]
    by_cell = by_fold if cells > 1 else by_thread
    if by_thread == by_cell * cells and by_block == by_cell * tile:
        return [((by_cell, first, end),)]
    if by_block == by_thread * threads:
        cut = min(cells, end - first)
        return [((by_thread, first // cells, -(-end // cells)), (by_fold, 0, cut))]
    return _apart((by_block, by_thread, by_fold), threads, cells, first, end)


def _apart(
    strides: tuple[int, int, int], threads: int, cells: int, first: int, end: int
) -> list[tuple[Span, ...]]:
    """Full thread blocks, then those that the domain cuts; a cut thread counts as whole."""
    by_block, by_thread, by_fold = strides
    tile = threads * cells

    def piece(blocks: tuple[int, int], of_threads: tuple[int, int]) -> tuple[Span, ...]:
        return (
            (by_block, *blocks),
            (by_thread, *of_threads),
            (by_fold, 0, min(cells, end - first)),
        )

    low, high = -(-first // tile), end // tile
    if low > high:
        return [piece((high, high + 1), _threads(first, end, high, tile, cells))]
    found = []
    if first < low * tile:
        found.append(piece((low - 1, low), _threads(first, low * tile, low - 1, tile, cells)))
    if low < high:
        found.append(piece((low, high), (0, threads)))
    if high * tile < end:
        found.append(piece((high, high + 1), _threads(high * tile, end, high, tile, cells)))
    return found


def _threads(first: int, end: int, block: int, tile: int, cells: int) -> tuple[int, int]:
    return (first - block * tile) // cells, -(-(end - block * tile) // cells)


def joined_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Ascending positive strides, each once: coordinates of equal strides add up."""
    found: dict[int, tuple[int, int]] = {}
    for stride, first, end in spans:
        if not stride:
            continue
        if stride < 0:
            stride, first, end = -stride, 1 - end, 1 - first
        low, high = found.get(stride, (0, 1))
        found[stride] = (low + first, high + end - 1)
    return tuple((stride, *found[stride]) for stride in sorted(found))
