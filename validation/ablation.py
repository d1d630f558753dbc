"""What each part of model `interval` changes: errors from PTX as it is written to all parts on.

    python validation/ablation.py h200 --workload gemm
    python validation/ablation.py a100-40gb-published h100-pcie-published
    python validation/ablation.py pytorch-operators --device v100-pcie --sample 3

Executes the workloads of `validation/measured/NAME.json`, or of a set of published times, as PTX
in its own order, in that of an assembler, and as machine code, each on the device without what
hardware does besides (branches, fetches of code, dispatch of thread blocks, costs of barriers for
each warp, queues at DRAM, requests and writes at L2, passes of the constant cache); then gives the
device one of these after the other. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(_ROOT))

from kernelcast.cli.terminal import show_stages  # noqa: E402
from kernelcast.errors import KernelcastError, LaunchError  # noqa: E402
from kernelcast.execution.code import Code  # noqa: E402
from kernelcast.execution.sampling import Sampling  # noqa: E402
from kernelcast.simcore.device.device import Device  # noqa: E402
from kernelcast.simcore.device.file import load_device  # noqa: E402
from kernelcast.simcore.launch.launch import Limits  # noqa: E402
from kernelcast.simcore.profile.timed import timed_warps  # noqa: E402
from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel  # noqa: E402
from kernelcast.simcore.timing.launch.launch_timing import launch_timing  # noqa: E402
from kernelcast.trust import Trust  # noqa: E402
from kernelcast.validation.in_processes import in_processes  # noqa: E402
from kernelcast.validation.measured import MEASURED  # noqa: E402
from kernelcast.validation.measured_times import read_measured  # noqa: E402
from kernelcast.validation.published_tables import evenly, read_table, table_names  # noqa: E402
from kernelcast.workload.file import load_workload  # noqa: E402

_NONE: Mapping[str, Mapping[str, float]] = {
    "branches": {"branch_latency_cycles": 0.0, "reconvergence_latency_cycles": 0.0},
    "fetches of code": {"fetch_latency_cycles": 0.0},
    "dispatch": {"dispatch_cycles": 0.0, "warp_launch_cycles": 0.0},
    "barriers by warp": {"barrier_warp_cycles": 0.0},
    "queues at DRAM": {
        "dram_queue_cycles": 0.0,
        "dram_mixed_queue_cycles": 0.0,
        "dram_turn_cycles": 0.0,
        "dram_latency_deviation_cycles": 0.0,
        "dram_queue_deviation_cycles": 0.0,
        "dram_mixed_deviation_cycles": 0.0,
    },
    "requests and writes at L2": {
        "l2_requests_per_s": 0.0,
        "l2_write_bandwidth_bytes_per_s": 0.0,
        "l2_partial_writes_per_s": 0.0,
    },
}
"""Facts of [timing] that a part consists of, as they are without it."""
_CONSTANTS = "passes of the constant cache"
PARTS = (*_NONE, _CONSTANTS)


@dataclass(frozen=True, slots=True)
class Case:
    """A workload at sizes of its own or of a publication, None: those of its file; and its time."""

    device: str
    workload: str
    size: str
    measured_s: float
    sizes: Mapping[str, int] | None = None

    @property
    def name(self) -> str:
        """Device, workload and size."""
        return f"{self.device}: {self.workload} {self.size}"


def reduced(device: Device, parts: Sequence[str]) -> Device:
    """The device without all of PARTS but these."""
    timing = device.timing
    if timing is None:
        raise KernelcastError(f"{device.name} has no timing facts")
    for part, facts in _NONE.items():
        if part not in parts:
            timing = replace(timing, **facts)  # type: ignore[arg-type]
    constant = device.constant
    if _CONSTANTS not in parts:
        constant = replace(constant, pass_cycles=1.0)
    return replace(device, timing=timing, constant=constant)


def steps(device: Device) -> Iterator[tuple[str, Code, Device]]:
    """What is switched on after one another: its name, what is executed, and where."""
    bare = reduced(device, ())
    yield "as the PTX is written", Code.AS_WRITTEN, bare
    yield "order of an assembler (`source`)", Code.SOURCE, bare
    yield "machine code (`native`)", Code.NATIVE, bare
    for number, part in enumerate(PARTS, 1):
        yield f"and {part}", Code.NATIVE, reduced(device, PARTS[:number])


def errors(
    case: Case, kernel: Callable[[Case, Code], TimedKernel]
) -> Mapping[str, float] | KernelcastError:
    """The relative error by step; why, where one of the codes cannot do the case.

    `kernel` is what a case executes as that code.
    """
    device = load_device(case.device)
    try:
        kernels = {
            code: kernel(case, code) for code in dict.fromkeys(c for _, c, _ in steps(device))
        }
    except KernelcastError as error:
        return KernelcastError(f"{case.name}: {str(error).splitlines()[0]}")
    return {
        name: launch_timing(kernels[code], reduced_device).seconds / case.measured_s - 1.0
        for name, code, reduced_device in steps(device)
    }


def executed(case: Case, code: Code) -> TimedKernel:
    """What the timing model is told of a case; KernelcastError where the code does not run."""
    folder = _ROOT if case.workload.startswith("examples/") else _ROOT / "validation/workloads"
    workload = load_workload(folder / f"{case.workload}.toml", Trust.OWN)
    if case.sizes is not None:
        workload = replace(workload, sizes={case.size: case.sizes})
    device = load_device(case.device)

    def run(sampling: Sampling) -> TimedKernel:
        trace = workload.run(
            case.size,
            devices=[device],
            limits=Limits(seconds=None, instructions_per_warp=None),
            record_paths=True,
            code=code,
            sampling=sampling,
        )
        timed = trace.profile(device).derived(timed_warps)
        if timed is None:
            raise KernelcastError("no paths of warps")
        return timed

    try:
        return run(Sampling.ALWAYS)
    except LaunchError:  # paths or addresses depend on data
        return run(Sampling.AUTO)


def cases(name: str, sample: int) -> Iterator[Case]:
    """Yields those of a file of measurements, or so many of each kernel and device of a set."""
    if name in table_names(MEASURED):
        for row in evenly(read_table(name, MEASURED).rows, sample):
            yield Case(row.device, row.workload, row.size, row.time_s, row.sizes)
        return
    for measured in read_measured(MEASURED / f"{name}.json").rows:
        if measured.check is None or measured.check.passed:
            device = name.removesuffix("-published")
            yield Case(device, measured.workload, measured.size, measured.kernel_s)


def table(found: Iterable[Mapping[str, float]]) -> Iterator[str]:
    """Lines of Markdown."""
    listed: dict[str, list[float]] = {}
    for steps_of_case in found:
        for name, error in steps_of_case.items():
            listed.setdefault(name, []).append(error)
    yield "| with | rows | signed mean | mean error | median |"
    yield "|---|---:|---:|---:|---:|"
    for name, values in listed.items():
        sizes = [abs(error) for error in values]
        mean, size = statistics.mean(values), statistics.mean(sizes)
        middle = statistics.median(sizes)
        yield f"| {name} | {len(sizes)} | {mean:+.1%} | {size:.1%} | {middle:.1%} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes one table of all the sets that are named."""
    parser = argparse.ArgumentParser(description="What each part of the model changes.")
    parser.add_argument(
        "names", nargs="+", help="files of validation/measured without .json, or sets of times"
    )
    parser.add_argument("--workload", default="", help="only workloads whose name holds this")
    parser.add_argument("--device", action="append", help="only rows of this device, of sets")
    parser.add_argument("--sample", type=int, default=3, help="rows of each kernel of a set")
    parser.add_argument("--most", type=int, help="at most so many rows, in equal steps")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args(arguments)
    chosen = [
        case
        for name in options.names
        for case in cases(name, options.sample)
        if options.workload in case.workload and case.device in (options.device or [case.device])
    ]
    taken = min(options.most or len(chosen), len(chosen))
    chosen = [chosen[place * len(chosen) // taken] for place in range(taken)]
    with show_stages() as progress:
        found = in_processes(
            partial(errors, kernel=executed),
            chosen,
            [case.name for case in chosen],
            options.jobs,
            progress,
            [case.measured_s for case in chosen],
        )
    for item in found:
        if isinstance(item, KernelcastError):
            sys.stderr.write(f"{item}\n")
    done = [item for item in found if not isinstance(item, KernelcastError)]
    sys.stdout.writelines(f"{line}\n" for line in table(done))


if __name__ == "__main__":
    main()
