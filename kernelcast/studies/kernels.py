"""A swept kernel as traces of one launch: executed once for each code and width of warps."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kernelcast.errors import InputError, KernelcastError, UnfitDevice
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.run_options import RunOptions
from kernelcast.ranking.variants import with_values
from kernelcast.simcore.device.device import Device
from kernelcast.studies.plan import SweptKernel, What
from kernelcast.studies.rows import text_of
from kernelcast.studies.values import Scalar
from kernelcast.workload.file import load_workload
from kernelcast.workload.python_functions import load_function
from kernelcast.workload.workload import Workload

__all__ = ["Run", "RunResult", "prepared_run", "trace_of_fitting"]

Run = Callable[[RunOptions], KernelTrace]

_OF_RUN = ("registers", "size", "caches")
_NUMBER = re.compile(r"\d+")


def prepared_run(kernel: SweptKernel, values: Mapping[str, Scalar]) -> Run:
    """A function that executes the launch with the given values, for devices among its options.

    KernelcastError where the workload or the file cannot be read, or has no such values.
    """
    if kernel.what is What.PYTHON:
        file, _, function = kernel.source.rpartition(":")
        path = Path(file)
        made = load_function(path.parent, f"{path.name}:{function}", kernel.name)
        return lambda options: _of_python(kernel, made, options, values)
    workload, size, own = varied_workload(kernel, values)
    return lambda options: workload.run(size, options=replace(options, **own))


def varied_workload(
    kernel: SweptKernel, values: Mapping[str, Scalar]
) -> tuple[Workload, str | None, dict[str, Any]]:
    """The workload of a launch, its size, and what is left for RunOptions."""
    workload = load_workload(kernel.source)
    size = str(values["size"]) if "size" in values else kernel.size
    changed = {name: text_of(value) for name, value in values.items() if name not in _OF_RUN}
    own: dict[str, Any] = {}
    if "registers" in values:
        registers = text_of(values["registers"])
        if not _NUMBER.fullmatch(registers) or int(registers) < 1:
            raise InputError(f"{kernel.name}: registers are 1 or more, not {registers}")
        own["registers"] = int(registers)
    if "caches" in values:
        own["caches"] = str(values["caches"])
    return with_values(workload, changed, size), size, own


def _of_python(
    kernel: SweptKernel,
    function: Callable[..., object],
    options: RunOptions,
    values: Mapping[str, Scalar],
) -> KernelTrace:
    try:
        found = function(options, **values)
    except KernelcastError:
        raise
    except Exception as error:  # whatever a user's function does
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise InputError(f"{kernel.source}: {reason}") from None
    if not isinstance(found, KernelTrace):
        raise InputError(f"{kernel.source} returns a {type(found).__name__}, not a KernelTrace")
    return found


@dataclass(frozen=True)
class RunResult:
    """One launch for the devices that it fits, and why it does not fit the others."""

    trace: KernelTrace | None
    unfit: Mapping[int, str]
    """Reasons by the position of a device."""


def trace_of_fitting(run: Run, devices: Sequence[Device], options: RunOptions) -> RunResult:
    """Executes a launch for those of the devices that it fits.

    What does not fit is found before anything is executed.
    """
    left = list(enumerate(devices))
    unfit: dict[int, str] = {}
    while left:
        try:
            trace = run(replace(options, devices=[device for _, device in left]))
        except UnfitDevice as error:
            reasons = {id(device): why for device, why in error.reasons}
            unfit |= {place: reasons[id(item)] for place, item in left if id(item) in reasons}
            left = [(place, item) for place, item in left if place not in unfit]
            continue
        return RunResult(trace, unfit)
    return RunResult(None, unfit)
