"""Accesses to surfaces: `SULD`, `SUST` and `SURED`.

What modifiers mean and where operands are was found by compiling `suld`, `sust` and `sured`.
"""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.ptx_frontend.images.geometries import Boundary, Geometry
from kernelcast.ptx_frontend.images.surface_accesses import SurfaceAccess, SurfacePlace
from kernelcast.ptx_frontend.sass.lowering.control_flow.flow_context import gone_round
from kernelcast.ptx_frontend.sass.lowering.memory_access.texture_operands import (
    ObjectNumber,
    object_number,
)
from kernelcast.ptx_frontend.sass.lowering.memory_access.textures import (
    counted_object,
    object_code,
)
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import MemoryOperand, RegisterOperand, SassOperand
from kernelcast.simcore.isa.ir.kernel import Operand, Register
from kernelcast.simcore.isa.types import ScalarType

__all__: list[str] = []

_GEOMETRIES: dict[str, Geometry | None] = {
    "1D": Geometry.D1,
    "2D": Geometry.D2,
    "3D": Geometry.D3,
    "1D_ARRAY": Geometry.A1D,
    "2D_ARRAY": Geometry.A2D,
}
_BOUNDARIES = {"TRAP": Boundary.TRAP, "IGN": Boundary.ZERO}
_WIDTHS = {
    "U8": (ScalarType.B8, 1),
    "U16": (ScalarType.B16, 1),
    "64": (ScalarType.B32, 2),
    "128": (ScalarType.B32, 4),
}
_CHANNELS = {"R": 1, "RG": 2}
_ALL_CHANNELS = 4
_OPERATIONS = {name.upper(): name for name in ("add", "min", "max", "and", "or")}
_REDUCED = {"S32": ScalarType.S32, "U64": ScalarType.U64, "S64": ScalarType.S64}
_SIGNED_AS_TEXELS = "SD32"
"""The type of a reduction whose operands have a sign where the texels have one."""


@dataclass(frozen=True, slots=True)
class _Form:
    """Places, and what moves: so many registers of a type, or channels of a texel."""

    place: SurfacePlace
    type: ScalarType
    count: int


@lowers("SULD")
def lower_load(site: Site) -> None:
    """`d, [coordinates], number`: bytes (`.D.BA`) or channels of a texel (`.P`)."""
    form = _form(site)
    found, coordinates = _named(site, 1, 2, form.place)
    with gone_round(site):
        access = _begun(site, found, form.place, coordinates)
        values: list[Operand]
        if form.place.bytes is None:
            values = list(access.load_formatted(ScalarType.B32, form.count))
        else:
            values = [_widened(access, value) for value in access.load(form.type, form.count)]
        targets = site.destinations(site.operand(0), form.count)
        for target, value in zip(targets, values, strict=True):
            if target is not None:
                site.part("mov.b32", target, value)


@lowers("SUST")
def lower_store(site: Site) -> None:
    """`[coordinates], a, number`: bytes (`.D.BA`) or channels of a texel (`.P`)."""
    form = _form(site)
    values = site.words(site.operand(1), form.count)
    found, coordinates = _named(site, 0, 2, form.place)
    with gone_round(site):
        access = _begun(site, found, form.place, coordinates)
        if form.place.bytes is None:
            access.store_formatted(values)
        else:
            access.store(form.type, [_narrowed(access, form.type, value) for value in values])


@lowers("SURED")
def lower_reduction(site: Site) -> None:
    """`[coordinates], a, number`: an atomic operation whose result nobody gets.

    x counts bytes with `.BA`, else texels.
    """
    operation = site.choose(_OPERATIONS, "")
    if not operation:
        raise site.refuse("its operation")
    is_signed_as_texels = site.take(_SIGNED_AS_TEXELS)
    type_ = site.choose(_REDUCED, ScalarType.U32)
    if operation in ("and", "or"):
        type_ = ScalarType.named(f"b{type_.bits}")
    site.ignore("D")
    place = _place(site, type_.bytes if site.take("BA") else None)
    value = site.operand(1)
    given = site.pair(value) if type_.bits == 64 else site.word(value)
    found, coordinates = _named(site, 0, 2, place)
    with gone_round(site):
        access = _begun(site, found, place, coordinates)
        if is_signed_as_texels:
            access.reduce_as_texels(operation, given)
        else:
            access.reduce(operation, type_, given)


def _form(site: Site) -> _Form:
    """What a load or a store moves, as the modifiers say."""
    if site.take("P"):
        count = site.choose(_CHANNELS, _ALL_CHANNELS)
        return _Form(_place(site, None), ScalarType.B32, count)
    if not (site.take("D") and site.take("BA")):
        raise site.refuse("places that count neither bytes nor texels")
    type_, count = site.choose(_WIDTHS, (ScalarType.B32, 1))
    return _Form(_place(site, type_.bytes * count), type_, count)


def _place(site: Site, size: int | None) -> SurfacePlace:
    """Geometry and boundary. Caches and scopes change no value."""
    site.ignore("EF", "STRONG", "CTA", "SM", "GPU", "SYS")
    geometry = site.choose(_GEOMETRIES, None)
    if geometry is None:
        raise site.refuse("a surface without a geometry")
    return SurfacePlace(geometry, site.choose(_BOUNDARIES, Boundary.CLAMP), size)


def _named(
    site: Site, memory: int, first: int, place: SurfacePlace
) -> tuple[ObjectNumber, tuple[Operand, ...]]:
    """The surface, by the operands from `first` on, and x, y, z; of arrays the layer is last."""
    operand, others = site.operand(memory), site.operands[first:]
    if not isinstance(operand, MemoryOperand) or operand.base is None or operand.offset:
        raise site.refuse("coordinates that are no registers")
    coordinates = site.words(operand.base, place.geometry.kind.axes)
    if len(others) == 1 and _is_vector(others[0]):
        return object_number(site, (), site.word(others[0])), coordinates
    return object_number(site, others, has_sampler=False), coordinates


def _is_vector(operand: SassOperand) -> bool:
    return isinstance(operand, RegisterOperand) and operand.file == "R"


def _begun(
    site: Site, found: ObjectNumber, place: SurfacePlace, coordinates: tuple[Operand, ...]
) -> SurfaceAccess:
    return SurfaceAccess.begun(object_code(site), counted_object(site, found), place, coordinates)


def _widened(access: SurfaceAccess, value: Register) -> Register:
    return value if value.bits == 32 else access.code.compute("cvt.u32.u16", 32, value)


def _narrowed(access: SurfaceAccess, type_: ScalarType, value: Operand) -> Operand:
    return value if type_.bits == 32 else access.code.compute("cvt.u16.u32", 16, value)
