"""Predictions from metrics that papers print, against the times that they measured.

Konstantinidis: Rodinia kernels from the parameters of Table 5.16 and section 6.5, which nvprof gave
on a GTX-480, for every GPU and kernel whose measured time the text states or implies. Luo and Suda:
computation proportions of their benchmarks (`kernelcast.validation.luo_suda`). Zhang and Owens:
counts and throughputs of their case studies (`kernelcast.validation.zhang_owens`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelcast.errors import KernelcastError
from kernelcast.models.component_throughput import NAME as COMPONENT_THROUGHPUT
from kernelcast.models.mpd_cpd import NAME as MPD_CPD
from kernelcast.models.quantitative_equations import KernelParameters, predict
from kernelcast.models.quantitative_roofline import NAME, error_bounds
from kernelcast.simcore.device_file import load_device
from kernelcast.simcore.profile import WorkType
from kernelcast.validation.comparison import TimeComparison
from kernelcast.validation.luo_suda import luo_suda_proportions, proportions_note
from kernelcast.validation.report import ValidationReport
from kernelcast.validation.thesis import TABLES, device_name, rows_of
from kernelcast.validation.zhang_owens import zhang_owens_counters

__all__ = ["validate_papers"]

_PERCENT = 100.0
_ON_R9_NANO = "lvmd-krn"


def validate_papers(models: Sequence[str] = ()) -> ValidationReport:
    """Of the models that take what a paper prints; others have no rows."""
    if not TABLES.is_dir():
        raise KernelcastError("the papers' tables are in the source tree only")
    times = tuple(_rodinia()) if not models or NAME in models else ()
    luo_suda = tuple(luo_suda_proportions()) if not models or MPD_CPD in models else ()
    notes = (proportions_note(luo_suda),) if luo_suda else ()
    is_wanted = not models or COMPONENT_THROUGHPUT in models
    zhang_owens = tuple(zhang_owens_counters()) if is_wanted else ()
    return ValidationReport("papers", times, (*luo_suda, *zhang_owens), notes)


def _rodinia() -> Iterator[TimeComparison]:
    for row in rows_of("section_5_2_5_rodinia_times.csv"):
        source = f"{row['place']}, {row['basis']}"
        yield _compared(row, row["kernel"], device_name(row["gpu"]), source)
    for row in rows_of("table_6_5_r9nano_times.csv"):
        if row["benchmark"] == _ON_R9_NANO:
            yield _compared(row, _ON_R9_NANO, "r9-nano", row["place"])


def _compared(row: dict[str, str], kernel: str, device: str, source: str) -> TimeComparison:
    target = load_device(device)
    if target.measured is None:
        raise KernelcastError(f"device {device} has no measured throughputs")
    seconds = predict(_parameters(kernel), target.measured).time_s
    bounds = error_bounds(with_utilization=False)
    return TimeComparison(
        kernel=kernel,
        device=device,
        model=NAME,
        predicted_s=seconds,
        low_s=seconds * bounds.low,
        high_s=seconds * bounds.high,
        measured_s=float(row["measured_ms"]) * 1e-3,
        source=source,
        published_s=float(row["predicted_ms"]) * 1e-3,
        is_calibration=target.is_fitted_on(f"papers/{kernel}/time"),
    )


def _parameters(kernel: str) -> KernelParameters:
    """A row of Table 5.16."""
    row = next(r for r in rows_of("table_5_16_rodinia_parameters.csv") if r["kernel"] == kernel)
    return KernelParameters(
        k_type=WorkType(row["K_type"]),
        w_comp_ops=float(row["W_comp_ops"]),
        w_traf_bytes=float(row["W_traf_bytes"]),
        e_mix=float(row["E_mix_percent"]) / _PERCENT,
        d_ops=float(row["D_ops_percent"]) / _PERCENT,
        d_ldst=float(row["D_ldst_percent"]) / _PERCENT,
        d_other=float(row["D_other_percent"]) / _PERCENT,
    )
