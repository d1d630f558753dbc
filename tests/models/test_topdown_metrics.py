"""Every metric of the thesis's tables (transcribed below data/) has the place that they give it."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelcast.errors import MetricsError
from kernelcast.models.topdown import TopDown, topdown_from_counters
from kernelcast.models.topdown.metric_sets import MetricSet, stall_metrics
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason

TABLES = Path(__file__).parent / "data" / "saiz_printed_tables.csv"
LEVEL_TWO = ("Fetch Bound", "Decode Bound", "Memory Bound", "Core Bound")
FORGOTTEN = ("mio_throttle", "short_scoreboard", "wait")
BELOW, FROM = ("4.5", "4.9"), ("4.6", "4.10")
SUMS_BELOW, SUMS_FROM = ("4.7", "4.11"), ("4.8", "4.12")
IPC_MAX = 4.0
RATES_BELOW = {"ipc": 1.0, "issued_ipc": 1.5, "warp_execution_efficiency": 0.75}
RATES_FROM = {
    "sm_inst_executed.avg.per_cycle_active": 1.0,
    "sm_inst_issued.avg.per_cycle_active": 1.5,
    "sm_thread_inst_executed_per_inst_executed_ratio": 24.0,
}
CASES = [(BELOW, SUMS_BELOW, RATES_BELOW), (FROM, SUMS_FROM, RATES_FROM)]
BY_LIST = pytest.mark.parametrize(("listed", "sums", "rates"), CASES, ids=["below", "from"])
Tables = tuple[str, ...]
Metrics = dict[str, float]


def printed(tables: Iterable[str]) -> list[tuple[str, str]]:
    """(part, metric) rows of the tables."""
    with TABLES.open(newline="") as file:
        return [(r["part"], r["metric"]) for r in csv.DictReader(file) if r["table"] in tables]


def analysed(metrics: Metrics, *, strict: bool = False) -> TopDown:
    return topdown_from_counters("k", "a GPU", IPC_MAX, metrics, is_strict=strict)


def corrected(name: str) -> str:
    """`smsp_warp` and `sm_inst` as Nsight Compute writes them."""
    for prefix in ("smsp_", "sm_"):
        if name.startswith(prefix) and not name.startswith(f"{prefix}_"):
            name = name.replace(prefix, f"{prefix}_", 1)
    return name.replace("sm__thread", "smsp__thread").replace("executed_ratio", "executed.ratio")


def in_other_unit(name: str, template: str) -> str:
    reason = name.partition("issue_stalled_")[2].removesuffix("_per_warp_active.pct")
    return template.format(reason) if reason else corrected(name)


@BY_LIST
def test_each_metric_counts_for_one_part(listed: Tables, sums: Tables, rates: Metrics) -> None:
    names = [metric for _, metric in printed(listed)]
    assert len(names) == (8 if listed == BELOW else 16)
    for alone in names:
        result = analysed(rates | dict.fromkeys(names, 0.0) | {alone: 0.4})
        parts = {name: result[name].ipc for name in LEVEL_TWO}
        assert sorted(parts.values()) == pytest.approx([0.0, 0.0, 0.0, IPC_MAX - 1.5])
        wanted = {metric: part for part, metric in printed(sums)}.get(alone)
        if wanted is None:
            assert any(reason in alone for reason in FORGOTTEN)
            wanted = "Core Bound" if "wait" in alone else "Memory Bound"
        assert parts[wanted] > 0


@BY_LIST
def test_strict_sums_are_the_printed_ones(listed: Tables, sums: Tables, rates: Metrics) -> None:
    """Each metric another share, 0.01 to 0.16, so that no wrong sum is right by chance."""
    names = [metric for _, metric in printed(listed)]
    shares = {name: 0.01 * 2**0.25 ** (number + 1) for number, name in enumerate(names)}
    assert sum(shares.values()) < 1
    result = analysed(rates | shares, strict=True)
    for part in LEVEL_TWO:
        wanted = sum(shares[metric] for of, metric in printed(sums) if of == part)
        assert result[part].ipc == pytest.approx(wanted * (IPC_MAX - 1.5))
    assigned = sum(shares[metric] for _, metric in printed(sums))
    assert result["Unattributed"].ipc == pytest.approx((1 - assigned) * (IPC_MAX - 1.5))


def test_strict_does_not_need_what_the_print_adds_to_nothing() -> None:
    names = [metric for _, metric in printed(SUMS_FROM)]
    assert len(names) == 13
    analysed(RATES_FROM | dict.fromkeys(names, 0.05), strict=True)
    with pytest.raises(MetricsError) as error:
        analysed(RATES_FROM | dict.fromkeys(names, 0.05))
    assert all(reason in error.value.message for reason in FORGOTTEN)


@pytest.mark.parametrize(
    "template",
    [
        "smsp__warp_issue_stalled_{}_per_warp_active.pct",
        "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio",
        "smsp__average_warp_latency_issue_stalled_{}.ratio",
    ],
)
def test_names_and_units_of_nsight_compute_give_the_same(template: str) -> None:
    """The printed names carry misprints; warps and cycles are proportional to the percentages."""
    names = [metric for _, metric in printed(FROM)]
    shares = {name: 0.004 * (number + 1) for number, name in enumerate(names)}
    wanted = analysed(RATES_FROM | shares)
    scale = 1.0 if template.endswith("pct") else 17.0
    renamed = {in_other_unit(name, template): scale * value for name, value in shares.items()}
    rates = {corrected(name): value for name, value in RATES_FROM.items()}
    found = analysed(rates | renamed)
    for (path, part), (wanted_path, wanted_part) in zip(found.walk(), wanted.walk(), strict=True):
        assert path == wanted_path
        assert part.ipc == pytest.approx(wanted_part.ipc)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("smsp__thread_inst_executed_per_inst_executed.ratio", 24.0),
        ("sm__thread_inst_executed_per_inst_executed.ratio", 24.0),
        ("smsp__thread_inst_executed_per_inst_executed.pct", 0.75),
        ("smsp__thread_inst_executed_per_inst_executed.pct", 75.0),
    ],
)
def test_warp_efficiency_in_threads_or_percent(name: str, value: float) -> None:
    stalls = dict.fromkeys((metric for _, metric in printed(FROM)), 0.05)
    rates = {metric: rate for metric, rate in RATES_FROM.items() if "thread" not in metric}
    assert analysed(rates | stalls | {name: value})["Retire"].ipc == pytest.approx(0.75)


@given(st.lists(st.floats(0, 100), min_size=16, max_size=16), st.booleans())
def test_parts_add_up_for_nsight_compute(percentages: list[float], strict: bool) -> None:
    scale = 1 / max(100.0, math.fsum(percentages))
    names = [metric for _, metric in printed(FROM)]
    shares = {name: scale * value for name, value in zip(names, percentages, strict=True)}
    result = analysed(RATES_FROM | shares, strict=strict)
    assert math.fsum(part.ipc for part in result.parts) == pytest.approx(IPC_MAX, abs=1e-9)
    for _, part in result.walk():
        if part.parts:
            total = math.fsum(below.ipc for below in part.parts)
            assert total == pytest.approx(part.ipc, abs=1e-9)


def test_stalls_without_issue_are_other_metrics() -> None:
    """`..._not_issued_...` counts only cycles in which no warp issued: not mixed in."""
    template = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
    names = [in_other_unit(metric, template) for _, metric in printed(FROM)]
    rates = {corrected(name): value for name, value in RATES_FROM.items()}
    metrics = rates | dict.fromkeys(names, 1.0)
    other = {name.replace("_per_issue", "_not_issued_per_issue"): 50.0 for name in names[:3]}
    assert analysed(metrics | other) == analysed(metrics)


def test_reasons_beyond_the_thesis_count_if_they_were_measured() -> None:
    names = [metric for _, metric in printed(BELOW)]
    metrics = RATES_BELOW | dict.fromkeys(names, 0.0) | {"stall_sync": 0.2}
    result = analysed(metrics | {"stall_texture": 0.6, "stall_not_selected": 0.2})
    assert result["Memory Bound"].ipc == pytest.approx(0.75 * (IPC_MAX - 1.5))
    strict = analysed(metrics | {"stall_texture": 0.6}, strict=True)
    assert strict["Memory Bound"].ipc == 0
    assert strict["Unattributed"].ipc == pytest.approx(0.8 * (IPC_MAX - 1.5))


def test_every_reason_of_the_simulator_has_one_place() -> None:
    placed = [metric.reason for metric in stall_metrics(MetricSet.SIMULATOR)]
    assert sorted(placed) == sorted(reason.name.lower() for reason in StallReason)


def test_simulated_reasons_belong_where_their_ncu_metric_belongs() -> None:
    """Constants and what no warp waits for have places of their own."""
    of_ncu = {metric.reason: metric.part for metric in stall_metrics(MetricSet.NCU)}
    of_ncu |= {"branch_resolve": of_ncu["branch_resolving"]}
    parts = {metric.reason: metric.part for metric in stall_metrics(MetricSet.SIMULATOR)}
    for reason in StallReason:
        if reason not in (StallReason.IDLE, StallReason.THREAD_BLOCK_LAUNCH):
            assert parts[reason.name.lower()] == of_ncu[reason.ncu], reason
