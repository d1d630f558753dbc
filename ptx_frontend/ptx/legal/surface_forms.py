"""The modifiers of surface instructions, understood."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from kernelcast.ptx_frontend.images.geometries import Boundary, Geometry
from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal, scalar_type
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["SurfaceForm", "surface_form"]

_GEOMETRIES = (Geometry.D1, Geometry.D2, Geometry.D3, Geometry.A1D, Geometry.A2D)
_REDUCED = (Geometry.D1, Geometry.D2, Geometry.D3)
_REDUCTIONS = {
    "add": ("u32", "u64", "s32"),
    **dict.fromkeys(("min", "max"), ("u32", "s32", "u64", "s64")),
    **dict.fromkeys(("and", "or"), ("b32",)),
}
_BYTES = {
    "suld": ("b8", "b16", "b32", "b64"),
    "sust": ("b8", "b16", "b32", "b64"),
}
_FORMATTED = {"suld": ("u32", "s32", "f32", "b32"), "sust": ("b32", "u32", "s32", "f32")}
_VECTORS = {"v2": 2, "v4": 4}
_CACHE_OPERATORS = {"suld": ("ca", "cg", "cs", "cv"), "sust": ("wb", "cg", "cs", "wt"), "sured": ()}
_LARGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class SurfaceForm:
    """A surface instruction: `suld`, `sust` or `sured`.

    `is_formatted`: x counts texels, whose bits have a meaning (`.p`), not bytes (`.b`).
    """

    root: str
    is_formatted: bool
    geometry: Geometry
    type: ScalarType
    vector: int
    boundary: Boundary
    operation: str

    @property
    def bytes(self) -> int:
        """Bytes that an unformatted access moves."""
        return self.vector * self.type.bytes


@cache
def surface_form(mnemonic: str) -> SurfaceForm | Refusal:
    """The form of a surface instruction, or why there is none."""
    root, *parts = mnemonic.split(".")
    geometry = next((g for g in _GEOMETRIES if g.title in parts), None)
    boundary = next((one for one in Boundary if one.value in parts), None)
    vector = next((_VECTORS[part] for part in parts if part in _VECTORS), 1)
    operation = next((part for part in parts if part in _REDUCTIONS), "")
    types = [found for part in parts if (found := scalar_type(part)) is not None]
    names = {
        *(g.title for g in _GEOMETRIES),
        *(one.value for one in Boundary),
        *_VECTORS,
        *_CACHE_OPERATORS[root],
        *(_REDUCTIONS if root == "sured" else ()),
        *("b", "p"),
    }
    foreign = [part for part in parts if part not in names and scalar_type(part) is None]
    if foreign:
        return Refusal.of(mnemonic, f"modifier '.{foreign[0]}'")
    if geometry is None or len(types) != 1 or parts[0] not in ("b", "p"):
        return Refusal.of(mnemonic, "no form of it")
    if boundary is None:
        return Refusal.of(mnemonic, "it needs .trap, .clamp or .zero")
    if root == "sured" and geometry not in _REDUCED:
        return Refusal.of(mnemonic, f"geometry .{geometry.title}")
    is_formatted, type_ = parts[0] == "p", types[0]
    if root == "sured":
        known = ("b32",) if is_formatted else _REDUCTIONS.get(operation, ())
        fits = type_.ptx_name in known and operation != "" and vector == 1
    else:
        allowed = (_FORMATTED if is_formatted else _BYTES)[root]
        fits = type_.ptx_name in allowed and vector * type_.bytes <= _LARGEST_BYTES
    if not fits:
        return Refusal.of(mnemonic, f"type .{type_.ptx_name}")
    return SurfaceForm(root, is_formatted, geometry, type_, vector, boundary, operation)
