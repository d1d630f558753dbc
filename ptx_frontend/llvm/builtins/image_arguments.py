"""What a call says of the image and the sampler that it takes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall
from kernelcast.ptx_frontend.llvm.code import Code
from kernelcast.simcore.image_descriptors import CHANNEL_BYTES, ChannelField, DescriptorField
from kernelcast.simcore.image_formats import ImageKind
from kernelcast.simcore.images import Addressing, Filter
from kernelcast.simcore.isa.kernel import Address, Immediate, Operand, Register
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = [
    "Condition",
    "ImageArgument",
    "SamplerArgument",
    "any_of",
    "chosen",
    "image_argument",
    "image_kind",
    "sampler_argument",
]

Condition: TypeAlias = bool | Operand
"""A predicate, or what is known when the kernel is read."""

_KINDS = {kind.title: kind for kind in ImageKind}
_IMAGE = re.compile(
    r"(?:ocl_|opencl[._])?(?P<kind>image[123]d(?:_array|_buffer)?)(?P<depth>_depth)?"
    r"(?:_(?P<access>ro|wo|rw))?(?:_t)?"
)
_ADDRESSING_MASK = 14
_NORMALIZED = 1


@dataclass(frozen=True, slots=True)
class ImageArgument:
    """An image of a call; `handle` is the place of its descriptor."""

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

    def texels(self) -> Register:
        """Their address."""
        return self._loaded(ScalarType.U64, DescriptorField.TEXELS)

    def _loaded(self, type_: ScalarType, place: int) -> Register:
        register = self.code.register(type_.bits)
        self.code.load(type_, Address(AddressSpace.PARAM, self.handle, place), (register,))
        return register


@dataclass(frozen=True, slots=True)
class SamplerArgument:
    """The bits of a sampler; a constant where it stands in the kernel."""

    call: BuiltinCall
    bits: Operand

    @property
    def is_normalized(self) -> Condition:
        return self._is(_NORMALIZED, _NORMALIZED)

    @property
    def is_linear(self) -> Condition:
        return self._is(Filter.LINEAR.value, Filter.LINEAR.value)

    def addresses(self, how: Addressing) -> Condition:
        """Whether coordinates outside mean that."""
        return self._is(_ADDRESSING_MASK, how.value)

    def _is(self, mask: int, value: int) -> Condition:
        if isinstance(self.bits, Immediate):
            return self.bits.bits & mask == value
        masked = self.call.compute("and.b32", 32, self.bits, Immediate(mask))
        return self.call.compute("setp.eq.u32", 1, masked, Immediate(value))


def chosen(
    call: BuiltinCall,
    condition: Condition,
    bits: int,
    yes: Callable[[], Operand],
    no: Callable[[], Operand],
) -> Operand:
    """One of two values; of a condition that is known only that one is written."""
    if isinstance(condition, bool):
        return yes() if condition else no()
    return call.select(bits, condition, yes(), no())


def any_of(call: BuiltinCall, one: Condition, other: Condition) -> Condition:
    if isinstance(one, bool):
        return True if one else other
    if isinstance(other, bool):
        return True if other else one
    return call.compute("or.pred", 1, one, other)


def image_kind(name: str) -> ImageKind | None:
    """The kind that the name of a type tells, such as `ocl_image2d_ro` or `image2d_t`."""
    found = _IMAGE.fullmatch(name)
    return None if found is None else _KINDS.get(found["kind"])


def image_argument(call: BuiltinCall) -> ImageArgument:
    """The first argument of a call."""
    parameter = call.parameters[0]
    named = parameter.pointee or parameter
    found, kind = _IMAGE.fullmatch(named.name), image_kind(named.name)
    if found is None or kind is None:
        raise call.refused(f"images of type {named.name or 'unknown'}")
    handle = call.code.in_register(call.site.arguments[0].parts[0], 64)
    if handle.bits != 64:
        raise call.refused("its first argument is no image")
    return ImageArgument(call.code, handle, kind, bool(found["depth"]), found["access"] == "ro")


def sampler_argument(call: BuiltinCall, index: int | None) -> SamplerArgument:
    """Argument `index` as a sampler; None for reads without one."""
    if index is None:
        return SamplerArgument(call, Immediate(0))
    bits = call.site.arguments[index].parts[0]
    if isinstance(bits, Register) and bits.bits == 64:
        bits = call.compute("cvt.u32.u64", 32, bits)
    return SamplerArgument(call, bits)
