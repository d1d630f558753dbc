"""What the measuring tools share on the command line, and the loop over all cases."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kernelcast.errors import KernelcastError
from kernelcast.measuring.accelerator import Accelerator, DeviceLost, MeasuringError
from kernelcast.measuring.cases import (
    ROOT,
    Case,
    PreparedCase,
    cases_of,
    find_workloads,
    prepared_ahead,
)
from kernelcast.measuring.machine_code import LoadSource, as_source
from kernelcast.measuring.measurement import LEAST_REPEATS, Session, Settings
from kernelcast.measuring.results import Results
from kernelcast.measuring.sanity import row_warnings
from kernelcast.units import format_seconds
from kernelcast.validation.latency_chains import MeasuredLatencies
from kernelcast.validation.measured_times import FailedCase, MeasuredRow
from kernelcast.workload.workload import Workload

__all__ = [
    "DRY_RUN_SIZES",
    "Counted",
    "Counters",
    "Latencies",
    "SourceOf",
    "add_common_options",
    "exit_status",
    "find_chosen",
    "list_cases",
    "measure_all",
]

DRY_RUN_SIZES = ("small",)
_MEASURED = ROOT / "validation" / "measured"
_DRY = "loaded, filled and packed; nothing executed"
_COUNTED_AT_ONCE = 16
"""Cases of one run of a profiler: few enough that little is lost when one breaks it."""
_FAILED, _UNUSABLE, _INTERRUPTED = 1, 2, 130

SourceOf = Callable[[Workload], Path | None]
"""The source file that the device takes; None when the workload has none for it."""

Counted = tuple[Mapping[str, float], tuple[str, ...]]
"""Metrics of one launch, and warnings."""

_NOT_COUNTED: Counted = ({}, ())

Counters = Callable[[Sequence[Case]], Iterable[Counted]]
"""A profiler: what it counted of one launch of each case."""

Latencies = Callable[[Accelerator], MeasuredLatencies]
"""What times chains of dependent instructions."""


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that all measuring tools have."""
    _add_choices(parser)
    parser.add_argument(
        "--repeats",
        type=_repeats,
        default=LEAST_REPEATS,
        metavar="N",
        help=f"timed launches of each case, {LEAST_REPEATS} or more (default: {LEAST_REPEATS})",
    )
    parser.add_argument(
        "--no-check",
        action="store_true",
        help="do not compare results with the references; rows are marked",
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="where the results go (default: validation/measured; a new temporary folder for a "
        "dry run)",
    )
    parser.add_argument("--resume", action="store_true", help="go on with results that are there")
    parser.add_argument("--overwrite", action="store_true", help="replace results that are there")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="do everything but execute, on a machine without a device: load, fill, pack and write "
        "for the small size (or --size); the results are marked",
    )


def _add_choices(parser: argparse.ArgumentParser) -> None:
    """What is measured, and on what."""
    parser.add_argument(
        "--workload",
        action="append",
        default=[],
        metavar="NAME",
        help="only this workload, such as memory/triad, or this folder, such as memory or "
        "examples; may be repeated (default: all)",
    )
    parser.add_argument(
        "--size",
        action="append",
        default=[],
        metavar="NAME",
        help="only this size, such as small; may be repeated (default: all)",
    )
    parser.add_argument("--list", action="store_true", help="show workloads and sizes, and end")
    parser.add_argument(
        "--device", type=int, default=0, metavar="N", help="number of the device (default: 0)"
    )


def _repeats(text: str) -> int:
    if not text.isdecimal() or int(text) < LEAST_REPEATS:
        raise argparse.ArgumentTypeError(f"must be {LEAST_REPEATS} or more, got {text!r}")
    return int(text)


def find_chosen(arguments: argparse.Namespace, source_of: SourceOf) -> list[Case | FailedCase]:
    """The cases that the options name; a workload that cannot be read is a failure of its own."""
    sizes = arguments.size or (list(DRY_RUN_SIZES) if arguments.dry_run else [])
    found: list[Case | FailedCase] = []
    for name, file in find_workloads(arguments.workload).items():
        try:
            cases = cases_of(name, file, sizes)
        except KernelcastError as error:
            found.append(FailedCase(name, "", str(error)))
            continue
        found += [case for case in cases if source_of(case.workload) is not None]
    if not found:
        raise MeasuringError(
            "no workload that was asked for has a source for this kind of device"
            + (f" and a size {' or '.join(sizes)}" if sizes else "")
        )
    return found


def list_cases(chosen: Sequence[Case | FailedCase]) -> None:
    """One line for each case: workload, size and its values."""
    for case in chosen:
        if isinstance(case, FailedCase):
            _show(f"{case.workload}: {_one_line(case.error)}")
            continue
        values = " ".join(f"{key}={value}" for key, value in case.workload.size(case.size).items())
        _show(f"{case.name:<40} {case.size:<8} {values}")


def measure_all(
    device: Accelerator,
    arguments: argparse.Namespace,
    source_of: SourceOf,
    counters: Counters | None = None,
    load: LoadSource = as_source,
    latencies: Latencies | None = None,
) -> int:
    """Measures the chosen cases one by one, writing after each; 1 when one failed, else 0.

    `latencies`, before them, where the file has none.
    """
    chosen = find_chosen(arguments, source_of)
    results = Results.begin(
        _folder(arguments), device, resume=arguments.resume, overwrite=arguments.overwrite
    )
    failed_before = {(item.workload, item.size) for item in results.measured.failures}
    chosen.sort(key=lambda case: _key(case) in failed_before)  # they may fail the device again
    session = Session(device, _settings(arguments))
    results.set_launch_overhead(session.launch_overhead())
    if latencies is not None and results.measured.latencies is None:
        results.set_latencies(latencies(device))
        results.write()
        _show(_chains(results))
    run = _Run(device, session, results, source_of, load)
    good = 0
    for number, (case, to_do) in enumerate(_with_counts(chosen, results, counters), 1):
        is_good, text = run.take(case, to_do)
        good += is_good
        _show(f"[{number}/{len(chosen)}] {' '.join(_key(case))}: {text}")
    results.write()
    _show(f"{good} of {len(chosen)} good: {results.path}")
    return 0 if good == len(chosen) else _FAILED


@dataclass(frozen=True, slots=True)
class _ToDo:
    """A case that is not measured yet: its filled buffers, and what a profiler counted."""

    prepared: Callable[[], PreparedCase]
    counted: Counted


def _with_counts(
    chosen: Sequence[Case | FailedCase], results: Results, counters: Counters | None
) -> Iterator[tuple[Case | FailedCase, _ToDo | None]]:
    """The cases one by one; None for those that failed or were measured before."""
    for first in range(0, len(chosen), _COUNTED_AT_ONCE):
        together = chosen[first : first + _COUNTED_AT_ONCE]
        new = [
            case
            for case in together
            if isinstance(case, Case) and results.measured.row(case.name, case.size) is None
        ]
        counts = list(counters(new)) if counters and new else [_NOT_COUNTED] * len(new)
        to_do = map(_ToDo, prepared_ahead(new), counts)
        for case in together:
            yield case, next(to_do) if case in new else None


@dataclass(frozen=True, slots=True)
class _Run:
    device: Accelerator
    session: Session
    results: Results
    source_of: SourceOf
    load: LoadSource

    def take(self, case: Case | FailedCase, to_do: _ToDo | None) -> tuple[bool, str]:
        """Measures and writes one case; whether it is good, and what to say of it."""
        if isinstance(case, FailedCase):
            return self._failed(case.workload, case.size, case.error)
        if to_do is None:
            before = self.results.measured.row(case.name, case.size)
            return before is not None and _is_good(before), "measured before"
        try:
            row = self._measured(case, to_do)
        except DeviceLost as error:
            self._failed(case.name, case.size, error.message)
            raise
        except KernelcastError as error:
            return self._failed(case.name, case.size, str(error))
        except MemoryError:
            return self._failed(case.name, case.size, "no memory on this machine")
        self.results.add(row)
        self.results.write()
        return _is_good(row), _DRY if self.device.is_dry_run else _summary(row)

    def _measured(self, case: Case, to_do: _ToDo) -> MeasuredRow:
        source = self.source_of(case.workload)
        assert source is not None
        prepared = to_do.prepared()
        loaded = self.load(source)
        row = self.session.measure(prepared, loaded.content)
        metrics, warnings = to_do.counted
        row = replace(row, metrics=metrics, code=loaded.code)
        buffer_bytes = sum(array.nbytes for array in prepared.buffers.values())
        odd = () if self.device.is_dry_run else row_warnings(row, self.device.facts, buffer_bytes)
        return replace(row, warnings=(*row.warnings, *odd, *warnings))

    def _failed(self, workload: str, size: str, error: str) -> tuple[bool, str]:
        self.results.fail(workload, size, _one_line(error))
        self.results.write()
        return False, f"failed: {_one_line(error)}"


def _chains(results: Results) -> str:
    found = results.measured.latencies
    assert found is not None
    failed = "".join(f"; {item.name} failed: {item.error}" for item in found.failures)
    remarks = "".join(f"; warning: {text}" for text in found.remarks)
    return f"latencies of {len(found.chains)} chains{failed}{remarks}"


def _is_good(row: MeasuredRow) -> bool:
    return row.check is None or row.check.passed


def _key(case: Case | FailedCase) -> tuple[str, str]:
    """Workload and size."""
    return (case.name if isinstance(case, Case) else case.workload), case.size


def exit_status(action: Callable[[], int]) -> int:
    """Runs a tool; an error becomes one line and the exit status 2."""
    try:
        return action()
    except KernelcastError as error:
        sys.stderr.write(f"error: {_one_line(str(error))}\n")
        return _UNUSABLE
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; what is measured is written, --resume goes on\n")
        return _INTERRUPTED


def _settings(arguments: argparse.Namespace) -> Settings:
    settings = Settings(repeats=arguments.repeats, is_checked=not arguments.no_check)
    return replace(settings, warm_up_s=0.0) if arguments.dry_run else settings


def _folder(arguments: argparse.Namespace) -> Path:
    """The folder of results; MeasuringError when a dry run would write among measurements."""
    folder: Path | None = arguments.output
    if not arguments.dry_run:
        return folder or _MEASURED
    if folder is None:
        return Path(tempfile.mkdtemp(prefix="kernelcast-dry-run-"))
    if folder.resolve().is_relative_to(_MEASURED):
        raise MeasuringError(f"a dry run measures nothing and does not write to {folder}")
    return folder


def _summary(row: MeasuredRow) -> str:
    time = row.time_s
    check = "not checked"
    if row.check is not None:
        check = "check passed" if row.check.passed else "CHECK FAILED"
    parts = [f"{format_seconds(time.seconds)} (spread {time.spread:.1%})", check]
    if row.metrics:
        parts.append(f"{len(row.metrics)} metrics")
    return ", ".join([*parts, *(f"warning: {text}" for text in row.warnings)])


def _one_line(text: str) -> str:
    return text.splitlines()[0] if text else "no message"


def _show(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
