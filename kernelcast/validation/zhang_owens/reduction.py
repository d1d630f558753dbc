"""Zhang and Owens, section 5.2: cyclic reduction of 512 systems of 512 equations, plain and padded.

The paper's accounting takes warps as whole; the exact one counts the conflicts of the lanes that
take part (docs/deviations.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kernelcast.architectures import whatif
from kernelcast.models.component_throughput.curves import shared_bandwidth
from kernelcast.models.component_throughput.model import NAME
from kernelcast.models.component_throughput.times import Component, StageTime
from kernelcast.simcore.device.changed import changed_device
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.memory.banks import banked_wavefronts
from kernelcast.simcore.memory.native_accesses import native_accesses
from kernelcast.traces.trace import Trace
from kernelcast.validation.paper_figures import PaperFigure, Subject
from kernelcast.validation.zhang_owens.case_studies import (
    ZHANG_OWENS,
    CaseStudy,
    case_study,
    paper_gpu,
    printed_numbers,
    printed_table,
)

__all__ = [
    "MORE_BANKS",
    "REDUCTION_STEPS",
    "bottlenecks",
    "conflict_series",
    "cyclic_reduction",
    "reduction_figures",
    "sustained_bandwidth",
]

REDUCTION_STEPS = slice(1, 10)
"""The stages of the steps; the one before loads, the one behind solves what is left."""
MORE_BANKS = {"sm.shared_banks": 17}
_GIGA = 1e9
_ACCESSES = {"own and left": ("i and i-d", 12), "right": ("i+d", 4)}
"""Accesses of one system and step: the paper's name, and how many there are.

Four loads and four stores of an equation's coefficients, four loads of each neighbour's.
"""
_SHORT = {
    Component.GLOBAL: "global",
    Component.INSTRUCTIONS: "instruction",
    Component.SHARED: "shared",
}
_KERNELS = {"cyclic_reduction": "CR", "cyclic_reduction_padded": "CR-NBC"}
"""Kernels by file name, as the paper calls them."""


def cyclic_reduction(size: str = "full") -> tuple[CaseStudy, CaseStudy]:
    """Plain and padded."""
    plain, padded = (case_study(name, size) for name in _KERNELS)
    return plain, padded


def sustained_bandwidth(stages: Sequence[StageTime], *, over_time: bool = False) -> float:
    """Bytes of shared memory per second that the warps of the nine steps sustain (Figure 7a).

    The mean over the steps, or all bytes over all time.
    """
    curve = shared_bandwidth(paper_gpu())
    steps = [(step.shared_bytes, curve.at(step.shared_warps)) for step in stages[REDUCTION_STEPS]]
    if over_time:
        return sum(moved for moved, _ in steps) / sum(moved / rate for moved, rate in steps)
    return sum(rate for _, rate in steps) / len(steps)


def conflict_series(trace: Trace, device: Device) -> Counter[tuple[float, ...]]:
    """Wavefronts of each step for one system, by how many instructions have this series."""
    rows = trace.pattern_counts
    native = native_accesses(trace.instructions)
    taken = banked_wavefronts(rows, trace.patterns, native, device).taken * rows.count
    systems = trace.grid[0]
    is_step = (rows.stage >= REDUCTION_STEPS.start) & (rows.stage < REDUCTION_STEPS.stop)
    found: Counter[tuple[float, ...]] = Counter()
    for pc in np.unique(rows.pc[is_step]):
        chosen = rows.pc == pc
        by_stage = np.bincount(rows.stage[chosen], taken[chosen], minlength=REDUCTION_STEPS.stop)
        found[tuple(float(item) / systems for item in by_stage[REDUCTION_STEPS])] += 1
    return found


def bottlenecks(stages: Sequence[StageTime]) -> str:
    """Bottlenecks of the steps 0 to 9 in a row: `global, instruction, shared x 8`."""
    names = [_SHORT[stage.bottleneck] for stage in stages[: REDUCTION_STEPS.stop]]
    runs: list[list[str]] = []
    for name in names:
        if runs and runs[-1][0] == name:
            runs[-1].append(name)
        else:
            runs.append([name])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]} x {len(run)}" for run in runs)


def reduction_figures() -> Iterator[PaperFigure]:
    """Executes two kernels, a second."""
    plain, padded = cyclic_reduction()
    yield from _series_figures(plain, padded)
    yield from _bottleneck_figures(plain, padded)
    yield from _speed_figures(plain, padded)


def _series_figures(plain: CaseStudy, padded: CaseStudy) -> Iterator[PaperFigure]:
    traces = {"cyclic_reduction": plain.trace, "cyclic_reduction_padded": padded.trace}
    for row in printed_table("conflict_series"):
        banks = int(row["banks"])
        device = changed_device(paper_gpu(), {"sm.shared_banks": banks})
        found = conflict_series(traces[row["kernel"]].data, device)
        access, instructions = _ACCESSES[row["access"]]
        subject = Subject(ZHANG_OWENS, _KERNELS[row["kernel"]], "5.2, derived")
        yield subject.same(
            f"wavefronts of {access} in steps 1 to 9, {banks} banks",
            _series(float(row[f"step_{step}"]) for step in range(1, 10)),
            "; ".join(_series(item) for item, uses in found.items() if uses == instructions),
        )


def _series(wavefronts: Iterator[float] | Sequence[float]) -> str:
    return " ".join(f"{item:g}" for item in wavefronts)


def _bottleneck_figures(plain: CaseStudy, padded: CaseStudy) -> Iterator[PaperFigure]:
    found = bottlenecks(plain.paper_stages)
    steps = [stage.bottleneck for stage in plain.paper_stages]
    yield _subject(plain).judged(
        "bottlenecks of steps 0 to 9, paper's accounting",
        "global, instruction, shared x 8",
        found,
        "step 2 may tie",
        is_met=steps[:2] == [Component.GLOBAL, Component.INSTRUCTIONS]
        and steps[2] in (Component.INSTRUCTIONS, Component.SHARED)
        and steps[3 : REDUCTION_STEPS.stop] == [Component.SHARED] * 7,
    )
    yield _subject(padded).same(
        "bottlenecks of steps 0 to 9, paper's accounting",
        "global, instruction x 9",
        bottlenecks(padded.paper_stages),
    )
    for study in (plain, padded):
        yield _subject(study).shown(
            "bottlenecks of steps 0 to 9, exact", "", bottlenecks(study.stages)
        )


def _speed_figures(plain: CaseStudy, padded: CaseStudy) -> Iterator[PaperFigure]:
    printed = printed_numbers()
    bandwidth = sustained_bandwidth(plain.paper_stages) / _GIGA
    yield _subject(plain).near(
        "sustained shared bandwidth, mean over steps, paper's accounting",
        printed["cr_avg_shared_bw"],
        bandwidth,
        percent=5,
        unit="GB/s",
    )
    gain = plain.paper_estimate.time_s / padded.paper_estimate.time_s
    speed_up, without = printed["crnbc_speedup"], "speed-up without conflicts"
    figure = f"{without}, paper's accounting"
    yield _subject(padded).between(figure, speed_up, gain, 1.3, 1.9)
    exact = plain.estimate.time_s / padded.estimate.time_s
    yield _subject(padded).judged(
        f"{without}, exact",
        "less than with the paper's accounting",
        exact,
        f"1 to {gain:.4g}",
        is_met=1 < exact < gain,
    )
    found = whatif(plain.trace, paper_gpu(), MORE_BANKS, models=[NAME])
    shared = _excess_wavefronts(plain, MORE_BANKS)
    yield _subject(plain).judged(
        "wavefronts over the fewest possible, 17 banks",
        1.0,
        shared,
        "at most 1.1",
        is_met=shared <= 1.1,
    )
    faster = found.rows[1].speedup
    yield _subject(plain).judged(
        "speed-up with 17 banks, exact", "more than 1", faster, "more than 1", is_met=faster > 1
    )


def _excess_wavefronts(study: CaseStudy, changes: Mapping[str, int]) -> float:
    use = study.trace.profile(changed_device(paper_gpu(), changes)).shared
    assert use is not None
    assert use.ideal_wavefronts is not None
    return (use.load_wavefronts + use.store_wavefronts) / use.ideal_wavefronts


def _subject(study: CaseStudy) -> Subject:
    return Subject(ZHANG_OWENS, _KERNELS[study.trace.data.kernel], "5.2, fig 6 and 7")
