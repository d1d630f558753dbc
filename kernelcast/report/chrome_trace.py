"""The time line of a captured program in the trace-event format that Perfetto and Chrome read.

One process for each device, one track for each stream; times are microseconds ("Trace Event
Format", the Chromium project).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kernelcast.program_capture.timeline.span import SpanKind
from kernelcast.simcore.isa.ir.source_names import source_name

if TYPE_CHECKING:
    from kernelcast.program_capture.result import CaptureResult, ProcessResult
    from kernelcast.program_capture.timeline.span import Span

__all__ = ["chrome_trace"]

_US = 1e6
_OF_GRAPHS = "graph"


def chrome_trace(result: CaptureResult) -> str:
    """All spans as a JSON object."""
    events: list[dict[str, Any]] = []
    for process in result.processes:
        for device, timeline in enumerate(process.timelines):
            number = len(events) + 1
            name = f"{timeline.device.name}: {process.program}"
            events.append(_named("process_name", number, 0, name))
            tracks: dict[str, int] = {}
            for span in timeline.spans:
                track = _track(span)
                if track not in tracks:
                    tracks[track] = len(tracks) + 1
                    events.append(_named("thread_name", number, tracks[track], track))
                events.append(_event(process, device, span, (number, tracks[track])))
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"})


def _named(kind: str, process: int, track: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": process, "tid": track, "args": {"name": name}}


def _track(span: Span) -> str:
    if span.kind is not SpanKind.KERNEL:
        return str(span.kind.value)
    return _OF_GRAPHS if span.is_in_graph else f"stream {span.stream}"


def _event(
    process: ProcessResult, device: int, span: Span, place: tuple[int, int]
) -> dict[str, Any]:
    return {
        "ph": "X",
        "name": _title(process, span),
        "cat": span.kind.value,
        "ts": span.start_s * _US,
        "dur": span.seconds * _US,
        "pid": place[0],
        "tid": place[1],
        "args": dict(_details(process, device, span)),
    }


def _title(process: ProcessResult, span: Span) -> str:
    if span.kind is SpanKind.KERNEL:
        return source_name(process.launches[span.number].kernel)
    return str(span.kind.value)


def _details(process: ProcessResult, device: int, span: Span) -> Iterator[tuple[str, Any]]:
    if span.kind is not SpanKind.KERNEL:
        yield "bytes", process.copies[span.number].bytes
        return
    launch = process.launches[span.number]
    yield "launch", span.number
    yield "grid", list(launch.request.grid)
    yield "block", list(launch.request.block)
    yield "limited by", launch.estimated.estimates[device].bottleneck
