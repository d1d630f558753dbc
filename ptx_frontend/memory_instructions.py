"""Loads, stores, atomics and fences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from kernelcast.ptx_frontend import syntax
from kernelcast.ptx_frontend.legal_accesses import illegal_access
from kernelcast.ptx_frontend.mnemonics import Refusal, scalar_type
from kernelcast.ptx_frontend.operands import Site
from kernelcast.ptx_frontend.wide_registers import WIDE, halves
from kernelcast.simcore.isa.kernel import Atomic, Fence, Load, Operand, Register, Store
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = [
    "ATOMIC_TYPES",
    "HINTS",
    "Access",
    "elements",
    "is_vector_atomic",
    "lower_atomic",
    "lower_fence",
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
_FENCES = _SCOPES | {
    *("sc", "acq_rel", "acquire", "release", "gl", "proxy", "alias", "async", "global"),
    *("generic", "tensormap", "sync_restrict", "op_restrict", "mbarrier_init", "volatile"),
    *("async::generic", "async.global", "shared::cta", "shared::cluster", "tensormap::generic"),
    *("sync_restrict::shared::cta", "sync_restrict::shared::cluster", "mbarrier_init"),
}
"""What may follow `fence` and `membar`: order, scope, proxies and what they are restricted to."""

HINTS = (
    *("nanosleep", "griddepcontrol", "prefetch", "prefetchu", "discard", "applypriority"),
    *("pmevent",),
)
"""Roots of instructions that count and do nothing."""


def _scalars(names: str) -> frozenset[ScalarType]:
    return frozenset(ScalarType.named(name) for name in names.split())


ATOMIC_TYPES = {
    "add": _scalars("u32 s32 u64 s64 f16 f16x2 bf16 bf16x2 f32 f64"),
    "min": _scalars("u32 s32 u64 s64"),
    "max": _scalars("u32 s32 u64 s64"),
    **dict.fromkeys(("and", "or", "xor"), _scalars("b32 b64 u32 s32 u64 s64")),
    "inc": _scalars("u32"),
    "dec": _scalars("u32"),
    "exch": _scalars("b32 b64 u32 s32 u64 s64 f32 f64"),
    "cas": _scalars("b16 b32 b64 u16 s16 u32 s32 u64 s64"),
}
"""Which types an atomic operation takes (PTX ISA, atom), and spellings of old compilers."""

_VECTOR_ATOMICS = {
    ScalarType.F32: ("add",),
    **dict.fromkeys(_scalars("f16 f16x2 bf16 bf16x2"), ("add", "min", "max")),
}
"""Which operations on vectors of a type PTX has (PTX ISA 8.1, atom and red)."""


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
    """Whether it moves a register of 128 bits, which is a pair here."""


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
    is_vector = vector > 0 and operation in _VECTOR_ATOMICS.get(type_, ())
    if is_atomic and not is_vector and type_ not in ATOMIC_TYPES.get(operation, ()):
        what = operation or "operation"
        return Refusal.of(mnemonic, f"no atomic {what} of type .{type_.ptx_name}")
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
        pc=site.pc,
        mnemonic=site.mnemonic,
        span=site.span,
        origin=site.origin,
        guard=site.guard,
        type=access.type,
        address=site.address(1, access.space, count * access.type.bytes),
        destinations=tuple(destinations),
        cache=access.cache,
        volatile=access.volatile,
    )


def lower_store(site: Site, access: Access | None = None) -> Store:
    access = access or _moved(site)
    site.expect_operands(2 + access.has_hint_operand)
    if access.space is AddressSpace.PARAM:
        raise site.unsupported("parameters of calls are not supported")
    if access.space is AddressSpace.CONST:
        raise site.error("constant memory cannot be written")
    items = elements(site, 1, access)
    sources: list[Operand] = [site.source(item, 1, access.type, wider=True) for item in items]
    return Store(
        pc=site.pc,
        mnemonic=site.mnemonic,
        span=site.span,
        origin=site.origin,
        guard=site.guard,
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


def lower_atomic(site: Site) -> Atomic:
    """An atomic on one element."""
    access = understood(site)
    first = 1 if site.mnemonic.startswith("atom") else 0
    values = 2 if access.operation == "cas" else 1
    site.expect_operands(first + 1 + values + access.has_hint_operand)
    operands = [site.operands[index] for index in range(first + 1, first + 1 + values)]
    return _atomic(site, access, site.operands[0] if first else None, operands, 0)


def is_vector_atomic(site: Site) -> bool:
    return site.mnemonic.startswith(("atom", "red")) and understood(site).vector > 0


def lower_vector_atomic(site: Site) -> list[Atomic]:
    """One atomic for each element: only these are atomic, the vector is not (PTX ISA, atom)."""
    access = understood(site)
    is_global = access.space in (AddressSpace.GLOBAL, AddressSpace.GENERIC)
    if not (access.operation in _VECTOR_ATOMICS.get(access.type, ()) and is_global):
        raise site.refused()
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
        pc=site.pc,
        mnemonic=site.mnemonic,
        span=site.span,
        origin=site.origin,
        guard=site.guard,
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
    """Waiting, prefetching and cache hints: nothing that a thread could see happens."""
    return Fence(
        pc=site.pc, mnemonic=site.mnemonic, span=site.span, origin=site.origin, guard=site.guard
    )


def lower_fence(site: Site) -> Fence:
    foreign = [part for part in site.mnemonic.split(".")[1:] if part not in _FENCES]
    if foreign:
        raise site.refused(f"modifier '.{foreign[0]}'")
    site.expect_operands(0, 2)
    return Fence(
        pc=site.pc, mnemonic=site.mnemonic, span=site.span, origin=site.origin, guard=site.guard
    )
