"""Loads, stores, atomics and fences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from kernelcast.ptx_frontend.ptx.legal.accesses import illegal_access
from kernelcast.ptx_frontend.ptx.legal.atomics import ATOMIC_TYPES, illegal_atomic
from kernelcast.ptx_frontend.ptx.legal.hints import HINT_BYTES, missing_of_hint, operand_counts
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.lowering.wide_registers import WIDE, halves
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal, scalar_type
from kernelcast.simcore.isa.ir.kernel import Atomic, Fence, Load, Operand, Register, Store
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = [
    "Access",
    "changed",
    "elements",
    "is_vector_atomic",
    "lower_atomic",
    "lower_hint",
    "lower_load",
    "lower_store",
    "lower_vector_atomic",
    "understood",
]

_SPACES = {
    **{space.value: space for space in AddressSpace if space is not AddressSpace.GENERIC},
    "shared::cta": AddressSpace.SHARED,
    "shared::cluster": AddressSpace.SHARED,
    "param::entry": AddressSpace.PARAM,
    "param::func": AddressSpace.PARAM,
}
_ORDERED = frozenset(("volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"))
_SCOPES = frozenset(("cta", "cluster", "gpu", "sys"))
_CACHE_OPERATORS = frozenset(("ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc"))
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_IGNORED = _ORDERED | _SCOPES | {"weak", "unified", "noftz"}
_CACHE_HINTS = ("L1::", "L2::")


@dataclass(frozen=True, slots=True)
class Access:
    """What the modifiers of a memory instruction say."""

    space: AddressSpace
    type: ScalarType
    vector: int
    cache: str
    volatile: bool
    operation: str
    has_hint_operand: bool
    is_wide: bool = False
    """Whether the access moves a register of 128 bits, which is a pair here."""


@cache
def _access(mnemonic: str) -> Access | Refusal:
    space, type_, vector, cache_operator, operation = AddressSpace.GENERIC, None, 0, "", ""
    is_wide = False
    root, *parts = mnemonic.split(".")
    is_atomic = root in ("atom", "red")
    for part in parts:
        if part in _SPACES:
            space = _SPACES[part]
        elif part in _VECTORS:
            vector = _VECTORS[part]
        elif part == WIDE and not (is_atomic or vector):
            type_, is_wide = ScalarType.B64, True
        elif part in _CACHE_OPERATORS and not is_atomic:
            cache_operator = part if cache_operator != "nc" else "nc"
        elif is_atomic and part in ATOMIC_TYPES:
            operation = part
        elif part in _IGNORED or part.startswith(_CACHE_HINTS):
            continue
        elif (known := scalar_type(part)) is not None and known is not ScalarType.PRED:
            type_ = known
        else:
            return Refusal.of(mnemonic, f"modifier '.{part}'")
    if type_ is None:
        return Refusal.of(mnemonic, "it has no type")
    return Access(
        space,
        type_,
        vector,
        cache_operator,
        not _ORDERED.isdisjoint(parts),
        operation,
        "L2::cache_hint" in parts,
        is_wide,
    )


def understood(site: Site) -> Access:
    """What the modifiers say; UnsupportedInstruction when they say nothing known."""
    access = _access(site.mnemonic)
    if isinstance(access, Refusal):
        raise site.unsupported(access.reason)
    return access


def _moved(site: Site) -> Access:
    """What a load or store moves; UnsupportedInstruction where PTX has no such one."""
    access = understood(site)
    root, *parts = site.mnemonic.split(".")
    reason = illegal_access(root, parts, access.space, access.type, access.vector)
    if reason:
        raise site.refused(reason)
    return access


def changed(site: Site) -> Access:
    """What an atomic changes; UnsupportedInstruction where PTX has no such one."""
    access = understood(site)
    root, *parts = site.mnemonic.split(".")
    reason = illegal_atomic(root, parts, access.space, access.operation, access.type, access.vector)
    if reason:
        raise site.refused(reason)
    return access


def lower_load(site: Site, access: Access | None = None) -> Load:
    """`access`: what is moved, where the mnemonic is that of another instruction."""
    access = access or _moved(site)
    site.expect_operands(2 + access.has_hint_operand)
    items = elements(site, 0, access)
    count = len(items)
    destinations: list[Register | None] = []
    for item in items:
        if item == syntax.NameOperand("_") and not access.vector:
            raise site.error(f"{site.mnemonic!r} cannot discard its only result", 0)
        destinations.append(site.destination(item, 0, access.type, wider=True))
    return Load(
        **site.fields(),
        type=access.type,
        address=site.address(1, access.space, count * access.type.bytes),
        destinations=tuple(destinations),
        cache=access.cache,
        volatile=access.volatile,
    )


def lower_store(site: Site, access: Access | None = None) -> Store:
    """Lowers `st`; parameters of calls and constant memory are refused."""
    access = access or _moved(site)
    site.expect_operands(2 + access.has_hint_operand)
    if access.space is AddressSpace.PARAM:
        raise site.unsupported("parameters of calls are not supported")
    if access.space is AddressSpace.CONST:
        raise site.error("constant memory cannot be written")
    items = elements(site, 1, access)
    sources: list[Operand] = [site.source(item, 1, access.type, wider=True) for item in items]
    return Store(
        **site.fields(),
        type=access.type,
        address=site.address(0, access.space, len(items) * access.type.bytes),
        sources=tuple(sources),
        cache=access.cache,
        volatile=access.volatile,
    )


def elements(site: Site, index: int, access: Access) -> tuple[syntax.Operand, ...]:
    """The elements that a load or store moves, as many as its vector modifier says."""
    operand = site.operands[index]
    if access.is_wide:
        return halves(site, index)
    items = operand.items if isinstance(operand, syntax.VectorOperand) else (operand,)
    if len(items) != max(1, access.vector):
        raise site.error(
            f"{site.mnemonic!r} moves {max(1, access.vector)} values, got {len(items)}", index
        )
    return items


def lower_atomic(site: Site, access: Access | None = None) -> Atomic:
    """An atomic on one element; `access` as for loads."""
    access = access or changed(site)
    first = 1 if site.mnemonic.startswith("atom") else 0
    values = 2 if access.operation == "cas" else 1
    site.expect_operands(first + 1 + values + access.has_hint_operand)
    operands = [site.operands[index] for index in range(first + 1, first + 1 + values)]
    return _atomic(site, access, site.operands[0] if first else None, operands, 0)


def is_vector_atomic(site: Site) -> bool:
    """Whether the instruction is an atomic on a vector."""
    return site.mnemonic.startswith(("atom", "red")) and understood(site).vector > 0


def lower_vector_atomic(site: Site, access: Access | None = None) -> list[Atomic]:
    """One atomic for each element: only these are atomic, the vector is not (PTX ISA, atom)."""
    access = access or changed(site)
    first = 1 if site.mnemonic.startswith("atom") else 0
    site.expect_operands(first + 2 + access.has_hint_operand)
    targets = elements(site, 0, access) if first else (None,) * access.vector
    return [
        _atomic(site, access, target, [source], number * access.type.bytes)
        for number, (target, source) in enumerate(
            zip(targets, elements(site, first + 1, access), strict=True)
        )
    ]


def _atomic(
    site: Site,
    access: Access,
    destination: syntax.Operand | None,
    operands: list[syntax.Operand],
    offset: int,
) -> Atomic:
    """`offset`: of the element from the address, bytes; all but the first element are added."""
    first = 0 if destination is None else 1
    address = site.address(first, access.space, access.type.bytes)
    return Atomic(
        **site.fields(),
        operation=access.operation,
        type=access.type,
        address=replace(address, offset=address.offset + offset),
        destination=(
            None if destination is None else site.destination(destination, 0, access.type)
        ),
        sources=tuple(
            site.source(operand, first + 1 + index, access.type)
            for index, operand in enumerate(operands)
        ),
    )


def lower_hint(site: Site) -> Fence:
    """Fences, waiting, prefetching: nothing that a thread could see happens."""
    counts = operand_counts(site.mnemonic)
    if not counts:
        raise site.refused(missing_of_hint(site.mnemonic))
    site.expect_operands(*counts)
    if len(site.operands) == 2 and site.operands[1] != syntax.Integer(HINT_BYTES):
        raise site.error(f"{site.mnemonic!r} is for {HINT_BYTES} bytes", 1)
    return Fence(**site.fields())
