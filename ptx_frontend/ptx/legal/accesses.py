"""Which orders, scopes, operators and types PTX has for loads and stores: lowering takes more.

PTX ISA 9.0, `ld`, `ld.global.nc`, `ldu` and `st`, and what the vendor's assembler takes of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["illegal_access", "illegal_order"]

_TYPES = frozenset(
    ScalarType.named(name)
    for name in (
        *("b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64"),
        *("f32", "f64"),
    )
)
_SCOPES = frozenset(("cta", "cluster", "gpu", "sys"))
_ORDERS = frozenset(("weak", "volatile", "relaxed", "acquire", "release", "acq_rel"))
_UNHINTED = frozenset(("volatile", "mmio"))
_SCOPED = frozenset(("relaxed", "acquire", "release"))
_ORDERS_OF = {
    "ld": frozenset(("weak", "volatile", "relaxed", "acquire")),
    "ldu": frozenset[str](),
    "st": frozenset(("weak", "volatile", "relaxed", "release")),
    "atom": frozenset(("relaxed", "acquire", "release", "acq_rel")),
    "red": frozenset(("relaxed", "release")),
    "multimem.ld_reduce": frozenset(("weak", "relaxed", "acquire")),
    "multimem.st": frozenset(("weak", "relaxed", "release")),
    "multimem.red": frozenset(("relaxed", "release")),
}
_OF_ANY_SCOPE = ("atom", "red")
"""Instructions that are relaxed without an order, and of the GPU's scope without a scope."""
_OPERATORS = frozenset(("ca", "cg", "cs", "lu", "cv", "wb", "wt"))
_OPERATORS_OF = {
    "ld": frozenset(("ca", "cg", "cs", "lu", "cv")),
    "ldu": frozenset[str](),
    "st": frozenset(("wb", "cg", "cs", "wt")),
}
_GLOBAL = (AddressSpace.GLOBAL, AddressSpace.GENERIC)
_MOST_ELEMENTS, _WIDEST_ELSEWHERE = 8, 16
_ORDERED = (*_GLOBAL, AddressSpace.SHARED)


def illegal_access(
    root: str, modifiers: Iterable[str], space: AddressSpace, type_: ScalarType, elements: int
) -> str:
    """What is wrong with a load or store; empty when PTX has it.

    It is of a vector of `elements`, or of one value where they are 0.
    """
    left = frozenset(modifiers)
    if type_ not in _TYPES:
        return f"type .{type_.ptx_name}"
    if root == "ldu" and space not in _GLOBAL:
        return f"it is for global memory, not .{space.value}"
    if "nc" in left and space is not AddressSpace.GLOBAL:
        return "modifier '.nc' without .global"
    if any(name.startswith(("L1::", "L2::")) for name in left):
        if space not in _GLOBAL:
            return f"a cache hint of .{space.value} memory"
        if left & _UNHINTED:
            return f"modifier '.{min(left & _UNHINTED)}' and a cache hint"
    wrong = illegal_order(root, left, space) or _operator(root, left)
    return wrong or _width(space, type_, elements)


def illegal_order(root: str, left: frozenset[str], space: AddressSpace) -> str:
    """What is wrong with the order and scope of a memory instruction; empty when PTX has them.
    them.
    """
    orders, scopes = left & _ORDERS, left & _SCOPES
    if len(orders) > 1:
        return f"modifiers '.{min(orders)}' and '.{max(orders)}' do not stand together"
    foreign = orders - _ORDERS_OF[root]
    if foreign:
        return f"modifier '.{min(foreign)}'"
    if len(scopes) > 1:
        return f"modifiers '.{min(scopes)}' and '.{max(scopes)}' do not stand together"
    if "mmio" in left and root not in ("ld", "st"):
        return "modifier '.mmio'"
    if root in _OF_ANY_SCOPE:
        return "" if space in _ORDERED else f"it is not for .{space.value} memory"
    if orders & _SCOPED and not scopes:
        return f"modifier '.{min(orders)}' needs a scope"
    if scopes and not orders & _SCOPED:
        return f"modifier '.{min(scopes)}' without an order"
    if orders - {"weak"} and space not in _ORDERED:
        return f"modifier '.{min(orders)}' in .{space.value} memory"
    if "mmio" in left and not ("relaxed" in left and "sys" in left and space in _GLOBAL):
        return "modifier '.mmio' without .relaxed.sys"
    return ""


def _width(space: AddressSpace, type_: ScalarType, elements: int) -> str:
    """256 bits at once only from and to global memory, 8 elements only of 32 bits (PTX ISA 8.8)."""
    if elements * type_.bytes > _WIDEST_ELSEWHERE and space not in _GLOBAL:
        return "vectors of 256 bits are for global memory"
    if elements == _MOST_ELEMENTS and type_.bits != ScalarType.B32.bits:
        return "vectors of 8 are of 32 bits each"
    return ""


def _operator(root: str, left: frozenset[str]) -> str:
    operators = left & _OPERATORS
    foreign = operators - _OPERATORS_OF[root]
    if foreign:
        return f"modifier '.{min(foreign)}'"
    orders = left & _ORDERS - {"weak"}
    if operators and orders:
        return f"modifiers '.{min(orders)}' and '.{min(operators)}' do not stand together"
    return ""
