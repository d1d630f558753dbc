"""Which products of warpgroups PTX has: mnemonics of `wgmma.mma_async` to operations.

PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Instructions: wgmma.mma_async".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal
from kernelcast.simcore.isa.matrix.accumulation import accumulation_of
from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.layouts import Order
from kernelcast.simcore.isa.matrix.operations import LayoutFamily, MatrixOperation
from kernelcast.simcore.isa.matrix.products import Combination, MatrixProduct
from kernelcast.simcore.isa.matrix.sparsity import selector_count, sparsity_of

__all__ = ["WgmmaForm", "wgmma_form"]

_NAME = re.compile(
    r"wgmma\.mma_async(?P<sparse>\.sp)?\.sync\.aligned\.m64n(?P<n>\d+)k(?P<k>\d+)"
    r"(?P<clamped>\.satfinite)?\.(?P<d>\w+)\.(?P<a>\w+)\.(?P<b>\w+)(?P<bits>\.and\.popc)?"
    r"(?P<clamped_last>\.satfinite)?"
)
_QUARTER_ROWS, _WORD_BITS = 16, 32
_DEPTH_BYTES = 32
_FLOATS = {"f16": ("f16", "f32"), "bf16": ("f32",), "tf32": ("f32",)}
_FP8, _BYTES = ("e4m3", "e5m2"), ("s8", "u8")
_ANY_COLUMNS = frozenset(range(8, 257, 8))
_WHOLE_COLUMNS = frozenset((8, 24, *range(16, 257, 16)))
"""Columns of products of integers and bits."""


@dataclass(frozen=True, slots=True)
class WgmmaForm:
    """A mnemonic, understood; `has_scales` and `has_transposes` say which constants follow."""

    a: ElementFormat
    b: ElementFormat
    result: ElementFormat
    columns: int
    depth: int
    product: MatrixProduct
    is_sparse: bool
    has_scales: bool
    has_transposes: bool

    def operation(
        self, family: LayoutFamily, *, a_turned: bool, b_turned: bool, selector: int
    ) -> MatrixOperation | None:
        """What a warp does for its quarter; None where there is no such sparsity selector."""
        sparsity = None
        if self.is_sparse:
            if selector >= selector_count(self.a, _QUARTER_ROWS, self.depth):
                return None
            sparsity = sparsity_of(self.a, _QUARTER_ROWS, self.depth, selector)
        return MatrixOperation(
            self.product,
            family,
            Order.COLUMN if a_turned else Order.ROW,
            Order.ROW if b_turned else Order.COLUMN,
            sparsity,
        )


def wgmma_form(mnemonic: str, target: str) -> WgmmaForm | Refusal:
    """What `wgmma.mma_async...` is."""
    found = _NAME.fullmatch(mnemonic)
    if found is None:
        return Refusal.of(mnemonic)
    formats = [ElementFormat.named(found[part]) for part in "dab"]
    reason = _wrong(found)
    if reason or None in formats:
        return Refusal.of(mnemonic, reason)
    d, a, b = (format_ for format_ in formats if format_ is not None)
    n, k = int(found["n"]), int(found["k"])
    product = MatrixProduct(
        rows=_QUARTER_ROWS,
        columns=n,
        depth=k // _WORD_BITS if a is ElementFormat.B1 else k,
        a=a,
        b=b,
        accumulator=d,
        result=d,
        accumulation=accumulation_of(target, a),
        combination=Combination.AND if found["bits"] else Combination.PRODUCT,
        saturates=_is_clamped(found),
    )
    is_half = a in (ElementFormat.F16, ElementFormat.BF16)
    return WgmmaForm(a, b, d, n, k, product, bool(found["sparse"]), a.is_float, is_half)


def _wrong(found: re.Match[str]) -> str:
    """Why PTX has no such product; empty when it has."""
    d, a, b = (found[part] for part in "dab")
    if a in _FLOATS:
        fits = b == a and d in _FLOATS[a]
    elif a in _FP8:
        fits = b in _FP8 and d in ("f16", "f32")
    elif a in _BYTES:
        fits = b in _BYTES and d == "s32"
    else:
        fits = a == b == "b1" and d == "s32" and not found["sparse"]
    if not fits:
        return f"no product of .{a} and .{b} into .{d}"
    bits = {"tf32": 32, "f16": 16, "bf16": 16, "b1": 1}.get(a, 8)
    if int(found["k"]) != _DEPTH_BYTES * 8 // bits * (2 if found["sparse"] else 1):
        return f"no depth of {found['k']}"
    is_whole = a in (*_BYTES, "b1")
    if int(found["n"]) not in (_WHOLE_COLUMNS if is_whole else _ANY_COLUMNS):
        return f"no {found['n']} columns"
    if (a == "b1") != bool(found["bits"]):
        return "bits are combined by .and.popc, other types are not"
    is_twice = found["clamped"] and found["clamped_last"]
    is_foreign = _is_clamped(found) and a not in _BYTES
    return "modifier '.satfinite'" if is_twice or is_foreign else ""


def _is_clamped(found: re.Match[str]) -> bool:
    """The assembler takes the modifier behind the shape, as the manual has it, and at the end."""
    return bool(found["clamped"] or found["clamped_last"])
