"""Loads, stores and reductions in surfaces (PTX ISA, surface instructions).

Unformatted accesses (`.b`) move bytes at a place along x that counts bytes; formatted ones (`.p`)
count texels and convert between registers and the texels' type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernelcast.ptx_frontend.images.code import DescribedImage, clamped
from kernelcast.ptx_frontend.images.texels import (
    Texel,
    channel_values,
    load_texel,
    store_texel,
    stored_texel,
)
from kernelcast.ptx_frontend.ptx.legal.surface_forms import Boundary, SurfaceForm, surface_form
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.guards import gone_round
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal
from kernelcast.ptx_frontend.ptx.textures.objects import TextureCode, vector_items
from kernelcast.ptx_frontend.ptx.textures.reads import refuse_other_shapes
from kernelcast.simcore.isa.ir.kernel import Address, Guard, Immediate, Operand, Register
from kernelcast.simcore.isa.types import AddressSpace, ScalarType
from kernelcast.simcore.launch.image_descriptors import DescriptorField, ShapeBits

__all__ = ["lower_surface"]

_CHANNELS = 4
_SMALLEST_REGISTER_BITS = 16
_EXTENTS = (DescriptorField.WIDTH, DescriptorField.HEIGHT, DescriptorField.DEPTH)
_PITCHES = (DescriptorField.ROW_PITCH, DescriptorField.SLICE_PITCH)


def lower_surface(site: Site, builder: BasicBlockBuilder) -> None:
    """Guarded, it becomes a branch around the access."""
    form = surface_form(site.mnemonic)
    if isinstance(form, Refusal):
        raise site.unsupported(form.reason)
    with gone_round(site, builder):
        access = _Access.begun(site, builder, form)
        if form.root == "suld":
            access.load()
        else:
            access.write()


@dataclass(frozen=True, slots=True)
class _Access:
    """One access: where it goes, and whether that is in the surface (None where it must be)."""

    code: TextureCode
    form: SurfaceForm
    image: DescribedImage
    address: Register
    inside: Register | None

    @staticmethod
    def begun(site: Site, builder: BasicBlockBuilder, form: SurfaceForm) -> _Access:
        site.expect_operands(2)
        index = 1 if form.root == "suld" else 0
        object_ = site.operands[index]
        items = object_.items if isinstance(object_, syntax.BracketOperand) else ()
        if len(items) != 2:
            raise site.error(f"{site.mnemonic!r} takes [surface, coordinates] here", index)
        code = TextureCode.begun(site, builder)
        handle = code.accessed(items[0], index)
        image = DescribedImage(code.code, handle, form.geometry.kind, False, False)
        shape = form.geometry.shape | ShapeBits.SURFACE
        what = f"the surface is no .{form.geometry.title} one"
        refuse_other_shapes(code, image, shape, ShapeBits.INTEGER, what)
        places = _Places(code, form, image)
        checked, inside = places.checked(_coordinates(site, form, items[1], index))
        return _Access(code, form, image, places.address(checked), inside)

    def load(self) -> None:
        site, form, code = self.code.site, self.form, self.code
        items = vector_items(site.operands[0])
        if len(items) != form.vector:
            raise site.error(f"{site.mnemonic!r} gives {form.vector} values, got {len(items)}", 0)
        values = self._formatted() if form.is_formatted else self._loaded()
        for item, value in zip(items, values, strict=True):
            register = site.destination(item, 0, form.type, wider=True)
            if register is None:
                continue
            if isinstance(value, Register) and register.bits > value.bits:
                mnemonic = f"cvt.u{register.bits}.u{value.bits}"
                value = code.compute(mnemonic, register.bits, value)
            code.code.move(register, value)

    def _loaded(self) -> Sequence[Operand]:
        code, type_ = self.code.code, self.form.type
        bits = max(_SMALLEST_REGISTER_BITS, type_.bits)
        values = tuple(code.register(bits) for _ in range(self.form.vector))
        for register in values:
            code.move(register, Immediate(0))
        guard = None if self.inside is None else Guard(self.inside, negated=False)
        # an unsigned load fills the register
        unsigned = ScalarType.named(f"u{type_.bits}")
        place = Address(AddressSpace.GLOBAL, self.address, 0)
        code.load(unsigned, place, values, guard=guard)
        return values

    def _formatted(self) -> Sequence[Operand]:
        texel = load_texel(self.code, self.image, self.address, self.inside)
        count, type_ = self.form.vector, self.form.type
        numbers = channel_values(self.code, self.image, texel, ScalarType.F32, count)
        integers = channel_values(self.code, self.image, texel, ScalarType.S32, count)
        if type_ is ScalarType.F32:
            return numbers
        if type_ is not ScalarType.B32:
            return integers
        is_integer = self._holds_integers()
        return [
            self.code.select(32, is_integer, integer, number)
            for integer, number in zip(integers, numbers, strict=True)
        ]

    def _holds_integers(self) -> Register:
        shape = self.image.field(DescriptorField.SHAPE)
        bit = self.code.compute("and.b32", 32, shape, Immediate(ShapeBits.INTEGER))
        return self.code.compute("setp.ne.u32", 1, bit, Immediate(0))

    def write(self) -> None:
        """A store or a reduction, in the lanes that are inside."""
        site, form, code = self.code.site, self.form, self.code.code
        items = vector_items(site.operands[1])
        if len(items) != form.vector:
            raise site.error(f"{site.mnemonic!r} takes {form.vector} values, got {len(items)}", 1)
        values = tuple(site.source(item, 1, form.type, wider=True) for item in items)
        after = None
        if self.inside is not None:
            here, after = code.new_block(), code.new_block()
            code.branch(self.inside, here, after)
            code.place(here)
        place = Address(AddressSpace.GLOBAL, self.address, 0)
        if form.root == "sured":
            code.atomic(form.operation, self._reduced(form.type), place, *values)
        elif form.is_formatted:
            store_texel(self.code, self.image, self.address, self._converted(values))
        else:
            code.store(form.type, place, values)
        if after is not None:
            code.go(after)
            code.place(after)

    def _reduced(self, type_: ScalarType) -> ScalarType:
        """`sured.p` names bits, which are whole numbers without sign but for `and` and `or`."""
        is_named = not self.form.is_formatted or self.form.operation in ("and", "or")
        return type_ if is_named else ScalarType.U32

    def _converted(self, values: Sequence[Operand]) -> Texel:
        """The texel, from numbers of its kind: whole ones for integers, else floating-point."""
        padded = (*values, *([Immediate(0)] * (_CHANNELS - len(values))))
        numbers = stored_texel(self.code, self.image, padded, ScalarType.F32)
        integers = stored_texel(self.code, self.image, padded, ScalarType.S32)
        is_integer, select = self._holds_integers(), self.code.select
        return Texel(
            select(64, is_integer, integers.low, numbers.low),
            select(64, is_integer, integers.high, numbers.high),
        )


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


@dataclass(frozen=True, slots=True)
class _Places:
    """Addresses at the coordinates of a surface."""

    code: TextureCode
    form: SurfaceForm
    image: DescribedImage

    def checked(self, coordinates: Sequence[Operand]) -> tuple[list[Operand], Register | None]:
        """The coordinates of the access, and whether to make it where some are left out."""
        places: list[Operand] = []
        inside: Register | None = None
        for axis, coordinate in enumerate(coordinates):
            size = self._places_along(axis)
            if self.form.boundary is Boundary.CLAMP:
                places.append(clamped(self.code, coordinate, size))
                continue
            one = self.code.compute("setp.lt.u32", 1, coordinate, size)
            inside = one if inside is None else self.code.compute("and.pred", 1, inside, one)
            places.append(coordinate)
        if self.form.boundary is not Boundary.TRAP or inside is None:
            return places, inside
        code = self.code.code
        here = code.new_block()
        reason = "an access outside of the surface"
        code.branch(inside, here, code.builder.trap(self.code.site.span, reason, is_part=True))
        code.place(here)
        return places, None

    def _places_along(self, axis: int) -> Operand:
        """How many places there are to begin an access."""
        kind = self.form.geometry.kind
        if axis == kind.dimensions:
            return self.image.field(DescriptorField.LAYERS)
        size = self.image.field(_EXTENTS[axis])
        if axis or self.form.is_formatted:
            return size
        texel = self.image.field(DescriptorField.TEXEL_BYTES)
        row = self.code.compute("mul.lo.u32", 32, size, texel)
        beyond = self.form.bytes - 1
        row = self.code.compute("max.u32", 32, row, Immediate(beyond))
        return self.code.compute("sub.u32", 32, row, Immediate(beyond))

    def address(self, places: Sequence[Operand]) -> Register:
        address = self.image.texels()
        step: Operand = Immediate(1)
        if self.form.is_formatted:
            step = self.image.field(DescriptorField.TEXEL_BYTES)
        # layers of lines are a slice apart
        pitches = _PITCHES if self.form.geometry.kind.dimensions > 1 else _PITCHES[1:]
        address = self.code.compute("mad.wide.s32", 64, places[0], step, address)
        for place, field in zip(places[1:], pitches, strict=False):
            pitch = self.image.field(field)
            address = self.code.compute("mad.wide.s32", 64, place, pitch, address)
        return address
