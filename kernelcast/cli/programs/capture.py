"""`kernelcast capture`: runs a program and estimates its launches."""

from __future__ import annotations

from pathlib import Path

import typer

import kernelcast as kc
from kernelcast.cli import options
from kernelcast.cli.programs import options as capture_options
from kernelcast.cli.terminal import launch_progress, show, show_error, show_line
from kernelcast.errors import InputError
from kernelcast.program_capture.launches import most_explained
from kernelcast.report import records
from kernelcast.report.capture import capture_record, capture_report
from kernelcast.report.chrome_trace import chrome_trace
from kernelcast.reporting import check_report_target

__all__ = ["capture"]

_USUAL_DEVICE = "a100-40gb"
_RECORDING = ".kcrec"


def capture(
    program: capture_options.ProgramCommand,
    device: capture_options.Devices = None,
    code: options.CodeChoice = None,
    every: capture_options.Every = False,
    fast: capture_options.Fast = False,
    limit_seconds: capture_options.LimitSeconds = None,
    host_time: capture_options.HostTime = False,
    clock: capture_options.Clock = False,
    output: capture_options.Output = None,
    trace: capture_options.Trace = None,
    report: capture_options.Report = None,
    launch: capture_options.Launch = None,
    workload: capture_options.WorkloadFile = None,
    json: options.Json = False,
) -> None:
    """Run an unmodified program without a GPU, and estimate all of its launches.

    The program's CUDA libraries are replaced; its kernels run on the CPU, so that its results are
    right. It must have been built with a shared CUDA runtime, as `kernelcast build -- make` does.
    A recording in place of the program is answered again, for other GPUs say.

    Exit status 1: the program failed, a launch did, or --fast left out what the program reads.
    """
    if every and fast:
        raise InputError("--every executes each launch and --fast leaves repeats out: give one")
    devices = options.named_devices(device or [_USUAL_DEVICE])
    extraction = _extraction(launch, workload)
    if report is not None:
        check_report_target(report)
    recording = output if output is not None and output.suffix == _RECORDING else None
    with launch_progress() as step:
        chosen = kc.CaptureOptions(
            code=code,
            every=every,
            is_fast=fast,
            limits=kc.Limits(seconds=limit_seconds, instructions_per_warp=None),
            is_host_timed=host_time,
            is_clock_predicted=clock,
            is_quiet=json,
            recording=recording,
            explained_kernels=0 if report is None else most_explained(len(devices)),
            tell=show_error,
            step=step,
            before_launch=extraction,
        )
        if Path(program[0]).suffix == _RECORDING:
            result = kc.replay_recording(Path(program[0]), devices, chosen)
        else:
            result = kc.capture_program(program, devices, chosen)
    _write(result, None if recording else output, trace)
    show_line(records.to_json(capture_record(result))) if json else show(capture_report(result))
    if report is not None:
        kc.write_program_report(report, result)
    if extraction is not None and not extraction.is_done:
        raise InputError(f"there is no launch {extraction.number}: nothing was written")
    if result.status or result.failed or result.stale_reads:
        raise typer.Exit(1)


def _write(result: kc.CaptureResult, report: Path | None, trace: Path | None) -> None:
    """Writes the files that were asked for."""
    contents = {}
    if report is not None:
        contents[report] = records.to_json(capture_record(result)) + "\n"
    if trace is not None:
        contents[trace] = chrome_trace(result)
    for path, content in contents.items():
        try:
            path.write_text(content)
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror}") from None


def _extraction(launch: int | None, workload: Path | None) -> kc.LaunchExtraction | None:
    if (launch is None) != (workload is None):
        raise InputError("--launch says which launch is written to --workload: give both")
    return None if launch is None or workload is None else kc.LaunchExtraction(launch, workload)
