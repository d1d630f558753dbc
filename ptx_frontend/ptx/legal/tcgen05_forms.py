"""Which instructions of tensor memory PTX has: mnemonics of `tcgen05` to actions.

PTX ISA 9.1, "Tensor Core 5th Generation Family Instructions".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal
from kernelcast.simcore.isa.matrix.tensor_memory import (
    CopyIn,
    ProductKind,
    RegisterAccess,
    RegisterShape,
    TensorProduct,
)

__all__ = ["LoadReduction", "copy_form", "load_reduction", "product_form", "register_form"]

_SHAPES = {shape.ptx_name: shape for shape in RegisterShape}
_MOST_REGISTERS = 128
_LEAST_REDUCED = 2
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
_USUAL_SCALES = {ProductKind.MXF8F6F4: "scale_vec::1X", ProductKind.MXF4: "scale_vec::2X"}
_KNOWN_SCALES = {
    ProductKind.MXF8F6F4: (1,),
    ProductKind.MXF4: (2,),
    ProductKind.MXF4NVF4: (2, 4),
}


def register_form(mnemonic: str, split: int) -> RegisterAccess | Refusal:
    """`tcgen05.ld` and `.st`."""
    _, root, *parts = mnemonic.split(".")
    shapes = [_SHAPES[part] for part in parts if part in _SHAPES]
    counts = [int(part[1:]) for part in parts if re.fullmatch(r"x\d+", part)]
    packing = "pack::16b" if root == "ld" else "unpack::16b"
    known = {"sync", "aligned", "b32", packing, *_SHAPES}
    foreign = [p for p in parts if p not in known and not re.fullmatch(r"x\d+", p)]
    if foreign or len(shapes) != 1 or len(counts) != 1:
        return Refusal.of(mnemonic, f"modifier '.{foreign[0]}'" if foreign else "shape and count")
    access = RegisterAccess(shapes[0], counts[0], root == "st", packing in parts, split)
    if counts[0] & (counts[0] - 1) or not 0 < access.registers <= _MOST_REGISTERS:
        return Refusal.of(mnemonic, f"it has no .x{counts[0]}")
    return access


@dataclass(frozen=True, slots=True)
class LoadReduction:
    """`tcgen05.ld.red`: the load, and the opcodes of the reduction and of what is done before."""

    load: RegisterAccess
    opcode: str
    absolute: str | None


def load_reduction(mnemonic: str) -> LoadReduction | Refusal:
    """The reduction over the columns of each lane, of which a thread of `.32x32b` has all."""
    parts = mnemonic.split(".")[3:]
    kinds = [part for part in parts if part in ("f32", "u32", "s32")]
    ways = [part for part in parts if part in ("min", "max")]
    marks = [part for part in parts if part in ("abs", "NaN")]
    left = [p for p in parts if p not in (*kinds, *ways, *marks)]
    if len(kinds) != 1 or len(ways) != 1 or (marks and kinds != ["f32"]):
        return Refusal.of(mnemonic, "no such reduction")
    if "32x32b" not in left:
        return Refusal.of(mnemonic, "which threads get the result of .16x32bx2 is not documented")
    form = register_form(".".join(("tcgen05", "ld", *left)), 0)
    if isinstance(form, Refusal):
        return form
    if form.count < _LEAST_REDUCED or form.is_packed:
        return Refusal.of(mnemonic, "it reduces two columns or more of 32 bits")
    quiet = ".NaN" if "NaN" in marks else ""
    absolute = "abs.f32" if "abs" in marks else None
    return LoadReduction(form, f"{ways[0]}{quiet}.{kinds[0]}", absolute)


def copy_form(mnemonic: str) -> CopyIn | Refusal:
    """`tcgen05.cp`."""
    parts = mnemonic.split(".")[2:]
    left = [part for part in parts if part not in ("cta_group::1", "cta_group::2")]
    shape = next((part for part in left if re.fullmatch(r"\d+x\d+b", part)), "")
    way = next((part for part in left if part.startswith("warpx")), "")
    formats = tuple(part for part in left if part not in (shape, way))
    found = _COPIES.get((shape, way))
    if found is None or (formats and formats not in _SPREAD):
        return Refusal.of(mnemonic, "no such copy")
    height, lanes, rows = found
    lines, bits = (int(number) for number in shape[:-1].split("x"))
    return CopyIn(
        lines, bits, height, lanes, rows, _SPREAD.get(formats, 0), "cta_group::2" in parts
    )


def product_form(
    mnemonic: str, target: str, *, in_tensor_memory: bool, masked: bool, shift: int
) -> TensorProduct | Refusal:
    """`tcgen05.mma`; `masked`: lanes of D, or columns of B with `.ws`, are left out."""
    parts = mnemonic.split(".")[2:]
    kinds = [found[1] for part in parts if (found := _KIND.fullmatch(part))]
    kind = next((k for k in ProductKind if [k.value] == kinds), None)
    if kind is None:
        return Refusal.of(mnemonic, "no such kind")
    is_stationary, is_sparse, is_pair = (p in parts for p in ("ws", "sp", "cta_group::2"))
    if (reason := _unsupported(parts, kind)) is not None:
        return Refusal.of(mnemonic, reason)
    blocks = 0
    if kind.is_scaled:
        sizes = [part for part in parts if part in _SCALES] or [_USUAL_SCALES.get(kind, "")]
        blocks = _SCALES.get(sizes[0], -1) or kind.depth // _BLOCK
        if len(sizes) > 1 or blocks not in _KNOWN_SCALES[kind]:
            return Refusal.of(mnemonic, "no such scales")
    return TensorProduct(
        kind,
        target,
        in_tensor_memory,
        blocks,
        shift,
        has_masks=masked and not is_stationary,
        is_pair=is_pair,
        is_stationary=is_stationary,
        is_sparse=is_sparse,
        has_zero_columns=masked and is_stationary,
    )


def _unsupported(parts: Sequence[str], kind: ProductKind) -> str | None:
    """Why a product is refused that names this kind."""
    is_stationary = "ws" in parts
    if "ashift" in parts:
        return "which row of A the last or first one gets is not documented"
    if kind.is_scaled and ("sp" in parts or is_stationary):
        return "scales of sparse products" if "sp" in parts else "scales with .ws"
    known = {"ws", "sp", f"kind::{kind.value}", "cta_group::1"}
    known |= {"block_scale", *_SCALES} if kind.is_scaled else set()
    known |= set() if is_stationary else {"cta_group::2"}
    buffer = "b[0-3]" if is_stationary else "a"
    collector = re.compile(f"collector::{buffer}::(fill|use|lastuse|discard)")
    foreign = [p for p in parts if p not in known and not collector.fullmatch(p)]
    if foreign:
        return f"modifier '.{foreign[0]}'"
    return "scales" if kind.is_scaled != ("block_scale" in parts) else None


_BLOCK = 32
"""Elements of a scale of `.block32`."""
