"""The cheapest change of a GPU that makes a kernel so many times faster, and what less would buy.

Facts grow by factors within bounds. A change costs the doublings of its facts, all together: twice
the bandwidth costs as much as twice the SMs. The time falls in steps and has no useful slope, so
DIRECT (Jones, Perttunen, Stuckman 1993) looks for the cheapest change that is fast enough, and
each fact of what it finds is then taken back as far as the target lets it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kernelcast.api import estimate
from kernelcast.architectures import Architecture, KernelSource, profiles_of, trace_of
from kernelcast.defaults import default_model, only_time
from kernelcast.errors import InputError, KernelcastError, LaunchError
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.progress import Progress
from kernelcast.simcore.device.changed import (
    FollowedFact,
    changed_device,
    followed_facts,
    numeric_fact,
)
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.store.memory_facts import MemoryFacts, memory_facts
from kernelcast.studies.findings import pareto_front

__all__ = ["MOST_FACTOR", "Bounds", "Candidate", "Found", "find_change"]

MOST_FACTOR = 8.0
"""How many times as much a fact may be, unless bounds say otherwise."""
_STEPS_OF_A_DOUBLING = 8
_EVALUATIONS = 60
"""Changes that are estimated for each fact that may vary."""
_CACHES = ("l1", "l2")


@dataclass(frozen=True, slots=True)
class Bounds:
    """A fact that may grow from once to `most` times what it is."""

    fact: str
    most: float = MOST_FACTOR

    def __post_init__(self) -> None:
        if not 1 < self.most < math.inf:
            raise InputError(f"{self.fact} may grow by a factor above 1, not by {self.most:g}")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A changed GPU: what its facts are, what that costs in doublings, and what it gains."""

    changes: Mapping[str, float]
    cost: float
    speedup: float


@dataclass(frozen=True, slots=True)
class Found:
    """What a search has found.

    `cheapest`: None where no change within the bounds reaches the target. `frontier`: changes that
    no cheaper one equals, by rising cost, the GPU as it is among them. `followed`: what depends on
    the facts of the cheapest change. `estimates`: how many changes were estimated.
    """

    kernel: str
    device: str
    model: str
    target: float
    time_s: float
    cheapest: Candidate | None
    frontier: Sequence[Candidate]
    followed: Sequence[FollowedFact]
    estimates: int


def find_change(
    source: KernelSource,
    device: Device,
    target: float,
    vary: Sequence[Bounds],
    model: str | None = None,
    progress: Progress | None = None,
) -> Found:
    """The cheapest change of `device` with which the kernel is `target` times as fast.

    KernelcastError for unknown facts, facts that are no numbers, and a kernel that does not fit.
    """
    if not 1 < target < math.inf:
        raise InputError(f"a target is a factor above 1, such as 2x, not {target:g}")
    if not vary or len({item.fact for item in vary}) < len(vary):
        raise InputError("--vary names facts, each of them once")
    reason = source.refusal(device)
    if reason:
        raise LaunchError(reason)
    search = _Search(source, device, target, vary, model or default_model(device), progress)
    return search.found()


class _Search:
    """Steps of each fact, a whole number of them, and what was estimated there."""

    def __init__(
        self,
        source: KernelSource,
        device: Device,
        target: float,
        vary: Sequence[Bounds],
        model: str,
        progress: Progress | None,
    ) -> None:
        self._source, self._device, self._target = source, device, target
        self._model, self._progress = model, progress
        self._own = only_time(model, device)
        self._facts = [item.fact for item in vary]
        self._most = [_steps(item.most) for item in vary]
        self._values = [
            _values(device, item, most) for item, most in zip(vary, self._most, strict=True)
        ]
        self._made: dict[tuple[int, ...], Candidate] = {}
        self._traces: dict[MemoryFacts, KernelTrace] = {}
        self._kernel = ""
        self._time_s = self._seconds({})
        self._made[(0,) * len(vary)] = Candidate({}, 0.0, 1.0)

    def found(self) -> Found:
        """Looks for the cheapest change."""
        from scipy.optimize import direct

        budget = _EVALUATIONS * len(self._facts)
        corner = self._candidate(tuple(self._most))
        if corner.speedup >= self._target:
            direct(
                self._loss,
                [(0.0, float(most)) for most in self._most],
                maxfun=budget,
                locally_biased=True,
                callback=self._told(budget),
            )
            self._take_back()
        good = [item for item in self._made.values() if item.speedup >= self._target]
        cheapest = min(good, key=lambda item: (item.cost, -item.speedup)) if good else None
        changes = dict(cheapest.changes) if cheapest else {}
        return Found(
            kernel=self._kernel,
            device=self._device.name,
            model=self._model,
            target=self._target,
            time_s=self._time_s,
            cheapest=cheapest,
            frontier=self._frontier(),
            followed=followed_facts(self._device, changes) if changes else (),
            estimates=len(self._made),
        )

    def _told(self, budget: int) -> Callable[[object], None]:
        def tell(_best: object) -> None:
            if self._progress is not None:
                self._progress(min(1.0, len(self._made) / budget))

        return tell

    def _loss(self, place: Sequence[float]) -> float:
        """The cost of a change that is fast enough; more than any of those for all others."""
        made = self._candidate(tuple(round(float(item)) for item in place))
        if made.speedup >= self._target:
            return made.cost
        worst = sum(self._most) / _STEPS_OF_A_DOUBLING
        return worst + math.log2(self._target / made.speedup)

    def _take_back(self) -> None:
        """Takes steps of single facts back, while that is fast enough."""
        good = [place for place, item in self._made.items() if item.speedup >= self._target]
        at = min(good, key=lambda place: self._made[place].cost)
        while True:
            fewer = [(*at[:n], at[n] - 1, *at[n + 1 :]) for n in range(len(at)) if at[n] > 0]
            left = [item for item in fewer if self._candidate(item).speedup >= self._target]
            if not left:
                return
            at = max(left, key=lambda item: self._made[item].speedup)

    def _frontier(self) -> list[Candidate]:
        rows = [
            {"cost": item.cost, "time_s": 1 / item.speedup, "item": item}
            for item in self._made.values()
        ]
        return [row["item"] for row in pareto_front(rows, "cost")]

    def _candidate(self, place: tuple[int, ...]) -> Candidate:
        if place not in self._made:
            values = zip(self._facts, self._values, place, strict=True)
            changes = {fact: of_fact[step] for fact, of_fact, step in values if step}
            try:
                speedup = self._time_s / self._seconds(changes)
            except KernelcastError:  # no GPU can be so, or nothing can be said of it
                speedup = 0.0 + 1e-9
            cost = sum(place) / _STEPS_OF_A_DOUBLING
            self._made[place] = Candidate(changes, cost, speedup)
        return self._made[place]

    def _seconds(self, changes: Mapping[str, float]) -> float:
        device = changed_device(self._device, changes)
        profile = self._profile(device, changes)
        made = estimate(profile, self._model, device, **self._own)
        self._kernel = made.kernel
        return made.time_s

    def _profile(self, device: Device, changes: Mapping[str, float]) -> KernelProfile:
        """The profile on a changed device; equal memories are simulated once."""
        if device.early_release:
            changed = Architecture(self._device.name, device, dict(changes))
            return profiles_of(self._source, [changed])[0]
        facts = memory_facts(device)
        if facts not in self._traces:
            self._traces[facts] = trace_of(self._source, [device])
        trace = self._traces[facts]
        found = next((item for code in (trace, *trace.others) for item in code.simulated), None)
        return (trace if found is None else trace.on_equal_memory(found, device)).profile(device)


def _steps(most: float) -> int:
    return max(1, round(_STEPS_OF_A_DOUBLING * math.log2(most)))


def _values(device: Device, bounds: Bounds, steps: int) -> list[float]:
    """The fact's value behind each number of steps, such as a device file may have."""
    base = numeric_fact(device, bounds.fact)
    found = [base * bounds.most ** (step / steps) for step in range(steps + 1)]
    quantum = _quantum(device, bounds.fact, base)
    return [quantum * round(value / quantum) if quantum else value for value in found]


def _quantum(device: Device, fact: str, base: float) -> int:
    """What values are multiples of: whole sets of a cache, whole numbers; 0 for anything."""
    section, _, name = fact.partition(".")
    cache = getattr(device, section, None) if section in _CACHES else None
    if cache is not None and name in ("capacity", "capacity_bytes", "bytes"):
        return int(cache.line_bytes * cache.ways)
    return 1 if base.is_integer() and base < 1e6 else 0
