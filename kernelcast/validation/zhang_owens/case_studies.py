"""The case studies of Zhang and Owens: kernels of our own on the paper's GPU.

The kernels are `validation/workloads/zhang_owens`, executed at the paper's sizes. Their figures are
in `zhang_owens_machine`, `zhang_owens_matrix`, `zhang_owens_reduction` and `zhang_owens_sparse`.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelcast.execution.code import Code
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.models import ModelOptions
from kernelcast.models.component_throughput.model import (
    PAPER,
    component_throughput,
    launch_stage_times,
)
from kernelcast.models.component_throughput.times import StageTime
from kernelcast.models.estimate import Estimate
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.workload.file import load_workload
from kernelcast.workload.workload import Workload

__all__ = [
    "ZHANG_OWENS",
    "CaseStudy",
    "case_study",
    "paper_gpu",
    "printed_facts",
    "printed_numbers",
    "printed_table",
    "study_workload",
]

ZHANG_OWENS = "Zhang and Owens 2011"
_FOLDER = Path(__file__).resolve().parents[3] / "validation"
_SEGMENT_BYTES = 64


def paper_gpu() -> Device:
    """The GTX 285."""
    return load_device("gtx-285")


@dataclass(frozen=True)
class CaseStudy:
    """One kernel on the paper's GPU, by the model as it is and as the paper counts."""

    trace: KernelTrace
    profile: KernelProfile
    estimate: Estimate
    stages: tuple[StageTime, ...]
    paper_estimate: Estimate
    paper_stages: tuple[StageTime, ...]

    @property
    def transactions(self) -> float:
        """Transactions of global memory, in units of 64 bytes (a half-warp's words)."""
        return self.profile.traffic.dram_bytes / _SEGMENT_BYTES

    @property
    def multiply_add_share(self) -> float:
        """The model's density: the share of multiply-adds."""
        density = self.estimate["density"]
        assert isinstance(density, float)
        return density


def study_workload(name: str) -> Workload:
    """The workload of a case study."""
    return load_workload(_FOLDER / "workloads" / "zhang_owens" / f"{name}.toml")


def case_study(name: str, size: str, changed: Sequence[Device] = ()) -> CaseStudy:
    """Executes a workload on the paper's GPU.

    With `changed` GPUs their memories are simulated too, else the trace keeps its accesses.
    """
    device = paper_gpu()
    devices = [device, *changed] if changed else ()
    trace = study_workload(name).run(size, devices=devices, code=Code.SOURCE)
    profile = trace.profile(device)
    usual, paper = ModelOptions(), ModelOptions(variant=PAPER)
    return CaseStudy(
        trace=trace,
        profile=profile,
        estimate=component_throughput(profile, device, usual),
        stages=launch_stage_times(profile, device, usual),
        paper_estimate=component_throughput(profile, device, paper),
        paper_stages=launch_stage_times(profile, device, paper),
    )


def printed_facts() -> Mapping[str, str]:
    """Values of the paper's text by their names."""
    return {row["id"]: row["value"] for row in printed_table("facts")}


def printed_numbers() -> Mapping[str, float]:
    """The printed facts that are numbers."""
    facts = printed_facts().items()
    return {name: float(text) for name, text in facts if text.replace(".", "", 1).isdigit()}


def printed_table(name: str) -> list[dict[str, str]]:
    """The rows of a printed table, by column name."""
    table = _FOLDER / "papers" / f"zhang_owens_{name}.csv"
    with table.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
