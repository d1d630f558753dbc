"""Products with scales of blocks: mnemonics of `mma` with `.block_scale` to operations.

PTX ISA 9.0, "mma with block scaling"; the kinds `mxf8f6f4`, `mxf4` and `mxf4nvf4`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal
from kernelcast.simcore.isa.matrix.accumulation import accumulation_of
from kernelcast.simcore.isa.matrix.block_scales import BlockScales, ScaleFormat
from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.operations import LayoutFamily, MatrixOperation
from kernelcast.simcore.isa.matrix.products import MatrixProduct
from kernelcast.simcore.isa.matrix.sparsity import selector_count, sparsity_of

__all__ = ["is_scaled", "scaled_form"]

_NAME = re.compile(
    r"mma(?P<sparse>\.sp::ordered_metadata)?\.sync\.aligned\.m16n8k(?P<k>\d+)\.row\.col"
    r"\.kind::(?P<kind>\w+)\.block_scale(\.scale_vec::(?P<blocks>[124])X)?"
    r"\.f32\.(?P<a>\w+)\.(?P<b>\w+)\.f32\.(?P<scale>\w+)"
)
_ROWS, _COLUMNS = 16, 8


@dataclass(frozen=True, slots=True)
class _Kind:
    """Formats of A and B, the depth, and the scales of a row by their format.

    The first number is what a name without one means, 0 where it has to say.
    """

    formats: tuple[str, ...]
    depth: int
    scales: dict[str, tuple[int, ...]]
    usual: int


_KINDS = {
    "mxf8f6f4": _Kind(("e4m3", "e5m2", "e3m2", "e2m3", "e2m1"), 32, {"ue8m0": (1,)}, 1),
    "mxf4": _Kind(("e2m1",), 64, {"ue8m0": (2,)}, 2),
    "mxf4nvf4": _Kind(("e2m1",), 64, {"ue8m0": (2, 4), "ue4m3": (4,)}, 0),
}


def is_scaled(mnemonic: str) -> bool:
    """Whether the mnemonic is that of a product with scales of blocks."""
    return ".block_scale." in mnemonic


@cache
def scaled_form(mnemonic: str, target: str, selector: int = 0) -> MatrixOperation | Refusal:
    """The operation of `mma...block_scale...`; `selector` of a sparse A's metadata."""
    found = _NAME.fullmatch(mnemonic)
    if found is None or found["kind"] not in _KINDS:
        return Refusal.of(mnemonic)
    kind, is_sparse = _KINDS[found["kind"]], bool(found["sparse"])
    blocks = int(found["blocks"] or kind.usual)
    depth = kind.depth * (2 if is_sparse else 1)
    if blocks not in kind.scales.get(found["scale"], ()):
        return Refusal(f"instruction {mnemonic!r}: no such scales of .kind::{found['kind']}")
    if {found["a"], found["b"]} - set(kind.formats) or int(found["k"]) != depth:
        return Refusal(f"instruction {mnemonic!r}: no such product of .kind::{found['kind']}")
    a, b = (_format(found[side], kind) for side in "ab")
    if is_sparse and selector >= selector_count(a, _ROWS, depth):
        return Refusal(f"instruction {mnemonic!r}: there is no sparsity selector {selector}")
    product = MatrixProduct(
        rows=_ROWS,
        columns=_COLUMNS,
        depth=depth,
        a=a,
        b=b,
        accumulator=ElementFormat.F32,
        result=ElementFormat.F32,
        accumulation=accumulation_of(target, a),
    )
    return MatrixOperation(
        product,
        LayoutFamily.MMA,
        sparsity=sparsity_of(a, _ROWS, depth, selector) if is_sparse else None,
        scales=BlockScales(ScaleFormat(found["scale"]), blocks),
    )


def _format(name: str, kind: _Kind) -> ElementFormat:
    if len(kind.formats) == 1:
        return ElementFormat.E2M1_PAIRS
    format_ = ElementFormat.named(name)
    assert format_ is not None
    return format_
