"""The case studies of Zhang and Owens: what our own kernels give beside what the paper prints.

Times stand in figures of the paper only; counts, throughputs and the speed-up of section 5 are what
can be compared. The kernels are `validation/workloads/zhang_owens`, executed at the paper's sizes.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from kernelcast.models import ModelOptions
from kernelcast.models.component_curves import shared_bandwidth
from kernelcast.models.component_throughput import (
    PAPER,
    component_throughput,
    launch_stage_times,
)
from kernelcast.models.component_times import StageTime
from kernelcast.models.estimate import Estimate
from kernelcast.simcore.device_file import load_device
from kernelcast.simcore.profile import KernelProfile
from kernelcast.simcore.saturation import fit_saturation
from kernelcast.validation.comparison import CounterComparison
from kernelcast.validation.zhang_owens_sparse import vector_bytes
from kernelcast.workload_file import load_workload

__all__ = [
    "CaseStudy",
    "cyclic_reduction",
    "matrix_multiply",
    "printed_facts",
    "sustained_bandwidth",
    "zhang_owens_counters",
]

_FOLDER = Path(__file__).resolve().parents[2] / "validation"
_DEVICE = "gtx-285"
_GIGA = 1e9
_TILES = (8, 16, 32)
_STEPS = slice(1, 10)
"""Of cyclic reduction; the stage before loads, the one behind solves what is left."""
_SEGMENT_BYTES = 64


@dataclass(frozen=True)
class CaseStudy:
    """One kernel on the paper's GPU, by the model as it is and as the paper counts."""

    profile: KernelProfile
    estimate: Estimate
    stages: tuple[StageTime, ...]
    paper_estimate: Estimate
    paper_stages: tuple[StageTime, ...]

    @property
    def transactions(self) -> float:
        """Of global memory, in units of 64 bytes (a half-warp's words)."""
        return self.profile.traffic.dram_bytes / _SEGMENT_BYTES

    @property
    def multiply_add_share(self) -> float:
        density = self.estimate["density"]
        assert isinstance(density, float)
        return density


def printed_facts() -> Mapping[str, str]:
    """Values of the paper's text by their names."""
    table = _FOLDER / "papers" / "zhang_owens_facts.csv"
    with table.open(newline="", encoding="utf-8") as file:
        return {row["id"]: row["value"] for row in csv.DictReader(file)}


def matrix_multiply(size: str = "full") -> dict[int, CaseStudy]:
    """Section 5.1, by the side of the sub-matrix."""
    return {tile: _study(f"matmul_{tile}", size) for tile in _TILES}


def cyclic_reduction(size: str = "full") -> tuple[CaseStudy, CaseStudy]:
    """Section 5.2, plain and padded."""
    return _study("cyclic_reduction", size), _study("cyclic_reduction_padded", size)


def sustained_bandwidth(stages: tuple[StageTime, ...], *, over_time: bool = False) -> float:
    """Bytes of shared memory per second that the warps of the nine steps sustain (Figure 7a): the
    mean over the steps, or all bytes over all time."""
    curve = shared_bandwidth(load_device(_DEVICE))
    steps = [(step.shared_bytes, curve.at(step.shared_warps)) for step in stages[_STEPS]]
    if over_time:
        return sum(moved for moved, _ in steps) / sum(moved / rate for moved, rate in steps)
    return sum(rate for _, rate in steps) / len(steps)


def zhang_owens_counters() -> Iterator[CounterComparison]:
    """Executes six kernels, half a minute."""
    facts = {name: float(value) for name, value in printed_facts().items() if _is_number(value)}
    yield from _throughputs(facts)
    yield from _matrix_counters(facts)
    yield from _reduction_counters(facts)
    for segment_bytes in (32, 16):
        name = f"spmv_vector_bytes_{segment_bytes}"
        found, printed = vector_bytes("ell", segment_bytes), facts[name]
        yield _counter("spmv_ell", name, found, printed, points=printed / 200)


def _throughputs(facts: Mapping[str, float]) -> Iterator[CounterComparison]:
    """Section 4: curves through the points at 6 and 32 warps, read at 16."""
    for name in ("instr_throughput", "shared_bw"):
        fit = fit_saturation(
            np.array([6.0, 32.0]), np.array([facts[f"{name}_6"], facts[f"{name}_32"]])
        )
        printed = facts[f"{name}_16"]
        yield _counter("curves", f"{name}_16", fit.at(16.0), printed, points=printed / 50)


def _matrix_counters(facts: Mapping[str, float]) -> Iterator[CounterComparison]:
    tiles = matrix_multiply()
    for small, large in pairwise(_TILES):
        fall = 1 - tiles[large].transactions / tiles[small].transactions
        name = f"matmul_gmem_trans_reduction_{small}_to_{large}"
        yield _counter(f"matmul_{large}", name, 100 * fall, facts[name], points=2)
    share = 100 * tiles[16].multiply_add_share
    name = "matmul_mad_fraction"
    yield _counter("matmul_16", name, share, facts[name], points=5)


def _reduction_counters(facts: Mapping[str, float]) -> Iterator[CounterComparison]:
    plain, padded = cyclic_reduction()
    bandwidth = sustained_bandwidth(plain.paper_stages) / _GIGA
    printed = facts["cr_avg_shared_bw"]
    yield _counter("cyclic_reduction", "cr_avg_shared_bw", bandwidth, printed, points=printed / 20)
    gain = plain.paper_estimate.time_s / padded.paper_estimate.time_s
    yield _counter("cyclic_reduction", "crnbc_speedup", gain, facts["crnbc_speedup"], points=0.3)
    exact = plain.estimate.time_s / padded.estimate.time_s
    yield _counter("cyclic_reduction", "crnbc_speedup, exact", exact, facts["crnbc_speedup"])


def _study(name: str, size: str) -> CaseStudy:
    device = load_device(_DEVICE)
    workload = load_workload(_FOLDER / "workloads" / "zhang_owens" / f"{name}.toml")
    profile = workload.run(size, devices=[device]).profile(device)
    usual, paper = ModelOptions(), ModelOptions(variant=PAPER)
    return CaseStudy(
        profile=profile,
        estimate=component_throughput(profile, device, usual),
        stages=launch_stage_times(profile, device, usual),
        paper_estimate=component_throughput(profile, device, paper),
        paper_stages=launch_stage_times(profile, device, paper),
    )


def _counter(
    kernel: str, metric: str, found: float, printed: float, points: float | None = None
) -> CounterComparison:
    reach = None if points is None else points / printed
    return CounterComparison(
        kernel=f"Zhang and Owens: {kernel}",
        device=_DEVICE,
        metric=metric,
        simulated=found,
        measured=printed,
        source="Zhang and Owens 2011, section 5",
        lowest=None if reach is None else -reach,
        highest=reach,
    )


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()
