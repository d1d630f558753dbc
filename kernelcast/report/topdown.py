"""A TopDown analysis as tables for a terminal, a record and rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType

from kernelcast.models.topdown import LEVELS
from kernelcast.report.data_table import DataTable, as_text
from kernelcast.report.tables import first_rows, rest_text
from kernelcast.simcore.isa.ir.source_names import source_name

if TYPE_CHECKING:
    from kernelcast.models.topdown import ApplicationTopDown, KernelTopDown, Part, TopDown
    from kernelcast.simcore.timing.launch.hot_lines import HotLine

__all__ = ["part_record", "topdown_record", "topdown_report", "topdown_rows"]

_HEADER = ("kernel", "invocation", "device", "ipc_max", "level", "part", "ipc", "percent")
_PATH_SEPARATOR = "/"
_SMALL_PERCENT = 1.0
_MOST_LINES, _MOST_KERNELS = 4, 8


def topdown_report(
    application: ApplicationTopDown, level: int, *, per_invocation: bool, detail: int
) -> RenderableType:
    """The parts of all kernels together, then the first level of each kernel and invocation.

    What has no share on the last level is left out; without details small parts and assumptions.
    """
    total = application.total
    notes = [f"assumed: {item}" for item in (*application.assumptions, *total.assumptions)]
    if not detail:
        notes = []
    if application.bottleneck:
        notes.insert(0, f"limited by {application.bottleneck}")
    tables = [_parts_table(total, level, notes, 0.0 if detail else _SMALL_PERCENT)]
    if len(application.kernels) > 1:
        tables.append(_kernels_table(application, detail))
    if application.hot_lines:
        tables.append(_lines_table(application.hot_lines, detail))
    if per_invocation:
        tables += [_invocations_table(kernel) for kernel in application.kernels]
    return Group(as_text(tables))


def _parts_table(result: TopDown, level: int, notes: Sequence[str], least: float) -> DataTable:
    rows = tuple(
        ("  " * (len(path) - 1) + part.name, f"{part.ipc:.3f}", f"{part.percent:.1f} %")
        for path, part in result.to_level(level).walk()
        if (part.ipc or len(path) < LEVELS[-1]) and (part.percent >= least or len(path) == 1)
    )
    return DataTable(
        f"{source_name(result.kernel)} on {result.device}",
        ("part", ">IPC", f">of IPC_MAX {result.ipc_max:g}"),
        rows,
        "\n".join(notes),
    )


def _lines_table(lines: Sequence[HotLine], detail: int) -> DataTable:
    rows = tuple(
        (
            *(PurePath(line.place).name, line.mnemonic, f"{line.percent:.1f} %"),
            *(
                f"{line.reason.ncu} {line.reason.detail}".rstrip(),
                PurePath(line.load.partition(" ")[0]).name,
            ),
        )
        for line in first_rows(lines, _MOST_LINES, detail)
    )
    columns = ("warps wait at", "before", ">of their cycles", "mostly", "for")
    return DataTable("", columns, rows, rest_text(len(rows), len(lines), "places"))


def _kernels_table(application: ApplicationTopDown, detail: int) -> DataTable:
    names = _first_level([kernel.mean for kernel in application.kernels])
    shown = first_rows(application.kernels, _MOST_KERNELS, detail)
    rows = tuple(
        (
            source_name(kernel.kernel),
            str(kernel.launch_count),
            f"{application.share(kernel):.1%}",
            *_percentages(kernel.mean, names),
        )
        for kernel in shown
    )
    columns = ("kernel", ">launches", ">time", *(f">{name}" for name in names))
    rest = rest_text(len(shown), len(application.kernels), "kernels")
    return DataTable("kernels, percent of IPC_MAX", columns, rows, rest)


def _invocations_table(kernel: KernelTopDown) -> DataTable:
    results = [invocation.result for invocation in kernel.invocations]
    names = _first_level(results)
    rows = tuple(
        (str(number), *_percentages(result, names)) for number, result in enumerate(results, 1)
    )
    columns = (">invocation", *(f">{name}" for name in names))
    return DataTable(f"{source_name(kernel.kernel)}, percent of IPC_MAX", columns, rows)


def _first_level(results: Sequence[TopDown]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.name for result in results for part in result.parts))


def _percentages(result: TopDown, names: Sequence[str]) -> Iterator[str]:
    found = {part.name: part.percent for part in result.parts}
    return (f"{found.get(name, 0.0):.1f}" for name in names)


def topdown_record(
    application: ApplicationTopDown, level: int, *, per_invocation: bool
) -> dict[str, Any]:
    """The kernel or, of several, all together and below `kernels` each by itself."""
    total = application.total
    record = {
        **_result_record(total, level),
        "assumptions": [*application.assumptions, *total.assumptions],
    }
    if application.bottleneck:
        record["bottleneck"] = application.bottleneck
    if application.hot_lines:
        record["hot_lines"] = [
            {
                "place": line.place,
                "mnemonic": line.mnemonic,
                "percent": line.percent,
                "reason": line.reason.ncu,
                "detail": line.reason.detail,
                "load": line.load,
            }
            for line in application.hot_lines
        ]
    if len(application.kernels) > 1:
        record["kernels"] = [
            {
                **_result_record(kernel.mean, level),
                "launches": kernel.launch_count,
                "time_share": application.share(kernel),
            }
            for kernel in application.kernels
        ]
    if per_invocation:
        record["invocations"] = [
            {"invocation": number, **_result_record(invocation.result, level)}
            for kernel in application.kernels
            for number, invocation in enumerate(kernel.invocations, 1)
        ]
    return record


def _result_record(result: TopDown, level: int) -> dict[str, Any]:
    return {
        "kernel": result.kernel,
        "device": result.device,
        "ipc_max": result.ipc_max,
        "parts": [part_record(part) for part in result.to_level(level).parts],
    }


def part_record(part: Part) -> dict[str, Any]:
    """A part with those below it, as a record."""
    return {
        "name": part.name,
        "ipc": part.ipc,
        "percent": part.percent,
        "parts": [part_record(below) for below in part.parts],
    }


def topdown_rows(
    application: ApplicationTopDown, level: int, *, per_invocation: bool
) -> Iterator[Sequence[object]]:
    """One row a part: of all kernels together, of each kernel, of each invocation."""
    yield _HEADER
    yield from _result_rows(application.total, level, "")
    if len(application.kernels) > 1:
        for kernel in application.kernels:
            yield from _result_rows(kernel.mean, level, "")
    if per_invocation:
        for kernel in application.kernels:
            for number, invocation in enumerate(kernel.invocations, 1):
                yield from _result_rows(invocation.result, level, number)


def _result_rows(result: TopDown, level: int, invocation: int | str) -> Iterator[Sequence[object]]:
    for path, part in result.to_level(level).walk():
        name = _PATH_SEPARATOR.join(path)
        place = (result.kernel, invocation, result.device, result.ipc_max)
        yield (*place, len(path), name, part.ipc, part.percent)
