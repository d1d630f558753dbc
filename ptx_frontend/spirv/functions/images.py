"""Images and samplers: their types, and instructions as calls of OpenCL C's functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kernelcast.ptx_frontend.spirv.functions.body import Argument, Body
from kernelcast.ptx_frontend.spirv.functions.values import Value
from kernelcast.ptx_frontend.spirv.module.binary import Instruction
from kernelcast.ptx_frontend.spirv.module.constants import integer
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.types import (
    FloatType,
    ImageType,
    IntType,
    SamplerType,
    SpirvType,
    VectorType,
    VoidType,
)

__all__ = ["IMAGES"]

_Handler = Callable[[Body, Instruction], None]
_I32 = IntType("i32", 4, 4, bits=32)
_VOID = VoidType("void")
_INITIALIZER = "__translate_sampler_initializer"
_LEVEL, _SIGNED, _UNSIGNED = 0x2, 0x1000, 0x2000
"""Image operands: a level of detail, and how integers become wider."""
_ZEROS = ("0x0000000000000000", "0.0")
_FIRST_ORDER, _FIRST_CHANNEL_TYPE = 0x10B0, 0x10D0
"""Where OpenCL C begins to count what SPIR-V counts from 0."""


def _image(body: Body, value: Value) -> ImageType:
    if not isinstance(value.type, ImageType):
        raise SpirvProblem(f"{value.text} is no image")
    return value.type


def _operands(body: Body, instruction: Instruction, index: int) -> int:
    """The mask of image operands; only level 0 of an image exists."""
    if index >= len(instruction.operands):
        return 0
    mask = instruction.operand(index)
    if mask & ~(_LEVEL | _SIGNED | _UNSIGNED):
        raise SpirvProblem(f"image operands {mask:#x} are not supported", is_unsupported=True)
    if mask & _LEVEL:
        level = body.operand(instruction, index + 1)
        if level.bits != 0 and level.text not in _ZEROS:
            raise SpirvProblem("levels of detail are not supported", is_unsupported=True)
    return mask


def _letters(type_: SpirvType, mask: int) -> str:
    """Which read or write moves texels of a type; the image's format knows the sign, too."""
    element = type_.element if isinstance(type_, VectorType) else type_
    if isinstance(element, FloatType) and element.bits in (16, 32):
        return "h" if element.bits == 16 else "f"
    if isinstance(element, IntType) and element.bits == 32:
        return "ui" if mask & _UNSIGNED else "i"
    raise SpirvProblem(f"texels of type {type_.text} are not supported", is_unsupported=True)


def _sampled_image(body: Body, instruction: Instruction) -> None:
    """No instruction: the reads that use it take both parts."""
    image, sampler = body.operand(instruction, 0), body.operand(instruction, 1)
    _image(body, image)
    if not isinstance(sampler.type, SamplerType):
        raise SpirvProblem(f"{sampler.text} is no sampler")
    if sampler.bits is not None:
        sampler = _initialised(body, instruction.operand(1), sampler)
    body.sampled_images[instruction.result] = (image, sampler)


def _initialised(body: Body, identifier: int, sampler: Value) -> Value:
    """A constant sampler, which OpenCL C makes by a call: one in each basic block."""
    key = (body.label, identifier)
    if key not in body.samplers:
        bits = integer(_I32, sampler.bits or 0)
        call = body.call(_INITIALIZER, sampler.type, [bits])
        body.samplers[key] = body.compute(sampler.type, call)
    return body.samplers[key]


def _sample(body: Body, instruction: Instruction) -> None:
    found = body.sampled_images.get(instruction.operand(0))
    if found is None:
        raise SpirvProblem(f"%{instruction.operand(0)} is no image with a sampler")
    _read(body, instruction, *found)


def _plain_read(body: Body, instruction: Instruction) -> None:
    _read(body, instruction, body.operand(instruction, 0))


def _read(body: Body, instruction: Instruction, image: Value, *sampler: Value) -> None:
    mask, type_ = _operands(body, instruction, 2), body.result_type(instruction)
    coordinates = body.operand(instruction, 1)
    arguments = [Argument(x) for x in (image, *sampler, coordinates)]
    name = f"read_image{_letters(type_, mask)}"
    if _image(body, image).is_depth and isinstance(type_, VectorType):
        depth = body.compute(type_.element, body.call_builtin(name, type_.element, arguments))
        zero = f"{type_.text} zeroinitializer"
        body.define(instruction, f"insertelement {zero}, {depth.typed}, i32 0")
        return
    body.define(instruction, body.call_builtin(name, type_, arguments))


def _write(body: Body, instruction: Instruction) -> None:
    image, coordinates, texel = (body.operand(instruction, x) for x in range(3))
    mask = _operands(body, instruction, 3)
    _image(body, image)
    letters = _letters(texel.type, mask)
    arguments = [Argument(image), Argument(coordinates), Argument(texel, letters != "ui")]
    body.emit(body.call_builtin(f"write_image{letters}", _VOID, arguments))


def _size(body: Body, instruction: Instruction) -> None:
    """One number for each axis, each by a function of its own."""
    image, type_ = body.operand(instruction, 0), body.result_type(instruction)
    kind = _image(body, image)
    names = [f"get_image_{name}" for name in ("width", "height", "depth")[: kind.dimensions]]
    names += ["get_image_array_size"] if kind.is_array else []
    element = type_.element if isinstance(type_, VectorType) else type_
    count = type_.count if isinstance(type_, VectorType) else 1
    if count != len(names):
        raise SpirvProblem(f"{instruction.name} gives {count} numbers for {len(names)} axes")
    numbers = [_number(body, name, image, element) for name in names]
    if not isinstance(type_, VectorType):
        body.define(instruction, f"add {numbers[0].typed}, 0")
        return
    made = Value(type_, "undef")
    for index, number in enumerate(numbers[:-1]):
        made = body.compute(type_, f"insertelement {made.typed}, {number.typed}, i32 {index}")
    body.define(instruction, f"insertelement {made.typed}, {numbers[-1].typed}, i32 {count - 1}")


def _number(body: Body, name: str, image: Value, wanted: SpirvType) -> Value:
    """The answer of a query of the image in another width."""
    own: SpirvType = body.module.types.size_type() if name.endswith("array_size") else _I32
    found = body.compute(own, body.call_builtin(name, own, [Argument(image)]))
    if own.text == wanted.text:
        return found
    if not isinstance(wanted, IntType):
        raise SpirvProblem(f"the size of an image as {wanted.text}")
    cast = "zext" if wanted.size > own.size else "trunc"
    return body.compute(wanted, f"{cast} {found.typed} to {wanted.text}")


def _query(name: str, first: int) -> _Handler:
    def write(body: Body, instruction: Instruction) -> None:
        image = body.operand(instruction, 0)
        _image(body, image)
        answer = body.compute(_I32, body.call_builtin(name, _I32, [Argument(image)]))
        body.define(instruction, f"sub {answer.typed}, {first}")

    return write


IMAGES: Mapping[str, _Handler] = {
    "OpSampledImage": _sampled_image,
    "OpImageSampleExplicitLod": _sample,
    "OpImageRead": _plain_read,
    "OpImageFetch": _plain_read,
    "OpImageWrite": _write,
    "OpImageQuerySizeLod": _size,
    "OpImageQuerySize": _size,
    "OpImageQueryFormat": _query("get_image_channel_data_type", _FIRST_CHANNEL_TYPE),
    "OpImageQueryOrder": _query("get_image_channel_order", _FIRST_ORDER),
}
