"""`kernelcast topdown`: what part of an SM's issue slots a kernel uses, and what takes the rest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import kernelcast as kc
from kernelcast.cli import options, topdown_options
from kernelcast.cli.option_bundles import ExecutionOptions, OutputOptions, bundled
from kernelcast.cli.terminal import show_progress
from kernelcast.cli.topdown_options import ChartKind
from kernelcast.cli.trace_source import Execution, Simulator, first_compiled
from kernelcast.errors import KernelcastError

if TYPE_CHECKING:
    from kernelcast.models.topdown import ApplicationTopDown
    from kernelcast.topdown_analysis.measured import MeasuredGpu

__all__ = ["topdown"]


@bundled
def topdown(
    workload: options.OptionalWorkload = None,
    device: topdown_options.GpuName = None,
    level: topdown_options.Level = 3,
    plot: topdown_options.Plot = None,
    chart: topdown_options.Chart = ChartKind.BARS,
    metrics: topdown_options.Metrics = None,
    compute_capability: topdown_options.ComputeCapability = None,
    kernel: topdown_options.Kernel = None,
    strict: topdown_options.Strict = False,
    per_invocation: topdown_options.PerInvocation = False,
    *,
    how: ExecutionOptions,
    output: OutputOptions,
) -> None:
    """Where the cycles went: TopDown analysis of a simulated kernel or of profiled ones.

    Several profiled kernels and launches weigh as much as the time that they took.
    """
    from kernelcast.report.topdown import topdown_record, topdown_report, topdown_rows

    options.check_sources(
        is_executed=workload is not None,
        is_measured=metrics is not None,
        of_execution=how.of_workload,
        of_metrics={
            "--compute-capability": compute_capability,
            "--kernel": kernel,
            "--strict": strict or None,
            "--per-invocation": per_invocation or None,
        },
    )
    if plot is not None:
        _check_plot(plot, chart, per_invocation=per_invocation)
    if metrics is not None:
        gpu = _measured_gpu(device, compute_capability)
        found = _measured(metrics, gpu, kernel, strict=strict, per_invocation=per_invocation)
    else:
        assert workload is not None
        found = _simulated(workload, device, how.execution(record_paths=True))
    if plot is not None:
        _write_plot(plot, found, level, chart, per_invocation=per_invocation)
    output.show(
        record=lambda: topdown_record(found, level, per_invocation=per_invocation),
        rows=lambda: topdown_rows(found, level, per_invocation=per_invocation),
        report=lambda: topdown_report(
            found, level, per_invocation=per_invocation, detail=how.verbose
        ),
    )


def _check_plot(path: Path, chart: ChartKind, *, per_invocation: bool) -> None:
    """Raises KernelcastError where no such plot can be written, before anything is analysed."""
    from kernelcast.report.plots.estimates import check_target

    check_target(path)
    if per_invocation and chart is not ChartKind.BARS:
        raise KernelcastError(f"--chart {chart.value} shows no invocations")


def _simulated(workload: Path, device: str | None, execution: Execution) -> ApplicationTopDown:
    (target,) = options.named_devices([device] if device else [])
    trace = execution.trace(workload, [target])
    with show_progress("simulating" + first_compiled(Simulator.TIMING)):
        return kc.topdown(trace, target)


def _measured_gpu(device: str | None, compute_capability: str | None) -> MeasuredGpu | None:
    """None where neither is given, for the file may tell."""
    from kernelcast.topdown_analysis.measured import MeasuredGpu

    if device is not None and compute_capability is not None:
        raise KernelcastError(
            "name the GPU of the metrics: either --device or --compute-capability"
        )
    if device is not None:
        return MeasuredGpu.of_device(kc.device(device))
    if compute_capability is not None:
        return MeasuredGpu.of_capability(compute_capability)
    return None


def _measured(
    metrics: Path,
    gpu: MeasuredGpu | None,
    kernel: str | None,
    *,
    strict: bool,
    per_invocation: bool,
) -> ApplicationTopDown:
    """The analysis of a profiler's file; KernelcastError for invocations of one with means only."""
    from kernelcast.topdown_analysis.measured import measured_topdown

    found = measured_topdown(metrics, gpu, kernel, is_strict=strict)
    for item in found.kernels:
        if per_invocation and item.launch_count > len(item.invocations):
            raise KernelcastError(
                f"kernel {item.kernel}: the file has only the mean of {item.launch_count} "
                "launches (nvprof records each with --print-gpu-trace)"
            )
    return found


def _write_plot(
    path: Path,
    application: ApplicationTopDown,
    level: int,
    chart: ChartKind,
    *,
    per_invocation: bool,
) -> None:
    # matplotlib takes a second to import, and only plots need it.
    from kernelcast.report.plots.estimates import save
    from kernelcast.report.plots.topdown import bars_plot, evolution_plot, sunburst_plot

    if per_invocation:
        figure = evolution_plot(application)
    elif chart is ChartKind.SUNBURST:
        figure = sunburst_plot(application.total, level)
    else:
        figure = bars_plot(application, level)
    save(figure, path)
