"""Operations across the lanes of a warp: shuffles, votes, matches, reductions, `bar.warp.sync`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from kernelcast.ptx_frontend.ptx.lowering.inversions import source_or_inverse
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal, scalar_type
from kernelcast.simcore.isa.ir.kernel import Compute, Register, WarpOperation
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES, WarpOpcode
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["WARP_ROOTS", "is_warp_operation", "lower_warp_operation"]

_WITHOUT_MEMBERS = ("shfl", "vote", "activemask")
"""The first two did not name the lanes that take part before PTX ISA 6.0."""
_WITHOUT_TYPE = ("elect", "bar")

WARP_ROOTS = frozenset(("shfl", "vote", "match", "redux", "activemask", "elect"))


@dataclass(frozen=True, slots=True)
class _Form:
    """A mnemonic, understood. `is_synchronising`: it names the lanes that take part."""

    opcode: WarpOpcode
    type: ScalarType
    is_synchronising: bool


def is_warp_operation(mnemonic: str) -> bool:
    """Whether the mnemonic is that of an operation across lanes."""
    root, *parts = mnemonic.split(".")
    return root in WARP_ROOTS or (root in ("bar", "barrier") and parts[:1] == ["warp"])


@cache
def _form(mnemonic: str) -> _Form | Refusal:
    root, *parts = mnemonic.split(".")
    types = [known for part in parts if (known := scalar_type(part)) is not None]
    names = [part for part in parts if scalar_type(part) is None]
    is_synchronising = "sync" in names
    names = [name for name in names if name != "sync"]
    opcode = WARP_OPCODES.get(".".join((root, *names)))
    if opcode is None:
        return Refusal.of(mnemonic)
    if not (is_synchronising or root in _WITHOUT_MEMBERS):
        return Refusal.of(mnemonic, "it needs .sync")
    if root in _WITHOUT_TYPE:
        if types:
            return Refusal.of(mnemonic, "it takes no type")
        types = list(opcode.types)
    if len(types) != 1 or types[0] not in opcode.types:
        known_types = " or ".join(sorted(f".{t.ptx_name}" for t in opcode.types))
        return Refusal.of(mnemonic, f"it takes type {known_types}")
    is_synchronising &= root != "activemask"
    return _Form(opcode, types[0], is_synchronising)


def lower_warp_operation(site: Site) -> list[Compute | WarpOperation]:
    """The instruction, after the inversion of a predicate that it reads negated.

    The mask of its members is the last operand.
    """
    form = _form(site.mnemonic)
    if isinstance(form, Refusal):
        raise site.unsupported(form.reason)
    results, sources = form.opcode.result_types(form.type), form.opcode.source_types(form.type)
    has_result = bool(results)
    site.expect_operands(has_result + len(sources) + form.is_synchronising)
    members = None
    if form.is_synchronising:
        last = len(site.operands) - 1
        members = site.source(site.operands[last], last, ScalarType.B32)
    inversions: list[Compute] = []
    read = tuple(
        source_or_inverse(site, site.operands[index], index, type_, inversions)
        for index, type_ in enumerate(sources, start=has_result)
    )
    operation = WarpOperation(
        **site.fields(len(inversions)),
        opcode=form.opcode,
        type=form.type,
        destinations=_destinations(site, results) if has_result else (),
        sources=read,
        members=members,
    )
    return [*inversions, operation]


def _destinations(site: Site, results: tuple[ScalarType, ...]) -> tuple[Register | None, ...]:
    """`%r`, or `%r|%p` where the operation says more."""
    operand = site.operands[0]
    if isinstance(operand, syntax.PairOperand):
        if len(results) != 2:
            raise site.error(f"{site.mnemonic!r} has one destination", 0)
        names = (operand.first, operand.second)
        return tuple(
            site.destination_named(name, 0, type_)
            for name, type_ in zip(names, results, strict=True)
        )
    first = site.destination(operand, 0, results[0])
    return (first, *(None for _ in results[1:]))
