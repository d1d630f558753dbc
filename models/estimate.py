"""The result of every model: time as a tree of terms, so that number and explanation agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from kernelcast.models.slot_account import SlotAccount
from kernelcast.notebook import Table, Tabular
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.simcore.profile.profile import LaunchValidity
from kernelcast.traces.trace import AS_WRITTEN, SOURCE_CODE
from kernelcast.units import format_quantity, format_seconds

__all__ = ["Advice", "Combine", "DecisiveFact", "Estimate", "Parameter", "Term", "executed_codes"]


_SOURCES = {
    SOURCE_CODE: "source",
    AS_WRITTEN: "source as written",
}


class Combine(Enum):
    """How the parts of a term make its time."""

    LEAF = "leaf"
    MAX = "max"
    SUM = "sum"


@dataclass(frozen=True, slots=True)
class Term:
    """A named share of the time. Only leaves carry seconds; the others are computed from parts."""

    name: str
    formula: str
    combine: Combine = Combine.LEAF
    leaf_seconds: float | None = None
    parts: tuple[Term, ...] = ()

    def __post_init__(self) -> None:
        if (self.combine is Combine.LEAF) != (self.leaf_seconds is not None and not self.parts):
            raise ValueError(f"term {self.name}: leaves carry seconds, other terms carry parts")

    @property
    def seconds(self) -> float:
        """The time of the term: its own, or the sum or maximum of its parts."""
        match self.combine:
            case Combine.MAX:
                return max(part.seconds for part in self.parts)
            case Combine.SUM:
                return sum(part.seconds for part in self.parts)
            case Combine.LEAF:
                assert self.leaf_seconds is not None
                return self.leaf_seconds

    @property
    def bottleneck(self) -> Term:
        """The leaf that the time goes to first."""
        if not self.parts:
            return self
        return max(self.parts, key=lambda part: part.seconds).bottleneck

    def as_dict(self) -> dict[str, Any]:
        """The tree as nested dictionaries for JSON."""
        return {
            "name": self.name,
            "seconds": self.seconds,
            "combine": self.combine.value,
            "formula": self.formula,
            "parts": [part.as_dict() for part in self.parts],
        }


@dataclass(frozen=True, slots=True)
class Parameter:
    """An intermediate quantity of a model under the name that its paper gives it."""

    symbol: str
    value: float | str
    unit: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Advice:
    """What to change, why, and what that gains.

    `gain`: how many times as fast the launch would be, None where nobody has worked it out;
    `where`: places of the source, the most important first.
    """

    what: str
    why: str = ""
    gain: float | None = None
    where: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.what}: {self.why}" if self.why else self.what


@dataclass(frozen=True, slots=True)
class DecisiveFact:
    """An assumed fact of a device; changed by the share `change`, it moves the time by `effect`."""

    name: str
    effect: float
    change: float


@dataclass(frozen=True, repr=False)
class Estimate(Tabular):
    """What a model says of one kernel on one device, for `repeats` launches together.

    `time_low_s` and `time_high_s` bound the time; `basis` says where the bounds come from, and
    `coverage` which share of measured times lay between them, None where nobody has counted.
    `gain` is what the launch would gain without its bottleneck, `gain_text` says on which
    condition; `contradictions` are plain lines where another model's bound is broken. `cycles` of
    the SM that ends last are at `clock_hz`.
    `parameters` are the model's intermediate results in the order of its equations.
    """

    kernel: str
    device: str
    model: str
    terms: Term
    bottleneck: str
    time_low_s: float
    time_high_s: float
    basis: str
    repeats: int = 1
    parameters: tuple[Parameter, ...] = ()
    causes: tuple[str, ...] = ()
    advice: tuple[Advice, ...] = ()
    assumptions: tuple[str, ...] = ()
    validity: LaunchValidity = field(default=LaunchValidity(None, None, None))
    code: str = ""
    """The code that was executed, as `KernelProfile.code` has it."""
    gain: float | None = None
    gain_text: str = ""
    coverage: float | None = None
    cycles: float | None = None
    clock_hz: float | None = None
    contradictions: tuple[str, ...] = ()
    achieved: Mapping[str, float] = field(default_factory=dict)
    """Shares of peak rates, 0 to 1: `DRAM` bandwidth, and one type of arithmetic by its name."""
    decisive_facts: tuple[DecisiveFact, ...] = ()
    sample_share: float | None = None
    """The share of the thread blocks whose memory was simulated; None for all of them."""
    account: SlotAccount | None = field(default=None, compare=False)
    """Issue slots by instruction, where warps were simulated."""

    @property
    def time_s(self) -> float:
        """The estimated time in seconds."""
        return self.terms.seconds

    @property
    def is_valid(self) -> bool:
        """Whether nothing speaks against the model's use for this launch."""
        return not self.validity.reasons

    def __getitem__(self, symbol: str) -> float | str:
        """The value of a parameter by its symbol, `estimate["E_instr"]`; KeyError when absent."""
        for parameter in self.parameters:
            if parameter.symbol == symbol:
                return parameter.value
        raise KeyError(symbol)

    @property
    def label(self) -> str:
        """The headline."""
        return self.headline

    def table(self) -> Table:
        """The range, then the time of every part, then advice."""
        bounds = f"{format_seconds(self.time_low_s)} to {format_seconds(self.time_high_s)}"
        rows = [("range", bounds, "")]
        rows += [
            (term.name, format_seconds(term.seconds), term.formula) for term in _all(self.terms)
        ]
        rows += [("change", f"{a.gain:.2f}x" if a.gain else "", a.what) for a in self.advice]
        return ("part", ">time", ""), rows

    @property
    def headline(self) -> str:
        """Kernel, device, time and limit in one line."""
        launches = f" for {self.repeats} launches" if self.repeats > 1 else ""
        time = f"{format_seconds(self.time_s)}{launches}"
        gain = f": {self.gain_text}" if self.gain_text else ""
        return (
            f"{source_name(self.kernel)} on {self.device}: {time}, "
            f"limited by {self.bottleneck}{gain} ({self.model})"
        )

    @property
    def explanation(self) -> tuple[str, ...]:
        """How far to trust the time, why, what to change, where the time goes; indented lines."""
        return (
            *self.breakdown(),
            *_section("executed", (self.executed,) if self.executed else ()),
            *_section("assumed", self.assumptions),
            *_section("conditions for it to hold", self.validity.checks),
        )

    def breakdown(self, *, formulas: bool = True) -> tuple[str, ...]:
        """The part of the explanation that is of this kernel and device alone."""
        bounds = f"{format_seconds(self.time_low_s)} to {format_seconds(self.time_high_s)}"
        if self.coverage is not None:
            bounds += f", as {self.coverage:.0%} of measured times were"
        return (
            *_section("models contradict each other", self.contradictions),
            *_section("between", (f"{bounds}: {self.basis}" if formulas else bounds,)),
            *_section("why", self.causes),
            *_section("what to change", map(str, self.advice)),
            *_section("time", _tree(self.terms, formulas=formulas)),
        )

    @property
    def executed(self) -> str:
        """What the estimate stands on, in words; nothing where a profiler counted."""
        return executed_codes([self.code])

    def __str__(self) -> str:
        values = [
            f"{item.symbol} = {format_quantity(item.value, item.unit)}" for item in self.parameters
        ]
        return "\n".join((self.headline, *self.explanation, *_section("parameters", values)))


def executed_codes(codes: Iterable[str]) -> str:
    """What was executed, in words, by the codes of profiles."""
    found = dict.fromkeys(code for code in codes if code)
    native = [code for code in found if code not in _SOURCES]
    parts = [_SOURCES[code] for code in found if code in _SOURCES]
    return " and ".join([*([f"machine code of {', '.join(native)}"] if native else []), *parts])


def _section(title: str, items: Iterable[str]) -> tuple[str, ...]:
    lines = tuple(f"    {item}" for item in items)
    return (f"  {title}", *lines) if lines else ()


def _all(term: Term) -> Iterator[Term]:
    yield term
    for part in term.parts:
        yield from _all(part)


def _tree(term: Term, depth: int = 0, *, formulas: bool = True) -> Iterator[str]:
    formula = f" = {term.formula}" if formulas else ""
    yield f"{'  ' * depth}{term.name}: {format_seconds(term.seconds)}{formula}"
    for part in term.parts:
        yield from _tree(part, depth + 1, formulas=formulas)
