"""The cases of the Konstantinidis thesis, executed end to end.

The three kernels of its case studies are executed from the shipped examples, simulated for each GPU
and estimated; nothing is taken from the thesis but the GPUs' measured parameters. The measured and
the thesis's own predicted times come from Tables 5.9, 5.12, 5.14 and 6.5, the counters that nvprof
gave on the GTX-480 from Tables 4.4, 4.9, 5.10 and 6.4.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kernelcast.api import estimate
from kernelcast.errors import KernelcastError, ModelNotApplicable
from kernelcast.execution.code import Code
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.models import MODELS, needs_paths
from kernelcast.progress import Progress, StageProgress
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.metric_names import Naming, metrics
from kernelcast.validation.comparison import CounterComparison, TimeComparison
from kernelcast.validation.report import ValidationReport
from kernelcast.workload.file import load_workload

__all__ = [
    "CASES",
    "TABLES",
    "ThesisCase",
    "measured_devices",
    "published_times",
    "thesis_counters",
    "thesis_devices",
    "validate_thesis",
]

_ROOT = Path(__file__).resolve().parents[2]
TABLES = _ROOT / "validation" / "thesis"
_EXAMPLES = _ROOT / "examples"
_PROFILED_ON = "gtx-480"


@dataclass(frozen=True, slots=True)
class ThesisCase:
    """One kernel: its workload and the rows of the thesis's table that it answers."""

    kernel: str
    workload: str
    table: str
    place: str
    benchmark: str = ""
    """The row of a table that lists benchmarks on one GPU instead of GPUs for one benchmark."""
    gpu: str = ""


CASES = (
    ThesisCase("SOR", "sor/sor.toml", "table_5_9_sor_times.csv", "Table 5.9"),
    ThesisCase(
        "SOR",
        "sor/sor.toml",
        "table_6_5_r9nano_times.csv",
        "Table 6.5",
        benchmark="red/black SOR",
        gpu="r9-nano",
    ),
    ThesisCase("LMSOR", "lmsor/lmsor.toml", "table_5_12_lmsor_times.csv", "Table 5.12"),
    ThesisCase("SGEMM 32x32", "sgemm/sgemm32.toml", "table_5_14_sgemm_times.csv", "Table 5.14"),
    ThesisCase(
        "SGEMM 16x16",
        "sgemm/sgemm16.toml",
        "table_6_5_r9nano_times.csv",
        "Table 6.5",
        benchmark="SGEMM",
        gpu="r9-nano",
    ),
)


def validate_thesis(
    models: Sequence[str] = (),
    progress: StageProgress | None = None,
    code: Code = Code.SOURCE,
) -> ValidationReport:
    """Executes the cases at full size: about two minutes. All models unless some are named.

    `progress` is told case and share; `code` is what is executed.
    """
    if not TABLES.is_dir():
        raise KernelcastError("the thesis's tables and examples are in the source tree only")
    times: list[TimeComparison] = []
    counters: list[CounterComparison] = []
    notes: list[str] = []
    traces: dict[str, KernelTrace] = {}
    chosen = models or tuple(MODELS)
    for case in CASES:
        if case.workload not in traces:
            traces.clear()  # a trace of the full size takes hundreds of megabytes
            told = None if progress is None else _named(progress, case.kernel)
            devices = dict.fromkeys((_PROFILED_ON, *measured_devices(case.workload)))
            traces[case.workload] = load_workload(_EXAMPLES / case.workload).run(
                devices=list(devices),
                progress=told,
                record_paths=any(map(needs_paths, chosen)),
                code=code,
            )
            counters.extend(thesis_counters(case.kernel, traces[case.workload]))
        for model in chosen:
            try:
                times.extend(_times(case, traces[case.workload], model))
            except ModelNotApplicable as reason:
                notes.append(f"{case.kernel}: {model} does not apply: {reason}")
    return ValidationReport("thesis", tuple(times), tuple(counters), notes=tuple(notes))


def measured_devices(workload: str) -> list[str]:
    """All GPUs that cases with this workload were measured on."""
    cases = [case for case in CASES if case.workload == workload]
    return sorted({device for case in cases for device, _, _ in published_times(case)})


def thesis_devices() -> tuple[str, ...]:
    """The seven GPUs whose parameters the thesis measured."""
    return tuple(sorted({device for case in CASES for device, _, _ in published_times(case)}))


def published_times(case: ThesisCase) -> Iterator[tuple[str, float, float]]:
    """(device, seconds that the thesis predicted, seconds that it measured)."""
    for row in rows_of(case.table):
        if case.benchmark and row["benchmark"] != case.benchmark:
            continue
        device = case.gpu or device_name(row["gpu"])
        yield device, float(row["predicted_ms"]) * 1e-3, float(row["measured_ms"]) * 1e-3


def thesis_counters(kernel: str, trace: KernelTrace) -> Iterator[CounterComparison]:
    """What nvprof counted on the GTX-480, where the thesis prints it for the kernel."""
    device = load_device(_PROFILED_ON)
    profile = trace.profile(device)
    simulated = {item.name: item.value for item in metrics(profile, Naming.NVPROF)}
    simulated["dram_bytes"] = profile.traffic.dram_bytes
    for row in rows_of("counter_tolerances.csv"):
        if row["kernel"] != kernel:
            continue
        name = row["metric"]
        yield CounterComparison(
            kernel=kernel,
            device=device.name,
            metric=name,
            simulated=float(simulated[name]),
            measured=float(row["value"] or _printed(row["table"], name)),
            source=row["reason"],
            lowest=float(row["lowest"]) if row["lowest"] else None,
            highest=float(row["highest"]) if row["highest"] else None,
            is_calibration=device.is_fitted_on(f"thesis/{kernel}/{name}"),
        )


def device_name(gpu: str) -> str:
    """The device's key for the thesis's name of a GPU."""
    return gpu.lower().replace(" ", "-")


@cache
def rows_of(table: str) -> tuple[dict[str, str], ...]:
    """The rows of a table of the thesis, by column name."""
    with (TABLES / table).open(newline="", encoding="utf-8") as file:
        return tuple(csv.DictReader(file))


def _printed(table: str, metric: str) -> str:
    return next(row["value"] for row in rows_of(table) if row["nvprof_metric"] == metric)


def _times(case: ThesisCase, trace: KernelTrace, model: str) -> Iterable[TimeComparison]:
    for name, published_s, measured_s in published_times(case):
        device = load_device(name)
        found = estimate(trace.profile(device), model)
        yield TimeComparison.of(
            case.kernel,
            found,
            measured_s,
            case.place,
            published_s=published_s,
            is_calibration=device.is_fitted_on(f"thesis/{case.kernel}/time"),
        )


def _named(progress: StageProgress, name: str) -> Progress:
    return lambda share: progress(name, share)
