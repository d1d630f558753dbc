"""The suite of kernels of our own: each executed by both engines, checked, and estimated."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kernelcast.api import estimate
from kernelcast.errors import KernelcastError, LaunchError, ModelNotApplicable
from kernelcast.execution.code import Code
from kernelcast.execution.sampling import Sampling
from kernelcast.models import MODELS, needs_paths
from kernelcast.progress import StageProgress
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.engine import ENGINES
from kernelcast.simcore.isa.analysis.slices import control_slice
from kernelcast.simcore.isa.ir.kernel import Atomic
from kernelcast.simcore.profile.occupancy import occupancy
from kernelcast.simcore.profile.profile import LaunchShape
from kernelcast.traces.trace import Trace
from kernelcast.validation.in_processes import in_processes
from kernelcast.workload.file import load_workload
from kernelcast.workload.workload import Workload

__all__ = [
    "SUITE",
    "EngineRun",
    "SuiteReport",
    "WorkloadEstimate",
    "WorkloadResult",
    "run_suite",
    "run_workload",
    "workload_files",
]

SUITE = Path(__file__).resolve().parents[2] / "validation" / "workloads"
_SMALLEST = "small"


@dataclass(frozen=True, slots=True)
class EngineRun:
    """One engine's execution and what the check of the buffers said; `failure` is empty if good."""

    engine: str
    elapsed_s: float
    thread_instructions: int
    failure: str = ""


@dataclass(frozen=True, slots=True)
class WorkloadEstimate:
    """A model's time on a device; where it has none, `reason` says why and the time is None."""

    device: str
    model: str
    time_s: float | None
    bottleneck: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class WorkloadResult:
    """What one workload did; `failure` is why it could not be run or estimated at all.

    `is_ordered`: threads go the same way whatever the order of their atomics, so that all engines
    must execute the same number of instructions.
    """

    name: str
    size: str
    runs: tuple[EngineRun, ...] = ()
    estimates: tuple[WorkloadEstimate, ...] = ()
    failure: str = ""
    is_ordered: bool = True

    @property
    def failures(self) -> tuple[str, ...]:
        """What went wrong in any run; engines must execute equal numbers of instructions."""
        found = [f"{run.engine}: {run.failure}" for run in self.runs if run.failure]
        counts = {run.thread_instructions for run in self.runs}
        if len(counts) > 1 and self.is_ordered and not found:
            several = " and ".join(map(str, sorted(counts)))
            found.append(f"the engines execute {several} instructions")
        return (*([self.failure] if self.failure else []), *found)


@dataclass(frozen=True, slots=True)
class SuiteReport:
    """All results, in the order of the workloads' names."""

    results: tuple[WorkloadResult, ...]

    @property
    def failed(self) -> tuple[WorkloadResult, ...]:
        """Results with a failure."""
        return tuple(result for result in self.results if result.failures)


def workload_files(folder: Path = SUITE) -> tuple[Path, ...]:
    """The workload files of a folder; KernelcastError when it holds none."""
    files = tuple(sorted(folder.glob("*/*.toml")))
    if not files:
        raise KernelcastError(f"{folder}: no workloads; they are in the source tree only")
    return files


def run_suite(
    files: Sequence[Path],
    size: str = _SMALLEST,
    devices: Sequence[str] = (),
    *,
    models: Sequence[str] = (),
    engines: Sequence[str] = tuple(sorted(ENGINES)),
    jobs: int | None = None,
    progress: StageProgress | None = None,
) -> SuiteReport:
    """Runs the workloads in `jobs` processes, by default one for each core; all models by default.

    `progress` is told the name of the workload that ended and the share that is done.
    """
    run = partial(
        run_workload,
        size=size,
        devices=tuple(devices),
        engines=tuple(engines),
        models=tuple(models),
    )
    names = [f"{file.parent.name}/{file.stem}" for file in files]
    results = in_processes(run, files, names, jobs or os.cpu_count() or 1, progress)
    return SuiteReport(tuple(sorted(results, key=lambda result: result.name)))


def run_workload(
    file: Path,
    size: str,
    devices: Sequence[str],
    engines: Sequence[str],
    *,
    models: Sequence[str] = (),
) -> WorkloadResult:
    """One workload: checked with every engine, then run once more with memory for the devices."""
    name = f"{file.parent.name}/{file.stem}"
    try:
        workload = load_workload(file)
        checked = [_checked(workload, size, engine) for engine in engines]
        chosen = models or tuple(MODELS)
        executed = checked[-1][1]
        found = tuple(_estimates(workload, size, devices, chosen, executed)) if devices else ()
        runs = tuple(run for run, _ in checked)
        return WorkloadResult(name, size, runs, found, is_ordered=_is_ordered(workload))
    except KernelcastError as error:
        return WorkloadResult(name, size, failure=str(error).splitlines()[0])


def _is_ordered(workload: Workload) -> bool:
    """Whether no branch depends on what an atomic returns."""
    kernel = workload.load_kernel().kernel
    read = control_slice(kernel).loads
    return not any(isinstance(kernel.instructions[pc], Atomic) for pc in read)


def _checked(workload: Workload, size: str, engine: str) -> tuple[EngineRun, Trace]:
    result = workload.run_check(size, engine=engine)
    failure = "; ".join(
        f"{item.name}: {item.mismatches} of {item.elements} elements differ"
        for item in result.comparisons
        if item.mismatches
    )
    data = result.trace.data
    _, threads = data.source_instructions()
    return EngineRun(engine, data.elapsed_s, threads, failure), data


def _estimates(
    workload: Workload,
    size: str,
    devices: Sequence[str],
    models: Sequence[str],
    executed: Trace,
) -> Iterator[WorkloadEstimate]:
    refused = _refusals(devices, executed)
    fitting = [device for device in devices if device not in refused]
    needs = any(map(needs_paths, models))
    trace = (
        workload.run(
            size,
            devices=fitting,
            sampling=Sampling.AUTO,
            record_paths=needs,
            code=Code.SOURCE,
        )
        if fitting
        else None
    )
    for device in devices:
        for model in models:
            if trace is None or device in refused:
                yield WorkloadEstimate(device, model, None, reason=refused[device])
                continue
            try:
                found = estimate(trace.profile(load_device(device)), model)
            except ModelNotApplicable as reason:
                yield WorkloadEstimate(device, model, None, reason=str(reason))
            else:
                yield WorkloadEstimate(device, model, found.time_s, found.bottleneck)


def _refusals(devices: Sequence[str], executed: Trace) -> dict[str, str]:
    """Why the launch does not fit a device, for those that it does not fit."""
    refused = {}
    for device in devices:
        launch = LaunchShape(executed.grid, executed.thread_block)
        try:
            occupancy(executed.resources, launch, load_device(device))
        except LaunchError as reason:
            refused[device] = str(reason)
    return refused
