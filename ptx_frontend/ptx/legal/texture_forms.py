"""The modifiers of texture and surface instructions, understood."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache

from kernelcast.ptx_frontend.images.geometries import Geometry
from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal, scalar_type
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["LevelChoice", "TextureForm", "texture_form"]

_COMPONENTS = "rgba"


class LevelChoice(Enum):
    """How a read says which level of a mipmap it takes."""

    BASE = ""
    LEVEL = "level"
    GRADIENTS = "grad"


@dataclass(frozen=True, slots=True)
class TextureForm:
    """`tex` and `tld4`: the results are `vector` registers of `type`; `component` is that of tld4.

    `is_packed`: two halves in each register.
    """

    geometry: Geometry
    choice: LevelChoice
    type: ScalarType
    coordinate: ScalarType
    vector: int
    is_packed: bool
    component: int | None

    @property
    def element(self) -> ScalarType:
        """What texels are read as."""
        is_integer = self.type in (ScalarType.U32, ScalarType.S32)
        return ScalarType.S32 if is_integer else ScalarType.F32


_RESULTS = (ScalarType.U32, ScalarType.S32, ScalarType.F16, ScalarType.F32)
_COORDINATES = (ScalarType.S32, ScalarType.F32)


@cache
def texture_form(mnemonic: str) -> TextureForm | Refusal:
    """The form of `tex` or `tld4`, or why there is none."""
    root, *parts = mnemonic.split(".")
    geometry = next((g for g in Geometry if g.title in parts), None)
    choices = [c for c in LevelChoice if c.value in parts and c is not LevelChoice.BASE]
    component = None
    if root == "tld4":
        component = _COMPONENTS.find(parts[0]) if parts else -1
    types = [type_ for part in parts if (type_ := scalar_type(part)) is not None]
    vector = {"v2": 2, "v4": 4}.get(next((part for part in parts if part[:1] == "v"), ""), 0)
    known = {"base", "level", "grad", "v2", "v4"}
    titles = [one.title for one in Geometry]
    foreign = [
        part
        for part in parts[component is not None :]
        if part not in known and scalar_type(part) is None and part not in titles
    ]
    if foreign:
        return Refusal.of(mnemonic, f"modifier '.{foreign[0]}'")
    if geometry is None or len(types) != 2 or len(choices) > 1 or component == -1:
        return Refusal.of(mnemonic, "no form of it")
    if component is not None and (geometry.kind.dimensions != 2 or choices):
        return Refusal.of(mnemonic, f"geometry .{geometry.title}")
    result, coordinate = types
    is_packed = result is ScalarType.F16X2
    if not (is_packed or result in _RESULTS) or vector != (2 if is_packed else 4):
        return Refusal.of(mnemonic, f"results of type .{result.ptx_name}")
    if coordinate not in _COORDINATES or (coordinate is ScalarType.S32 and geometry.is_cube):
        return Refusal.of(mnemonic, f"coordinates of type .{coordinate.ptx_name}")
    choice = choices[0] if choices else LevelChoice.BASE
    return TextureForm(geometry, choice, result, coordinate, vector, is_packed, component)
