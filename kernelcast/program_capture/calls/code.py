"""Modules, kernels, launches and what is known of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kernelcast.errors import KernelcastError, SourceError
from kernelcast.program_capture.arena import CallError
from kernelcast.program_capture.places import place_of
from kernelcast.program_capture.properties import attributes_of, properties_of
from kernelcast.program_capture.protocol import (
    Kind,
    LaunchRequest,
    Status,
    TextureRequest,
    packed,
    words,
)
from kernelcast.program_capture.session import Failure, Session
from kernelcast.program_capture.textures import texture_of
from kernelcast.ptx_frontend.ptx.text.linker import linked
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.local_arrays import resource_needs
from kernelcast.simcore.profile.occupancy import occupancy

__all__ = ["CALLS"]

_TEXTURE_WORDS = 19
_FIRST_OBJECT = 0x7E00_0000_0000_0000
"""Handles of textures: numbers that no pointer has."""


def _module(session: Session, payload: bytes) -> bytes:
    with _told(session, "a module"):
        return packed(session.code.load(payload))


def _units(session: Session, payload: bytes) -> bytes:
    (count,) = words(payload, 1)
    sizes = words(payload, 1 + count)[1:]
    images, begin = [], 8 * (1 + count)
    for size in sizes:
        images.append(payload[begin : begin + size])
        begin += size
    with _told(session, "a module"):
        return packed(session.code.load_units(images, payload[begin:]))


@contextmanager
def _told(session: Session, what: str) -> Iterator[None]:
    """Code that cannot be had is a failure that others do not follow from."""
    try:
        yield
    except CallError as error:
        session.fail(what, error)
        session.sticky = Status.SUCCESS
        raise


def _module_unload(session: Session, payload: bytes) -> bytes:
    session.code.unload(*words(payload, 1))
    return b""


def _link(session: Session, payload: bytes) -> bytes:
    texts = [text.decode("utf-8", "replace") for text in payload.split(b"\0")[:-1]]
    try:
        return linked(texts).encode()
    except SourceError as error:
        failure = CallError(Status.INVALID_PTX, str(error))
        session.options.tell(f"error: {failure}")
        raise failure from None


def _function(session: Session, payload: bytes) -> bytes:
    (module,) = words(payload, 1)
    name = payload[8:].decode()
    try:
        return session.code.described(session.code.function(module, name))
    except CallError as error:
        if error.status is not Status.NOT_FOUND:  # programs look for names that there may not be
            session.options.tell(f"error: {error}")
        raise


def _variable(session: Session, payload: bytes) -> bytes:
    (module,) = words(payload, 1)
    return packed(*session.code.variable(module, payload[8:].decode()))


def _share(session: Session, payload: bytes) -> bytes:
    session.arena.share(payload.decode())
    return b""


def _launch(session: Session, payload: bytes) -> bytes:
    request, parameters = LaunchRequest.of(payload)
    session.check_stream(request.stream)
    if request.stream in session.graphs.capturing:
        session.graphs.keep(request.stream, Kind.LAUNCH, payload)
        return b""
    if request.is_cooperative:
        _check_cooperative(session, request)
    session.launch(request, parameters)
    return b""


def _check_cooperative(session: Session, request: LaunchRequest) -> None:
    """Checks that all thread blocks are resident at once: else CallError."""
    blocks = request.grid[0] * request.grid[1] * request.grid[2]
    threads = request.block[0] * request.block[1] * request.block[2]
    resident = _resident(session, request.function, threads, request.shared_bytes)
    if blocks > resident * session.devices[0].architecture.sm_count:
        raise CallError(Status.COOPERATIVE_LAUNCH_TOO_LARGE)


def _launch_failed(session: Session, payload: bytes) -> bytes:
    function, status = words(payload, 2)
    name = session.code.of_number(function).kernel.name if function else "a kernel"
    failure = Failure(
        name, _status(status), f"{name}: not launched: {_status(status).name.lower()}"
    )
    session.failures.append(failure)
    session.options.tell(f"error: {failure.text.replace('_', ' ')}")
    return b""


def _status(number: int) -> Status:
    known = {item.value for item in Status}
    return Status(number) if number in known else Status.INVALID_VALUE


def _occupancy(session: Session, payload: bytes) -> bytes:
    function, threads, shared_bytes = words(payload, 3)
    return packed(_resident(session, function, threads, shared_bytes))


def _resident(session: Session, function: int, threads: int, shared_bytes: int) -> int:
    """Thread blocks that one SM holds at a time; 0 where none fits."""
    device = session.devices[0]
    kernel = session.code.running(session.code.of_number(function))
    many = (device.sm.max_thread_blocks * device.architecture.sm_count, 1, 1)
    arguments = tuple(0 for _ in kernel.parameters)
    launch = Launch(many, (threads, 1, 1), arguments, dynamic_shared_bytes=shared_bytes)
    try:
        return occupancy(resource_needs(kernel, launch), launch.shape, device).thread_blocks_per_sm
    except KernelcastError:
        return 0


def _function_set(session: Session, payload: bytes) -> bytes:
    function, attribute, value = words(payload, 3)
    known = session.code.of_number(function)
    most = session.devices[0].sm.max_shared_bytes_per_thread_block
    if attribute == 8 and value + known.kernel.kernel.shared_bytes > most:
        raise CallError(Status.INVALID_VALUE, f"{value} bytes of dynamic shared memory")
    known.attributes[attribute] = value
    return b""


def _attribute(session: Session, payload: bytes) -> bytes:
    return packed(attributes_of(session.devices[0]).get(words(payload, 1)[0], 0))


def _properties(session: Session, payload: bytes) -> bytes:
    return properties_of(session.devices[0], words(payload, 1)[0])


def _texture_create(session: Session, payload: bytes) -> bytes:
    request = TextureRequest(*words(payload, _TEXTURE_WORDS))
    rest = payload[8 * _TEXTURE_WORDS :]
    levels = words(rest, len(rest) // 8)
    number = _FIRST_OBJECT + session.number()
    session.launches.objects[number] = texture_of(request, levels, session.arena.memory)
    return packed(number)


def _texture_destroy(session: Session, payload: bytes) -> bytes:
    (number,) = words(payload, 1)
    if session.launches.objects.pop(number, None) is None:
        raise CallError(Status.INVALID_HANDLE, "there is no such texture")
    return b""


def _refused(session: Session, payload: bytes) -> bytes:
    name, *where = payload.decode("utf-8", "replace").split("\0")
    if name not in session.refused:
        place = f" ({place_of(where[1], int(where[0], 16))})" if len(where) == 2 else ""
        session.options.tell(
            f"warning: the program calls {name}{place}, which is not supported; it is told so"
        )
    session.refused[name] = session.refused.get(name, 0) + 1
    return b""


CALLS = {
    Kind.MODULE: _module,
    Kind.UNITS: _units,
    Kind.MODULE_UNLOAD: _module_unload,
    Kind.LINK: _link,
    Kind.FUNCTION: _function,
    Kind.VARIABLE: _variable,
    Kind.SHARE: _share,
    Kind.LAUNCH: _launch,
    Kind.LAUNCH_FAILED: _launch_failed,
    Kind.OCCUPANCY: _occupancy,
    Kind.FUNCTION_SET: _function_set,
    Kind.ATTRIBUTE: _attribute,
    Kind.PROPERTIES: _properties,
    Kind.TEXTURE_CREATE: _texture_create,
    Kind.TEXTURE_DESTROY: _texture_destroy,
    Kind.REFUSED: _refused,
}
