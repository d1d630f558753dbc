"""What papers print beside what kernelcast finds: times from printed metrics, and figures.

Konstantinidis: Rodinia kernels from the parameters of Table 5.16 and section 6.5, which nvprof gave
on a GTX-480, for every GPU and kernel whose measured time the text states or implies. Zhang and
Owens, Luo and Suda: the figures of their case studies from kernels of our own, executed now
(`zhang_owens_*`, `luo_suda`, `luo_suda_periods`), and what both ask of changed GPUs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kernelcast.errors import KernelcastError
from kernelcast.models.component_throughput.model import NAME as COMPONENT_THROUGHPUT
from kernelcast.models.mpd_cpd.model import NAME as MPD_CPD
from kernelcast.models.quantitative_roofline.equations import KernelParameters, predict
from kernelcast.models.quantitative_roofline.model import NAME, error_bounds
from kernelcast.progress import StageProgress
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.profile import WorkType
from kernelcast.validation.changed_gpus import changed_gpu_figures
from kernelcast.validation.comparison import TimeComparison
from kernelcast.validation.luo_suda.periods import period_figures
from kernelcast.validation.luo_suda.proportions import luo_suda_figures
from kernelcast.validation.paper_figures import PaperFigure
from kernelcast.validation.report import ValidationReport
from kernelcast.validation.thesis import TABLES, device_name, rows_of
from kernelcast.validation.zhang_owens.machine import machine_figures
from kernelcast.validation.zhang_owens.matrix import matrix_figures
from kernelcast.validation.zhang_owens.reduction import reduction_figures
from kernelcast.validation.zhang_owens.sparse import sparse_figures

__all__ = ["paper_figures", "validate_papers"]

_PERCENT = 100.0
_ON_R9_NANO = "lvmd-krn"
_STUDIES: dict[str, tuple[tuple[str, Callable[[], Iterator[PaperFigure]]], ...]] = {
    COMPONENT_THROUGHPUT: (
        ("peaks and occupancies", machine_figures),
        ("matrix multiply", matrix_figures),
        ("cyclic reduction", reduction_figures),
        ("sparse matrix times vector", sparse_figures),
    ),
    MPD_CPD: (("periods", period_figures), ("computation proportions", luo_suda_figures)),
}
"""What each paper's model is validated by, in the order of the paper."""


def validate_papers(
    models: Sequence[str] = (), progress: StageProgress | None = None
) -> ValidationReport:
    """Validates models that take what a paper prints, and changed GPUs; half a minute.

    `progress` is told what is executed, and the share that is done.
    """
    if not TABLES.is_dir():
        raise KernelcastError("the papers' tables are in the source tree only")
    times = tuple(_rodinia()) if not models or NAME in models else ()
    return ValidationReport("papers", times, figures=tuple(paper_figures(models, progress)))


def paper_figures(
    models: Sequence[str] = (), progress: StageProgress | None = None
) -> Iterator[PaperFigure]:
    """Grouped by paper. All models unless some are named."""
    chosen = [
        study
        for model, studies in _STUDIES.items()
        if not models or model in models
        for study in studies
    ]
    chosen.append(("changed GPUs", lambda: changed_gpu_figures(models)))
    for number, (name, figures) in enumerate(chosen):
        if progress is not None:
            progress(name, number / len(chosen))
        yield from figures()


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
