"""What became of a captured program, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kernelcast.models.estimate import Estimate
from kernelcast.notebook import Tabular
from kernelcast.program_capture.launches import Explained
from kernelcast.program_capture.session import CopyRecord, Failure, LaunchRecord, Session
from kernelcast.program_capture.timeline.span import Span, SpanKind
from kernelcast.program_capture.timeline.timeline import DeviceTimeline
from kernelcast.simcore.device.device import Device

__all__ = ["CaptureResult", "DeviceTotal", "KernelTotal", "ProcessResult"]


@dataclass(frozen=True)
class DeviceTotal:
    """Seconds of a program on one device.

    `kernels_s` and `copies_s` add up all launches, and all copies and fills; `kernels_low_s` and
    `kernels_high_s` the lower and the upper ends of the estimates of all launches. `timeline_s`:
    from the first call to the end of everything. `idle_s`: when the device had nothing to do;
    `host_waits_s`: when the host waited for it. `assumed`: facts of its link to the host that
    nobody measured.
    """

    device: str
    kernels_s: float
    kernels_low_s: float
    kernels_high_s: float
    copies_s: float
    timeline_s: float
    idle_s: float
    host_waits_s: float
    assumed: tuple[str, ...] = ()

    @property
    def bound(self) -> str:
        """What most of the time goes to: `kernels`, `copies` or `launches`, which is waiting."""
        parts = {"kernels": self.kernels_s, "copies": self.copies_s, "launches": self.idle_s}
        return max(parts, key=lambda name: parts[name])


@dataclass(frozen=True)
class KernelTotal:
    """All launches of one kernel on the devices, in their order; seconds.

    `first_s`, `last_s`: its first and its last launch.
    """

    kernel: str
    launches: int
    total_s: tuple[float, ...]
    first_s: tuple[float, ...]
    last_s: tuple[float, ...]
    bottlenecks: tuple[str, ...]
    is_stand_in: bool
    """Whether the kernel is one of ours in place of a closed library's."""


@dataclass(frozen=True)
class ProcessResult:
    """One process that used the GPU."""

    program: str
    process: int
    devices: tuple[str, ...]
    launches: Sequence[LaunchRecord]
    copies: Sequence[CopyRecord]
    timelines: Sequence[DeviceTimeline]
    failures: Sequence[Failure]
    refused: dict[str, int]
    estimated: int
    skipped: int
    stale_reads: int
    largest_change: float
    most_used_bytes: int
    explained: Mapping[str, Sequence[Explained]] = field(default_factory=dict)
    """The longest launches by kernel, on each device; see `CaptureOptions.explained_kernels`."""

    @classmethod
    def of(cls, session: Session) -> ProcessResult:
        """What a session has seen."""
        return cls(
            session.program,
            session.process,
            tuple(device.name for device in session.devices),
            session.launched,
            session.copied,
            session.timelines,
            session.failures,
            session.refused,
            session.launches.estimated,
            session.launches.skipped,
            session.stale_reads,
            session.launches.largest_change,
            session.arena.most_used_bytes,
            session.launches.longest.kept,
        )

    @property
    def totals(self) -> list[DeviceTotal]:
        """One for each device."""
        return [
            _total(timeline, [record.estimated.estimates[number] for record in self.launches])
            for number, timeline in enumerate(self.timelines)
        ]

    @property
    def kernels(self) -> list[KernelTotal]:
        """One for each kernel; what takes longest on the first device comes first."""
        by_name: dict[str, list[LaunchRecord]] = {}
        for record in self.launches:
            by_name.setdefault(record.kernel, []).append(record)
        found = [_kernel_total(name, records) for name, records in by_name.items()]
        return sorted(found, key=lambda item: -item.total_s[0])


@dataclass(frozen=True, repr=False)
class CaptureResult(Tabular):
    """A program that ended with `status`, negative for a signal."""

    command: tuple[str, ...]
    status: int
    processes: Sequence[ProcessResult]
    seconds: float
    """How long the capture took."""

    @property
    def label(self) -> str:
        """The program, and how often it launched kernels."""
        launches = sum(len(process.launches) for process in self.processes)
        return f"capture of {self.command[0] if self.command else ''}: {launches} launches"

    @property
    def failed(self) -> int:
        """Calls that failed so that results cannot be believed."""
        return sum(len(process.failures) for process in self.processes)

    @property
    def stale_reads(self) -> int:
        """Copies to the host after launches that were not executed: what they brought is wrong."""
        return sum(process.stale_reads for process in self.processes)


def _total(timeline: DeviceTimeline, estimates: Sequence[Estimate]) -> DeviceTotal:
    kernels = sum(span.seconds for span in timeline.spans if span.kind is SpanKind.KERNEL)
    copies = sum(span.seconds for span in timeline.spans if span.kind is not SpanKind.KERNEL)
    end = timeline.end_s
    device = timeline.device
    return DeviceTotal(
        device.name,
        kernels,
        sum(item.time_low_s for item in estimates),
        sum(item.time_high_s for item in estimates),
        copies,
        end,
        end - _busy_s(timeline.spans),
        timeline.waited_s,
        _assumed(device),
    )


def _assumed(device: Device) -> tuple[str, ...]:
    if device.host_link is None:
        return ("host_link, as of PCI Express 4.0",)
    return tuple(fact for fact in device.assumed if fact.startswith("host_link."))


def _busy_s(spans: Sequence[Span]) -> float:
    """Seconds in which at least one span is there."""
    busy, until = 0.0, 0.0
    for span in sorted(spans, key=lambda item: item.start_s):
        if span.end_s > until:
            busy += span.end_s - max(span.start_s, until)
            until = span.end_s
    return busy


def _kernel_total(name: str, records: Sequence[LaunchRecord]) -> KernelTotal:
    devices = range(len(records[0].estimated.estimates))
    seconds = [record.estimated.seconds for record in records]
    last = records[-1].estimated.estimates
    return KernelTotal(
        name,
        len(records),
        tuple(sum(item[device] for item in seconds) for device in devices),
        seconds[0],
        seconds[-1],
        tuple(item.bottleneck for item in last),
        records[0].is_stand_in,
    )
