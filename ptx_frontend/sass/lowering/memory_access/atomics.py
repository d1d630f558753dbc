"""Atomics on global, shared and generic memory; scopes and orders change nothing here."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kernelcast.ptx_frontend.sass.lowering.memory_access.addresses import address_of
from kernelcast.ptx_frontend.sass.lowering.memory_access.atomic_loops import (
    arrive,
    lower_wide_atomic,
)
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import RegisterOperand, SassOperand
from kernelcast.simcore.isa.ir.kernel import Address, Immediate, Operand, Register
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__: list[str] = []

_SPACES = {
    "ATOM": AddressSpace.GENERIC,
    "ATOMG": AddressSpace.GLOBAL,
    "ATOMS": AddressSpace.SHARED,
    "RED": AddressSpace.GLOBAL,
    "REDG": AddressSpace.GLOBAL,
}
_OPERATIONS = {
    name.upper(): name
    for name in ("add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas")
}
_SCOPES = ("E", "STRONG", "WEAK", "CTA", "SM", "GPU", "SYS", "VC", "EF", "EL", "LU", "NA", "U")
_ROUNDING = ("RN", "FTZ")
"""PTX's atomics round and flush as their type says, and so do ours."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """The type of an element, and how many neighbours there are."""

    type: ScalarType
    elements: int = 1


_KINDS = {
    "F32": _Kind(ScalarType.F32),
    "F32x2": _Kind(ScalarType.F32, 2),
    "F32x4": _Kind(ScalarType.F32, 4),
    "F64": _Kind(ScalarType.F64),
    "F16x2": _Kind(ScalarType.F16X2),
    "F16x4": _Kind(ScalarType.F16X2, 2),
    "F16x8": _Kind(ScalarType.F16X2, 4),
    "BF16x2": _Kind(ScalarType.BF16X2),
    "BF16x4": _Kind(ScalarType.BF16X2, 2),
    "BF16x8": _Kind(ScalarType.BF16X2, 4),
    "BF16_V2": _Kind(ScalarType.BF16X2),
    "S32": _Kind(ScalarType.S32),
    "S64": _Kind(ScalarType.S64),
    "64": _Kind(ScalarType.U64),
    "128": _Kind(ScalarType.B64, 2),
}
_UNTYPED = {"and", "or", "xor", "exch", "cas"}


@lowers("ATOM", "ATOMG", "ATOMS")
def lower_atomic(site: Site) -> None:
    """`[p,] d, [address], a[, b]`: d is what was there; p holds where the atomic was done."""
    site.ignore(*_SCOPES)
    space = _SPACES[site.statement.opcode]
    if site.take("POPC"):
        _count_lanes(site, space)
        return
    if site.take("ARRIVE"):
        _arrive(site, space)
        return
    if site.take("CAST"):
        _compare_and_store(site, space)
        return
    operation, kind = _operation(site)
    first = 1 if site.is_predicate(0) else 0
    target, place = site.operand(first), site.operand(first + 1)
    values = [site.operand(first + 2 + i) for i in range(2 if operation == "cas" else 1)]
    address = address_of(site, place, space)
    if kind.elements == 2 and kind.type is ScalarType.B64:
        lower_wide_atomic(site, operation, address, target, values)
    else:
        _write(site, operation, kind, address, values, target)
    if first:
        _is_done(site, site.operand(0))


@lowers("RED", "REDG")
def lower_reduction(site: Site) -> None:
    """`[address], a`."""
    site.ignore(*_SCOPES)
    operation, kind = _operation(site)
    address = address_of(site, site.operand(0), _SPACES[site.statement.opcode])
    _write(site, operation, kind, address, [site.operand(1)], None)


def _operation(site: Site) -> tuple[str, _Kind]:
    operation = site.choose(_OPERATIONS, "")
    if not operation:
        raise site.refuse("an atomic of no known kind")
    kind = site.choose(_KINDS, _Kind(ScalarType.U32))
    if kind.type.is_float or kind.type in (ScalarType.F16X2, ScalarType.BF16X2):
        site.ignore(*_ROUNDING)
    if operation in _UNTYPED and kind.elements == 1:
        kind = _Kind(ScalarType.named(f"b{kind.type.bits}"))
    return operation, kind


def _write(
    site: Site,
    operation: str,
    kind: _Kind,
    address: Address,
    values: list[SassOperand],
    target: SassOperand | None,
) -> None:
    """One atomic for each element; the first counts."""
    sources = [_elements(site, value, kind) for value in values]
    results = _results(site, target, kind)
    for number, result in enumerate(results):
        site.atomic(
            operation,
            kind.type,
            replace(address, offset=address.offset + number * kind.type.bytes),
            *(source[number] for source in sources),
            destination=result,
            is_main=number == 0,
        )


def _elements(site: Site, operand: SassOperand, kind: _Kind) -> tuple[Operand, ...]:
    if kind.type.bits == 64:
        return (site.pair(operand),)
    if kind.elements == 1:
        return (site.word(operand),)
    return site.words(operand, kind.elements)


def _results(site: Site, target: SassOperand | None, kind: _Kind) -> tuple[Register | None, ...]:
    if target is None or site.is_discarded(target):
        return (None,) * kind.elements
    if kind.type.bits == 64:
        return (site.pair_destination(target),)
    return site.destinations(target, kind.elements)


def _is_done(site: Site, operand: SassOperand) -> None:
    """Every atomic is done at once, in whatever memory its address lies."""
    if not site.is_discarded(operand):
        site.part("mov.pred", site.destination(operand), Immediate(1))


def _count_lanes(site: Site, space: AddressSpace) -> None:
    """`ATOMS.POPC.INC.32 RZ, [address]`: adds one for each lane."""
    if not site.take("INC") or not site.is_discarded(site.operand(0)):
        raise site.refuse()
    site.ignore("32")
    address = address_of(site, site.operand(1), space)
    site.atomic("add", ScalarType.U32, address, Immediate(1), is_main=True)


def _arrive(site: Site, space: AddressSpace) -> None:
    """`ATOMS.ARRIVE.64 d, [address]`: d is the barrier's word before."""
    if not site.take("64"):
        raise site.refuse()
    address = address_of(site, site.operand(1), space)
    old = arrive(site, address)
    if not site.is_discarded(site.operand(0)):
        site.part("mov.b64", site.pair_destination(site.operand(0)), old)


def _compare_and_store(site: Site, space: AddressSpace) -> None:
    """`[p,] d, [address], a, b`: stores b where a is; d is 1 where it did, else 0.

    From sm_100 on a predicate stands in place of d.
    """
    site.ignore("SPIN")
    bits = 64 if site.take("64") else 32
    first = 1 if site.is_predicate(0) and not _is_address(site, 1) else 0
    target = site.operand(first)
    read = site.pair if bits == 64 else site.word
    compared, value = read(site.operand(first + 2)), read(site.operand(first + 3))
    address = address_of(site, site.operand(first + 1), space)
    old = site.register(bits)
    site.atomic(
        "cas",
        ScalarType.named(f"b{bits}"),
        address,
        compared,
        value,
        destination=old,
        is_main=True,
    )
    stored = site.compute(f"setp.eq.b{bits}", 1, old, compared)
    if isinstance(target, RegisterOperand) and target.file in ("P", "UP"):
        if not site.is_discarded(target):
            site.part("mov.pred", site.destination(target), stored)
    elif not site.is_discarded(target):
        given = site.pair_destination if bits == 64 else site.destination
        one = Immediate(1)
        site.part(f"selp.b{bits}", given(target), one, Immediate(0), stored)
    if first:
        _is_done(site, site.operand(0))


def _is_address(site: Site, position: int) -> bool:
    return not isinstance(site.operand(position), RegisterOperand)
