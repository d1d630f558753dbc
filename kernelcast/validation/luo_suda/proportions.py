"""Luo and Suda: computation proportions of our own kernels beside Table 3.

Measured and predicted times stand in a figure of the paper only; P of section 3.4 is what can be
compared. The kernels are `validation/workloads/luo_suda`, executed at the sizes of Table 3; the
equations are checked in `luo_suda_periods`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from kernelcast.api import estimate
from kernelcast.execution.code import Code
from kernelcast.execution.sampling import Sampling
from kernelcast.models.estimate import Estimate
from kernelcast.models.mpd_cpd.model import NAME
from kernelcast.progress import StageProgress
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.validation.paper_figures import PaperFigure, Subject
from kernelcast.workload.file import load_workload

__all__ = [
    "LUO_SUDA",
    "Proportion",
    "luo_suda_figures",
    "luo_suda_proportions",
    "paper_gpu",
    "printed_proportions",
    "proportion_figures",
]

LUO_SUDA = "Luo and Suda 2011"
_FOLDER = Path(__file__).resolve().parents[3] / "validation"
_WORKLOADS = {
    "Svm": "support_vector",
    "Matrix": "matrix",
    "Linear": "linear",
    "Sepia": "sepia",
    "Blackescholes-7": "black_scholes_7",
    "Blackescholes": "black_scholes",
}
"""The workload of each benchmark of Table 3, as the paper spells it."""
_ORDER = (
    ("support_vector", "matrix"),
    ("linear", "sepia"),
    ("black_scholes_7",),
    ("black_scholes",),
)
"""The order of P, from groups of kernels with less of it to groups with more."""
_POINTS, _MEAN_POINTS = 15.0, 10.0
"""The sources of the paper's kernels are not published, nor is what most instructions cost."""


@dataclass(frozen=True, slots=True)
class Proportion:
    """P of a kernel, by Table 3 and from execution.

    `given` is what an estimate says that was told Table 3's.
    """

    printed: float
    found: float
    given: float

    @property
    def points(self) -> float:
        """The difference of the two proportions in percentage points."""
        return 100 * abs(self.found - self.printed)


def paper_gpu() -> Device:
    """The GTX 260."""
    return load_device("gtx-260")


def printed_proportions() -> dict[str, float]:
    """P of Table 3 by workload."""
    table = _FOLDER / "papers" / "luo_suda_table_3_benchmarks.csv"
    with table.open(newline="", encoding="utf-8") as file:
        return {
            _WORKLOADS[row["benchmark"]]: float(row["computation_proportion_percent"]) / 100
            for row in csv.DictReader(file)
        }


def luo_suda_proportions(
    progress: StageProgress | None = None,
) -> dict[str, Proportion]:
    """Executes the six kernels, ten seconds; `progress` is told kernel and share."""
    printed = printed_proportions()
    found = {}
    for number, (name, proportion) in enumerate(printed.items()):
        workload = load_workload(_FOLDER / "workloads" / "luo_suda" / f"{name}.toml")
        device = paper_gpu()
        trace = workload.run(
            "full",
            devices=[device],
            sampling=Sampling.AUTO,
            record_paths=True,
            code=Code.SOURCE,
        )
        profile = trace.profile(device)
        given = estimate(profile, NAME, computation_proportion=proportion)
        found[name] = Proportion(proportion, _p(estimate(profile, NAME)), _p(given))
        if progress is not None:
            progress(name, (number + 1) / len(printed))
    return found


def luo_suda_figures(
    progress: StageProgress | None = None,
) -> Iterator[PaperFigure]:
    """The figures of Luo and Suda beside ours, which are executed for them."""
    yield from proportion_figures(luo_suda_proportions(progress))


def proportion_figures(found: Mapping[str, Proportion]) -> Iterator[PaperFigure]:
    """Each kernel's P, their mean distance from Table 3, and their order."""
    for name, item in found.items():
        subject = Subject(LUO_SUDA, name, "Table 3")
        printed, ours = 100 * item.printed, 100 * item.found
        yield subject.near("P", printed, ours, points=_POINTS, unit="%")
        yield subject.same("P as input", item.printed, item.given)
    together = Subject(LUO_SUDA, "the six kernels", "Table 3")
    mean = sum(item.points for item in found.values()) / len(found)
    figure = "mean distance of P from the table"
    yield together.near(figure, 0.0, mean, points=_MEAN_POINTS, unit="%")
    yield together.same(
        "order of P",
        " < ".join(" and ".join(sorted(group)) for group in _ORDER),
        _order({name: item.found for name, item in found.items()}),
    )


def _order(found: Mapping[str, float]) -> str:
    """The order of kernels by P, in Table 3's groups where these do not overlap."""
    groups = [[found[name] for name in group] for group in _ORDER]
    if all(max(less) < min(more) for less, more in pairwise(groups)):
        return " < ".join(" and ".join(sorted(group)) for group in _ORDER)
    return " < ".join(sorted(found, key=lambda name: found[name]))


def _p(made: Estimate) -> float:
    found = made["P"]
    assert isinstance(found, float)
    return found
