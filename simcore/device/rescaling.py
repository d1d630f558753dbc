"""Which facts of a device follow when another one is changed: one table of rules.

Facts go by their dotted names (`sm.max_warps`). docs/whatif.md shows the table with its reasons.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

__all__ = [
    "ABSENT",
    "CEILINGS",
    "CURVES",
    "RULES",
    "DependentCurve",
    "DependentFact",
    "Facts",
    "How",
    "Scalar",
    "ceiling_factor",
    "curve_factor",
    "follow",
]

Scalar: TypeAlias = int | float | str | bool
Facts: TypeAlias = Mapping[str, Scalar]

ABSENT = "none"
"""The value that removes an optional section from a device (`l1=none`)."""
_SAME = 1e-12
"""Factors nearer to 1 are rounding errors."""
_MAY_VANISH = frozenset(("peak.fp64_flops_per_s", "measured.fp64_ops_per_s"))
"""Facts that become 0 with what they are proportional to; others stay as they are."""


class How(Enum):
    """How a fact follows the product of others over the product of its divisors."""

    SCALES = "scales with"
    EQUALS = "is"
    AT_MOST = "is at most"
    AT_LEAST = "is at least"
    BEYOND = "its excess over the first scales with the others"


@dataclass(frozen=True, slots=True)
class DependentFact:
    """`name` follows `factors` over `divisors` when one of `when` (by default any) has changed.

    A rule holds for devices that have all of its facts.
    """

    name: str
    how: How
    factors: tuple[str, ...]
    divisors: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    reason: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the facts that the dependent one follows."""
        return (*self.factors, *self.divisors)


_CLOCK = "architecture.clock_hz"
_SMS = "architecture.sm_count"
_WIDTH = "architecture.warp_width"
_DRAM = "dram.bandwidth_bytes_per_s"
_MEASURED_DRAM = "measured.dram_bandwidth_bytes_per_s"
_L2 = "timing.l2_bandwidth_bytes_per_s"
_EFFICIENCY = "timing.dram_efficiency"
_SAME_UNITS = "every SM executes as many operations a cycle as before"
_OWN_UNITS = "each kind of instruction has lanes of its own"


def _operations(name: str, lanes: str) -> tuple[DependentFact, ...]:
    """A throughput of the whole device: of SMs, clock and lanes."""
    return (
        DependentFact(name, How.SCALES, (_SMS, _CLOCK), reason=_SAME_UNITS),
        DependentFact(name, How.SCALES, (lanes,), reason=_OWN_UNITS),
    )


RULES: tuple[DependentFact, ...] = (
    DependentFact(
        "architecture.running_clock_hz",
        How.SCALES,
        (_CLOCK,),
        reason="the clock rises under load by the same share",
    ),
    DependentFact(
        "sm.max_warps",
        How.EQUALS,
        ("sm.max_threads",),
        (_WIDTH,),
        reason="an SM keeps its threads when warps become wider or narrower",
    ),
    DependentFact(
        "sm.max_threads", How.EQUALS, ("sm.max_warps", _WIDTH), reason="by the device checks"
    ),
    DependentFact(
        "sm.max_thread_blocks",
        How.AT_MOST,
        ("sm.max_warps",),
        reason="a thread block has a warp at least",
    ),
    DependentFact(
        "sm.max_threads_per_thread_block",
        How.AT_MOST,
        ("sm.max_threads",),
        reason="a thread block fits an SM",
    ),
    DependentFact(
        "sm.max_shared_bytes_per_thread_block",
        How.AT_MOST,
        ("sm.shared_bytes",),
        reason="a thread block fits an SM",
    ),
    DependentFact(
        "sm.max_registers_per_thread",
        How.AT_MOST,
        ("sm.registers",),
        (_WIDTH,),
        reason="one warp fits the register file",
    ),
    DependentFact(
        "sm.fp32_lanes", How.SCALES, ("timing.fp32.lanes",), reason="two names of one fact"
    ),
    DependentFact(
        "timing.fp32.lanes", How.SCALES, ("sm.fp32_lanes",), reason="two names of one fact"
    ),
    DependentFact(
        "sm.fp64_lanes", How.SCALES, ("timing.fp64.lanes",), reason="two names of one fact"
    ),
    DependentFact(
        "timing.fp64.lanes", How.SCALES, ("sm.fp64_lanes",), reason="two names of one fact"
    ),
    DependentFact(
        "timing.issue_cycles",
        How.AT_MOST,
        ("sm.warp_schedulers", "timing.issues_per_scheduler", _WIDTH),
        ("sm.fp32_lanes",),
        reason="the schedulers fill the single-precision lanes",
    ),
    *_operations("peak.fp32_flops_per_s", "sm.fp32_lanes"),
    *_operations("peak.fp64_flops_per_s", "sm.fp64_lanes"),
    *_operations("measured.fp32_ops_per_s", "sm.fp32_lanes"),
    *_operations("measured.fp64_ops_per_s", "sm.fp64_lanes"),
    *_operations("measured.int_ops_per_s", "timing.integer_multiply.lanes"),
    *_operations("measured.add_ops_per_s", "timing.integer.lanes"),
    DependentFact(
        "measured.int_ops_per_s",
        How.AT_MOST,
        ("peak.fp32_flops_per_s",),
        when=("sm.fp32_lanes",),
        reason="the device checks let integers be no faster than single precision",
    ),
    DependentFact(
        "measured.add_ops_per_s",
        How.AT_MOST,
        ("sm.fp32_lanes", _SMS, _CLOCK),
        when=("sm.fp32_lanes",),
        reason="the device checks let integers be no faster than single precision",
    ),
    DependentFact(
        "measured.load_store_ops_per_s",
        How.SCALES,
        (_SMS, _CLOCK, "shared.banks"),
        reason="every bank serves as many words a cycle as before",
    ),
    DependentFact(
        _MEASURED_DRAM, How.SCALES, (_DRAM,), reason="the attainable share stays the same"
    ),
    DependentFact(
        _EFFICIENCY,
        How.SCALES,
        (_MEASURED_DRAM,),
        (_DRAM,),
        reason="it is the attainable share of the theoretical bandwidth",
    ),
    DependentFact(_L2, How.SCALES, (_CLOCK,), reason="bytes a cycle stay the same"),
    DependentFact(
        _L2,
        How.AT_LEAST,
        (_EFFICIENCY, _DRAM),
        when=(_EFFICIENCY, _DRAM, _CLOCK),
        reason="DRAM is read through L2, which must not become the narrower of the two",
    ),
    DependentFact(
        "timing.dram_latency_cycles",
        How.BEYOND,
        ("timing.l2_latency_cycles", _CLOCK),
        reason="the way from L2 to DRAM takes as many nanoseconds as before",
    ),
    DependentFact(
        "tensor.peak_clock_hz",
        How.SCALES,
        (_CLOCK,),
        reason="tensor units run at the same share of the clock",
    ),
    DependentFact(
        "tensor.peak_flops_per_s",
        How.SCALES,
        (_SMS, "tensor.peak_clock_hz", "tensor.fp16"),
        reason="the vendor's figure is that of all SMs",
    ),
)
"""Rules in their order: the sources of one are settled by rules before it."""


@dataclass(frozen=True, slots=True)
class DependentCurve:
    """Curves of such a name and unit of y scale with the product of `factors`."""

    prefix: str
    y_units: tuple[str, ...]
    factors: tuple[str, ...]


_OPERATIONS, _BYTES = ("operations/s", "op/s"), ("bytes/s", "B/s")

CURVES: tuple[DependentCurve, ...] = (
    DependentCurve("fp32_", _OPERATIONS, (_SMS, _CLOCK, "sm.fp32_lanes")),
    DependentCurve("fp64_", _OPERATIONS, (_SMS, _CLOCK, "sm.fp64_lanes")),
    DependentCurve("local_", _BYTES, (_SMS, _CLOCK, "shared.banks")),
    DependentCurve("", _OPERATIONS, (_SMS, _CLOCK)),
)
"""Whole-device throughputs; the first one that fits holds. Other curves stay as they are."""


CEILINGS: Mapping[str, tuple[str, ...]] = {
    "dram_": (_DRAM,),
    "l2_": (_CLOCK,),
    "l1_": (_SMS, _CLOCK),
    "shared_": (_SMS, _CLOCK, "shared.banks"),
    "fp32_": (_SMS, _CLOCK, "sm.fp32_lanes"),
    "fp64_": (_SMS, _CLOCK, "sm.fp64_lanes"),
    "special_function_": (_SMS, _CLOCK),
    "tensor_": (_SMS, _CLOCK),
}
"""What the highest observed rates scale with, by the beginning of their names; others stay."""


def ceiling_factor(quantity: str, old: Facts, new: Facts) -> float:
    """What an observed rate is multiplied with; plain work-items' follow the same facts."""
    name = quantity.removeprefix("work_item_")
    found = next((CEILINGS[start] for start in CEILINGS if name.startswith(start)), ())
    return _ratio(found, old, new)


def curve_factor(name: str, y_unit: str, old: Facts, new: Facts) -> tuple[float, tuple[str, ...]]:
    """What y of a curve is multiplied with, and the changed facts that it comes from."""
    for curve in CURVES:
        if name.startswith(curve.prefix) and y_unit in curve.y_units:
            changed = tuple(item for item in curve.factors if new[item] != old[item])
            return _ratio(changed, old, new), changed
    return 1.0, ()


def follow(
    old: Facts, explicit: Facts, rules: Sequence[DependentFact] = RULES
) -> dict[str, Scalar]:
    """All facts after the changes `explicit`, which win over every one of the `rules`.

    A fact that follows is worked out from `old` and from what its sources have become, so that the
    order of the changes does not matter. Nothing follows from a fact that is taken away.
    """
    new = {**old, **explicit}
    for rule in rules:
        if rule.name in explicit or any(
            new.get(name, ABSENT) == ABSENT for name in (rule.name, *rule.sources)
        ):
            continue
        if any(new[name] != old.get(name) for name in rule.when or rule.sources):
            new[rule.name] = _like(old.get(rule.name), _followed(rule, old, new))
    return new


def _followed(rule: DependentFact, old: Facts, new: Facts) -> float:
    present = float(new[rule.name])
    match rule.how:
        case How.SCALES:
            factor = _ratio(rule.factors, old, new) / (_ratio(rule.divisors, old, new) or 1.0)
            if abs(factor - 1.0) < _SAME or (not factor and rule.name not in _MAY_VANISH):
                return present
            return present * factor
        case How.EQUALS:
            return _product(rule, new)
        case How.AT_MOST:
            return min(present, _product(rule, new))
        case How.AT_LEAST:
            return max(present, _product(rule, new))
        case How.BEYOND:
            first, *others = rule.factors
            excess = present - float(old[first])
            return float(new[first]) + excess * _ratio(others, old, new)


def _product(rule: DependentFact, facts: Facts) -> float:
    above = math.prod(float(facts[name]) for name in rule.factors)
    return above / math.prod(float(facts[name]) for name in rule.divisors)


def _ratio(names: tuple[str, ...] | list[str], old: Facts, new: Facts) -> float:
    """How much the product of facts has grown; a fact that was 0 tells nothing and counts as 1."""
    grown = 1.0
    for name in names:
        before = float(old.get(name, 0.0))
        grown *= float(new[name]) / before if before else 1.0
    return grown


def _like(old: Scalar | None, value: float) -> Scalar:
    """Counts stay whole and do not vanish; a limit is rounded down."""
    if isinstance(old, int):
        return max(min(old, 1), math.floor(value * (1 + _SAME)))
    return value
