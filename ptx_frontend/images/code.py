"""What writes the instructions of one read or write, and what it knows of image and sampler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from kernelcast.errors import SourceSpan
from kernelcast.simcore.isa.ir.image_formats import ImageKind
from kernelcast.simcore.isa.ir.kernel import Address, Immediate, Operand, Register
from kernelcast.simcore.isa.types import AddressSpace, ScalarType
from kernelcast.simcore.launch.image_descriptors import CHANNEL_BYTES, ChannelField, DescriptorField
from kernelcast.simcore.launch.images import AXIS_BITS, Addressing, Filter

if TYPE_CHECKING:
    from kernelcast.ptx_frontend.llvm.lowering.code import Code
    from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder

__all__ = [
    "Condition",
    "DescribedImage",
    "ImageCode",
    "ObjectCode",
    "SamplerArgument",
    "any_of",
    "chosen",
    "clamped",
    "parts_writer",
    "single",
]

Condition: TypeAlias = bool | Operand
"""A predicate, or what is known when the kernel is read."""

_ADDRESSING_MASK = 14
_NORMALIZED = 1


class ImageCode(Protocol):
    """The writer of one read or write."""

    @property
    def code(self) -> Code:
        """The writer of the instructions."""

    def compute(self, mnemonic: str, bits: int, *sources: Operand) -> Operand:
        """What the instruction gives, in a new register of so many bits."""

    def select(self, bits: int, condition: Operand, yes: Operand, no: Operand) -> Operand:
        """`yes` where the predicate holds, else `no`."""


@dataclass(frozen=True, slots=True)
class ObjectCode:
    """Writes the parts of one texture or surface instruction, all of them at its place."""

    code: Code
    span: SourceSpan

    def compute(self, mnemonic: str, bits: int, *sources: Operand) -> Register:
        """What the instruction gives, in a new register of so many bits."""
        return self.code.compute(mnemonic, bits, *sources)

    def select(self, bits: int, condition: Operand, yes: Operand, no: Operand) -> Register:
        """`yes` where the predicate holds, else `no`."""
        return self.compute(f"selp.b{bits}", bits, yes, no, condition)

    def packed(self, halves: Sequence[Operand]) -> Register:
        """Two numbers of 16 bits in one register, the first in its lower half."""
        low, high = (self.compute("cvt.u32.u16", 32, half) for half in halves)
        high = self.compute("shl.b32", 32, high, Immediate(16))
        return self.compute("or.b32", 32, low, high)

    def end_unless(self, condition: Register, reason: str) -> None:
        """Ends the kernel with a message where the predicate does not hold."""
        builder, here = self.code.builder, self.code.new_block()
        self.code.branch(condition, here, builder.trap(self.span, reason, is_part=True))
        self.code.place(here)


@dataclass(frozen=True, slots=True)
class DescribedImage:
    """An image that an instruction names; `handle` is the place of its descriptor."""

    code: Code
    handle: Register
    kind: ImageKind
    is_depth: bool
    is_read_only: bool

    def field(self, place: int) -> Register:
        """32 bits of the descriptor."""
        return self._loaded(ScalarType.U32, place)

    def channel(self, number: int, which: ChannelField) -> Register:
        """What the descriptor says of red (0), green, blue or alpha."""
        return self.field(DescriptorField.CHANNELS + CHANNEL_BYTES * number + which)

    def has_shape(self, shape: int, ignored: int = 0) -> Register:
        """Whether the descriptor says that shape, but for the bits that are ignored."""
        found = self.field(DescriptorField.SHAPE)
        if ignored:
            others = Immediate(0xFFFFFFFF ^ ignored)
            found = self.code.compute("and.b32", 32, found, others)
        return self.code.compute("setp.eq.u32", 1, found, Immediate(shape))

    def texels(self) -> Register:
        """Emits the address of the texels."""
        return self._loaded(ScalarType.U64, DescriptorField.TEXELS)

    def _loaded(self, type_: ScalarType, place: int) -> Register:
        register = self.code.register(type_.bits)
        self.code.load(type_, Address(AddressSpace.PARAM, self.handle, place), (register,))
        return register


@dataclass(frozen=True, slots=True)
class SamplerArgument:
    """The bits of a sampler; a constant where it stands in the kernel.

    `has_axes`: whether each axis has its own addressing. `has_coarse_weights`: whether the linear
    filter knows 256 places between two texels only.
    """

    call: ImageCode
    bits: Operand
    has_axes: bool = False
    has_coarse_weights: bool = False

    @property
    def is_normalized(self) -> Condition:
        """Emits whether coordinates are normalized."""
        return self._is(_NORMALIZED, _NORMALIZED)

    @property
    def is_linear(self) -> Condition:
        """Emits whether texels are interpolated linearly."""
        return self._is(Filter.LINEAR.value, Filter.LINEAR.value)

    def addresses(self, how: Addressing, axis: int = 0) -> Condition:
        """Whether coordinates outside mean that."""
        shift = AXIS_BITS * axis if self.has_axes else 0
        return self._is(_ADDRESSING_MASK << shift, how.value << shift)

    def _is(self, mask: int, value: int) -> Condition:
        if isinstance(self.bits, Immediate):
            return self.bits.bits & mask == value
        masked = self.call.compute("and.b32", 32, self.bits, Immediate(mask))
        return self.call.compute("setp.eq.u32", 1, masked, Immediate(value))


def parts_writer(builder: BasicBlockBuilder, span: SourceSpan, origin: SourceSpan | None) -> Code:
    """The writer of what is part of the instruction at a place."""
    # the package of the writer is large, and few files have textures
    from kernelcast.ptx_frontend.llvm.lowering.code import Code

    code = Code(builder)
    code.locate(span, origin)
    code.begin_parts()
    return code


def chosen(
    call: ImageCode,
    condition: Condition,
    bits: int,
    yes: Callable[[], Operand],
    no: Callable[[], Operand],
) -> Operand:
    """One of two values; of a condition that is known only that one is written."""
    if isinstance(condition, bool):
        return yes() if condition else no()
    return call.select(bits, condition, yes(), no())


def any_of(call: ImageCode, one: Condition, other: Condition) -> Condition:
    """Emits the disjunction of two conditions, either of which may be known."""
    if isinstance(one, bool):
        return True if one else other
    if isinstance(other, bool):
        return True if other else one
    return call.compute("or.pred", 1, one, other)


def clamped(call: ImageCode, number: Operand, size: Operand) -> Operand:
    """Emits a signed number clamped to between 0 and `size` - 1."""
    last = call.compute("sub.s32", 32, size, Immediate(1))
    least = call.compute("max.s32", 32, number, Immediate(0))
    return call.compute("min.s32", 32, least, last)


def single(number: float) -> Immediate:
    """A constant of single precision."""
    return Immediate(int(np.float32(number).view(np.uint32)))
