"""Tensor operations on a device: cycles of the unit, and until the result is there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.tensor_facts import TensorFacts
from kernelcast.traces.trace import InstructionRow

__all__ = ["tensor_cycles"]

_WHOLE_SM = "tcgen05"
_OF_SASS = ("UTCHMMA", "UTCIMMA", "UTCQMMA", "UTCOMMA")
"""Opcodes of machine code that are such products."""
_PAIRS = {"cta_group::2", "2CTA"}
_SMS_OF_PAIR = 2
_ASYNCHRONOUS = ("wgmma", _WHOLE_SM)
"""First parts of names of products that a warpgroup, or one thread for a thread block, begins."""

Floats = npt.NDArray[np.float64]


def tensor_cycles(rows: Sequence[InstructionRow], device: Device) -> tuple[Floats, Floats]:
    """Cycles of a scheduler's tensor unit for one lane, and until the result is there, by pc.

    A product of which all lanes take part is there `latency_cycles` after the last of its cycles at
    the rate of the unit; sums that are held back begin one after the other, later than that.
    """
    cycles: Floats = np.zeros(len(rows))
    latency: Floats = np.zeros(len(rows))
    facts = device.tensor
    for row in rows:
        if not row.tensor_operations or facts is None:
            continue
        if facts.multiply_adds_per_cycle(row.tensor_type) is None:
            continue  # nothing executes it: profiles ask `missing_tensor_units` first
        rate, flow = _rates(row, facts, device)
        multiply_adds = row.tensor_operations / 2.0
        lanes = 1 if _first(row) == _WHOLE_SM else device.architecture.warp_width
        cycles[row.pc] = multiply_adds / rate
        passed = lanes * multiply_adds / flow
        latency[row.pc] = max(facts.latency_cycles + passed, lanes * cycles[row.pc])
    return cycles, latency


def _rates(row: InstructionRow, facts: TensorFacts, device: Device) -> tuple[float, float]:
    """Multiply-adds a cycle of one scheduler's unit: of many products in turn, and of one alone."""
    rate = facts.multiply_adds_per_cycle(row.tensor_type)
    flow = facts.flow_per_cycle(row.tensor_type)
    assert rate is not None
    assert flow is not None
    units: float = 1 if _first(row) == _WHOLE_SM else device.sm.warp_schedulers
    if not _PAIRS.isdisjoint(row.opcode.split(".")):
        units = 1 / _SMS_OF_PAIR  # the units of two SMs share the work
    reached = 1.0 if _first(row) in _ASYNCHRONOUS else facts.warp_efficiency
    return rate * reached / units, flow / units


def _first(row: InstructionRow) -> str:
    """The first part of the product's name in PTX."""
    found = row.opcode.split(".")[0]
    return _WHOLE_SM if found in _OF_SASS else found
