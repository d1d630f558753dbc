"""Loads, stores and reductions in surfaces (PTX ISA, surface instructions)."""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.ptx_frontend.images.surface_accesses import SurfaceAccess, SurfacePlace
from kernelcast.ptx_frontend.ptx.legal.surface_forms import SurfaceForm, surface_form
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.guards import gone_round
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal
from kernelcast.ptx_frontend.ptx.textures.objects import TextureCode, vector_items
from kernelcast.simcore.isa.ir.kernel import Operand, Register
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["lower_surface"]


def lower_surface(site: Site, builder: BasicBlockBuilder) -> None:
    """Guarded, it becomes a branch around the access."""
    form = surface_form(site.mnemonic)
    if isinstance(form, Refusal):
        raise site.unsupported(form.reason)
    with gone_round(site, builder):
        code, access = _begun(site, builder, form)
        if form.root == "suld":
            _load(code, form, access)
        else:
            _write(code, form, access)


def _begun(
    site: Site, builder: BasicBlockBuilder, form: SurfaceForm
) -> tuple[TextureCode, SurfaceAccess]:
    site.expect_operands(2)
    index = 1 if form.root == "suld" else 0
    object_ = site.operands[index]
    items = object_.items if isinstance(object_, syntax.BracketOperand) else ()
    if len(items) != 2:
        raise site.error(f"{site.mnemonic!r} takes [surface, coordinates] here", index)
    code = TextureCode.begun(site, builder)
    handle = code.accessed(items[0], index)
    place = SurfacePlace(form.geometry, form.boundary, None if form.is_formatted else form.bytes)
    coordinates = _coordinates(site, form, items[1], index)
    return code, SurfaceAccess.begun(code, handle, place, coordinates)


def _load(code: TextureCode, form: SurfaceForm, access: SurfaceAccess) -> None:
    site = code.site
    items = vector_items(site.operands[0])
    if len(items) != form.vector:
        raise site.error(f"{site.mnemonic!r} gives {form.vector} values, got {len(items)}", 0)
    values: Sequence[Operand]
    if form.is_formatted:
        element = ScalarType.S32 if form.type is ScalarType.U32 else form.type
        values = access.load_formatted(element, form.vector)
    else:
        values = access.load(form.type, form.vector)
    for item, value in zip(items, values, strict=True):
        register = site.destination(item, 0, form.type, wider=True)
        if register is None:
            continue
        if isinstance(value, Register) and register.bits > value.bits:
            mnemonic = f"cvt.u{register.bits}.u{value.bits}"
            value = code.compute(mnemonic, register.bits, value)
        code.code.move(register, value)


def _write(code: TextureCode, form: SurfaceForm, access: SurfaceAccess) -> None:
    """A store or a reduction, in the lanes that are inside."""
    site = code.site
    items = vector_items(site.operands[1])
    if len(items) != form.vector:
        raise site.error(f"{site.mnemonic!r} takes {form.vector} values, got {len(items)}", 1)
    values = tuple(site.source(item, 1, form.type, wider=True) for item in items)
    if form.root == "sured":
        if form.is_formatted and form.operation not in ("and", "or"):
            access.reduce_as_texels(form.operation, *values)
        else:
            access.reduce(form.operation, form.type, *values)
    elif form.is_formatted:
        access.store_formatted(values)
    else:
        access.store(form.type, values)


def _coordinates(
    site: Site, form: SurfaceForm, operand: syntax.Operand, index: int
) -> tuple[Operand, ...]:
    """x, y, z; of arrays the layer comes last, which PTX writes first."""
    items, layered = vector_items(operand), form.geometry.has_layer
    needed = form.geometry.kind.axes
    if not needed <= len(items) <= max(needed, 4):
        raise site.error(f"{site.mnemonic!r} takes {needed} coordinates, got {len(items)}", index)
    numbers = tuple(site.source(item, index, ScalarType.S32) for item in items[:needed])
    return (*numbers[1:], numbers[0]) if layered else numbers
