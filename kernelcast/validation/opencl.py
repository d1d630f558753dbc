"""The closed loop: OpenCL kernels timed on a real device, and predicted from its device file.

Each kernel is timed with the device's own compiler, now or in an earlier run, and predicted from
what clang makes of the same source. The kernels: every workload that has an OpenCL C twin, and
mixbench, cachebench and shmembench of our own (Konstantinidis 2017, sections 5.2.4 and 6.2) in
`validation/opencl`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from kernelcast.api import estimate
from kernelcast.errors import KernelcastError, ModelNotApplicable
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.sampling import Sampling
from kernelcast.measuring.accelerator import Accelerator
from kernelcast.measuring.cases import ROOT, Case, find_workloads, opencl_twin, prepare
from kernelcast.measuring.measurement import Session, Settings
from kernelcast.models import MODELS, needs_paths
from kernelcast.progress import StageProgress
from kernelcast.simcore.device.device import Device
from kernelcast.validation.comparison import TimeComparison
from kernelcast.validation.opencl_times import LoopTime
from kernelcast.validation.report import ValidationReport
from kernelcast.workload.file import load_workload
from kernelcast.workload.workload import Workload

__all__ = [
    "LOOP_SIZE",
    "is_throughput_bound",
    "opencl_cases",
    "validate_opencl",
    "validate_opencl_times",
]

_MICRO_BENCHMARKS = ROOT / "validation" / "opencl"
LOOP_SIZE = "full"
"""The size of the twins: launches cost nothing. Micro-benchmarks run at all sizes."""
_REPEATS = 3
_FULL_WARPS = 0.9


def opencl_cases(size: str = LOOP_SIZE) -> list[Case]:
    """What runs on the device; KernelcastError when there is nothing, as in an installed wheel."""
    found = [
        Case(name, size, workload)
        for name, workload in _twins()
        if size in workload.sizes or not workload.sizes
    ]
    for file in sorted(_MICRO_BENCHMARKS.glob("*.toml")):
        workload = load_workload(file)
        found += [Case(file.stem, name, workload) for name in workload.sizes]
    if not found:
        raise KernelcastError(f"{_MICRO_BENCHMARKS}: no workloads; they are in the source tree")
    return found


def _twins() -> Iterator[tuple[str, Workload]]:
    """Workloads with the twin's source in the place of the PTX."""
    for name, file in find_workloads().items():
        workload = load_workload(file)
        twin = opencl_twin(workload)
        if twin is not None:
            yield name, replace(workload, kernel=replace(workload.kernel, source=twin))


def validate_opencl(
    device: Device,
    accelerator: Accelerator,
    models: Sequence[str] = (),
    cases: Sequence[Case] | None = None,
    progress: StageProgress | None = None,
) -> ValidationReport:
    """Times and predicts all cases; those that fail, or give wrong results, are in the notes."""
    return _compared(device, _Stopwatch(accelerator).time, models, cases, progress)


def validate_opencl_times(
    device: Device,
    times: Mapping[str, LoopTime],
    models: Sequence[str] = (),
    cases: Sequence[Case] | None = None,
    progress: StageProgress | None = None,
) -> ValidationReport:
    """Predicts all cases anew; `times` by `kernel size`. The notes say which have none."""

    def recorded(name: str, _: Case) -> LoopTime:
        if name not in times:
            raise KernelcastError("no measured time")
        return times[name]

    chosen = opencl_cases() if cases is None else cases
    report = _compared(device, recorded, models, chosen, progress)
    known = {f"{case.name} {case.size}" for case in chosen}
    gone = tuple(f"{name}: measured, but no kernel of today" for name in times if name not in known)
    return replace(report, notes=(*gone, *report.notes))


def _compared(
    device: Device,
    stopwatch: Callable[[str, Case], LoopTime],
    models: Sequence[str],
    cases: Sequence[Case] | None,
    progress: StageProgress | None,
) -> ValidationReport:
    chosen = opencl_cases() if cases is None else cases
    loop = _Loop(device, stopwatch, models or tuple(MODELS))
    for number, case in enumerate(chosen):
        if progress is not None:
            progress(f"{case.name} {case.size}", number / len(chosen))
        loop.take(case)
    notes = (*loop.notes, *loop.exceptions(), *_medians(loop.times, loop.throughput_bound))
    return ValidationReport("opencl", tuple(loop.times), notes=notes)


def is_throughput_bound(trace: KernelTrace) -> bool:
    """Whether nothing but the rates of arithmetic and memory can limit a kernel.

    It has no barriers and no atomics, and at least nine of ten lanes of every warp are active.
    """
    data = trace.data
    issues, lanes = (int(total.sum()) for total in data.classes.totals())
    is_atomic = any(row.kind == "atomic" for row in data.instructions)
    is_full = lanes >= _FULL_WARPS * issues * data.warp_width
    return len(data.stage_warp_issues) <= 1 and not is_atomic and is_full


def _medians(times: Sequence[TimeComparison], throughput_bound: Collection[str]) -> Iterator[str]:
    """A line for each model."""
    for model in dict.fromkeys(point.model for point in times):
        points = [p for p in times if p.model == model and p.kernel in throughput_bound]
        if points:
            middle = median(abs(point.error) for point in points)
            yield (
                f"{model}: median error {middle:.1%} of the {len(points)} throughput-bound kernels "
                f"(no barriers, no atomics, full warps): {', '.join(p.kernel for p in points)}"
            )


class _Stopwatch:
    """Times of one real device."""

    def __init__(self, accelerator: Accelerator) -> None:
        self._facts = accelerator.facts
        self._session = Session(accelerator, Settings(repeats=_REPEATS, warm_up_launches=1))

    def time(self, _: str, case: Case) -> LoopTime:
        """Measures a case; KernelcastError for a kernel that fails or gives wrong results."""
        row = self._session.measure(prepare(case), _source(case).read_bytes())
        if row.check is not None and not row.check.passed:
            raise KernelcastError(f"wrong results on {self._facts.name}: not compared")
        return LoopTime(row.time_s.seconds, self._facts.name, self._facts.date)


class _Loop:
    """Cases one by one: a device times best when nothing else runs."""

    def __init__(
        self, device: Device, stopwatch: Callable[[str, Case], LoopTime], models: Sequence[str]
    ) -> None:
        self._device = device
        self._stopwatch = stopwatch
        self._models = models
        self.times: list[TimeComparison] = []
        self.notes: list[str] = []
        self._not_applicable: dict[str, list[str]] = {}
        self.throughput_bound: set[str] = set()

    def take(self, case: Case) -> None:
        name = f"{case.name} {case.size}"
        try:
            measured = self._stopwatch(name, case)
            self.times.extend(self._compared(name, case, measured))
        except KernelcastError as error:
            self.notes.append(f"{name}: {str(error).splitlines()[0]}")

    def exceptions(self) -> Iterator[str]:
        """A line for each reason why a model has nothing to say, with the kernels."""
        for reason, kernels in self._not_applicable.items():
            yield f"{reason} ({len(kernels)} kernels: {', '.join(kernels)})"

    def _compared(self, name: str, case: Case, measured: LoopTime) -> Iterator[TimeComparison]:
        trace = case.workload.run(
            case.size,
            devices=[self._device],
            sampling=Sampling.AUTO,
            record_paths=any(map(needs_paths, self._models)),
        )
        if is_throughput_bound(trace):
            self.throughput_bound.add(name)
        profile = trace.repeated(1).profile(self._device)
        for model in self._models:
            try:
                found = estimate(profile, model)
            except ModelNotApplicable as reason:
                why = f"{model} does not apply: {reason}"
                self._not_applicable.setdefault(why, []).append(name)
                continue
            yield TimeComparison.of(name, found, measured.seconds, measured.source)


def _source(case: Case) -> Path:
    return case.workload.kernel.source
