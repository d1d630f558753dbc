"""`kernelcast bench`: measures an OpenCL device and writes its device file."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kernelcast.cli import options
from kernelcast.cli.terminal import show_error, show_result, show_stages
from kernelcast.errors import KernelcastError

if TYPE_CHECKING:
    from kernelcast.opencl_bench.session import Session

__all__ = ["bench"]


class PlotFormat(Enum):
    """What plots are written as."""

    PNG = "png"
    SVG = "svg"


_Output: TypeAlias = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE.toml", help="Write the device file."),
]
_Index: TypeAlias = Annotated[
    int | None, typer.Option(metavar="I", help="Which device of --list; default: the first.")
]
_Quick: TypeAlias = Annotated[
    bool, typer.Option("--quick", help="Within 20 seconds instead of 10 minutes.")
]
_Only: TypeAlias = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Only this benchmark; repeatable.")
]
_Fresh: TypeAlias = Annotated[
    bool, typer.Option("--fresh", help="Measure again what an earlier run has measured.")
]
_Plots: TypeAlias = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Draw each curve into this folder.")
]
_Format: TypeAlias = Annotated[PlotFormat, typer.Option(help="Of the plots.")]
_List: TypeAlias = Annotated[
    bool, typer.Option("--list", help="Show devices and benchmarks; measure nothing.")
]


def bench(
    output: _Output = None,
    opencl_device: _Index = None,
    quick: _Quick = False,
    only: _Only = None,
    fresh: _Fresh = False,
    plots: _Plots = None,
    plot_format: _Format = PlotFormat.PNG,
    list_devices: _List = False,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Measures an OpenCL device, GPU or CPU: throughputs, latencies, bandwidths, caches.

    Every finished benchmark is kept: an interrupted run goes on where it stopped.
    """
    # pyopencl and NumPy: only when asked
    from kernelcast.report import bench as report

    if list_devices:
        _list(json=json, csv=csv)
        return
    _check_output(output, plots)
    session = _measure(opencl_device, only or [], is_quick=quick, is_fresh=fresh)
    if plots is not None:
        from kernelcast.report.plots.bench import save_curves

        save_curves(session, plots, plot_format.value)
    file = None if output is None else str(output)
    show_result(
        json=json,
        csv=csv,
        record=lambda: report.bench_record(session, file),
        rows=lambda: report.bench_rows(session),
        report=lambda: report.bench_report(session),
    )
    if output is not None:
        from kernelcast.opencl_bench.device_file.record import write_device_file

        device = write_device_file(session, output)
        show_error(f"wrote {output}: --device {output} estimates for {device.title}")


def _list(*, json: bool, csv: bool) -> None:
    from kernelcast.opencl_bench.drivers import opencl_devices
    from kernelcast.opencl_bench.registry import BENCHMARKS
    from kernelcast.report import bench as report

    devices = opencl_devices()
    show_result(
        json=json,
        csv=csv,
        record=lambda: report.bench_list_record(devices, BENCHMARKS),
        rows=lambda: report.bench_list_rows(devices),
        report=lambda: report.bench_list_report(devices, BENCHMARKS),
    )


def _check_output(output: Path | None, plots: Path | None) -> None:
    """Refuses bad output paths before minutes are spent on measuring."""
    if output is not None and output.suffix != ".toml":
        raise KernelcastError(f"{output}: device files end in .toml")
    if output is not None and not output.parent.is_dir():
        raise KernelcastError(f"{output}: there is no folder {output.parent}")
    if plots is not None:
        try:
            plots.mkdir(exist_ok=True)
        except OSError as error:
            raise KernelcastError(f"{plots}: {error.strerror}") from None


def _measure(index: int | None, only: list[str], *, is_quick: bool, is_fresh: bool) -> Session:
    from kernelcast.opencl_bench.benchmark import Effort
    from kernelcast.opencl_bench.drivers import opencl_device
    from kernelcast.opencl_bench.opencl_target import OpenClTarget
    from kernelcast.opencl_bench.registry import BENCHMARKS
    from kernelcast.opencl_bench.session import run_session, select

    chosen = select(BENCHMARKS, only)
    target = OpenClTarget(opencl_device(index))
    effort = Effort.QUICK if is_quick else Effort.FULL
    with show_stages() as progress:
        return run_session(target, chosen, effort, is_fresh=is_fresh, progress=progress)
