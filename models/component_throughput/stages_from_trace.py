"""Trace x Device -> StageProfile of each barrier stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kernelcast.models.component_throughput.stage_profile import StageProfile
from kernelcast.simcore.profile.derived import ProfileSource
from kernelcast.traces.trace import Trace

if TYPE_CHECKING:
    from kernelcast.simcore.memory.hierarchy import TrafficResult
    from kernelcast.simcore.memory.simulated_memory import MemoryResult
    from kernelcast.simcore.memory.stage_wavefronts import StageWavefronts

__all__ = ["mean_warps", "stage_profiles"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Shared:
    """Shape (stages,)."""

    requests: Floats
    taken: Floats
    ideal: Floats
    whole: Floats


def stage_profiles(source: ProfileSource) -> tuple[StageProfile, ...]:
    """The profile of each barrier stage in which something happens, in their order.

    What an instruction moves through global memory is spread over stages as its issues are.
    """
    # Imports the compiled simulators, which what comes from a profiler's file does without.
    from kernelcast.models.component_throughput.instruction_types import typed_instructions

    trace, device, memory = source.trace, source.device, source.memory
    issues = trace.stage_warp_issues.astype(np.float64)
    typed = typed_instructions(trace.instructions, device, memory)
    weights = issues * typed.weights.sum(axis=1)
    banked = memory.wavefronts.stages
    if banked is None:
        accesses = issues * _in_shared(trace, memory)
        shared = _spread_wavefronts(accesses, memory)
    else:
        accesses = _padded(banked.requests, len(issues))
        shared = _counted(banked, len(issues))
    warps = trace.thread_blocks, trace.warps_per_thread_block
    moved = _spread(issues, _moved(memory.traffic))
    by_type = issues @ typed.weights
    found = [
        StageProfile(
            instructions=_four(by_type[stage]),
            computations=float(weights[stage][typed.is_computation].sum()),
            folded_loads=float(issues[stage][typed.is_folded].sum()),
            active_warps=mean_warps(issues[stage], weights[stage], *warps),
            shared_requests=float(shared.requests[stage]),
            shared_wavefronts=float(shared.taken[stage]),
            ideal_shared_wavefronts=float(shared.ideal[stage]),
            whole_shared_wavefronts=float(shared.whole[stage]),
            shared_warps=mean_warps(accesses[stage], accesses[stage], *warps),
            global_transactions=float(moved[stage][0]),
            global_bytes=float(moved[stage][1]),
            l2_bytes=float(moved[stage][2]),
            requested_bytes=float(moved[stage][3]),
        )
        for stage in range(len(issues))
        if weights[stage].any()
    ]
    return tuple(found)


def mean_warps(
    issues: Floats, work: Floats, thread_blocks: int, warps_per_thread_block: int
) -> float:
    """Warps of a thread block that work at a time: all work over that of its busiest warp.

    `issues` and `work` by instruction. An instruction is taken to be issued by as many warps as
    issue it, once each, if that many there are.
    """
    total = float(work.sum())
    if not total:
        return 1.0
    warps = np.clip(issues / thread_blocks, 1.0, warps_per_thread_block)
    return total / float((work / warps).sum())


def _four(values: Floats) -> tuple[float, float, float, float]:
    first, second, third, fourth = (float(value) for value in values)
    return first, second, third, fourth


def _moved(traffic: TrafficResult) -> Floats:
    """Transactions, bytes of DRAM and of L2, bytes that lanes ask for; shape (instructions, 4).

    An atomic, which reads and writes its sectors of L2, changes them in one transaction there.
    Fills and the last write-back belong to no instruction: they are spread over all that write.
    """
    counts = traffic.by_instruction
    dram = (counts.dram_reads + counts.dram_writes).astype(np.float64)
    whole = float(traffic.dram_read_transactions + traffic.dram_write_transactions)
    weight = counts.dram_writes if counts.dram_writes.any() else counts.requests
    missing = max(0.0, whole - float(dram.sum()))
    if weight.any():
        dram = dram + missing * weight / float(weight.sum())
    below = np.maximum(counts.l2_reads, counts.l2_writes) * traffic.sector_bytes
    columns = (counts.transactions, dram * traffic.transaction_bytes, below, counts.requested_bytes)
    return np.stack([np.asarray(column, np.float64) for column in columns], axis=1)


def _spread(issues: Floats, moved: Floats) -> Floats:
    """What each stage moves, from what each pc moves; shape (stages, columns)."""
    total = issues.sum(axis=0)
    share = np.divide(issues, total, out=np.zeros_like(issues), where=total > 0)
    result: Floats = share @ moved
    return result


def _in_shared(trace: Trace, memory: MemoryResult) -> npt.NDArray[np.bool_]:
    constant = np.array([row.space == "const" for row in trace.instructions], np.bool_)
    result: npt.NDArray[np.bool_] = (memory.wavefronts.requests > 0) & ~constant
    return result


def _spread_wavefronts(issues: Floats, memory: MemoryResult) -> _Shared:
    """Spreads wavefronts that were not counted by stage over the stages, as issues are."""
    found = memory.wavefronts
    columns = np.stack([found.requests, found.taken, found.ideal, found.taken], axis=1)
    requests, taken, ideal, whole = _spread(issues, columns.astype(np.float64)).T
    return _Shared(requests, taken, ideal, whole)


def _counted(banked: StageWavefronts, stages: int) -> _Shared:
    rows = (banked.requests, banked.taken, banked.ideal, banked.of_whole_warps())
    return _Shared(*(_padded(row.sum(axis=1), stages) for row in rows))


def _padded(rows: Ints | Floats, stages: int) -> Floats:
    """The rows with zeros for stages that no row is about; shape (stages, ...)."""
    found = np.zeros((stages, *rows.shape[1:]), np.float64)
    found[: len(rows)] = rows[:stages]
    return found
