"""The time line of a program on one GPU.

The host gives work to streams and goes on, each launch taking `launch_call_s` of its time. A copy
of memory that is not page-locked and every synchronization make it wait. Each direction of the link
to the host does one copy at a time. Kernels of different streams run side by side as long as their
thread blocks have room on the SMs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kernelcast.program_capture.timeline.span import Span, SpanKind
from kernelcast.program_capture.timeline.streams import Streams
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.host_link_facts import HostLinkFacts

__all__ = ["DeviceTimeline", "Work"]

_USUAL_LINK = HostLinkFacts(25.2e9, 12e9, 8e-6, 2.5e-6)
"""PCI Express 4.0, for device files that do not say it."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Work:
    """Something to put into a time line: `bytes` of a copy or fill, `seconds` of a kernel.

    `share` of the SMs is taken. `is_pinned`: the host's memory is page-locked; `is_async`: the host
    does not wait.
    """

    kind: SpanKind
    number: int
    stream: int
    seconds: float = 0.0
    share: float = 1.0
    bytes: int = 0
    is_pinned: bool = True
    is_async: bool = True
    is_in_graph: bool = False
    """Then the host gave it with the whole graph."""


@dataclass
class DeviceTimeline:
    """Spans in the order in which the program asked for them; all times in seconds."""

    device: Device
    host_s: float = 0.0
    """Where the host is."""
    streams: Streams = field(default_factory=Streams)
    spans: list[Span] = field(default_factory=list)
    events: dict[int, float] = field(default_factory=dict)
    waited_s: float = 0.0
    """How long the host has waited for the GPU."""
    _running: list[tuple[float, float]] = field(default_factory=list)
    _link_free: dict[SpanKind, float] = field(default_factory=dict)

    @property
    def link(self) -> HostLinkFacts:
        """What is known of the way to the host."""
        return self.device.host_link or _USUAL_LINK

    @property
    def end_s(self) -> float:
        """When everything is done."""
        return max(self.host_s, self.streams.done_at(None))

    def pass_host_time(self, seconds: float) -> None:
        """The program does something else for a while."""
        self.host_s += seconds

    def add(self, work: Work) -> Span:
        """Puts work behind what its stream has to do."""
        if not work.is_in_graph:
            self.host_s += self.link.launch_call_s
        earliest = max(self.host_s, self.streams.free_at(work.stream))
        if work.kind is SpanKind.KERNEL:
            span = self._kernel(work, earliest)
        else:
            span = self._transfer(work, earliest)
        self.streams.give(work.stream, span.end_s)
        self.spans.append(span)
        if not work.is_async:
            self._wait_until(span.end_s)
        return span

    def begin_graph(self) -> None:
        """The host gives a graph to a stream."""
        self.host_s += self.link.launch_call_s

    def begin_node(self, own: int, before: Sequence[int]) -> None:
        """A node of a graph is a stream of its own, which begins when others are done."""
        self.streams.create_behind(own, before)

    def end_nodes(self, stream: int, nodes: Sequence[int]) -> None:
        """The stream of a graph is done when all nodes are."""
        self.streams.join(stream, nodes)

    def synchronize(self, stream: int | None) -> None:
        """The host waits for a stream, or with None for all."""
        self._wait_until(self.streams.done_at(stream))

    def record(self, event: int, stream: int) -> None:
        """An event happens when its stream is done with what it has."""
        self.events[event] = max(self.host_s, self.streams.free_at(stream))

    def wait_for(self, stream: int, event: int) -> None:
        """What follows in a stream waits for an event; nothing where it was not recorded."""
        if event in self.events:
            self.streams.wait(stream, self.events[event])

    def synchronize_event(self, event: int) -> None:
        """The host waits for an event."""
        self._wait_until(self.events.get(event, 0.0))

    def _wait_until(self, time: float) -> None:
        if time > self.host_s:
            self.waited_s += time - self.host_s
            self.host_s = time

    def _kernel(self, work: Work, earliest: float) -> Span:
        share = min(work.share, 1.0)
        start = earliest
        self._running = [item for item in self._running if item[0] > earliest]
        for end, _ in sorted(self._running):
            if (
                sum(other for until, other in self._running if until > start) + share
                <= 1 + _ROUNDING
            ):
                break
            start = max(start, end)
        self._running.append((start + work.seconds, share))
        return _span(work, start, start + work.seconds)

    def _transfer(self, work: Work, earliest: float) -> Span:
        link = self.link
        if not work.kind.is_copy:
            moved = work.bytes * (2 if work.kind is SpanKind.ON_DEVICE else 1)
            seconds = moved / self.device.dram.bandwidth_bytes_per_s
            launch = self.device.timing
            seconds += 0.0 if launch is None else launch.launch_overhead_s
            return _span(work, earliest, earliest + seconds)
        rate = link.bandwidth_bytes_per_s
        if not work.is_pinned:
            rate = link.pageable_bandwidth_bytes_per_s
        start = max(earliest, self._link_free.get(work.kind, 0.0))
        end = start + link.latency_s + work.bytes / rate
        self._link_free[work.kind] = end
        return _span(work, start, end)


def _span(work: Work, start: float, end: float) -> Span:
    return Span(work.kind, work.number, work.stream, start, end, work.is_in_graph)
