"""Results that a GPU left, against those of the same workload executed here as its machine code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernelcast.errors import InputError, KernelcastError, MetricsError
from kernelcast.simcore.engine import execute
from kernelcast.simcore.launch.launch import Limits
from kernelcast.validation.buffer_results import ResultComparison, compared_result
from kernelcast.validation.measured_times import MeasuredDevice, MeasuredRow
from kernelcast.workload.file import load_workload
from kernelcast.workload.workload import Workload

__all__ = ["RowComparison", "architecture_of", "compare_results", "compare_row"]

_NO_LIMITS = Limits(seconds=None, instructions_per_warp=None)


@dataclass(frozen=True, slots=True)
class RowComparison:
    """One row. `buffers` of it, or in `problem` why it was not executed."""

    workload: str
    size: str
    buffers: tuple[ResultComparison, ...]
    problem: str = ""

    @property
    def is_good(self) -> bool:
        """Whether the row was compared and no drawn element is beyond the workload's tolerance."""
        return not self.problem and all(
            item.is_filled_alike and not item.far for item in self.buffers
        )

    @property
    def is_equal(self) -> bool:
        """Whether every buffer has the very bits of the GPU."""
        return not self.problem and all(item.is_equal for item in self.buffers)


def architecture_of(measured: MeasuredDevice) -> int:
    """The architecture of the measured GPU, 90 for 9.0; MetricsError where it is not known."""
    major, dot, minor = (measured.device.compute_capability or "").partition(".")
    if not dot or not major.isdigit() or not minor.isdigit():
        raise MetricsError(f"{measured.device.name}: its compute capability is not known")
    return int(major) * 10 + int(minor)


def compare_results(
    measured: MeasuredDevice,
    files: dict[str, Path],
    sizes: Sequence[str] = (),
    engine: str = "auto",
) -> Iterator[RowComparison]:
    """The rows with results, of the workloads in `files`, executed one by one."""
    architecture = architecture_of(measured)
    for row in measured.rows:
        if not row.results or row.workload not in files or (sizes and row.size not in sizes):
            continue
        try:
            workload = load_workload(files[row.workload])
            yield compare_row(row, workload, architecture, engine)
        except KernelcastError as error:
            yield RowComparison(row.workload, row.size, (), str(error).splitlines()[0])


def compare_row(
    row: MeasuredRow, workload: Workload, architecture: int, engine: str = "auto"
) -> RowComparison:
    """Executes the workload as machine code of the architecture and compares all buffers.

    InputError where it has no machine code; the errors of assembler and engine.
    """
    kernel = workload.load_kernel()
    if kernel.native is None:
        raise InputError("the kernel has no form that an assembler takes")
    machine = kernel.native.kernel(kernel.kernel.name, architecture)
    launch = workload.make_launch(row.size, kernel=kernel.kernel)
    named = dict(zip(launch.argument_names, launch.arguments, strict=True))
    before = {name: a.copy() for name, a in named.items() if isinstance(a, np.ndarray)}
    execute(machine, launch, limits=_NO_LIMITS, engine=engine, record_memory=False)
    rtol, atol = (workload.check.rtol, workload.check.atol) if workload.check else (0.0, 0.0)
    found = []
    for known in row.results:
        after = named.get(known.name)
        if not isinstance(after, np.ndarray):
            raise MetricsError(f"the workload has no buffer {known.name}")
        found.append(compared_result(known, before[known.name], after, rtol, atol))
    return RowComparison(row.workload, row.size, tuple(found))
