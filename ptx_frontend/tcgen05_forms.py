"""Which instructions of tensor memory PTX has: mnemonics of `tcgen05` to actions.

PTX ISA 9.0, "Tensor Core 5th Generation Family Instructions". Weight-stationary and sparse products
are refused.
"""

from __future__ import annotations

import re

from kernelcast.ptx_frontend.mnemonics import Refusal
from kernelcast.simcore.isa.matrix.tensor_memory import (
    CopyIn,
    ProductKind,
    RegisterAccess,
    RegisterShape,
    TensorProduct,
)

__all__ = ["copy_form", "product_form", "register_form"]

_SHAPES = {shape.ptx_name: shape for shape in RegisterShape}
_MOST_REGISTERS = 128
_GROUPS = (0, 32, 64, 96)
_COPIES: dict[tuple[str, str], tuple[int, tuple[int, ...], tuple[int, ...]]] = {
    ("128x256b", ""): (32, _GROUPS, _GROUPS),
    ("128x128b", ""): (32, _GROUPS, _GROUPS),
    ("4x256b", ""): (1, _GROUPS, (0, 1, 2, 3)),
    ("64x128b", "warpx2::02_13"): (32, _GROUPS, (0, 32, 0, 32)),
    ("64x128b", "warpx2::01_23"): (32, _GROUPS, (0, 0, 32, 32)),
    ("32x128b", "warpx4"): (32, _GROUPS, (0, 0, 0, 0)),
}
"""Rows at a time, lanes where they begin, and which rows those are."""
_SPREAD: dict[tuple[str, ...], int] = {("b8x16", "b4x16_p64"): 4, ("b8x16", "b6x16_p32"): 6}
_KIND = re.compile(r"kind::(\w+)")
_SCALES = {"scale_vec::1X": 1, "scale_vec::2X": 2, "scale_vec::4X": 4, "block32": 0, "block16": 4}
_USUAL_SCALES = {ProductKind.MXF8F6F4: 1, ProductKind.MXF4: 2, ProductKind.MXF4NVF4: 0}
_KNOWN_SCALES = {
    ProductKind.MXF8F6F4: (1,),
    ProductKind.MXF4: (2,),
    ProductKind.MXF4NVF4: (2, 4),
}


def _refused(mnemonic: str, reason: str) -> Refusal:
    return Refusal(f"instruction {mnemonic!r} is not supported: {reason}")


def register_form(mnemonic: str, split: int) -> RegisterAccess | Refusal:
    """`tcgen05.ld` and `.st`."""
    _, root, *parts = mnemonic.split(".")
    shapes = [_SHAPES[part] for part in parts if part in _SHAPES]
    counts = [int(part[1:]) for part in parts if re.fullmatch(r"x\d+", part)]
    packing = "pack::16b" if root == "ld" else "unpack::16b"
    known = {"sync", "aligned", "b32", packing, *_SHAPES}
    foreign = [p for p in parts if p not in known and not re.fullmatch(r"x\d+", p)]
    if foreign or len(shapes) != 1 or len(counts) != 1:
        return _refused(mnemonic, f"modifier '.{foreign[0]}'" if foreign else "shape and count")
    access = RegisterAccess(shapes[0], counts[0], root == "st", packing in parts, split)
    if counts[0] & (counts[0] - 1) or not 0 < access.registers <= _MOST_REGISTERS:
        return _refused(mnemonic, f"it has no .x{counts[0]}")
    return access


def copy_form(mnemonic: str) -> CopyIn | Refusal:
    """`tcgen05.cp`."""
    parts = mnemonic.split(".")[2:]
    left = [part for part in parts if part not in ("cta_group::1", "cta_group::2")]
    shape = next((part for part in left if re.fullmatch(r"\d+x\d+b", part)), "")
    way = next((part for part in left if part.startswith("warpx")), "")
    formats = tuple(part for part in left if part not in (shape, way))
    found = _COPIES.get((shape, way))
    if found is None or (formats and formats not in _SPREAD):
        return _refused(mnemonic, "no such copy")
    height, lanes, rows = found
    lines, bits = (int(number) for number in shape[:-1].split("x"))
    return CopyIn(
        lines, bits, height, lanes, rows, _SPREAD.get(formats, 0), "cta_group::2" in parts
    )


def product_form(
    mnemonic: str, target: str, *, in_tensor_memory: bool, masked: bool, shift: int
) -> TensorProduct | Refusal:
    """`tcgen05.mma`."""
    parts = mnemonic.split(".")[2:]
    for part, reason in (
        ("ws", "weight-stationary products"),
        ("sp", "sparse products"),
        ("ashift", "shifted rows of A"),
    ):
        if part in parts:
            return _refused(mnemonic, reason)
    kinds = [found[1] for part in parts if (found := _KIND.fullmatch(part))]
    kind = next((k for k in ProductKind if [k.value] == kinds), None)
    if kind is None:
        return _refused(mnemonic, "no such kind")
    sizes = [part for part in parts if part in _SCALES]
    known = {"cta_group::1", "cta_group::2", f"kind::{kind.value}", "block_scale", *_SCALES}
    foreign = [p for p in parts if p not in known and not p.startswith("collector::")]
    if foreign or len(sizes) > 1 or kind.is_scaled != ("block_scale" in parts):
        return _refused(mnemonic, f"modifier '.{foreign[0]}'" if foreign else "scales")
    blocks = _USUAL_SCALES.get(kind, 0)
    if sizes:
        blocks = _SCALES[sizes[0]] or kind.depth // _BLOCK
    if kind.is_scaled and blocks not in _KNOWN_SCALES[kind]:
        return _refused(mnemonic, "no such scales")
    is_pair = "cta_group::2" in parts
    return TensorProduct(kind, target, in_tensor_memory, blocks, shift, masked, is_pair=is_pair)


_BLOCK = 32
"""Elements of a scale of `.block32`."""
