"""Which matrix products PTX has: mnemonics of `mma` and `wmma` to operations.

PTX ISA 9.0, 9.7.14: the tables of shapes and types of `wmma`, `mma` and `mma.sp`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal
from kernelcast.simcore.isa.matrix.accumulation import accumulation_of
from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.layouts import Order
from kernelcast.simcore.isa.matrix.operations import LayoutFamily, MatrixOperation
from kernelcast.simcore.isa.matrix.products import Combination, MatrixProduct
from kernelcast.simcore.isa.matrix.sparsity import selector_count, sparsity_of

__all__ = ["WMMA_REGISTERS", "product_form", "shape_of", "wmma_layout_is_fixed"]

_BYTES, _NIBBLES, _FP8 = ("s8", "u8"), ("s4", "u4"), ("e4m3", "e5m2")
_SMALL = (*_FP8, "e3m2", "e2m3", "e2m1")
_KIND = "kind::f8f6f4"
_EITHER = ("f16", "f32")
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
_WMMA_SHAPES = ("m16n16k16", "m32n8k16", "m8n32k16")


@dataclass(frozen=True, slots=True)
class _Family:
    """Formats of A and B, which mix when there are several, and of the accumulators; by shape."""

    multiplicands: tuple[str, ...]
    accumulators: tuple[str, ...]
    shapes: tuple[str, ...]
    sparse_shapes: tuple[str, ...] = ()
    kind: str = ""


_MMA = (
    _Family(("f16",), _EITHER, ("m8n8k4", "m16n8k8", "m16n8k16"), ("m16n8k16", "m16n8k32")),
    _Family(("bf16",), ("f32",), ("m16n8k8", "m16n8k16"), ("m16n8k16", "m16n8k32")),
    _Family(("tf32",), ("f32",), ("m16n8k4", "m16n8k8"), ("m16n8k8", "m16n8k16")),
    _Family(("f64",), ("f64",), ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")),
    _Family(_FP8, _EITHER, ("m16n8k16", "m16n8k32"), ("m16n8k64",)),
    _Family(_FP8, _EITHER, ("m16n8k16",), (), _KIND),
    _Family(_SMALL, _EITHER, ("m16n8k32",), ("m16n8k64",), _KIND),
    _Family(_BYTES, ("s32",), ("m8n8k16", "m16n8k16", "m16n8k32"), ("m16n8k32", "m16n8k64")),
    _Family(_NIBBLES, ("s32",), ("m8n8k32", "m16n8k32", "m16n8k64"), ("m16n8k64", "m16n8k128")),
    _Family(("b1",), ("s32",), ("m8n8k128", "m16n8k128", "m16n8k256")),
)
_WMMA = (
    _Family(("f16",), _EITHER, _WMMA_SHAPES),
    _Family(("bf16",), ("f32",), _WMMA_SHAPES),
    _Family(("tf32",), ("f32",), ("m16n16k8",)),
    _Family(("f64",), ("f64",), ("m8n8k4",)),
    _Family(("s8",), ("s32",), _WMMA_SHAPES),
    _Family(("u8",), ("s32",), _WMMA_SHAPES),
    _Family(("s4",), ("s32",), ("m8n8k32",)),
    _Family(("u4",), ("s32",), ("m8n8k32",)),
    _Family(("b1",), ("s32",), ("m8n8k128",)),
)
WMMA_REGISTERS: Mapping[tuple[str, str], tuple[int, int]] = {
    **{("f16", shape): (8, 8) for shape in _WMMA_SHAPES},
    ("bf16", "m16n16k16"): (4, 4),
    ("bf16", "m8n32k16"): (2, 8),
    ("bf16", "m32n8k16"): (8, 2),
    ("tf32", "m16n16k8"): (4, 4),
    ("f64", "m8n8k4"): (1, 1),
    **{
        (name, shape): counts
        for name in _BYTES
        for shape, counts in zip(_WMMA_SHAPES, ((2, 2), (4, 1), (1, 4)), strict=True)
    },
    **{(name, "m8n8k32"): (1, 1) for name in _NIBBLES},
    ("b1", "m8n8k128"): (1, 1),
}
"""Registers of the fragments of A and B (PTX ISA 9.0, 9.7.14.4.1)."""
_COMBINATIONS = {c.value: c for c in Combination}
_ORDERS = {order.value: order for order in Order}


def shape_of(name: str) -> tuple[int, int, int] | None:
    """Rows, columns and depth."""
    found = _SHAPE.fullmatch(name)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def wmma_layout_is_fixed(format_: ElementFormat) -> bool:
    """Whether A has rows and B columns in memory, always."""
    return format_.bits == 4 or format_ is ElementFormat.B1


@dataclass(slots=True)
class _Parts:
    """A mnemonic taken apart."""

    root: str
    names: list[str]
    shape: str = ""
    orders: tuple[Order, ...] = ()
    formats: tuple[ElementFormat, ...] = ()
    combination: Combination = Combination.PRODUCT
    saturates: bool = False
    is_sparse: bool = False
    kind: str = ""


def _without_markers(root: str, names: list[str]) -> tuple[list[str], str]:
    """The names but for those that every instruction has, and the first of these that lacks."""
    left = list(names)
    for marker in ("sync", "aligned", *(("mma",) if root == "wmma" else ())):
        if marker not in left:
            return left, marker
        left.remove(marker)
    return left, ""


def _taken_apart(mnemonic: str) -> _Parts | str:
    """The parts, or the modifier that fits nowhere."""
    root, *names = mnemonic.split(".")
    parts = _Parts(root, names)
    left, missing = _without_markers(root, names)
    if missing:
        return f"it needs .{missing}"
    position = 0
    while position < len(left):
        name = left[position]
        pair = ".".join(left[position : position + 2])
        if shape_of(name) and not parts.shape:
            parts.shape = name
        elif name in _ORDERS and len(parts.orders) < 2:
            parts.orders += (_ORDERS[name],)
        elif (format_ := ElementFormat.named(name)) is not None:
            parts.formats += (format_,)
        elif pair in _COMBINATIONS and parts.combination is Combination.PRODUCT:
            parts.combination = _COMBINATIONS[pair]
            position += 1
        elif name in ("satfinite",) and not parts.saturates:
            parts.saturates = True
        elif name in ("sp", "sp::ordered_metadata") and root == "mma":
            parts.is_sparse = True
        elif name == _KIND and not parts.kind:
            parts.kind = name
        elif name != "rn" or ElementFormat.F64.ptx_name not in left:
            return f"modifier '.{name}'"
        position += 1
    return parts


@cache
def product_form(mnemonic: str, target: str, selector: int = 0) -> MatrixOperation | Refusal:
    """The operation of `mma...` or `wmma.mma...`; `selector` of a sparse A's metadata."""
    parts = _taken_apart(mnemonic)
    reason = parts if isinstance(parts, str) else _wrong(parts)
    if isinstance(parts, str) or reason:
        return Refusal.of(mnemonic, reason)
    operation = _operation(parts, target, selector)
    if operation is None:
        return Refusal(f"instruction {mnemonic!r}: there is no sparsity selector {selector}")
    return operation


def _formats(parts: _Parts) -> tuple[ElementFormat, ...]:
    """The formats of D, A, B and C; `wmma` on f16 names D and C only."""
    if parts.root == "wmma" and len(parts.formats) == 2:
        return parts.formats[0], ElementFormat.F16, ElementFormat.F16, parts.formats[1]
    return parts.formats


def _wrong(parts: _Parts) -> str:
    """What is wrong with a mnemonic; empty when PTX has it."""
    formats = _formats(parts)
    if len(formats) != 4:
        return "it needs the types of D, A, B and C"
    if len(parts.orders) != 2:
        return "it needs the orders of A and B"
    d, a, b, c = (format_.ptx_name for format_ in formats)
    fitting = [
        family
        for family in (_WMMA if parts.root == "wmma" else _MMA)
        if {a, b} <= set(family.multiplicands) and {c, d} <= set(family.accumulators)
        if parts.kind == family.kind
    ]
    shapes = [s for f in fitting for s in (f.sparse_shapes if parts.is_sparse else f.shapes)]
    if parts.shape not in shapes:
        return f"no product of .{a} and .{b} into .{d} of shape {parts.shape or 'none'!r}"
    is_quad = parts.shape == "m8n8k4" and a == "f16"
    if c != d and not (parts.root == "wmma" or is_quad):
        return "C and D have different types"
    if is_quad and c == "f32" and d == "f16":
        return "D has fewer bits than C"
    is_free = is_quad or (parts.root == "wmma" and not wmma_layout_is_fixed(formats[1]))
    if not is_free and parts.orders != (Order.ROW, Order.COLUMN):
        return "A has .row and B .col"
    if parts.saturates and a not in (*_BYTES, *_NIBBLES):
        return "modifier '.satfinite'"
    if (a == "b1") != (parts.combination is not Combination.PRODUCT):
        return "bits are combined by .xor.popc or .and.popc, other types are not"
    return ""


def _operation(parts: _Parts, target: str, selector: int) -> MatrixOperation | None:
    d, a, b, c = _formats(parts)
    shape = shape_of(parts.shape)
    assert shape is not None
    rows, columns, depth = shape
    is_quad = parts.shape == "m8n8k4" and a is ElementFormat.F16
    sparsity = None
    if parts.is_sparse:
        if selector >= selector_count(a, rows, depth):
            return None
        sparsity = sparsity_of(a, rows, depth, selector)
    family = LayoutFamily.WMMA if parts.root == "wmma" else LayoutFamily.MMA
    product = MatrixProduct(
        rows=rows,
        columns=columns,
        depth=depth // 32 if a is ElementFormat.B1 else depth,
        a=a,
        b=b,
        accumulator=c,
        result=d,
        accumulation=accumulation_of(target, a),
        combination=parts.combination,
        saturates=parts.saturates,
        batches=4 if is_quad else 1,
    )
    return MatrixOperation(
        product,
        LayoutFamily.QUAD_PAIRS if is_quad else family,
        parts.orders[0],
        parts.orders[1],
        sparsity,
        WMMA_REGISTERS[a.ptx_name, parts.shape] if family is LayoutFamily.WMMA else (0, 0),
    )
