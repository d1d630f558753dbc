"""Sessions on a synthetic target: order, skips, failures, resuming, the time limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.benchmark import Benchmark, Effort
from kernelcast.opencl_bench.finding_record import finding_of, finding_record
from kernelcast.opencl_bench.measurement import (
    Curve,
    CurvePoint,
    Finding,
    Measurement,
    Unit,
    measurement,
)
from kernelcast.opencl_bench.session import Session, State, run_session, select
from kernelcast.opencl_bench.target import DeviceFacts, Feature, Target
from kernelcast.opencl_bench.warm_up import (
    are_events_usable,
    is_ramping,
    is_settled,
    steadiest,
    warm_up,
)

FACTS = DeviceFacts(
    name="synthetic",
    vendor="nobody",
    platform="tests",
    driver="1",
    is_cpu=False,
    compute_units=4,
    clock_hz=1e9,
    global_bytes=1 << 30,
    max_buffer_bytes=1 << 28,
    local_bytes=1 << 15,
    constant_bytes=1 << 16,
    cache_bytes=1 << 20,
    cache_line_bytes=64,
    max_work_group=256,
    preferred_work_group_multiple=32,
    features=frozenset({Feature.FP64}),
)
RATE = 1e12
"""Operations per second of the synthetic device."""


class SyntheticTarget:
    """Launches take work over RATE, with noise of a given relative size."""

    def __init__(self, facts: DeviceFacts = FACTS, noise: float = 0.0) -> None:
        self.facts = facts
        self._noise = np.random.default_rng(1).normal(1.0, noise, 1000)

    def launch_times(self, operations: float, repeats: int) -> Any:
        return operations / RATE * self._noise[:repeats]


def _target(facts: DeviceFacts = FACTS, noise: float = 0.0) -> Target:
    return cast(Target, SyntheticTarget(facts, noise))


def _throughput(target: Target, effort: Effort) -> Sequence[Finding]:
    repeats = 10 if effort is Effort.QUICK else 100
    times = cast(SyntheticTarget, target).launch_times(1e9, repeats)
    return [measurement("throughput", list(1e9 / times), Unit.OPERATIONS_PER_S, "synthetic")]


def _wrong(target: Target, effort: Effort) -> Sequence[Finding]:
    raise BenchmarkError("kernel add computes 3, not 4")


CURVE = Curve(
    "rate_over_size",
    "size",
    Unit.BYTES,
    "rate",
    Unit.BYTES_PER_S,
    (CurvePoint(1.0, 5.0, 0.01), CurvePoint(2.0, 4.0, 0.2)),
    "synthetic",
)
GOOD = Benchmark("good", "throughput of the device", _throughput)
CURVED = Benchmark("curved", "a curve", lambda target, effort: [CURVE])
WRONG = Benchmark("wrong", "wrong results", _wrong)
HALF = Benchmark("half", "half precision", _throughput, frozenset({Feature.FP16}))
ALL = (GOOD, WRONG, HALF, CURVED)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path / "cache"))


def _states(session: Session) -> list[State]:
    return [outcome.state for outcome in session.outcomes]


def test_the_known_rate_is_found() -> None:
    session = run_session(_target(), [GOOD], Effort.QUICK)
    found = session.measurements["throughput"]
    assert found.value == pytest.approx(RATE)
    assert found.samples == 10
    assert not found.is_noisy
    assert session.dates["throughput"].count("-") == 2


def test_noise_is_flagged_and_the_median_stays() -> None:
    session = run_session(_target(noise=0.2), [GOOD], Effort.FULL)
    found = session.measurements["throughput"]
    assert found.is_noisy
    assert found.value == pytest.approx(RATE, rel=0.1)


def test_a_failing_benchmark_does_not_stop_the_others() -> None:
    session = run_session(_target(), ALL, Effort.QUICK)
    assert _states(session) == [State.MEASURED, State.FAILED, State.SKIPPED, State.MEASURED]
    assert session.outcomes[1].reason == "kernel add computes 3, not 4"
    assert session.outcomes[2].reason == "the device has no fp16"
    assert list(session.curves) == ["rate_over_size"]


def test_a_device_that_has_the_feature_runs_it() -> None:
    facts = replace(FACTS, features=frozenset(Feature))
    assert _states(run_session(_target(facts), [HALF], Effort.QUICK)) == [State.MEASURED]


def test_progress_names_what_starts() -> None:
    seen: list[tuple[str, float]] = []
    run_session(_target(), ALL, Effort.QUICK, progress=lambda *item: seen.append(item))
    assert seen == [*((item.title, n / 4) for n, item in enumerate(ALL)), ("done", 1.0)]


def _counted() -> tuple[Benchmark, list[Effort]]:
    runs: list[Effort] = []

    def measure(target: Target, effort: Effort) -> Sequence[Finding]:
        runs.append(effort)
        return _throughput(target, effort)

    return Benchmark("good", "counted", measure), runs


def test_an_interrupted_session_goes_on() -> None:
    counted, runs = _counted()

    def interrupt(target: Target, effort: Effort) -> Sequence[Finding]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_session(_target(), [counted, Benchmark("curved", "", interrupt)], Effort.QUICK)
    session = run_session(_target(), [counted, CURVED], Effort.QUICK)
    assert len(runs) == 1
    assert _states(session) == [State.KEPT, State.MEASURED]
    assert session.measurements["throughput"].value == pytest.approx(RATE)


def test_a_failure_is_tried_again() -> None:
    run_session(_target(), [WRONG], Effort.QUICK)
    mended = replace(WRONG, measure=_throughput)
    assert _states(run_session(_target(), [mended], Effort.QUICK)) == [State.MEASURED]


@pytest.mark.parametrize(
    ("facts", "effort", "is_fresh"),
    [
        (FACTS, Effort.QUICK, True),
        (FACTS, Effort.FULL, False),
        (replace(FACTS, driver="2"), Effort.QUICK, False),
        (replace(FACTS, name="other"), Effort.QUICK, False),
    ],
)
def test_what_is_measured_again(facts: DeviceFacts, effort: Effort, is_fresh: bool) -> None:
    counted, runs = _counted()
    run_session(_target(), [counted], Effort.QUICK)
    run_session(_target(facts), [counted], effort, is_fresh=is_fresh)
    assert len(runs) == 2


def test_changed_benchmarks_are_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    counted, runs = _counted()
    run_session(_target(), [counted], Effort.QUICK)
    monkeypatch.setattr("kernelcast.opencl_bench.session_store._code_digest", lambda: "newer")
    run_session(_target(), [counted], Effort.QUICK)
    assert len(runs) == 2


def test_after_the_time_limit_nothing_begins_and_the_next_run_goes_on() -> None:
    clock = _clock(step=10.0)
    first = run_session(_target(), [GOOD, CURVED], Effort.QUICK, clock=clock)
    assert _states(first) == [State.MEASURED, State.SKIPPED]
    assert "18 s are over" in first.outcomes[1].reason
    second = run_session(_target(), [GOOD, CURVED], Effort.QUICK)
    assert _states(second) == [State.KEPT, State.MEASURED]


def _clock(step: float) -> Callable[[], float]:
    now = 0.0

    def tick() -> float:
        nonlocal now
        now += step
        return now

    return tick


def test_selection() -> None:
    assert select(ALL, []) == ALL
    assert select(ALL, ["curved", "good"]) == (GOOD, CURVED)
    with pytest.raises(BenchmarkError, match=r"no benchmark 'god' \(did you mean good"):
        select(ALL, ["god"])


@pytest.mark.parametrize("finding", [CURVE, Measurement("a", 1.5, Unit.COUNT, 0.1, 3, "m")])
def test_findings_survive_json(finding: Finding) -> None:
    assert finding_of(finding_record(finding)) == finding


def test_warm_up_follows_a_rising_clock_to_its_end() -> None:
    ramp = iter([1.0 * 0.8**n for n in range(10)] + [0.1, 0.1, 0.1])
    seconds = warm_up(lambda: next(ramp), patience_s=0.5, limit_s=100.0)
    assert seconds[-3:] == [0.1, 0.1, 0.1]


def test_warm_up_gives_in_to_noise() -> None:
    noise = iter([1.0, 2.0] * 50)
    assert sum(warm_up(lambda: next(noise), patience_s=5.0, limit_s=100.0)) < 10.0


def test_a_noisy_series_is_timed_again() -> None:
    disturbed, less, calm = np.array([[1, 1, 2, 3], [1, 1, 1.5, 2], [1, 1, 1, 1]]) / 100
    for series, kept in (
        ([calm, disturbed], calm),
        ([disturbed, calm], calm),
        ([disturbed, less, disturbed, calm], less),
        ([50 * disturbed, calm], 50 * disturbed),  # too long to be repeated
        ([np.zeros(4), calm], np.zeros(4)),  # a clock that does not advance is not noise
    ):
        assert np.array_equal(steadiest(iter(series).__next__), kept)


def test_warm_up_of_a_long_kernel_is_one_run() -> None:
    assert warm_up(lambda: 0.7, patience_s=0.02, limit_s=1.0) == [0.7]


def test_settled_and_ramping() -> None:
    assert is_settled([9.0, 1.0, 1.04, 1.02])
    assert not is_settled([1.0, 1.0])
    assert not is_settled([1.0, 1.1, 1.0])
    assert is_ramping([3.0, 2.0, 1.0])
    assert not is_ramping([3.0, 1.0, 2.0])


@pytest.mark.parametrize(
    ("event", "resolution", "usable"),
    [
        (0.9e-3, 1e-9, True),
        (0.9e-3, 1e-4, False),  # nine ticks
        (0.0, 1e-9, False),
        (2.0e-3, 1e-9, False),  # longer than the host saw
    ],
)
def test_events_that_can_be_believed(event: float, resolution: float, usable: bool) -> None:
    host = np.full(5, 1e-3)
    assert are_events_usable(np.full(5, event), host, resolution) is usable


def _no_time(target: Target, effort: Effort) -> Sequence[Finding]:
    return [measurement("throughput", [0.0, 0.0], Unit.OPERATIONS_PER_S, "synthetic")]


def _by_zero(target: Target, effort: Effort) -> Sequence[Finding]:
    return [measurement("throughput", [1 / len("")], Unit.OPERATIONS_PER_S, "synthetic")]


def _endless(target: Target, effort: Effort) -> Sequence[Finding]:
    return [replace(CURVE, points=(CurvePoint(1.0, float("inf"), 0.0),))]


@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        (_no_time, "throughput: no launch took a time that the clock shows"),
        (_by_zero, "nothing to divide by"),
        (_endless, "rate_over_size: inf at 1"),
    ],
)
def test_a_clock_that_stands_still_fails_one_benchmark(
    measure: Callable[[Target, Effort], Sequence[Finding]], reason: str
) -> None:
    session = run_session(_target(), (Benchmark("still", "no time", measure), GOOD), Effort.QUICK)
    assert _states(session) == [State.FAILED, State.MEASURED]
    assert reason in session.outcomes[0].reason
