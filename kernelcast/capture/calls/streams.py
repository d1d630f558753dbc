"""Streams, events, functions of the host, and the clock."""

from __future__ import annotations

import struct

from kernelcast.capture.arena import CallError
from kernelcast.capture.protocol import ALL_STREAMS, Action, Kind, Status, packed, words
from kernelcast.capture.session import Session

__all__ = ["CALLS"]

_DISABLE_TIMING = 2
"""A flag of events that are there to be waited for only."""


def _synchronize(session: Session, payload: bytes) -> bytes:
    (stream,) = words(payload, 1)
    for timeline in session.timelines:
        timeline.synchronize(None if stream == ALL_STREAMS else stream)
    if session.pending is not Status.SUCCESS:
        status, session.pending = session.pending, Status.SUCCESS
        raise CallError(status)
    return b""


def _stream_create(session: Session, payload: bytes) -> bytes:
    flags, _priority = words(payload, 2)
    number = session.number()
    for timeline in session.timelines:
        timeline.streams.create(number, flags)
    return packed(number)


def _stream_destroy(session: Session, payload: bytes) -> bytes:
    (stream,) = words(payload, 1)
    for timeline in session.timelines:
        timeline.streams.destroy(stream)
    return b""


def _stream_wait(session: Session, payload: bytes) -> bytes:
    stream, event = words(payload, 2)
    if not session.graphs.wait(stream, event):
        for timeline in session.timelines:
            timeline.wait_for(stream, event)
    return b""


def _event_create(session: Session, payload: bytes) -> bytes:
    number = session.number()
    if words(payload, 1)[0] & _DISABLE_TIMING:
        session.untimed.add(number)
    return packed(number)


def _event_destroy(session: Session, payload: bytes) -> bytes:
    (event,) = words(payload, 1)
    for timeline in session.timelines:
        timeline.events.pop(event, None)
    return b""


def _event_record(session: Session, payload: bytes) -> bytes:
    event, stream = words(payload, 2)
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
    if not events.keys() >= {first, second} or session.untimed & {first, second}:
        raise CallError(Status.INVALID_HANDLE, "an event without a time")
    return struct.pack("<d", (events[second] - events[first]) * 1e3)


def _call(session: Session, payload: bytes) -> bytes:
    *_, stream = words(payload, 3)
    if stream in session.graphs.capturing:
        session.graphs.keep(stream, Kind.CALL, payload)
        return b""
    session.act(Action.ACT_CALL, payload[:16])
    return b""


def _time(session: Session, _payload: bytes) -> bytes:
    return packed(int(session.timelines[0].host_s * 1e9))


CALLS = {
    Kind.SYNCHRONIZE: _synchronize,
    Kind.STREAM_CREATE: _stream_create,
    Kind.STREAM_DESTROY: _stream_destroy,
    Kind.STREAM_WAIT: _stream_wait,
    Kind.EVENT_CREATE: _event_create,
    Kind.EVENT_DESTROY: _event_destroy,
    Kind.EVENT_RECORD: _event_record,
    Kind.EVENT_SYNCHRONIZE: _event_synchronize,
    Kind.EVENT_ELAPSED: _event_elapsed,
    Kind.CALL: _call,
    Kind.TIME: _time,
}
