"""Images (OpenCL C 1.2, 6.12.14, and 2.0, 6.13.14): reads, writes and what describes them.

A read or write is one instruction of native code. Its arithmetic is part of it and counts nowhere;
its loads, one a texel, reach memory. The linear filter adds texels in the order of the
specification's formula, weights and sums in single precision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kernelcast.ptx_frontend.images.code import Condition, DescribedImage, SamplerArgument
from kernelcast.ptx_frontend.images.coordinates import Axis, axes_of, layer_axis, plain_axis
from kernelcast.ptx_frontend.images.filtering import Reading
from kernelcast.ptx_frontend.images.texels import (
    CHANNELS,
    store_texel,
    stored_texel,
    texel_address,
)
from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler
from kernelcast.ptx_frontend.llvm.builtins.image_arguments import image_argument, sampler_argument
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.ptx_frontend.llvm.text.types import ScalarIrType
from kernelcast.simcore.isa.ir.image_formats import ImageKind
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register
from kernelcast.simcore.isa.types import ScalarType
from kernelcast.simcore.launch.image_descriptors import DescriptorField

__all__ = ["IMAGE_FUNCTIONS", "SAMPLER_INITIALIZER"]

SAMPLER_INITIALIZER = "__translate_sampler_initializer"


def _read(element: ScalarType, is_half: bool = False) -> Handler:
    """`read_image`: (image, [sampler,] coordinates), the value as four times `element`."""

    def lower(call: BuiltinCall) -> Value:
        call.expect(2, 3)
        has_sampler = len(call.parameters) == 3
        image = _begun(call)
        sampler = sampler_argument(call, 1 if has_sampler else None)
        axes = _axes(call, image, sampler, 1 + has_sampler)
        count = 1 if image.is_depth else CHANNELS
        linear: Condition = False
        if element is ScalarType.F32 and axes[0].second is not None:
            linear = sampler.is_linear
        reading = Reading(call, image, element, count)
        parts = reading.texel(axes) if linear is False else reading.filtered(axes, linear)
        if is_half:
            parts = tuple(call.compute("cvt.rn.f16.f32", 16, part) for part in parts)
        return call.value(*parts)

    return lower


def _begun(call: BuiltinCall) -> DescribedImage:
    """The image of a call, whose one instruction is written; what follows is part of it."""
    image = image_argument(call)
    handle = call.code.compute("image.b64", 64, image.handle)
    call.code.begin_parts()
    return DescribedImage(call.code, handle, image.kind, image.is_depth, image.is_read_only)


def _axes(
    call: BuiltinCall, image: DescribedImage, sampler: SamplerArgument, index: int
) -> list[Axis]:
    is_float = call.element(index).is_float
    numbers = _coordinates(call, image, index)
    spatial = image.kind.dimensions
    axes = axes_of(call, image, sampler, numbers[:spatial], is_float)
    if image.kind.is_array:
        axes.append(layer_axis(call, image, numbers[spatial], is_float))
    return axes


def _coordinates(call: BuiltinCall, image: DescribedImage, index: int) -> Sequence[Operand]:
    """One number for each axis: the layer comes last."""
    parts, axes = call.site.arguments[index].parts, image.kind.axes
    if len(parts) < axes or (axes == 1 and len(parts) != 1):
        raise call.refused(f"{len(parts)} coordinates for {image.kind.title}")
    return parts[:axes]


def _write(element: ScalarType, is_half: bool = False) -> Handler:
    """`write_image`: (image, coordinates[, level], value)."""

    def lower(call: BuiltinCall) -> None:
        call.expect(3, 4)
        level = call.site.arguments[2].parts[0]
        if len(call.parameters) == 4 and level != Immediate(0):
            raise call.refused("levels of detail")
        image = _begun(call)
        places = [plain_axis(x).first for x in _coordinates(call, image, 1)]
        values = call.site.arguments[-1].parts
        if is_half:
            values = tuple(call.compute("cvt.f32.f16", 32, value) for value in values)
        address = texel_address(call, image, places)
        store_texel(call, image, address, stored_texel(call, image, values, element))

    return lower


def _described(field: DescriptorField) -> Handler:
    """A number of the descriptor."""

    def lower(call: BuiltinCall) -> Value:
        call.expect(1)
        return call.value(_sized(call, image_argument(call).field(field)))

    return lower


def _sized(call: BuiltinCall, number: Operand) -> Operand:
    """The number converted to the width of the result."""
    is_wide = call.result_element.bits == 64
    return call.compute("cvt.u64.u32", 64, number) if is_wide else number


def _dimensions(call: BuiltinCall) -> Value:
    """Width and height, and of three dimensions the depth and 0."""
    call.expect(1)
    image = image_argument(call)
    fields: list[Operand] = [
        image.field(DescriptorField.WIDTH),
        image.field(DescriptorField.HEIGHT),
    ]
    if image.kind is ImageKind.IMAGE_3D:
        fields += [image.field(DescriptorField.DEPTH), Immediate(0)]
    return call.value(*fields)


def _sampler(call: BuiltinCall) -> Value:
    """A sampler is its bits."""
    bits = call.site.arguments[0].parts[0]
    if isinstance(bits, Register) and not isinstance(call.result, ScalarIrType):
        bits = call.compute("cvt.u64.u32", 64, bits)
    return call.value(bits)


_ELEMENTS: Mapping[str, tuple[ScalarType, bool]] = {
    "f": (ScalarType.F32, False),
    "h": (ScalarType.F32, True),
    "i": (ScalarType.S32, False),
    "ui": (ScalarType.U32, False),
}
_QUERIES = {
    "width": DescriptorField.WIDTH,
    "height": DescriptorField.HEIGHT,
    "depth": DescriptorField.DEPTH,
    "array_size": DescriptorField.LAYERS,
    "channel_data_type": DescriptorField.CHANNEL_TYPE,
    "channel_order": DescriptorField.CHANNEL_ORDER,
}

IMAGE_FUNCTIONS: Mapping[str, Handler] = {
    **{f"read_image{letter}": _read(*element) for letter, element in _ELEMENTS.items()},
    **{f"write_image{letter}": _write(*element) for letter, element in _ELEMENTS.items()},
    **{f"get_image_{name}": _described(field) for name, field in _QUERIES.items()},
    "get_image_dim": _dimensions,
    SAMPLER_INITIALIZER: _sampler,
}
