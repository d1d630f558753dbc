"""What a page says of a program above the sections of its kernels, whatever kind of program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kernelcast.errors import KernelcastError
from kernelcast.program_capture.launches import most_explained
from kernelcast.program_capture.result import CaptureResult
from kernelcast.program_capture.timeline.span import SpanKind
from kernelcast.report.capture import capture_notes, capture_record, headline
from kernelcast.report.html.page import Cell
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.torch_modules.module_estimate import ModuleEstimate
from kernelcast.units import format_seconds

if TYPE_CHECKING:
    from kernelcast.program_capture.launches import Explained
    from kernelcast.program_capture.result import ProcessResult
    from kernelcast.program_capture.timeline.timeline import DeviceTimeline
    from kernelcast.torch_modules.module_estimate import ModuleKernel

__all__ = ["KernelTime", "Overview", "Track", "TrackSpan", "overview"]

_COPIES = "copies and fills"


@dataclass(frozen=True, slots=True)
class KernelTime:
    """All like launches of one kernel on one device; `total_s` is None where no time is known.

    `name` is what is shown, `kernel` what estimates call it.
    """

    kernel: str
    name: str
    device: str
    launches: int
    total_s: float | None
    bottleneck: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class TrackSpan:
    """What a track has from `start_s` to `end_s`."""

    name: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Track:
    """One row of a time line: a stream, or copies of one kind, of one device."""

    label: str
    spans: Sequence[TrackSpan]


@dataclass(frozen=True, slots=True)
class Overview:
    """A program: `columns` and `rows` of its totals, a row a device; its kernels; its time lines.

    `copies_s`: seconds of copies and fills by device. `record` is what its JSON has of it, without
    the launches one by one. `explained`: estimates with profiles, the kernels that take longest
    first.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    kernels: Sequence[KernelTime]
    copies_s: Mapping[str, float]
    notes: Sequence[str]
    record: Mapping[str, Any]
    explained: Sequence[Explained]
    tracks: Sequence[Track] = field(default_factory=tuple)

    def share(self, row: KernelTime) -> float | None:
        """The share of the time of all kernels on the device."""
        whole = sum(item.total_s or 0.0 for item in self.kernels if item.device == row.device)
        return None if row.total_s is None or not whole else row.total_s / whole


def overview(result: CaptureResult | ModuleEstimate) -> Overview:
    """What the page of a program begins with.

    KernelcastError where nothing was launched, or no launch was kept (`explained_kernels`).
    """
    found = _of_capture(result) if isinstance(result, CaptureResult) else _of_module(result)
    if not found.kernels:
        raise KernelcastError(f"{found.title}: without a launch there is no report")
    if not found.explained:
        raise KernelcastError(
            f"{found.title}: no launch was kept for a report: capture it with "
            "CaptureOptions(explained_kernels=12)"
        )
    return found


def _of_capture(result: CaptureResult) -> Overview:
    whole = capture_record(result)
    several = len(result.processes) > 1
    columns = (
        *(("process",) if several else ()),
        *("device", ">time line", ">kernels", ">from", ">to", ">copies", ">idle"),
        "most of the time",
    )
    rows: list[list[Cell]] = []
    kernels: list[KernelTime] = []
    tracks: list[Track] = []
    copies: dict[str, float] = {}
    for process in result.processes:
        for total, timeline in zip(process.totals, process.timelines, strict=True):
            first = [Cell(f"{process.process}: {process.program}")] if several else []
            seconds = (
                *(total.timeline_s, total.kernels_s, total.kernels_low_s, total.kernels_high_s),
                *(total.copies_s, total.idle_s),
            )
            rows.append([*first, Cell(total.device), *map(_time, seconds), Cell(total.bound)])
            copies[total.device] = copies.get(total.device, 0.0) + total.copies_s
            tracks += _tracks(process, timeline, f"{process.process} " if several else "")
        kernels += _captured_kernels(process, f", process {process.process}" if several else "")
    kernels.sort(key=lambda item: -(item.total_s or 0.0))
    return Overview(
        headline(result),
        columns,
        rows,
        kernels,
        copies,
        [line for process in result.processes for line in capture_notes(process)],
        {name: value for name, value in whole.items() if name not in ("launches", "copies")},
        list(_kept(result)),
        tracks,
    )


def _time(seconds: float) -> Cell:
    return Cell(format_seconds(seconds), seconds)


def _captured_kernels(process: ProcessResult, of: str) -> Iterator[KernelTime]:
    for item in process.kernels:
        rows = zip(process.devices, item.total_s, item.bottlenecks, strict=True)
        for device, seconds, bottleneck in rows:
            remark = "in place of a library's" if item.is_stand_in else ""
            name = source_name(item.kernel) + of
            yield KernelTime(item.kernel, name, device, item.launches, seconds, bottleneck, remark)


def _kept(result: CaptureResult) -> Iterator[Explained]:
    """The kernels that take longest first; of a kernel of several processes its longest launch."""
    longest: dict[str, Sequence[Explained]] = {}
    totals: dict[str, float] = {}
    for process in result.processes:
        for item in process.kernels:
            totals[item.kernel] = totals.get(item.kernel, 0.0) + item.total_s[0]
        for kernel, launch in process.explained.items():
            known = longest.get(kernel)
            if known is None or known[0][0].time_s < launch[0][0].time_s:
                longest[kernel] = launch
    for kernel in sorted(longest, key=lambda name: -totals[name]):
        yield from longest[kernel]


def _tracks(process: ProcessResult, timeline: DeviceTimeline, of: str) -> Iterator[Track]:
    found: dict[str, list[TrackSpan]] = {}
    for span in timeline.spans:
        is_kernel = span.kind is SpanKind.KERNEL
        name = source_name(process.launches[span.number].kernel) if is_kernel else _COPIES
        row = span.kind.value
        if is_kernel:
            row = "graph" if span.is_in_graph else f"stream {span.stream}"
        found.setdefault(row, []).append(TrackSpan(name, span.start_s, span.end_s))
    for row, spans in found.items():
        yield Track(f"{of}{timeline.device.name}, {row}", spans)


def _of_module(result: ModuleEstimate) -> Overview:
    columns = ("device", ">time", ">kernels", ">from", ">to", ">launches")
    rows = [
        [
            Cell(total.device),
            *map(_time, (total.time_s, total.kernels_s, total.kernels_low_s, total.kernels_high_s)),
            Cell(f"{total.launches:,}", total.launches),
        ]
        for total in result.totals
    ]
    of_module = [item for item in result.kernels if item.kind != "copy"]
    copies = {
        total.device: sum(
            item.launches * (item.time_s or 0.0)
            for item in result.kernels
            if item.kind == "copy" and item.device == total.device
        )
        for total in result.totals
    }
    return Overview(
        result.label,
        columns,
        rows,
        [_module_kernel(item) for item in of_module],
        copies,
        [
            f"{total.unknown:,} launches of libraries on {total.device} are counted, in no time."
            for total in result.totals
            if total.unknown
        ],
        result.as_dict(),
        list(_explained(of_module, most_explained(len(result.totals)))),
    )


def _module_kernel(item: ModuleKernel) -> KernelTime:
    seconds = None if item.time_s is None else item.launches * item.time_s
    remark = item.stands_for or ", ".join(item.operators)
    return KernelTime(
        item.kernel, item.kernel, item.device, item.launches, seconds, item.bottleneck, remark
    )


def _explained(kernels: Sequence[ModuleKernel], most: int) -> Iterator[Explained]:
    """The longest launch of each kernel and device, of so many kernels a device."""
    known: set[tuple[str, str]] = set()
    for item in sorted(kernels, key=lambda item: -item.launches * (item.time_s or 0.0)):
        of_device = sum(device == item.device for _, device in known)
        key = (item.kernel, item.device)
        if item.call is None or key in known or of_device >= most:
            continue
        known.add(key)
        yield item.call.estimates[item.device], item.call.profiles[item.device]
