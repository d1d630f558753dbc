"""Minima, maxima and distances of integers.

The predicate behind the operands chooses the minimum where it holds, else the maximum.
"""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.arithmetic.carries import predicates_from
from kernelcast.ptx_frontend.sass.lowering.arithmetic.packed_integers import (
    PACKED,
    Packed,
    packed_value,
    write_packed,
)
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import SassOperand
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__: list[str] = []

_ZERO, _TRUE = Immediate(0), Immediate(1)
_SCALARS = {"U32": "u32", "S32": "s32", "U64": "u64", "S64": "s64"}


@lowers("IMNMX", "UIMNMX", "VIMNMX", "UVIMNMX")
def lower_extremum(site: Site) -> None:
    """`[p, p2,] d[, p, p2], a, b, which[, q]`; the predicates in front and behind are unused."""
    position = len(_unused(site, 0))
    target = site.operand(position)
    first = position + 1 + len(_unused(site, position + 1))
    which = site.predicate(site.operand(first + 2))
    _expect_false(site, first + 3)
    _choose(site, target, [site.operand(first), site.operand(first + 1)], which)


@lowers("VIMNMX3", "UVIMNMX3")
def lower_extremum_of_three(site: Site) -> None:
    """`d, a, b, c, which`."""
    first = 1 + len(_unused(site, 1))
    which = site.predicate(site.operand(first + 3))
    _expect_false(site, first + 4)
    _choose(site, site.operand(0), [site.operand(first + i) for i in range(3)], which)


@lowers("VIADDMNMX", "UVIADDMNMX")
def lower_extremum_of_sum(site: Site) -> None:
    """`d, a, b, c, which`: the minimum or maximum of a + b and c."""
    first = 1 + len(_unused(site, 1))
    which = site.predicate(site.operand(first + 3))
    _expect_false(site, first + 4)
    packed = site.choose(PACKED, None)
    a, b, c = (site.word(site.operand(first + i)) for i in range(3))
    if packed is not None:
        total: Operand = packed_value(site, "vadd", packed, a, b)
        _write_packed(site, site.operand(0), packed, [total, c], which)
        return
    kind = site.choose({"U32": "u32", "S32": "s32"}, "s32")
    total = site.compute("add.s32", 32, a, b)
    _write(site, site.destination(site.operand(0)), kind, [total, c], which)


def _unused(site: Site, position: int) -> list[SassOperand]:
    """Predicates that nothing is written to."""
    found = predicates_from(site, position)
    if any(not site.is_discarded(item) for item in found):
        raise site.refuse("a predicate that an extremum gives")
    return found


def _expect_false(site: Site, position: int) -> None:
    for item in predicates_from(site, position):
        if site.predicate(item) != _ZERO:
            raise site.refuse("a second predicate of an extremum")


def _choose(site: Site, target: SassOperand, sources: list[SassOperand], which: Operand) -> None:
    packed = site.choose(PACKED, None)
    if packed is not None:
        _write_packed(site, target, packed, [site.word(source) for source in sources], which)
        return
    kind = site.choose(_SCALARS, "s32")
    read = site.pair if kind.endswith("64") else site.word
    values = [read(source, kind) for source in sources]
    write = site.pair_destination if kind.endswith("64") else site.destination
    _write(site, write(target), kind, values, which)


def _write(
    site: Site, destination: Register, kind: str, values: list[Operand], which: Operand
) -> None:
    """The extremum of two or more values, at least 0 with `.RELU`, into the destination."""
    clamps, bits = site.take("RELU"), int(kind[1:])
    if not isinstance(which, Immediate):
        smallest = _folded(site, "min", kind, values)
        largest = _folded(site, "max", kind, values)
        if clamps:
            smallest, largest = (
                site.compute(f"max.{kind}", bits, value, _ZERO) for value in (smallest, largest)
            )
        site.main(f"selp.b{bits}", destination, smallest, largest, which)
        return
    name = "min" if which == _TRUE else "max"
    *others, last = values
    if clamps:
        total = _folded(site, name, kind, values)
        site.main(f"max.{kind}", destination, total, _ZERO)
        return
    site.main(f"{name}.{kind}", destination, _folded(site, name, kind, others), last)


def _folded(site: Site, name: str, kind: str, values: list[Operand]) -> Operand:
    total, *others = values
    for value in others:
        total = site.compute(f"{name}.{kind}", int(kind[1:]), total, value)
    return total


def _write_packed(
    site: Site, target: SassOperand, packed: Packed, values: list[Operand], which: Operand
) -> None:
    if not isinstance(which, Immediate):
        raise site.refuse("a packed extremum that a predicate chooses")
    clamps, name = site.take("RELU"), "vmin" if which == _TRUE else "vmax"
    total, *others = values
    if clamps:
        for value in others:
            total = packed_value(site, name, packed, total, value)
        name, others = "vmax", [_ZERO]
    for value in others[:-1]:
        total = packed_value(site, name, packed, total, value)
    destination = site.destination(target)
    write_packed(site, destination, name, packed, (total, others[-1]), is_main=True)


@lowers("VABSDIFF", "UVABSDIFF")
def lower_distance(site: Site) -> None:
    """`d, a, b, c`: |a - b| + c."""
    kind = site.choose({"U32": "u32", "S32": "s32"}, "s32")
    a, b, c = (site.word(site.operand(i), kind) for i in (1, 2, 3))
    site.main(f"sad.{kind}", site.destination(site.operand(0)), a, b, c)


@lowers("VABSDIFF4", "UVABSDIFF4")
def lower_distances_of_bytes(site: Site) -> None:
    """`d, a, b, c`: the distances of four bytes; with `.ACC` their sum and c."""
    is_signed = site.choose({"U8": False, "S8": True}, False)
    modifiers = ["add"] if site.take("ACC") else []
    a, b, c = (site.word(site.operand(i)) for i in (1, 2, 3))
    if not modifiers and c != _ZERO:
        raise site.refuse("distances of bytes with something to add to")
    destination = site.destination(site.operand(0))
    packed = Packed(4, is_signed)
    write_packed(
        site, destination, "vabsdiff", packed, (a, b, c), modifiers=modifiers, is_main=True
    )
