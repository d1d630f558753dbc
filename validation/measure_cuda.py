"""Times the validation workloads on a CUDA GPU and, where ncu is, reads its hardware counters.

    pip install . cuda-python
    python validation/measure_cuda.py

The results go to validation/measured/<device>.json; docs/measuring.md describes them.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fake_accelerator import FakeAccelerator

from kernelcast.errors import KernelcastError
from kernelcast.measuring.accelerator import Accelerator, DeviceLost, MeasuringError
from kernelcast.measuring.cases import Case, cases_of, find_workloads, prepared_ahead
from kernelcast.measuring.chains.timing import measure_latencies
from kernelcast.measuring.command_line import (
    Counted,
    Counters,
    Latencies,
    add_common_options,
    exit_status,
    find_chosen,
    list_cases,
    measure_all,
)
from kernelcast.measuring.cuda_device import CudaDevice
from kernelcast.measuring.machine_code import LoadSource, loader
from kernelcast.measuring.measurement import Session, Settings
from kernelcast.measuring.ncu import NcuProfiler, find_ncu
from kernelcast.validation.measured_times import DRIVER_CODE, Api
from kernelcast.workload.workload import Workload

_LAUNCHED = "launched"
_LAUNCHED_LINE = re.compile(rf"^{_LAUNCHED} (\S+)$", re.MULTILINE)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Times the validation workloads on a CUDA GPU: each kernel is launched once "
        "and "
        "its results compared with the reference, then timed with events from cold caches. "
        "Exit status: 0, 1 when a case failed, 2 when nothing could be measured.",
        epilog="On a new GPU: pip install . cuda-python; python validation/measure_cuda.py",
    )
    add_common_options(parser)
    parser.add_argument(
        "--ncu",
        choices=("auto", "yes", "no"),
        default="auto",
        help="hardware counters of one launch of each case through NVIDIA Nsight Compute (default: "
        "auto, where ncu is on the PATH)",
    )
    parser.add_argument(
        "--code",
        choices=(DRIVER_CODE, "native"),
        default=DRIVER_CODE,
        help="what is launched: the machine code that the driver makes of the PTX (default), or "
        "that of the assembler here, which kernelcast executes too",
    )
    parser.add_argument(
        "--latencies",
        choices=("auto", "yes", "no"),
        default="auto",
        help="time chains of dependent instructions first (default: auto, where all workloads are "
        "measured)",
    )
    parser.add_argument("--launch-only", action="append", default=[], help=argparse.SUPPRESS)
    return parser


def ptx_of(workload: Workload) -> Path | None:
    """The workload's PTX file; the driver takes no other source."""
    source = workload.kernel.source
    return source if source.suffix == ".ptx" else None


def _counters(arguments: argparse.Namespace) -> Counters | None:
    """Runs this tool under ncu, for one launch; MeasuringError when ncu is asked for in vain."""
    if arguments.ncu == "no" or arguments.dry_run:
        return None
    ncu = find_ncu()
    if ncu is None:
        if arguments.ncu == "yes":
            raise MeasuringError("ncu is not on the PATH")
        return None
    profiler = NcuProfiler.on_this_gpu(ncu, arguments.device)
    if profiler.not_counted:
        sys.stdout.write(f"not counted on this GPU: {', '.join(profiler.not_counted)}\n")

    return BatchCounters(profiler, arguments.device, arguments.code).count


@dataclass(frozen=True, slots=True)
class BatchCounters:
    """Counters of several cases from one run of this tool under ncu."""

    profiler: NcuProfiler
    device: int
    code: str

    def count(self, cases: Sequence[Case]) -> Iterator[Counted]:
        """Metrics and warnings of each case; what breaks a batch is tried case by case."""
        try:
            launches, printed = self.profiler.profile(self._command(cases))
        except MeasuringError as error:
            yield from self._one_by_one(cases, error.message)
            return
        launched = _LAUNCHED_LINE.findall(printed)
        if len(launched) != len(launches):
            why = f"{len(launches)} launches were profiled of {len(launched)}"
            yield from self._one_by_one(cases, f"ncu: {why}")
            return
        found = dict(zip(launched, launches, strict=True))
        for case in cases:
            launch = found.get(_place(case))
            if launch is None:
                yield {}, ("ncu: the case was not launched",)
            else:
                yield launch.metrics, self.profiler.warnings(launch.metrics)

    def _one_by_one(self, cases: Sequence[Case], reason: str) -> Iterator[Counted]:
        if len(cases) == 1:
            yield {}, (reason,)
            return
        for case in cases:
            yield from self.count([case])

    def _command(self, cases: Sequence[Case]) -> list[str]:
        command = [sys.executable, __file__, f"--device={self.device}", f"--code={self.code}"]
        return command + [f"--launch-only={_place(case)}" for case in cases]


def _place(case: Case) -> str:
    return f"{case.name}@{case.size}"


def _launch_only(device: Accelerator, arguments: argparse.Namespace) -> int:
    """One launch of each case, and no other kernel: what ncu watches.

    Cases that fail are left out, and those that were launched named; the tool that asked for them
    measures all of them, and tells why.
    """
    load = _loader(device, arguments)
    session = Session(device, Settings())
    cases = [_case_at(place) for place in arguments.launch_only]
    for case, prepared in zip(cases, prepared_ahead(cases), strict=True):
        try:
            loaded = load(case.workload.kernel.source)
            session.launch_once(prepared(), loaded.content)
        except DeviceLost:
            raise
        except KernelcastError:
            continue
        sys.stdout.write(f"{_LAUNCHED} {_place(case)}\n")
        sys.stdout.flush()
    return 0


def _case_at(place: str) -> Case:
    name, _, size = place.rpartition("@")
    (file,) = find_workloads([name]).values()
    (case,) = cases_of(name, file, [size])
    return case


def _loader(device: Accelerator, arguments: argparse.Namespace) -> LoadSource:
    return loader(device.facts, is_native=arguments.code != DRIVER_CODE)


def _latencies(arguments: argparse.Namespace) -> Latencies | None:
    is_whole = not arguments.workload and not arguments.size
    wanted = arguments.latencies == "yes" or (arguments.latencies == "auto" and is_whole)
    return measure_latencies if wanted else None


def run(arguments: argparse.Namespace) -> int:
    """Lists, launches or measures the chosen cases; the exit status."""
    if arguments.list:
        list_cases(find_chosen(arguments, ptx_of))
        return 0
    device: Accelerator = (
        FakeAccelerator(Api.CUDA) if arguments.dry_run else CudaDevice(arguments.device)
    )
    if arguments.launch_only:
        return _launch_only(device, arguments)
    return measure_all(
        device,
        arguments,
        ptx_of,
        _counters(arguments),
        _loader(device, arguments),
        _latencies(arguments),
    )


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status of the command line."""
    arguments = _parser().parse_args(argv)
    return exit_status(lambda: run(arguments))


if __name__ == "__main__":
    raise SystemExit(main())
