"""What PTX instructions cost by kind of operands: data of a device for the model `mpd-cpd`.

Luo and Suda measured these clocks as the difference of two kernels that one instruction tells apart
(section 3.1, Table 1), and the constants of the computation parallel degree with a micro-benchmark
(section 3.4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernelcast.simcore.device.rescaling import DependentFact, How
from kernelcast.simcore.device.section import Section

__all__ = ["LISTED_OPERATIONS", "PTX_COSTS", "OperandCosts", "ParallelDegreeFacts", "PtxCostFacts"]

LISTED_OPERATIONS: Mapping[str, str] = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "mad": "multiply_add",
    "fma": "multiply_add",
    "div": "divide",
    "neg": "negate",
    "min": "minimum",
    "max": "maximum",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "not": "bitwise_not",
}
"""The field of `PtxCostFacts` of each PTX operation that has one."""


@dataclass(frozen=True, slots=True)
class OperandCosts:
    """Clocks of one operation: on integers or floats, with a constant among the operands or not."""

    int_const_cycles: float
    int_reg_cycles: float
    float_const_cycles: float
    float_reg_cycles: float


@dataclass(frozen=True, slots=True)
class ParallelDegreeFacts:
    """Empirical constants of equations 3 to 5: `a` degrees, `b` warps, `c` a proportion, `d`.

    `m`: the most warps of the multiprocessor that they were measured on.
    """

    a: float
    b: float
    c: float
    d: float
    m: float


@dataclass(frozen=True, slots=True)
class PtxCostFacts:
    """Clocks of `architecture.clock_hz`.

    `unlisted_cycles`: of every operation that has no entry; `access_cycles`: t_mem, of a load or
    store of global or local memory.
    """

    add: OperandCosts
    subtract: OperandCosts
    multiply: OperandCosts
    multiply_add: OperandCosts
    divide: OperandCosts
    negate: OperandCosts
    minimum: OperandCosts
    maximum: OperandCosts
    bitwise_and: OperandCosts
    bitwise_or: OperandCosts
    bitwise_xor: OperandCosts
    bitwise_not: OperandCosts
    unlisted_cycles: float
    access_cycles: float
    parallel_degree: ParallelDegreeFacts

    def clocks(self, operation: str, operand_kind: str) -> float:
        """Cycles of a computation instruction.

        `operation` is the PTX operation without its modifiers (`mul`), `operand_kind` one of
        `int_const`, `int_reg`, `float_const` and `float_reg`.
        """
        listed = LISTED_OPERATIONS.get(operation)
        if listed is None or not operand_kind:
            return self.unlisted_cycles
        costs: OperandCosts = getattr(self, listed)
        found: float = getattr(costs, f"{operand_kind}_cycles")
        return found


PTX_COSTS = Section(
    "ptx_costs",
    PtxCostFacts,
    may_be_zero=frozenset(f"parallel_degree.{constant}" for constant in "abcd"),
    units={
        "parallel_degree.a": "warps",
        "parallel_degree.b": "warps",
        "parallel_degree.c": "share",
        "parallel_degree.d": "warps",
        "parallel_degree.m": "warps",
    },
    rules=(
        DependentFact(
            "ptx_costs.access_cycles",
            How.SCALES,
            ("architecture.clock_hz",),
            reason="an access of the memory takes as many nanoseconds as before",
        ),
    ),
)
"""`[ptx_costs]` of a device file."""
