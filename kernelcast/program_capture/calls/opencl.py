"""What only OpenCL asks for: its device, programs, kernels, events, images and samplers."""

from __future__ import annotations

from kernelcast.errors import KernelcastError
from kernelcast.program_capture.arena import CallError
from kernelcast.program_capture.opencl_properties import device_facts
from kernelcast.program_capture.protocol import Kind, Status, packed, words
from kernelcast.program_capture.session import CopyRecord, Session
from kernelcast.program_capture.timeline.span import SpanKind
from kernelcast.simcore.isa.ir.image_formats import ChannelOrder, ChannelType, ImageKind
from kernelcast.simcore.isa.ir.parameters import Parameter
from kernelcast.simcore.launch.images import Addressing, Filter, Image, Sampler

__all__ = ["CALLS"]

_MOVES = {
    1: SpanKind.TO_DEVICE,
    2: SpanKind.TO_HOST,
    3: SpanKind.ON_DEVICE,
    4: SpanKind.FILL,
}
_VALUE, _POINTER, _LOCAL, _IMAGE, _SAMPLER = range(5)
_FIRST_OBJECT = 0x7D00_0000_0000_0000
"""Handles of images and samplers: numbers that no pointer has."""
_ORDERS = {item.number: item for item in ChannelOrder}
_TYPES = {item.number: item for item in ChannelType}
_KINDS = {
    0x10F1: ImageKind.IMAGE_2D,
    0x10F2: ImageKind.IMAGE_3D,
    0x10F3: ImageKind.IMAGE_2D_ARRAY,
    0x10F4: ImageKind.IMAGE_1D,
    0x10F5: ImageKind.IMAGE_1D_ARRAY,
    0x10F6: ImageKind.IMAGE_1D_BUFFER,
}
_ADDRESSING = {
    0x1130: Addressing.NONE,
    0x1131: Addressing.CLAMP_TO_EDGE,
    0x1132: Addressing.CLAMP,
    0x1133: Addressing.REPEAT,
    0x1134: Addressing.MIRRORED_REPEAT,
}
_LINEAR = 0x1141
_LARGEST_TEXT = 60_000


def _device(session: Session, _payload: bytes) -> bytes:
    return device_facts(session.devices[0])


def _build(session: Session, payload: bytes) -> bytes:
    """Module, number of kernels and their names; or twice 0 and why there is no module."""
    (is_il,) = words(payload, 1)
    try:
        number = session.opencl.build(session.code, payload[8:], is_il=bool(is_il))
        names = session.code.kernel_names(number)
    except (KernelcastError, CallError) as error:
        session.options.tell(f"warning: a program is not built, and it is told so: {error}")
        return packed(0, 0) + str(error).encode()[:_LARGEST_TEXT]
    return packed(number, len(names)) + ";".join(names).encode()


def _kernel(session: Session, payload: bytes) -> bytes:
    """The words of `kernel_facts`, three of each argument, and the arguments' names."""
    module, x, y, z = words(payload, 4)
    name = payload[32:].decode()
    try:
        function = session.opencl.function(session.code, module, (x, y, z), name)
    except CallError as error:
        if error.status is not Status.NOT_FOUND:
            session.fail(name, error)
            session.sticky = Status.SUCCESS
        raise
    kernel = function.kernel.kernel
    described = words(session.code.described(function), 6)
    facts = (
        function.number,
        described[2],
        described[3],
        described[5],
        *(kernel.required_threads or (0, 0, 0)),
        len(kernel.parameters),
        kernel.parameter_bytes,
    )
    arguments = [
        word for item in kernel.parameters for word in (_kind(item), item.offset, item.size)
    ]
    names = "".join(f"{item.name}\n" for item in kernel.parameters)
    return packed(*facts, *arguments) + names.encode()


def _kind(parameter: Parameter) -> int:
    if parameter.is_local_array:
        return _LOCAL
    if parameter.image is not None:
        return _IMAGE
    if parameter.is_sampler:
        return _SAMPLER
    return _POINTER if parameter.is_pointer else _VALUE


def _move(session: Session, payload: bytes) -> bytes:
    kind, count, stream, is_pinned = words(payload, 4)
    if kind not in _MOVES:
        raise CallError(Status.INVALID_VALUE, f"there are no copies of kind {kind}")
    session.transfer(CopyRecord(_MOVES[kind], count, stream, bool(is_pinned)), is_async=True)
    return b""


def _event(session: Session, payload: bytes) -> bytes:
    """A new event behind the stream's last command: queued, submitted, begun and ended, in ns."""
    stream, is_mark = words(payload, 2)
    number = session.number()
    for timeline in session.timelines:
        timeline.record(number, stream)
    first = session.timelines[0]
    start = end = first.events[number]
    if not is_mark:
        span = next((item for item in reversed(first.spans) if item.stream == stream), None)
        if span is not None:
            start, end = span.start_s, span.end_s
    queued = min(first.host_s, start)
    times = (queued, queued, start, end)
    return packed(number, *(round(time * 1e9) for time in times))


def _image(session: Session, payload: bytes) -> bytes:
    address, kind, order, channels, *sizes = words(payload, 10)
    width, height, depth, layers, row_pitch, slice_pitch = sizes
    shape = _KINDS[kind]
    spatial = (width, height, depth)[: shape.dimensions]
    size = (*spatial, layers) if shape.is_array else spatial
    view = session.arena.memory.view(address, slice_pitch * depth * layers)
    try:
        found = Image(
            view,
            _ORDERS[order],
            _TYPES[channels],
            shape,
            size,
            row_pitch if shape.dimensions > 1 else 0,
            slice_pitch if shape.is_array or shape.dimensions > 2 else 0,
        )
    except (KernelcastError, KeyError) as error:
        raise CallError(Status.INVALID_VALUE, str(error)) from None
    return _object(session, found)


def _sampler(session: Session, payload: bytes) -> bytes:
    is_normalized, addressing, filter_ = words(payload, 3)
    try:
        found = Sampler(
            _ADDRESSING[addressing],
            Filter.LINEAR if filter_ == _LINEAR else Filter.NEAREST,
            bool(is_normalized),
        )
    except (KernelcastError, KeyError) as error:
        raise CallError(Status.INVALID_VALUE, str(error)) from None
    return _object(session, found)


def _object(session: Session, found: Image | Sampler) -> bytes:
    number = _FIRST_OBJECT + session.number()
    session.launches.objects[number] = found
    return packed(number)


CALLS = {
    Kind.CL_DEVICE: _device,
    Kind.CL_BUILD: _build,
    Kind.CL_KERNEL: _kernel,
    Kind.CL_MOVE: _move,
    Kind.CL_EVENT: _event,
    Kind.CL_IMAGE: _image,
    Kind.CL_SAMPLER: _sampler,
}
