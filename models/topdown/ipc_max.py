"""IPC_MAX: the dispatch units of an SM, by compute capability (Saiz 2021, section 4.2)."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from kernelcast.errors import ModelNotApplicable
from kernelcast.simcore.device.device import Device

__all__ = ["IssueWidth", "ipc_max_of_device", "issue_width", "issue_widths"]


@dataclass(frozen=True, slots=True)
class IssueWidth:
    """Schedulers of an SM, and the instructions that each can dispatch in a cycle."""

    compute_capability: str
    architecture: str
    warp_schedulers: int
    dispatch_units: int
    source: str

    @property
    def ipc_max(self) -> float:
        """The most instructions that an SM dispatches in a cycle."""
        return float(self.warp_schedulers * self.dispatch_units)


@cache
def issue_widths() -> Mapping[str, IssueWidth]:
    """Issue widths by compute capability, oldest first."""
    text = (files(__package__) / "ipc_max.csv").read_text("utf-8")
    return {
        row["compute_capability"]: IssueWidth(
            row["compute_capability"],
            row["architecture"],
            int(row["warp_schedulers"]),
            int(row["dispatch_units"]),
            row["source"],
        )
        for row in csv.DictReader(text.splitlines())
    }


def issue_width(compute_capability: str) -> IssueWidth:
    """The issue width of a compute capability; ModelNotApplicable for an unknown one."""
    known = issue_widths()
    if compute_capability not in known:
        raise ModelNotApplicable(
            f"no IPC_MAX for compute capability {compute_capability}; known are {', '.join(known)}"
        )
    return known[compute_capability]


def ipc_max_of_device(device: Device) -> float:
    """IPC_MAX by the device's timing facts, or its compute capability where it has none."""
    timing = device.timing
    if timing is None:
        return issue_width(device.architecture.compute_capability).ipc_max
    return device.sm.warp_schedulers * timing.issues_per_scheduler / timing.issue_cycles
