"""Runs benchmarks in order on one device: what it cannot do is skipped, what fails is reported."""

from __future__ import annotations

import datetime
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from kernelcast.errors import BenchmarkError, nearest
from kernelcast.opencl_bench.benchmark import Benchmark, Effort
from kernelcast.opencl_bench.measurement import Curve, Finding, Measurement
from kernelcast.opencl_bench.session_store import SessionStore
from kernelcast.opencl_bench.target import DeviceFacts, Target

__all__ = ["Outcome", "Session", "State", "run_session", "select"]

_LIMIT_S = {Effort.QUICK: 18.0, Effort.FULL: 570.0}
"""When the last benchmark may begin, so that all is done within 20 s and 10 minutes."""

Progress = Callable[[str, float], None]
"""Called with the title of the benchmark that starts, and the share of benchmarks done."""


class State(Enum):
    """What became of a benchmark."""

    MEASURED = "measured"
    KEPT = "kept"  # from an earlier run
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """`reason` of what was skipped or failed; `date` of the measurement; `elapsed_s` now."""

    benchmark: Benchmark
    state: State
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    date: str = ""
    elapsed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Session:
    """All outcomes on one device, in the order of the benchmarks."""

    facts: DeviceFacts
    effort: Effort
    outcomes: tuple[Outcome, ...]

    @property
    def findings(self) -> Mapping[str, Finding]:
        """All findings by name."""
        return {item.name: item for outcome in self.outcomes for item in outcome.findings}

    @property
    def measurements(self) -> Mapping[str, Measurement]:
        """The measured figures by name."""
        return {k: v for k, v in self.findings.items() if isinstance(v, Measurement)}

    @property
    def curves(self) -> Mapping[str, Curve]:
        """The measured curves by name."""
        return {k: v for k, v in self.findings.items() if isinstance(v, Curve)}

    @property
    def dates(self) -> Mapping[str, str]:
        """When each finding was measured: ISO dates by the finding's name."""
        return {item.name: outcome.date for outcome in self.outcomes for item in outcome.findings}

    def having(self, *states: State) -> tuple[Outcome, ...]:
        """Outcomes in one of these states."""
        return tuple(outcome for outcome in self.outcomes if outcome.state in states)


def select(benchmarks: Sequence[Benchmark], names: Sequence[str]) -> tuple[Benchmark, ...]:
    """The benchmarks of the given names, all without any; BenchmarkError for an unknown name."""
    known = [benchmark.name for benchmark in benchmarks]
    for name in names:
        if name not in known:
            raise BenchmarkError(
                f"no benchmark {name!r}{nearest(name, known)}; known are {', '.join(known)}"
            )
    return tuple(item for item in benchmarks if not names or item.name in names)


def run_session(
    target: Target,
    benchmarks: Sequence[Benchmark],
    effort: Effort,
    *,
    is_fresh: bool = False,
    progress: Progress | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Session:
    """Runs benchmarks and stores each at once; a later session keeps them unless `is_fresh`.

    18 s (QUICK) or 570 s (FULL) after the start no further benchmark begins.
    """
    store = SessionStore(target.facts, effort)
    end = clock() + _LIMIT_S[effort]
    outcomes = []
    for number, benchmark in enumerate(benchmarks):
        if progress is not None:
            progress(benchmark.title, number / len(benchmarks))
        stored = None if is_fresh else store.get(benchmark.name)
        if stored is not None:
            outcomes.append(Outcome(benchmark, State.KEPT, stored.findings, date=stored.date))
            continue
        reason = _obstacle(target.facts, benchmark, effort, clock() >= end)
        if reason:
            outcomes.append(Outcome(benchmark, State.SKIPPED, reason=reason))
            continue
        outcomes.append(_measured(target, benchmark, effort, store, clock))
    if progress is not None:
        progress("done", 1.0)
    return Session(target.facts, effort, tuple(outcomes))


def _obstacle(facts: DeviceFacts, benchmark: Benchmark, effort: Effort, is_late: bool) -> str:
    """Why a benchmark does not run; empty when it does."""
    missing = sorted(feature.value for feature in benchmark.needs - facts.features)
    if missing:
        return f"the device has no {', '.join(missing)}"
    if is_late:
        return f"{_LIMIT_S[effort]:g} s are over; the next run goes on here"
    return ""


def _check(findings: Sequence[Finding]) -> None:
    """Raises BenchmarkError for a curve with a point that is no number: of a time of zero."""
    for finding in findings:
        points = finding.points if isinstance(finding, Curve) else ()
        for point in points:
            if not (math.isfinite(point.x) and math.isfinite(point.y)):
                raise BenchmarkError(f"{finding.name}: {point.y:g} at {point.x:g}")


def _measured(
    target: Target,
    benchmark: Benchmark,
    effort: Effort,
    store: SessionStore,
    clock: Callable[[], float],
) -> Outcome:
    start = clock()
    try:
        with np.errstate(divide="ignore", invalid="ignore"):  # what comes of it is looked at
            findings = tuple(benchmark.measure(target, effort))
        _check(findings)
    except BenchmarkError as error:
        return Outcome(benchmark, State.FAILED, reason=error.message, elapsed_s=clock() - start)
    except ArithmeticError as error:
        reason = f"the driver or its clock reports nothing to divide by: {error}"
        return Outcome(benchmark, State.FAILED, reason=reason, elapsed_s=clock() - start)
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    store.put(benchmark.name, findings, date)
    return Outcome(benchmark, State.MEASURED, findings, date=date, elapsed_s=clock() - start)
