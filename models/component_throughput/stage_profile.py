"""What one barrier stage of a launch asks of the components of a GPU (Zhang and Owens, section 3).

A stage lasts from one barrier of a thread block to its next; the stages of all thread blocks with
the same number are one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["InstructionType", "StageProfile"]


class InstructionType(Enum):
    """Zhang and Owens, Table 1: instructions by how many functional units can run them."""

    I = "I"  # noqa: E741, the paper's own names
    II = "II"
    III = "III"
    IV = "IV"


@dataclass(frozen=True, slots=True)
class StageProfile:
    """Counts of the whole grid, in warps where nothing else is said.

    `instructions`: native warp instructions by InstructionType, in its order; `computations`: those
    of floating-point arithmetic among them; `folded_loads`: loads of shared memory that are an
    operand of arithmetic and no instruction. `active_warps` and `shared_warps`: how many warps of
    one thread block issue at a time, on average, all instructions and accesses of shared memory;
    `ideal_shared_wavefronts`: without conflicts; `whole_shared_wavefronts`: if warps of which some
    lanes take part were whole. `global_transactions` are what lanes coalesce to, `global_bytes`
    those of DRAM, `l2_bytes` those between the SMs and L2, `requested_bytes` those of all lanes.
    """

    instructions: tuple[float, float, float, float]
    computations: float
    folded_loads: float
    active_warps: float
    shared_requests: float
    shared_wavefronts: float
    ideal_shared_wavefronts: float
    whole_shared_wavefronts: float
    shared_warps: float
    global_transactions: float
    global_bytes: float
    l2_bytes: float
    requested_bytes: float

    @property
    def warp_instructions(self) -> float:
        """Warp instructions of all types."""
        return sum(self.instructions)
