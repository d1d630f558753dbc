"""Costs of PTX instructions for devices on which nobody measured them.

Table 1 of Luo and Suda, which the file of the GTX 260 holds, is scaled: each operation by how much
longer its unit takes on the device than on the GTX 260, accesses by the latency of DRAM. Degrees of
computation and the warps that they take, all constants but the proportion c, grow with the warps
whose instructions fill the lanes of a multiprocessor.
"""

from __future__ import annotations

from functools import cache

from kernelcast.models.mpd_cpd.ptx_costs import (
    PTX_COSTS,
    OperandCosts,
    ParallelDegreeFacts,
    PtxCostFacts,
)
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.device.timing_facts import TimingFacts

__all__ = ["MEASURED_ON", "ptx_costs"]

MEASURED_ON = "gtx-260"


def ptx_costs(device: Device) -> PtxCostFacts | None:
    """The costs in the device's file, or derived ones; None without timing facts either."""
    given = device.section(PTX_COSTS)
    if given is not None:
        return given
    return None if device.timing is None else _scaled(device, device.timing)


def _scaled(device: Device, timing: TimingFacts) -> PtxCostFacts:
    measured, known, facts = _measured()
    integer = timing.integer.latency_cycles / known.integer.latency_cycles
    product = timing.integer_multiply.latency_cycles / known.integer_multiply.latency_cycles
    filled = _warps_in_flight(device, timing) / _warps_in_flight(measured, known)
    single = timing.fp32.latency_cycles / known.fp32.latency_cycles
    plain = {
        name: _times(getattr(facts, name), integer, single)
        for name in PtxCostFacts.__dataclass_fields__
        if isinstance(getattr(facts, name), OperandCosts)
    }
    return PtxCostFacts(
        **{**plain, "multiply": _times(facts.multiply, product, single)},
        unlisted_cycles=facts.unlisted_cycles * integer,
        access_cycles=facts.access_cycles * timing.dram_latency_cycles / known.dram_latency_cycles,
        parallel_degree=_wider(facts.parallel_degree, filled),
    )


def _times(costs: OperandCosts, integer: float, single: float) -> OperandCosts:
    return OperandCosts(
        costs.int_const_cycles * integer,
        costs.int_reg_cycles * integer,
        costs.float_const_cycles * single,
        costs.float_reg_cycles * single,
    )


def _wider(constants: ParallelDegreeFacts, factor: float) -> ParallelDegreeFacts:
    return ParallelDegreeFacts(
        a=constants.a * factor,
        b=constants.b * factor,
        c=constants.c,
        d=constants.d * factor,
        m=constants.m * factor,
    )


def _warps_in_flight(device: Device, timing: TimingFacts) -> float:
    """Warps that keep the single-precision lanes busy, by Little's law."""
    return timing.fp32.lanes * timing.fp32.latency_cycles / device.architecture.warp_width


@cache
def _measured() -> tuple[Device, TimingFacts, PtxCostFacts]:
    device = load_device(MEASURED_ON)
    assert device.timing is not None
    costs = device.section(PTX_COSTS)
    assert costs is not None
    return device, device.timing, costs
