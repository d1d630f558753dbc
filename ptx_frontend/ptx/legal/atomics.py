"""Which types, orders and modifiers PTX has for atomics, reductions and `multimem`.

PTX ISA 9.0, `atom`, `red` and `multimem`, and what the vendor's assembler takes of them.
"""

from __future__ import annotations

from collections.abc import Collection

from kernelcast.ptx_frontend.ptx.legal.accesses import illegal_order
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["ATOMIC_TYPES", "illegal_atomic", "illegal_multimem"]


def _scalars(names: str) -> frozenset[ScalarType]:
    return frozenset(ScalarType.named(name) for name in names.split())


ATOMIC_TYPES = {
    "add": _scalars("u32 s32 u64 f16 f16x2 bf16 bf16x2 f32 f64"),
    **dict.fromkeys(("min", "max"), _scalars("u32 s32 u64 s64")),
    **dict.fromkeys(("and", "or", "xor"), _scalars("b32 b64")),
    **dict.fromkeys(("inc", "dec"), _scalars("u32")),
    "exch": _scalars("b32 b64"),
    "cas": _scalars("b16 b32 b64"),
}
"""Which types an operation on one element takes; 128 bits are pairs elsewhere."""

_REDUCTIONS = {name: ATOMIC_TYPES[name] for name in ATOMIC_TYPES if name not in ("exch", "cas")}
_HALVES = _scalars("f16 f16x2 bf16 bf16x2")
_PACKED = _scalars("f16x2 bf16x2")
_VECTORS = {ScalarType.F32: ("add",), **dict.fromkeys(_HALVES, ("add", "min", "max"))}
"""Which operations on vectors of a type there are (PTX ISA 8.1)."""
_MOST_BYTES = 16
_MULTIMEM_REDUCTIONS = {
    **{name: ATOMIC_TYPES[name] for name in ("min", "max", "and", "or", "xor")},
    "add": ATOMIC_TYPES["add"] - _HALVES | _PACKED,
}
_MULTIMEM = {
    "ld_reduce": {
        **_MULTIMEM_REDUCTIONS,
        **dict.fromkeys(("min", "max"), ATOMIC_TYPES["min"] | _PACKED),
    },
    "red": _MULTIMEM_REDUCTIONS,
    "st": {"": _scalars("b32 b64 u32 s32 u64 s64 f32 f64 f16x2 bf16x2")},
}
"""Types of one element by instruction and operation; a store has none."""


def illegal_atomic(
    root: str,
    modifiers: Collection[str],
    space: AddressSpace,
    operation: str,
    type_: ScalarType,
    elements: int,
) -> str:
    """What is wrong with `atom` or `red`; empty when PTX has it.

    It is on a vector of `elements`, or on one value where they are 0.
    """
    wrong = _type(_REDUCTIONS if root == "red" else ATOMIC_TYPES, operation, type_, elements)
    if wrong:
        return wrong
    if elements and space is AddressSpace.SHARED:
        return "vectors are for global memory"
    if (type_ in _HALVES) != ("noftz" in modifiers):
        return f"type .{type_.ptx_name} {'needs' if type_ in _HALVES else 'has no'} .noftz"
    foreign = [name for name in modifiers if name.startswith(("L1::", "L2::"))]
    if foreign not in ([], ["L2::cache_hint"]) or "unified" in modifiers:
        return f"modifier '.{(*foreign, 'unified')[0]}'"
    return illegal_order(root, frozenset(modifiers), space)


def illegal_multimem(
    kind: str,
    modifiers: Collection[str],
    space: AddressSpace,
    operation: str,
    type_: ScalarType,
    elements: int,
) -> str:
    """What is wrong with `multimem.ld_reduce`, `.st` or `.red`; empty when PTX has it."""
    wrong = _type(_MULTIMEM[kind], operation, type_, elements)
    if wrong:
        return wrong
    if space not in (AddressSpace.GLOBAL, AddressSpace.GENERIC):
        return f"it is for global memory, not .{space.value}"
    if "noftz" in modifiers:
        return "modifier '.noftz'"
    return illegal_order(f"multimem.{kind}", frozenset(modifiers), space)


def _type(
    types: dict[str, frozenset[ScalarType]], operation: str, type_: ScalarType, elements: int
) -> str:
    """A vector has 16 bytes at most; of its types only halves come in eights."""
    if elements:
        known = _VECTORS.get(type_, ())
        is_known = operation in known or (bool(known) and "" in types)
        is_known &= elements * type_.bytes <= _MOST_BYTES
    else:
        is_known = type_ in types.get(operation, ())
    if is_known:
        return ""
    vector = f" on vectors of {elements}" if elements else ""
    return f"no atomic {operation or 'operation'} of type .{type_.ptx_name}{vector}"
