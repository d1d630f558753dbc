"""The report of a captured program: text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from kernelcast.report.tables import column_table
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.units import format_seconds

if TYPE_CHECKING:
    from kernelcast.program_capture.result import CaptureResult, KernelTotal, ProcessResult

__all__ = ["capture_notes", "capture_record", "capture_report", "headline"]

_MOST_KERNELS = 10


def capture_report(result: CaptureResult) -> RenderableType:
    """Totals of each device first, then the kernels by their time."""
    parts: list[RenderableType] = [Text(headline(result), style="bold")]
    for process in result.processes:
        if len(result.processes) > 1:
            parts.append(Text(f"process {process.process}: {process.program}"))
        parts += [*_process_parts(process), Text()]
    return Group(*parts)


def headline(result: CaptureResult) -> str:
    """The program, how many launches it made, and how it ended."""
    name = " ".join(result.command)
    launches = sum(len(process.launches) for process in result.processes)
    if not result.processes:
        return f"{name}: it made no call to a GPU (exit status {result.status})"
    ended = f"exit status {result.status}"
    if result.failed:
        ended += f", {result.failed} failed: its results cannot be believed"
    elif result.stale_reads:
        ended += ", it read results that --fast left out: they are wrong"
    return f"{name}: {launches:,} launches ({ended})"


def _process_parts(process: ProcessResult) -> Iterator[RenderableType]:
    totals = column_table(
        "", "device", ">time line", ">kernels", ">between", ">copies", ">idle", "most of the time"
    )
    for total in process.totals:
        totals.add_row(
            total.device,
            format_seconds(total.timeline_s),
            format_seconds(total.kernels_s),
            f"{format_seconds(total.kernels_low_s)} and {format_seconds(total.kernels_high_s)}",
            format_seconds(total.copies_s),
            format_seconds(total.idle_s),
            total.bound,
        )
    yield totals
    if process.kernels:
        yield _kernel_table(process)
    yield from map(Text, capture_notes(process))


def capture_notes(process: ProcessResult) -> Iterator[str]:
    """What the times rest on, and what was left out, in sentences."""
    for assumed in dict.fromkeys(total.assumed for total in process.totals if total.assumed):
        names = ", ".join(total.device for total in process.totals if total.assumed == assumed)
        yield f"Copies and calls of the host, assumed of {names}: {', '.join(assumed)}."
    stand_ins = sum(item.launches for item in process.kernels if item.is_stand_in)
    if stand_ins:
        yield (
            f"{stand_ins:,} launches are of kernels of kernelcast (kernelcast_...) in place of "
            "cuBLAS's and cuRAND's: their times are not those of NVIDIA's kernels."
        )
    known = len(process.launches) - process.estimated
    if known > 0:
        change = f"{100 * process.largest_change:.1f} %"
        yield (
            f"{process.estimated:,} launches were estimated; {known:,} repeat one of them or "
            f"differ in numbers only. Checks of repeats changed a time by {change} at most."
        )
    if process.skipped:
        yield (
            f"{process.skipped:,} repeats were not executed (--fast); {process.stale_reads:,} "
            "copies to the host came after them."
        )
    for name, count in process.refused.items():
        yield (f"not supported: {name} ({count} calls)")


def _kernel_table(process: ProcessResult) -> Table:
    columns = [f">{name}" for name in process.devices]
    table = column_table(
        "", "kernel", ">launches", *columns, ">share", ">first", ">last", "limited by"
    )
    kernels = process.kernels
    whole = sum(item.total_s[0] for item in kernels)
    for item in kernels[:_MOST_KERNELS]:
        table.add_row(*_kernel_row(item, whole))
    rest = kernels[_MOST_KERNELS:]
    if rest:
        launches = sum(item.launches for item in rest)
        table.add_row(f"{len(rest)} more", f"{launches:,}")
    return table


def _kernel_row(item: KernelTotal, whole: float) -> list[str]:
    return [
        source_name(item.kernel),
        f"{item.launches:,}",
        *(format_seconds(seconds) for seconds in item.total_s),
        f"{100 * item.total_s[0] / whole:.1f} %" if whole else "",
        format_seconds(item.first_s[0]),
        format_seconds(item.last_s[0]),
        item.bottlenecks[0],
    ]


def capture_record(result: CaptureResult) -> dict[str, Any]:
    """The launches, copies and totals of all processes, as a record."""
    launches: list[dict[str, Any]] = []
    copies: list[dict[str, Any]] = []
    totals: list[dict[str, Any]] = []
    kernels: list[dict[str, Any]] = []
    for process in result.processes:
        launches += _launches(process)
        kernels += _kernels(process)
        copies += [
            {
                "index": number,
                "process": process.process,
                "kind": item.kind.value,
                "bytes": item.bytes,
                "stream": item.stream,
                "is_pinned": item.is_pinned,
            }
            for number, item in enumerate(process.copies)
        ]
        totals += [
            {
                "process": process.process,
                "device": total.device,
                "kernels_s": total.kernels_s,
                "kernels_low_s": total.kernels_low_s,
                "kernels_high_s": total.kernels_high_s,
                "copies_s": total.copies_s,
                "timeline_s": total.timeline_s,
                "idle_s": total.idle_s,
                "host_waits_s": total.host_waits_s,
                "assumed": list(total.assumed),
                "bound": total.bound,
            }
            for total in process.totals
        ]
    return {
        "program": list(result.command),
        "exit_status": result.status,
        "failed": result.failed,
        "failures": [
            {"what": item.what, "status": int(item.status), "text": item.text}
            for process in result.processes
            for item in process.failures
        ],
        "refused": {
            name: count for process in result.processes for name, count in process.refused.items()
        },
        "estimated": sum(process.estimated for process in result.processes),
        "skipped": sum(process.skipped for process in result.processes),
        "stale_reads": result.stale_reads,
        "totals": totals,
        "kernels": kernels,
        "copies": copies,
        "launches": launches,
    }


def _kernels(process: ProcessResult) -> Iterator[dict[str, Any]]:
    """All launches of a kernel together, those that take longest first."""
    wholes = [
        sum(item.total_s[at] for item in process.kernels) for at in range(len(process.devices))
    ]
    for item in process.kernels:
        yield {
            "process": process.process,
            "kernel": item.kernel,
            "is_stand_in": item.is_stand_in,
            "launches": item.launches,
            "estimates": [
                {
                    "device": device,
                    "total_s": item.total_s[at],
                    "mean_s": item.total_s[at] / item.launches,
                    "share": item.total_s[at] / wholes[at] if wholes[at] else None,
                    "first_s": item.first_s[at],
                    "last_s": item.last_s[at],
                    "bottleneck": item.bottlenecks[at],
                }
                for at, device in enumerate(process.devices)
            ],
        }


def _launches(process: ProcessResult) -> Iterator[dict[str, Any]]:
    for number, item in enumerate(process.launches):
        yield {
            "index": number,
            "process": process.process,
            "kernel": item.kernel,
            "is_stand_in": item.is_stand_in,
            "grid": list(item.request.grid),
            "block": list(item.request.block),
            "shared_bytes": item.request.shared_bytes,
            "stream": item.request.stream,
            "estimates": [
                {
                    "device": estimate.device,
                    "time_s": estimate.time_s,
                    "time_low_s": estimate.time_low_s,
                    "time_high_s": estimate.time_high_s,
                    "bottleneck": estimate.bottleneck,
                }
                for estimate in item.estimated.estimates
            ],
        }
