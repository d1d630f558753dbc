"""Allocations, copies and fills."""

from __future__ import annotations

import numpy as np

from kernelcast.program_capture.arena import CallError
from kernelcast.program_capture.protocol import (
    Action,
    CopyRequest,
    Kind,
    Space,
    Status,
    packed,
    words,
)
from kernelcast.program_capture.session import CopyRecord, Session
from kernelcast.program_capture.timeline.span import SpanKind

__all__ = ["CALLS", "COPY_WORDS", "copy_in_graph", "fill"]

_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32}
COPY_WORDS = 12
_FILL_WORDS = 8
_POINTER_TYPES = {Space.DEVICE: 2, Space.ARRAY: 2, Space.HOST: 1, Space.MANAGED: 3}
"""Numbers of cudaMemoryType."""


def _allocate(session: Session, payload: bytes) -> bytes:
    size, space = words(payload, 2)
    return packed(session.arena.allocate(size, Space(space)))


def _free(session: Session, payload: bytes) -> bytes:
    address, _ = words(payload, 2)
    _synchronize(session)
    found = session.arena.memory.find(address)
    if found is not None:
        session.launches.contents.invalidate(found.address, found.size)
    session.arena.free(address)
    return b""


def _register(session: Session, payload: bytes) -> bytes:
    address, size = words(payload, 2)
    return packed(session.arena.register(address, size))


def _unregister(session: Session, payload: bytes) -> bytes:
    (address,) = words(payload, 1)
    return packed(*session.arena.unregister(address))


def _copy(session: Session, payload: bytes) -> bytes:
    request = CopyRequest(*words(payload, COPY_WORDS))
    session.check_stream(request.stream)
    if request.stream in session.graphs.capturing:
        session.graphs.keep(request.stream, Kind.COPY, payload)
        return packed(0)
    _put_copy(session, request, is_in_graph=False)
    return packed(1)


def copy_in_graph(session: Session, payload: bytes, stream: int) -> None:
    """Makes the program do a copy that it asked for when it made a graph."""
    request = CopyRequest(*words(payload, COPY_WORDS))._replace(stream=stream, is_async=1)
    _put_copy(session, request, is_in_graph=True)
    session.act(Action.ACT_COPY, payload[: 8 * COPY_WORDS])


def _put_copy(session: Session, request: CopyRequest, *, is_in_graph: bool) -> None:
    session.arena.check(request.to, request.to_span, "the destination of a copy")
    session.arena.check(request.source, request.source_span, "the source of a copy")
    to, source = (session.arena.space_of(item) for item in (request.to, request.source))
    is_pinned = to is not None and source is not None
    kind = _kind_of(to, source)
    if kind is None:  # the host does it
        return
    if kind is SpanKind.TO_DEVICE:
        session.launches.contents.invalidate(request.to, request.to_span)
    # Small copies from pageable memory are staged; others to and from it make the host wait.
    is_async = bool(request.is_async) and is_pinned
    record = CopyRecord(kind, request.bytes, request.stream, is_pinned)
    is_waited_for = not is_async and kind is not SpanKind.ON_DEVICE
    session.transfer(record, is_async=not is_waited_for, is_in_graph=is_in_graph)


def _kind_of(to: Space | None, source: Space | None) -> SpanKind | None:
    """Where bytes go; managed memory counts as the GPU's where the other side is the host's."""
    is_to_device = to in (Space.DEVICE, Space.ARRAY, Space.MANAGED)
    is_from_device = source in (Space.DEVICE, Space.ARRAY, Space.MANAGED)
    if is_to_device and is_from_device:
        return SpanKind.ON_DEVICE
    if is_to_device:
        return SpanKind.TO_DEVICE
    return SpanKind.TO_HOST if is_from_device else None


def _fill(session: Session, payload: bytes) -> bytes:
    stream = words(payload, _FILL_WORDS)[6]
    if stream in session.graphs.capturing:
        session.graphs.keep(stream, Kind.FILL, payload)
        return b""
    fill(session, payload, stream)
    return b""


def fill(session: Session, payload: bytes, stream: int, *, is_in_graph: bool = False) -> None:
    """Sets elements of rows to a value."""
    address, pitch, value, element, width, height, *_ = words(payload, _FILL_WORDS)
    if element not in _UNSIGNED:
        raise CallError(Status.INVALID_VALUE, f"a fill of elements of {element} bytes")
    row = width * element
    if not row or not height:
        return
    session.arena.check(address, (height - 1) * pitch + row, "a fill")
    memory, dtype = session.arena.memory, _UNSIGNED[element]
    for number in range(height if pitch != row else 1):
        count = width if pitch != row else width * height
        memory.fill(address + number * pitch, value & 2 ** (8 * element) - 1, count, dtype)
    record = CopyRecord(SpanKind.FILL, row * height, stream, True)
    session.transfer(record, is_async=True, is_in_graph=is_in_graph)


def _memory_info(session: Session, _payload: bytes) -> bytes:
    arena = session.arena
    return packed(arena.capacity_bytes - arena.used_bytes, arena.capacity_bytes)


def _pointer(session: Session, payload: bytes) -> bytes:
    (address,) = words(payload, 1)
    space = session.arena.space_of(address)
    found = session.arena.memory.find(address)
    if space is None or found is None:
        return packed(0, 0, 0)
    return packed(_POINTER_TYPES[space], found.address, found.size)


def _synchronize(session: Session) -> None:
    for timeline in session.timelines:
        timeline.synchronize(None)


CALLS = {
    Kind.ALLOCATE: _allocate,
    Kind.FREE: _free,
    Kind.REGISTER: _register,
    Kind.UNREGISTER: _unregister,
    Kind.COPY: _copy,
    Kind.FILL: _fill,
    Kind.MEMORY_INFO: _memory_info,
    Kind.POINTER: _pointer,
}
