"""Accesses to surfaces, in PTX and in machine code: where they go, and what they move.

Unformatted accesses move bytes at a place along x that counts bytes; formatted ones count texels
and convert between registers and the texels' type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernelcast.ptx_frontend.images.code import DescribedImage, ObjectCode, clamped
from kernelcast.ptx_frontend.images.geometries import Boundary, Geometry
from kernelcast.ptx_frontend.images.texels import (
    CHANNELS,
    Texel,
    channel_values,
    holds_integers,
    load_texel,
    store_texel,
    stored_texel,
)
from kernelcast.simcore.isa.ir.kernel import Address, Guard, Immediate, Operand, Register
from kernelcast.simcore.isa.types import AddressSpace, ScalarType
from kernelcast.simcore.launch.image_descriptors import DescriptorField, ShapeBits

__all__ = ["SurfaceAccess", "SurfacePlace"]

_SMALLEST_REGISTER_BITS = 16
_EXTENTS = (DescriptorField.WIDTH, DescriptorField.HEIGHT, DescriptorField.DEPTH)
_PITCHES = (DescriptorField.ROW_PITCH, DescriptorField.SLICE_PITCH)


@dataclass(frozen=True, slots=True)
class SurfacePlace:
    """What the instruction says of places: `bytes` of an access without format, None with one."""

    geometry: Geometry
    boundary: Boundary
    bytes: int | None


@dataclass(frozen=True, slots=True)
class SurfaceAccess:
    """One access: where it goes, and whether that is in the surface (None where it must be)."""

    code: ObjectCode
    image: DescribedImage
    address: Register
    inside: Register | None

    @staticmethod
    def begun(
        code: ObjectCode, handle: Register, place: SurfacePlace, coordinates: Sequence[Operand]
    ) -> SurfaceAccess:
        """The access at x, y, z; of arrays the layer comes last."""
        geometry = place.geometry
        image = DescribedImage(code.code, handle, geometry.kind, False, False)
        fits = image.has_shape(geometry.shape | ShapeBits.SURFACE, ShapeBits.INTEGER)
        code.end_unless(fits, f"the surface is no .{geometry.title} one")
        places = _Places(code, place, image)
        checked, inside = places.checked(coordinates)
        return SurfaceAccess(code, image, places.address(checked), inside)

    def load(self, type_: ScalarType, count: int) -> Sequence[Register]:
        """Registers of the type, at least 16 bits wide; zero where the access is outside."""
        code = self.code.code
        bits = max(_SMALLEST_REGISTER_BITS, type_.bits)
        values = tuple(code.register(bits) for _ in range(count))
        for register in values:
            code.move(register, Immediate(0))
        guard = None if self.inside is None else Guard(self.inside, negated=False)
        # an unsigned load fills the register
        unsigned = ScalarType.named(f"u{type_.bits}")
        place = Address(AddressSpace.GLOBAL, self.address, 0)
        code.load(unsigned, place, values, guard=guard)
        return values

    def load_formatted(self, element: ScalarType, count: int) -> Sequence[Operand]:
        """The first channels of the texel as f32 or s32, or b32 for what they are."""
        texel = load_texel(self.code, self.image, self.address, self.inside)
        return channel_values(self.code, self.image, texel, element, count)

    def store(self, type_: ScalarType, values: Sequence[Operand]) -> None:
        """Stores registers as they are, where the access is inside."""
        after = self._begun_inside()
        self.code.code.store(type_, self._place, values)
        self._end_inside(after)

    def store_formatted(self, values: Sequence[Operand]) -> None:
        """Stores a texel of numbers of its kind: whole ones for integers, else floating-point."""
        after = self._begun_inside()
        store_texel(self.code, self.image, self.address, self._converted(values))
        self._end_inside(after)

    def reduce(self, operation: str, type_: ScalarType, value: Operand) -> None:
        """Combines what the surface holds with the value."""
        after = self._begun_inside()
        self.code.code.atomic(operation, type_, self._place, value)
        self._end_inside(after)

    def reduce_as_texels(self, operation: str, value: Operand) -> None:
        """Reduces numbers of 32 bits, which have a sign where those of the texels have one."""
        code = self.code.code
        mask = self.image.field(DescriptorField.SIGN_MASK)
        has_sign = code.compute("setp.ne.u32", 1, mask, Immediate(0))
        signed, unsigned, after = code.new_block(), code.new_block(), code.new_block()
        code.branch(has_sign, signed, unsigned)
        for block, type_ in ((signed, ScalarType.S32), (unsigned, ScalarType.U32)):
            code.place(block)
            self.reduce(operation, type_, value)
            code.go(after)
        code.place(after)

    @property
    def _place(self) -> Address:
        return Address(AddressSpace.GLOBAL, self.address, 0)

    def _begun_inside(self) -> int | None:
        if self.inside is None:
            return None
        code = self.code.code
        here, after = code.new_block(), code.new_block()
        code.branch(self.inside, here, after)
        code.place(here)
        return after

    def _end_inside(self, after: int | None) -> None:
        if after is not None:
            self.code.code.go(after)
            self.code.code.place(after)

    def _converted(self, values: Sequence[Operand]) -> Texel:
        padded = (*values, *([Immediate(0)] * (CHANNELS - len(values))))
        numbers = stored_texel(self.code, self.image, padded, ScalarType.F32)
        integers = stored_texel(self.code, self.image, padded, ScalarType.S32)
        is_integer, select = holds_integers(self.code, self.image), self.code.select
        return Texel(
            select(64, is_integer, integers.low, numbers.low),
            select(64, is_integer, integers.high, numbers.high),
        )


@dataclass(frozen=True, slots=True)
class _Places:
    """Addresses at the coordinates of a surface."""

    code: ObjectCode
    place: SurfacePlace
    image: DescribedImage

    def checked(self, coordinates: Sequence[Operand]) -> tuple[list[Operand], Register | None]:
        """The coordinates of the access, and whether to make it where some are left out."""
        places: list[Operand] = []
        inside: Register | None = None
        for axis, coordinate in enumerate(coordinates):
            size = self._places_along(axis)
            if self.place.boundary is Boundary.CLAMP:
                places.append(clamped(self.code, coordinate, size))
                continue
            one = self.code.compute("setp.lt.u32", 1, coordinate, size)
            inside = one if inside is None else self.code.compute("and.pred", 1, inside, one)
            places.append(coordinate)
        if self.place.boundary is not Boundary.TRAP or inside is None:
            return places, inside
        self.code.end_unless(inside, "an access outside of the surface")
        return places, None

    def _places_along(self, axis: int) -> Operand:
        """How many places there are to begin an access."""
        if axis == self.place.geometry.kind.dimensions:
            return self.image.field(DescriptorField.LAYERS)
        size = self.image.field(_EXTENTS[axis])
        if axis or self.place.bytes is None:
            return size
        texel = self.image.field(DescriptorField.TEXEL_BYTES)
        row = self.code.compute("mul.lo.u32", 32, size, texel)
        beyond = self.place.bytes - 1
        row = self.code.compute("max.u32", 32, row, Immediate(beyond))
        return self.code.compute("sub.u32", 32, row, Immediate(beyond))

    def address(self, places: Sequence[Operand]) -> Register:
        address = self.image.texels()
        step: Operand = Immediate(1)
        if self.place.bytes is None:
            step = self.image.field(DescriptorField.TEXEL_BYTES)
        # layers of lines are a slice apart
        pitches = _PITCHES if self.place.geometry.kind.dimensions > 1 else _PITCHES[1:]
        address = self.code.compute("mad.wide.s32", 64, places[0], step, address)
        for place, field in zip(places[1:], pitches, strict=False):
            pitch = self.image.field(field)
            address = self.code.compute("mad.wide.s32", 64, place, pitch, address)
        return address
