"""Equations of Luo and Suda on periods made by hand.

Each of the four types, P, and equation 2 over resident warps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kernelcast.models.mpd_cpd.calculate_periods import (
    ACCESS,
    CalculatePeriods,
    PtxOperation,
    computation_proportion,
)
from kernelcast.models.mpd_cpd.equations import PeriodType, Reading, period_clocks, period_types
from kernelcast.models.mpd_cpd.ptx_costs import PTX_COSTS
from kernelcast.models.mpd_cpd.wave import Wave
from kernelcast.validation.luo_suda.proportions import LUO_SUDA, paper_gpu, printed_proportions
from kernelcast.validation.paper_figures import PaperFigure, Subject

__all__ = ["HAND_MADE", "MadePeriod", "clocks_of_same_work", "period_figures", "period_time"]

_WARPS, _DEGREE, _MEMORY_DEGREE = 8, 4.0, 2.0
"""N_act, CPD and MPD of the periods made by hand."""
_MOST_WARPS = 32
_MEMORY_BOUND = 0.6
"""P of Table 3 below which section 4.2 speaks of memory-bound kernels."""
_LOADS, _WORD_BYTES, _TRANSACTIONS = 2, 4.0, 2
"""Loads of a period, bytes of a thread, and transactions of each load of a warp."""
_LONG = 100
_LEVEL = 1.001
"""Times that are this near are level."""


@dataclass(frozen=True, slots=True)
class MadePeriod:
    """c and m of a period and of the one before it; `clocks` is T_i, worked out by hand."""

    kind: PeriodType
    before: tuple[float, float]
    period: tuple[float, float]
    clocks: float
    equations: str


HAND_MADE = (
    # 8 x 100 / 4
    MadePeriod(PeriodType.NO_WAIT, (100, 50), (100, 60), 200, "6"),
    # 8 x 10 / 4, and 200 - 7 x 10
    MadePeriod(PeriodType.OWN_MEMORY, (100, 50), (10, 200), 150, "7 and 8"),
    # 8 x 50 / 4, and 200 x (8 / 2 - 1) - 7 x 50
    MadePeriod(PeriodType.PREVIOUS_MEMORY, (10, 200), (50, 20), 350, "9 and 10"),
    # 8 x 20 / 4, 200 x (8 / 2 - 1) - 7 x 20 = 460, and 700 - (7 x 20 + 460)
    MadePeriod(PeriodType.BOTH, (10, 200), (20, 700), 600, "11 to 13"),
)
_HISTOGRAM = {PtxOperation("add", "int_const"): 3, PtxOperation("mul", "float_reg"): 2, ACCESS: 1}
_HISTOGRAM_P = (3 * 22 + 2 * 65) / (3 * 22 + 2 * 65 + 200)
"""The histogram's P with the clocks of Table 1."""


def period_figures() -> Iterator[PaperFigure]:
    """Executes nothing."""
    for made in HAND_MADE:
        subject = Subject(LUO_SUDA, "made by hand", f"eq {made.equations}")
        kind, clocks = period_time(made)
        number = made.kind.value
        yield subject.same(f"type of period {number}", number, kind)
        yield subject.same(f"T of period {number}", made.clocks, clocks, unit="clocks")
    costs = paper_gpu().section(PTX_COSTS)
    assert costs is not None
    yield Subject(LUO_SUDA, "made by hand", "3.4").near(
        "P of a histogram", _HISTOGRAM_P, computation_proportion(_HISTOGRAM, costs), percent=0.001
    )
    for name, proportion in printed_proportions().items():
        if proportion < _MEMORY_BOUND:
            yield from _warp_figures(name, proportion)


def period_time(made: MadePeriod) -> tuple[int, float]:
    """Type and T_i of the period, by the model's equations."""
    computation, memory = (
        np.array(column, np.float64) for column in zip(made.before, made.period, strict=True)
    )
    is_first = np.array([True, False])
    degrees = np.full(2, _MEMORY_DEGREE)
    kinds = period_types(computation, memory, is_first)
    clocks = period_clocks(computation, memory, degrees, is_first, _WARPS, _DEGREE)
    return int(kinds[1]), float(clocks.total[1])


def clocks_of_same_work(proportion: float, warps: int, reading: Reading) -> float:
    """Clocks of as much work as one warp's, when `warps` are resident.

    The work is periods of two loads each, and computation in the proportion P.
    """
    device = paper_gpu()
    costs = device.section(PTX_COSTS)
    assert costs is not None
    access = _LOADS * costs.access_cycles
    periods = CalculatePeriods(
        start=np.array([0, _LONG]),
        computation_clocks=np.full(_LONG, access * proportion / (1 - proportion)),
        access_clocks=np.full(_LONG, access),
        bytes_per_thread=np.full(_LONG, _LOADS * _WORD_BYTES),
        transactions=np.full(_LONG, _LOADS * _TRANSACTIONS),
    )
    wave = Wave(periods, proportion, warps, device, costs, reading)
    return wave.total_clocks / warps


def _warp_figures(name: str, proportion: float) -> Iterator[PaperFigure]:
    """Figures of section 4.2: measured times fall and level off over 1 to 32 warps.

    The printed equation 2 has them rise again.
    """
    subject = Subject(LUO_SUDA, f"P of {name}", "eq 2, 4.2")
    usual, strict = (_times(proportion, reading) for reading in (Reading.USUAL, Reading.STRICT))
    yield subject.judged(
        "time of 32 warps over that of 1, same work",
        "falls and levels off",
        usual[-1] / usual[0],
        "no rise above 0.1 %, most of the fall by 16",
        is_met=_falls(usual) and usual[15] - usual[-1] < 0.5 * (usual[0] - usual[15]),
    )
    yield subject.judged(
        "time of 32 warps over the least, strict",
        "rises again",
        strict[-1] / min(strict),
        "more than 1",
        is_met=not _falls(strict),
    )


def _times(proportion: float, reading: Reading) -> list[float]:
    warps = range(1, _MOST_WARPS + 1)
    return [clocks_of_same_work(proportion, count, reading) for count in warps]


def _falls(times: Sequence[float]) -> bool:
    return all(more <= _LEVEL * fewer for fewer, more in pairwise(times))
