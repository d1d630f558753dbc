"""How much a sweep has to do, and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kernelcast.execution.code import Code, code_named, machine_code_name
from kernelcast.models import needs_paths
from kernelcast.simcore.device.device import Device
from kernelcast.store.memory_facts import MemoryFacts
from kernelcast.studies.changed_devices import architecture
from kernelcast.studies.data_set import DataSet
from kernelcast.studies.identity import plan_identity
from kernelcast.studies.plan import Plan

__all__ = ["Forecast", "forecast"]


@dataclass(frozen=True, slots=True)
class Forecast:
    """`points` in all, of which `done` are there; what the whole sweep takes.

    `executions` of kernels, one for each code and width of warps of a launch, `memories` that are
    simulated, and `walks` of an SM. `core_seconds`: of one core, for what is missing; what the
    store has is not known beforehand and takes less.
    """

    points: int
    done: int
    launches: int
    executions: int
    memories: int
    walks: int
    core_seconds: float


_EXECUTION_S, _MEMORY_S, _WALK_S, _POINT_S = 2.0, 1.0, 0.1, 0.01
"""Seconds of a core of 2024 for launches of a few million threads."""
_WALKS_OF_A_RANGE = 5


def forecast(plan: Plan, folder: Path | None) -> Forecast:
    """Counts what a sweep takes."""
    devices = [architecture(item) for item in plan.swept_devices]
    fitting = [item for item in devices if item.device is not None]
    codes = {_code(item.device, plan.code) for item in fitting if item.device is not None}
    kinds: set[MemoryFacts] = {item.facts for item in fitting if item.facts is not None}
    launches = len(plan.launches)
    walking = sum(map(needs_paths, plan.models))
    walks = launches * walking * len(fitting) * (_WALKS_OF_A_RANGE if plan.ranges else 1)
    done = 0
    if folder is not None and folder.is_dir():
        done = DataSet(folder, plan, plan_identity(plan)).done()
    executions, memories = launches * len(codes), launches * len(kinds)
    seconds = (
        executions * _EXECUTION_S + memories * _MEMORY_S + walks * _WALK_S + plan.points * _POINT_S
    )
    left = 1 - done / plan.points
    return Forecast(plan.points, done, launches, executions, memories, walks, left * seconds)


def _code(device: Device, code: str | None) -> tuple[str | None, int]:
    """Equal for devices that one execution serves."""
    chosen = code_named(code)
    name = machine_code_name(device) if chosen in (Code.AUTO, Code.NATIVE) else None
    return name, device.architecture.warp_width
