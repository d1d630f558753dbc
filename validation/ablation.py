"""What each part of model `interval` changes: errors from PTX as it is written to all parts on.

    python validation/ablation.py h200 --workload gemm
    python validation/ablation.py a100-40gb-published

Executes the workloads of `validation/measured/NAME.json` as PTX in its own order, in that of an
assembler, and as machine code, each on the device without what hardware does besides (dispatch of
thread blocks, costs of barriers for each warp, queues at DRAM, requests and writes at L2, passes of
the constant cache); then gives the device one of these after the other. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(_ROOT))

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
from kernelcast.validation.measured import MEASURED  # noqa: E402
from kernelcast.validation.measured_times import MeasuredRow, read_measured  # noqa: E402
from kernelcast.workload.file import load_workload  # noqa: E402

_NONE: Mapping[str, Mapping[str, float]] = {
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
    device: Device, rows: Sequence[MeasuredRow], kernel: Callable[[MeasuredRow, Code], TimedKernel]
) -> dict[str, list[float]]:
    """Relative errors of `rows` by step; `kernel` is what a row executes as that code.

    A row that one of the codes cannot do is in none of the steps.
    """
    found: dict[str, list[float]] = {name: [] for name, *_ in steps(device)}
    for row in rows:
        try:
            kernels = {
                code: kernel(row, code) for code in dict.fromkeys(c for _, c, _ in steps(device))
            }
        except KernelcastError as error:
            sys.stderr.write(f"{row.workload} {row.size}: {str(error).splitlines()[0]}\n")
            continue
        for name, code, reduced_device in steps(device):
            seconds = launch_timing(kernels[code], reduced_device).seconds
            found[name].append(seconds / row.kernel_s - 1.0)
    return found


def executed(device: Device, row: MeasuredRow, code: Code) -> TimedKernel:
    """What the timing model is told of a row; KernelcastError where the code does not run."""
    folder = _ROOT if row.workload.startswith("examples/") else _ROOT / "validation/workloads"
    workload = load_workload(folder / f"{row.workload}.toml", Trust.OWN)

    def run(sampling: Sampling) -> TimedKernel:
        trace = workload.run(
            row.size,
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


def table(found: Mapping[str, Sequence[float]]) -> Iterator[str]:
    """Lines of Markdown."""
    yield "| with | rows | signed mean | mean error | median |"
    yield "|---|---:|---:|---:|---:|"
    for name, listed in found.items():
        sizes = [abs(error) for error in listed]
        if sizes:
            mean, size = statistics.mean(listed), statistics.mean(sizes)
            middle = statistics.median(sizes)
            yield f"| {name} | {len(sizes)} | {mean:+.1%} | {size:.1%} | {middle:.1%} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the table of a file of measurements."""
    parser = argparse.ArgumentParser(description="What each part of the model changes.")
    parser.add_argument("name", help="a file of validation/measured without .json")
    parser.add_argument("--workload", default="", help="only workloads whose name holds this")
    options = parser.parse_args(arguments)
    device = load_device(options.name.removesuffix("-published"))
    measured = read_measured(MEASURED / f"{options.name}.json")
    rows = [row for row in measured.rows if options.workload in row.workload]
    found = errors(device, rows, lambda row, code: executed(device, row, code))
    sys.stdout.writelines(f"{line}\n" for line in table(found))


if __name__ == "__main__":
    main()
