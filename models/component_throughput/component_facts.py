"""What the model `component-throughput` must know of a device beside its curves over warps."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.simcore.device.section import Section

__all__ = ["COMPONENTS", "ComponentFacts"]


@dataclass(frozen=True, slots=True)
class ComponentFacts:
    """Facts of a device's components by Zhang and Owens.

    Functional units of an SM by type of instruction (Table 1), in threads a cycle, 0 where a device
    has none; type I multiplies, II moves, adds and multiply-adds, III computes special functions,
    IV in double precision. `arithmetic_reads_shared`: an operand of arithmetic may be a word of
    shared memory, so that its load is no instruction. `sms_per_memory_pipeline`: SMs that share one
    way to memory (4.3).
    """

    type_1_lanes: int
    type_2_lanes: int
    type_3_lanes: int
    type_4_lanes: int
    arithmetic_reads_shared: bool
    sms_per_memory_pipeline: int


COMPONENTS = Section("components", ComponentFacts, may_be_zero=frozenset(("type_4_lanes",)))
"""`[components]` of a device file."""
