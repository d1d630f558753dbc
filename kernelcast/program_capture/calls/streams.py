"""Streams, events, functions of the host, and the clock."""

from __future__ import annotations

import struct

from kernelcast.program_capture.arena import CallError
from kernelcast.program_capture.protocol import ALL_STREAMS, Action, Kind, Status, packed, words
from kernelcast.program_capture.session import Session

__all__ = ["CALLS"]

_DISABLE_TIMING = 2
"""A flag of events that are there to be waited for only."""


def _synchronize(session: Session, payload: bytes) -> bytes:
    (stream,) = words(payload, 1)
    if stream != ALL_STREAMS:
        session.check_stream(stream)
    for timeline in session.timelines:
        timeline.synchronize(None if stream == ALL_STREAMS else stream)
    if session.pending is not Status.SUCCESS:
        status, session.pending = session.pending, Status.SUCCESS
        raise CallError(status)
    return b""


def _stream_create(session: Session, payload: bytes) -> bytes:
    flags, priority = words(payload, 2)
    number = session.number()
    session.streams[number] = flags, priority
    for timeline in session.timelines:
        timeline.streams.create(number, flags)
    return packed(number)


def _stream_destroy(session: Session, payload: bytes) -> bytes:
    (stream,) = words(payload, 1)
    if session.streams.pop(stream, None) is None:
        raise CallError(Status.INVALID_HANDLE, f"there is no stream {stream:#x}")
    for timeline in session.timelines:
        timeline.streams.destroy(stream)
    return b""


def _stream_info(session: Session, payload: bytes) -> bytes:
    (stream,) = words(payload, 1)
    session.check_stream(stream)
    return packed(*session.streams.get(stream, (0, 0)))


def _stream_wait(session: Session, payload: bytes) -> bytes:
    stream, event = words(payload, 2)
    session.check_stream(stream)
    if not session.graphs.wait(stream, event):
        for timeline in session.timelines:
            timeline.wait_for(stream, event)
    return b""


def _event_create(session: Session, payload: bytes) -> bytes:
    number = session.number()
    session.events[number] = words(payload, 1)[0]
    return packed(number)


def _event_destroy(session: Session, payload: bytes) -> bytes:
    (event,) = words(payload, 1)
    session.events.pop(event, None)
    for timeline in session.timelines:
        timeline.events.pop(event, None)
    return b""


def _event_record(session: Session, payload: bytes) -> bytes:
    event, stream = words(payload, 2)
    session.check_stream(stream)
    if event not in session.events:
        raise CallError(Status.INVALID_HANDLE, f"there is no event {event:#x}")
    if stream in session.graphs.capturing:
        session.graphs.record(event, stream)
        return b""
    for timeline in session.timelines:
        timeline.record(event, stream)
    return b""


def _event_synchronize(session: Session, payload: bytes) -> bytes:
    (event,) = words(payload, 1)
    for timeline in session.timelines:
        timeline.synchronize_event(event)
    return b""


def _event_elapsed(session: Session, payload: bytes) -> bytes:
    first, second = words(payload, 2)
    events = session.timelines[0].events
    flags = session.events.get(first, 0) | session.events.get(second, 0)
    if not events.keys() >= {first, second} or flags & _DISABLE_TIMING:
        raise CallError(Status.INVALID_HANDLE, "an event without a time")
    return struct.pack("<d", (events[second] - events[first]) * 1e3)


def _call(session: Session, payload: bytes) -> bytes:
    *_, stream = words(payload, 3)
    if stream in session.graphs.capturing:
        session.graphs.keep(stream, Kind.CALL, payload)
        return b""
    session.act(Action.ACT_CALL, payload[:16])
    return b""


def _reset(session: Session, _payload: bytes) -> bytes:
    session.reset()
    return b""


def _time(session: Session, _payload: bytes) -> bytes:
    return packed(int(session.timelines[0].host_s * 1e9))


CALLS = {
    Kind.SYNCHRONIZE: _synchronize,
    Kind.STREAM_CREATE: _stream_create,
    Kind.STREAM_DESTROY: _stream_destroy,
    Kind.STREAM_INFO: _stream_info,
    Kind.STREAM_WAIT: _stream_wait,
    Kind.EVENT_CREATE: _event_create,
    Kind.EVENT_DESTROY: _event_destroy,
    Kind.EVENT_RECORD: _event_record,
    Kind.EVENT_SYNCHRONIZE: _event_synchronize,
    Kind.EVENT_ELAPSED: _event_elapsed,
    Kind.CALL: _call,
    Kind.RESET: _reset,
    Kind.TIME: _time,
}
