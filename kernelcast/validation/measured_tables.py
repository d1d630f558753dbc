"""The workloads against tables of published times (`published_tables`).

A row is predicted with its own grid where the launch can be sampled, or is small. A larger one that
would have to be executed whole is executed at two smaller grids, and its time goes on along the
line through both: rule 7 of docs/published-times.md.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from kernelcast.api import estimate
from kernelcast.defaults import only_time
from kernelcast.errors import KernelcastError, LaunchError, ModelNotApplicable
from kernelcast.execution.code import Code
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.sampling import Sampling
from kernelcast.models import MODELS, needs_paths
from kernelcast.progress import StageProgress
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.launch.launch import Limits
from kernelcast.validation.comparison import TimeComparison
from kernelcast.validation.in_processes import in_processes
from kernelcast.validation.published_tables import (
    PublishedTable,
    TableRow,
    evenly,
    read_table,
)
from kernelcast.validation.report import ValidationReport
from kernelcast.workload.arguments import ArgumentSpec
from kernelcast.workload.expressions import evaluate_integers
from kernelcast.workload.file import load_workload
from kernelcast.workload.workload import Workload

__all__ = ["MEASURED_TABLES", "suite_of", "validate_table"]

_ROOT = Path(__file__).resolve().parents[2]
MEASURED_TABLES = _ROOT / "validation" / "measured"
_SUITE = _ROOT / "validation" / "workloads"
_NO_LIMITS = Limits(seconds=None, instructions_per_warp=None)
_L2_TURNS = 4
"""How many times the L2 the buffers of the smaller grid are, so that both grids drain it alike."""

Seconds = tuple[float, float, float]
"""The predicted time, the low and the high one."""
_Placed = tuple[int, TableRow]
"""A row and its place in the set."""


def suite_of(name: str) -> str:
    """What the reports and the baseline call a set."""
    return f"measured {name}"


def validate_table(
    name: str,
    models: Sequence[str] = (),
    folder: Path = MEASURED_TABLES,
    progress: StageProgress | None = None,
    code: Code = Code.SOURCE,
    sample: int | None = None,
    processes: int = 1,
    source_of: Callable[[Workload], Workload] | None = None,
) -> ValidationReport:
    """Predicts the rows of a set, or `sample` of each kernel and device. All models unless named.

    `code` is what is executed; rows of devices whose machine code is not read are in the notes.
    `source_of` gives workloads another source, as `hip_twins.as_hip` does.
    """
    table = read_table(name, folder)
    rows = table.rows if sample is None else evenly(table.rows, sample)
    groups: dict[tuple[str, str], list[_Placed]] = defaultdict(list)
    for place, row in enumerate(rows):
        groups[row.device, row.workload].append((place, row))
    predict = partial(_predicted_group, table, tuple(models) or tuple(MODELS), code, source_of)
    names = [f"{device}: {workload}" for device, workload in groups]
    work = [len(group) for group in groups.values()]
    found = in_processes(predict, list(groups.values()), names, processes, progress, work)
    times = dict(item for group in found for item in group.times)
    notes = sum((group.notes for group in found), Counter[str]())
    return ValidationReport(
        suite_of(name),
        tuple(time for place in range(len(rows)) for time in times[place]),
        notes=tuple(f"{count} rows: {note}" for note, count in notes.items()),
    )


@dataclass(frozen=True, slots=True)
class _Group:
    """What rows gave: times by their places, and how often something did not apply or failed."""

    times: Sequence[tuple[int, Sequence[TimeComparison]]]
    notes: Counter[str]


def _predicted_group(
    table: PublishedTable,
    models: Sequence[str],
    code: Code,
    source_of: Callable[[Workload], Workload] | None,
    rows: Sequence[_Placed],
) -> _Group:
    """Rows of one kernel on one device."""
    prediction = _Predictions(table, models, code, source_of)
    return _Group([(place, prediction.of(row)) for place, row in rows], prediction.notes)


@dataclass(frozen=True, slots=True)
class _Launch:
    """A workload at sizes that its file need not name, on one device."""

    workload: Workload
    size: str
    device: Device

    def of(self, sizes: Mapping[str, int]) -> _Launch:
        """Replaces the sizes."""
        return replace(self, workload=replace(self.workload, sizes={self.size: sizes}))

    @property
    def thread_blocks(self) -> int:
        """The thread blocks of its grid."""
        return math.prod(self.workload.launch_shape(self.size).grid)

    @property
    def bytes(self) -> int:
        """The bytes of its buffers."""
        sizes = self.workload.size(self.size)
        return sum(
            item.element.bytes * math.prod(evaluate_integers(item.shape, sizes, item.where))
            for item in self.workload.arguments
            if isinstance(item, ArgumentSpec) and item.element and item.shape
        )

    @property
    def wave(self) -> int:
        """The most thread blocks that reside on the device at once, whatever else they need."""
        threads = math.prod(self.workload.launch_shape(self.size).thread_block)
        sm = self.device.sm
        return self.device.architecture.sm_count * min(
            sm.max_thread_blocks, sm.max_threads // threads
        )


class _Predictions:
    """Predicts rows; `notes` counts what does not apply or failed. Times of a launch are kept."""

    def __init__(
        self,
        table: PublishedTable,
        models: Sequence[str],
        code: Code,
        source_of: Callable[[Workload], Workload] | None = None,
    ) -> None:
        self._source_of = source_of
        self._table = table
        self._models = models
        self._code = code
        self._known: dict[tuple[object, ...], Mapping[str, Seconds]] = {}
        self.notes: Counter[str] = Counter()

    def of(self, row: TableRow) -> list[TimeComparison]:
        """A row by each model; none where it could not be predicted, which is in the notes."""
        device = load_device(row.device)
        try:
            found = self._predicted(row, device)
        except KernelcastError as error:
            self.notes[f"{row.device}: {str(error).splitlines()[0]}"] += 1
            return []
        return [
            TimeComparison(
                kernel=row.name,
                device=row.device,
                model=model,
                predicted_s=predicted,
                low_s=low,
                high_s=high,
                measured_s=row.time_s,
                source=self._table.source,
                is_calibration=device.is_fitted_on(f"measured/{row.workload}/time"),
            )
            for model, (predicted, low, high) in found.items()
        ]

    def _predicted(self, row: TableRow, device: Device) -> Mapping[str, Seconds]:
        workload = load_workload(_SUITE / f"{row.workload}.toml")
        if self._source_of is not None:
            workload = self._source_of(workload)
        launch = _Launch(workload, row.size, device).of(row.sizes)
        shape = launch.workload.launch_shape(row.size)
        if (shape.grid, shape.thread_block) != (row.grid, row.thread_block):
            raise KernelcastError(f"{row.name} is launched otherwise than recorded: {shape}")
        if launch.thread_blocks <= max(self._waves(launch)) * launch.wave:
            return self._times(launch, row.sizes, Sampling.ALWAYS, Sampling.AUTO)
        try:
            return self._times(launch, row.sizes, Sampling.ALWAYS)
        except LaunchError:  # paths or addresses depend on data
            return self._along_the_line(launch, row)

    def _waves(self, launch: _Launch) -> tuple[int, int]:
        """Finds the waves of both grids; the smaller has several times the bytes of the L2."""
        few, many = self._table.waves
        wave_bytes = launch.bytes * launch.wave / launch.thread_blocks
        least = math.ceil(_L2_TURNS * launch.device.l2.capacity_bytes / wave_bytes)
        return max(few, least), max(many, 2 * least)

    def _along_the_line(self, launch: _Launch, row: TableRow) -> Mapping[str, Seconds]:
        grown = next(name for name in self._table.grows_by if name in row.sizes)
        grids, found = [], []
        for waves in self._waves(launch):
            size = -(-row.sizes[grown] * waves * launch.wave // launch.thread_blocks)
            sizes = {**row.sizes, grown: size}
            grids.append(launch.of(sizes).thread_blocks)
            found.append(self._times(launch.of(sizes), sizes, Sampling.ALWAYS, Sampling.AUTO))
        share = (launch.thread_blocks - grids[0]) / (grids[1] - grids[0])
        few, many = found
        return {model: _on_line(few[model], many[model], share) for model in few if model in many}

    def _times(
        self, launch: _Launch, sizes: Mapping[str, int], *ways: Sampling
    ) -> Mapping[str, Seconds]:
        """What each model says of a launch, sampled in the first of `ways` that is possible."""
        key = (launch.device.name, launch.workload.path, tuple(sorted(sizes.items())))
        if key not in self._known:
            trace = self._executed(launch, ways)
            self._known[key] = dict(self._estimates(trace, launch))
        return self._known[key]

    def _executed(self, launch: _Launch, ways: Sequence[Sampling]) -> KernelTrace:
        for way in ways:
            try:
                return launch.workload.run(
                    launch.size,
                    devices=[launch.device],
                    limits=_NO_LIMITS,
                    record_paths=any(map(needs_paths, self._models)),
                    code=self._code,
                    sampling=way,
                ).repeated(1)
            except LaunchError:
                if way is ways[-1]:
                    raise
        raise LaunchError("a launch must be executed in some way")

    def _estimates(self, trace: KernelTrace, launch: _Launch) -> list[tuple[str, Seconds]]:
        found = []
        for model in self._models:
            try:
                own = only_time(model, launch.device)
                result = estimate(trace.profile(launch.device), model, **own)
            except ModelNotApplicable as reason:
                self.notes[f"{launch.device.name}: {model} does not apply: {reason}"] += 1
                continue
            found.append((model, (result.time_s, result.time_low_s, result.time_high_s)))
        return found


def _on_line(few: Seconds, many: Seconds, share: float) -> Seconds:
    """The times at `share` of the way from the smaller grid to the larger one, and beyond."""
    first, low, high = (a + share * (b - a) for a, b in zip(few, many, strict=True))
    return first, min(low, first), max(high, first)
