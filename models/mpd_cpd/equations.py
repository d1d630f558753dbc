"""Equations 1 to 13 of Luo and Suda, on numbers or arrays of them.

The print leaves some places open (docs/deviations.md). The usual reading has no N_act in the
denominator of equation 2, CPD2 alone above the proportion c, n of equation 8 as N_act; `strict`
follows the print there. In both MPD is at least 1, CPD between 1 and N_act, and the missing
argument of the maximum in equation 13 is 0: without these times would be infinite or negative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from kernelcast.models.mpd_cpd.ptx_costs import ParallelDegreeFacts

__all__ = [
    "Floats",
    "PeriodClocks",
    "PeriodType",
    "Reading",
    "computation_parallel_degree",
    "memory_parallel_degree",
    "period_clocks",
    "period_types",
    "saturated_degree_slope",
    "warp_bandwidth",
]

Floats = npt.NDArray[np.float64]


class Reading(Enum):
    """How places are read that the print leaves open."""

    USUAL = "usual"
    STRICT = "strict"


class PeriodType(Enum):
    """Whether memory tasks outlast computation tasks (figures 4 to 7)."""

    NO_WAIT = 1
    OWN_MEMORY = 2
    """m_i outlasts c_i."""
    PREVIOUS_MEMORY = 3
    """m_{i-1} outlasts c_{i-1}."""
    BOTH = 4


@dataclass(frozen=True)
class PeriodClocks:
    """The parts of T_i, equations 6, 7, 9 and 11: `computation`, T_p and T_c; shape (periods,)."""

    computation: Floats
    previous_memory: Floats
    own_memory: Floats

    @property
    def total(self) -> Floats:
        """T_i of each period: computation and memory."""
        return self.computation + self.previous_memory + self.own_memory


def warp_bandwidth(
    threads: int,
    bytes_per_thread: npt.ArrayLike,
    transactions: npt.ArrayLike,
    access_clocks: float,
) -> Floats:
    """Warp_bwt in bytes a clock, equation 1; 0 where there are no transactions."""
    moved = np.asarray(threads * np.asarray(bytes_per_thread, float))
    needed = np.asarray(transactions, float) * access_clocks
    found: Floats = np.divide(moved, needed, out=np.zeros_like(moved), where=needed > 0)
    return found


def memory_parallel_degree(
    active_warps: int,
    sms: int,
    device_bandwidth: float,
    bandwidth: npt.ArrayLike,
    reading: Reading = Reading.USUAL,
) -> Floats:
    """MPD, equation 2: how many warps access memory at a time.

    `device_bandwidth` (GPU_bwt) and `bandwidth` (Warp_bwt) in bytes a clock.
    """
    warps = active_warps if reading is Reading.STRICT else 1
    asked = warps * sms * np.asarray(bandwidth, float)
    limit = np.divide(device_bandwidth, asked, out=np.full_like(asked, np.inf), where=asked > 0)
    found: Floats = np.clip(np.floor(limit), 1, active_warps)
    return found


def saturated_degree_slope(proportion: float, constants: ParallelDegreeFacts) -> float:
    """n of equation 5."""
    return constants.d * (proportion - constants.c) ** 2


def computation_parallel_degree(
    proportion: float,
    active_warps: int,
    constants: ParallelDegreeFacts,
    reading: Reading = Reading.USUAL,
) -> float:
    """CPD, equations 3 to 5: how many warps' computation goes on at a time.

    From m warps on it is that of m.
    """
    first = (constants.c - proportion) * (active_warps - constants.b) + constants.a
    most, missing = constants.m - 1, max(constants.m - active_warps, 0)
    reach = math.sqrt(max(most**2 - missing**2, 0)) / most if most > 0 else 1.0
    second = saturated_degree_slope(proportion, constants) * reach + constants.a
    is_second = reading is Reading.USUAL and proportion > constants.c
    return min(max(second if is_second else min(first, second), 1.0), float(active_warps))


def period_types(
    computation: Floats, memory: Floats, is_first: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """The number of the `PeriodType` of each period, from c_i and m_i.

    A warp's first period follows on one without a wait.
    """
    waits = memory > computation
    waited = np.concatenate([[False], waits[:-1]]) & ~is_first
    return np.asarray(1 + waits + 2 * waited, np.int64)


def period_clocks(
    computation: Floats,
    memory: Floats,
    memory_degree: Floats,
    is_first: npt.NDArray[np.bool_],
    active_warps: int,
    degree: float,
    waiting_warps: float | None = None,
) -> PeriodClocks:
    """The parts of T_i of each period, equations 6 to 13.

    `memory_degree`: MPD of the memory task of each period; `degree`: CPD. `waiting_warps`: n of
    equation 8, N_act unless it is given.
    """
    kinds = period_types(computation, memory, is_first)
    others = (active_warps - 1) * computation
    before = np.concatenate([[0.0], memory[:-1]])
    degree_before = np.concatenate([[1.0], memory_degree[:-1]])
    rounds = np.floor(active_warps / degree_before - 1)
    previous = np.where(kinds >= PeriodType.PREVIOUS_MEMORY.value, before * rounds - others, 0.0)
    previous = np.maximum(previous, 0.0)
    hidden = others if waiting_warps is None else (waiting_warps - 1) * computation
    hidden = np.where(kinds == PeriodType.BOTH.value, others + previous, hidden)
    waits = (kinds == PeriodType.OWN_MEMORY.value) | (kinds == PeriodType.BOTH.value)
    return PeriodClocks(
        computation=np.ceil(active_warps * computation / degree),
        previous_memory=previous,
        own_memory=np.where(waits, np.maximum(memory - hidden, 0.0), 0.0),
    )
