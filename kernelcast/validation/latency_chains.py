"""Latencies that chains of dependent instructions have on a device, beside the machine code timed.

They stand in the file of measurements as `latencies`, with a schema of their own:
docs/measuring.md. `kernelcast.measuring.chains` measures them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from kernelcast.errors import MetricsError
from kernelcast.workload.json_object import JsonObject

__all__ = [
    "LATENCIES_SCHEMA",
    "ChainLine",
    "ChainMachine",
    "ChainPoint",
    "FailedChain",
    "MeasuredChain",
    "MeasuredLatencies",
    "read_latencies",
]

LATENCIES_SCHEMA = 1
_FEWEST_LENGTHS = 2


@dataclass(frozen=True, slots=True)
class ChainMachine:
    """The machine code of one step of a chain, all numbers per step.

    `opcodes`: instructions by name; `pairs`: those that wait for each other, `FADD -> FADD`, along
    the longest path; `stall_cycles`: what the assembler's control bits say that the step takes,
    less than that where scoreboards are waited for. `is_loaded`: the device executed this very
    code, not what its driver made of the source.
    """

    architecture: str
    opcodes: Mapping[str, float]
    pairs: Mapping[str, float]
    stall_cycles: float | None
    is_loaded: bool


@dataclass(frozen=True, slots=True)
class ChainPoint:
    """The fewest cycles of any round of a chain with that many steps."""

    steps: int
    cycles: int


@dataclass(frozen=True, slots=True)
class ChainLine:
    """The line through all points by least squares: cycles = offset + cycles_per_step x steps.

    `residual`: the farthest that any point is from it, in cycles.
    """

    cycles_per_step: float
    offset: float
    residual: float

    @classmethod
    def through(cls, points: Sequence[ChainPoint]) -> ChainLine:
        """The line through two points or more, not all of one length."""
        x = [point.steps - fmean(point.steps for point in points) for point in points]
        mean = fmean(point.cycles for point in points)
        slope = sum(a * point.cycles for a, point in zip(x, points, strict=True))
        slope /= sum(a * a for a in x)
        offset = mean - slope * fmean(point.steps for point in points)
        residual = max(abs(p.cycles - offset - slope * p.steps) for p in points)
        return cls(slope, offset, residual)


@dataclass(frozen=True, slots=True)
class MeasuredChain:
    """One chain of `kernelcast.measuring.chains`; `machine` where the tools for it were there."""

    name: str
    points: tuple[ChainPoint, ...]
    line: ChainLine
    machine: ChainMachine | None

    @property
    def pair_cycles(self) -> Mapping[str, float]:
        """Cycles from a producer to its consumer, by their opcodes.

        Only the sum over a step is measured: where a step has pairs of several kinds it stands
        under all their names, joined by `+`. Empty without machine code.
        """
        if self.machine is None or not self.machine.pairs:
            return {}
        pairs = self.machine.pairs
        fewest = min(pairs.values())
        return {" + ".join(_counted(pairs, fewest)): self.line.cycles_per_step / fewest}


def _counted(pairs: Mapping[str, float], fewest: float) -> list[str]:
    """The names, with how often each stands there for one of the rarest."""
    times = {name: count / fewest for name, count in pairs.items()}
    return [name if count == 1 else f"{count:g} x {name}" for name, count in times.items()]


@dataclass(frozen=True, slots=True)
class FailedChain:
    """A chain that was not measured, and why."""

    name: str
    error: str


@dataclass(frozen=True, slots=True)
class MeasuredLatencies:
    """The chains of one device; `remarks` say what of them is not known."""

    chains: tuple[MeasuredChain, ...]
    failures: tuple[FailedChain, ...] = ()
    remarks: tuple[str, ...] = ()
    schema: int = LATENCIES_SCHEMA


def read_latencies(fields: JsonObject) -> MeasuredLatencies:
    """The entry `latencies` of a file; MetricsError that names what is wrong."""
    if fields.whole("schema") != LATENCIES_SCHEMA:
        raise MetricsError(f"{fields.where('schema')} must be {LATENCIES_SCHEMA}")
    fields.allow(*MeasuredLatencies.__slots__)
    return MeasuredLatencies(
        chains=tuple(_read_chain(item) for item in fields.objects("chains")),
        failures=tuple(
            FailedChain(item.text("name"), item.text("error"))
            for item in fields.objects("failures")
        ),
        remarks=fields.texts("remarks"),
    )


def _read_chain(fields: JsonObject) -> MeasuredChain:
    fields.allow(*MeasuredChain.__slots__)
    points = tuple(
        ChainPoint(item.whole("steps"), item.whole("cycles")) for item in fields.objects("points")
    )
    if len({point.steps for point in points}) < _FEWEST_LENGTHS:
        raise MetricsError(f"{fields.where('points')} must be of two lengths or more")
    machine = fields.optional_object("machine")
    return MeasuredChain(
        name=fields.text("name"),
        points=points,
        line=_read_line(fields.object("line")),
        machine=None if machine is None else _read_machine(machine),
    )


def _read_line(fields: JsonObject) -> ChainLine:
    fields.allow(*ChainLine.__slots__)
    found = fields.numbers()
    for name in ChainLine.__slots__:
        if name not in found:
            raise MetricsError(f"{fields.where(name)} is missing")
    return ChainLine(**found)


def _read_machine(fields: JsonObject) -> ChainMachine:
    fields.allow(*ChainMachine.__slots__)
    return ChainMachine(
        architecture=fields.text("architecture"),
        opcodes=fields.object("opcodes").numbers(),
        pairs=fields.object("pairs").numbers(),
        stall_cycles=fields.optional_number("stall_cycles"),
        is_loaded=fields.flag("is_loaded"),
    )
