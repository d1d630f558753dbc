"""Every workload of the suite, at its small size: the simulator's slots and cycles add up."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import pytest

from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.models.topdown import Part, TopDown
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.stall_reasons import ISSUED, NOT_SELECTED, SELECTED
from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming, launch_timing
from kernelcast.topdown_analysis.simulated import simulated_topdown
from kernelcast.validation.workload_suite import SUITE, workload_files
from kernelcast.workload.file import load_workload

DEVICES = ("gtx-1070", "quadro-rtx-4000")
DEPENDENT = "graph/bfs_level"
"""Which thread block visits a vertex depends on the others, so that it has no paths."""
NAMES = tuple(path.relative_to(SUITE).with_suffix("").as_posix() for path in workload_files())
STALLS = ("Frontend", "Backend", "Unattributed")


@cache
def executed(name: str) -> KernelTrace:
    workload = load_workload(Path(SUITE / f"{name}.toml"))
    return workload.run("small", devices=DEVICES, record_paths=True)


def profile_of(name: str, device: str) -> KernelProfile:
    return executed(name).profile(device)


def check_slots(timing: LaunchTiming, active_share: float) -> None:
    """Stalls, issues of active lanes and issues lost to divergence are all of the slots."""
    total = timing.full_cycles * timing.slots_per_cycle
    assert timing.issued + sum(timing.stalls.values()) == total
    assert timing.slots.sum() == total
    assert (timing.slots >= 0).all()
    assert timing.lost_by_pc.sum() <= sum(timing.stalls.values())
    assert 0 < active_share <= 1
    assert timing.issued == timing.instructions


def check_warps(timing: LaunchTiming) -> None:
    """Every cycle of every resident warp has one state."""
    cycles = timing.warp_cycles
    assert cycles.sum() == timing.resident_warp_cycles
    assert (cycles >= 0).all()
    assert sum(timing.warp_stalls.values()) == (
        timing.resident_warp_cycles - cycles[:, [SELECTED, NOT_SELECTED]].sum()
    )
    # An instruction is issued by a warp that is selected, alone or with the next one.
    by_pc = timing.slots.sum(axis=0)[:, ISSUED]
    assert (cycles[:, SELECTED] <= by_pc * timing.device.timing.issue_cycles).all()  # type: ignore[union-attr]


def check_sums(whole: float, parts: tuple[Part, ...]) -> None:
    assert math.fsum(part.ipc for part in parts) == pytest.approx(whole, abs=1e-9, rel=0)
    for part in parts:
        assert part.ipc >= -1e-12
        if part.parts:
            check_sums(part.ipc, part.parts)


def check_identities(found: TopDown, timing: LaunchTiming, active_share: float) -> None:
    """Equations 4.1 to 4.7 of Saiz 2021, from the counts of the simulator."""
    issued = timing.issued / timing.full_cycles
    ipc = {part.name: part.ipc for part in found.parts}
    stalled = math.fsum(ipc.get(name, 0.0) for name in STALLS)
    assert stalled == pytest.approx(found.ipc_max - issued, abs=1e-9)
    assert ipc["Retire"] == pytest.approx(issued * active_share, abs=1e-9)
    assert ipc["Divergence"] == pytest.approx(issued * (1 - active_share), abs=1e-9)


@pytest.mark.drawn(24)
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", [name for name in NAMES if name != DEPENDENT])
def test_slots_and_parts_add_up(name: str, device: str) -> None:
    profile = profile_of(name, device)
    timed = profile.derived(timed_warps)
    assert timed is not None, profile.not_timed
    active_share = 1.0 if profile.divergence is None else profile.divergence
    target = load_device(device)
    timing = launch_timing(timed, target)
    found = simulated_topdown(profile, target).total
    check_slots(timing, active_share)
    check_warps(timing)
    check_sums(found.ipc_max, found.parts)
    check_identities(found, timing, active_share)


def test_thread_blocks_that_depend_on_each_other_are_refused_with_the_reason() -> None:
    profile = profile_of(DEPENDENT, DEVICES[0])
    assert profile.derived(timed_warps) is None
    assert "depend on each other" in profile.not_timed
