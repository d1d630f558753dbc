"""The workloads that can be measured: their names, launches and expected results."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernelcast.errors import nearest
from kernelcast.measuring.accelerator import Array, MeasuringError
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Argument, Launch
from kernelcast.validation.measured_times import MeasuredCheck
from kernelcast.workload.file import load_workload
from kernelcast.workload.workload import Workload

__all__ = [
    "ROOT",
    "Case",
    "PreparedCase",
    "cases_of",
    "compare",
    "find_workloads",
    "opencl_twin",
    "prepare",
    "prepared_ahead",
]

ROOT = Path(__file__).resolve().parents[2]
_SUITE = ROOT / "validation" / "workloads"
_EXAMPLES = ROOT / "examples"


@dataclass(frozen=True, slots=True)
class Case:
    """One workload at one size. `name` is `memory/triad`, or `examples/saxpy/saxpy`."""

    name: str
    size: str
    workload: Workload


@dataclass(frozen=True, slots=True)
class PreparedCase:
    """A case with its arguments filled and checked against the kernel's parameters."""

    case: Case
    launch: Launch
    kernel: Kernel

    @property
    def named_arguments(self) -> dict[str, Argument]:
        """The arguments by name."""
        return dict(zip(self.launch.argument_names, self.launch.arguments, strict=True))

    @property
    def buffers(self) -> dict[str, Array]:
        """The arrays among the arguments, by name."""
        return {
            name: value
            for name, value in self.named_arguments.items()
            if isinstance(value, np.ndarray)
        }


def find_workloads(wanted: Sequence[str] = ()) -> dict[str, Path]:
    """Name -> file of all workloads, or of those that `wanted` names, one by one or by folder."""
    found = {_name(file, _SUITE): file for file in _SUITE.rglob("*.toml")}
    found |= {f"examples/{_name(file, _EXAMPLES)}": file for file in _EXAMPLES.rglob("*.toml")}
    chosen: set[str] = set()
    for item in wanted or ("",):
        folder = item.rstrip("/") + "/" if item else ""
        matching = {name for name in found if name == item or name.startswith(folder)}
        if not matching:
            raise MeasuringError(f"no workload {item!r}{nearest(item, found)}; --list shows all")
        chosen |= matching
    return {name: found[name] for name in sorted(chosen)}


def _name(file: Path, root: Path) -> str:
    return file.relative_to(root).with_suffix("").as_posix()


def cases_of(name: str, file: Path, sizes: Sequence[str]) -> list[Case]:
    """The sizes of one workload, or those among `sizes` that it has."""
    workload = load_workload(file)
    return [Case(name, size, workload) for size in workload.sizes if not sizes or size in sizes]


def opencl_twin(workload: Workload) -> Path | None:
    """The OpenCL C file beside the PTX file that defines the same kernel, if there is one."""
    file = workload.kernel.source.with_suffix(".cl")
    if not file.is_file():
        return None
    entry = re.escape(workload.kernel.entry) or r"\w+"
    defines = re.search(rf"__?kernel\b[^;{{]*?\b{entry}\s*\(", file.read_text(encoding="utf-8"))
    return file if defines else None


def prepare(case: Case) -> PreparedCase:
    """Fills the buffers; WorkloadError or LaunchError where launch and kernel do not fit."""
    workload = case.workload
    return PreparedCase(case, workload.make_launch(case.size), workload.load_kernel().kernel)


def prepared_ahead(cases: Sequence[Case]) -> Iterator[Callable[[], PreparedCase]]:
    """`prepare` of each case, begun while the caller still works on the one before.

    Each item is a function that waits for the case, and raises what `prepare` raised.
    """
    with ThreadPoolExecutor(max_workers=1) as background:
        begun: Future[PreparedCase] | None = None
        for case in cases:
            following = background.submit(prepare, case)
            if begun is not None:
                yield begun.result
            begun = following
        if begun is not None:
            yield begun.result


def compare(prepared: PreparedCase, found: Mapping[str, Argument]) -> MeasuredCheck | None:
    """Buffers as a device left them against the workload's reference; None without a `[check]`.

    The arguments of `prepared` must be as they were before the launch.
    """
    workload, size = prepared.case.workload, prepared.case.size
    if workload.check is None:
        return None
    rows = workload.compare(prepared.named_arguments, found, size)
    worst = float(np.max([row.relative_error for row in rows]))
    passed = not any(row.mismatches for row in rows)
    return MeasuredCheck(passed, worst if math.isfinite(worst) else None)
