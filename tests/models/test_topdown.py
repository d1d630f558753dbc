"""The thesis's equations by numbers worked out by hand, and what holds for all inputs."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelcast.errors import MetricsError, ModelNotApplicable
from kernelcast.models.topdown import (
    ApplicationTopDown,
    Invocation,
    IssueSlots,
    KernelTopDown,
    Part,
    TopDown,
    equations,
    ipc_max_of_device,
    issue_width,
    topdown_from_counters,
    topdown_from_stalls,
    weighted_mean,
)
from kernelcast.models.topdown.ipc_max import issue_widths
from kernelcast.simcore.device.device import Device, Provenance
from kernelcast.simcore.device.file import known_devices, load_device
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason

REASONS = (
    *("inst_fetch", "sync", "other", "memory_dependency", "constant_memory_dependency"),
    *("memory_throttle", "pipe_busy", "exec_dependency"),
)
LEVEL_ONE = ("Retire", "Divergence", "Frontend", "Backend")


def counters(
    ipc: float = 1.0, issued: float = 1.25, efficiency: float = 0.8, **stalls: float
) -> dict[str, float]:
    """nvprof's metrics; stalls that are not given are 0."""
    rates = {"ipc": ipc, "issued_ipc": issued, "warp_execution_efficiency": efficiency}
    return rates | {f"stall_{reason}": stalls.get(reason, 0.0) for reason in REASONS}


def analysed(metrics: dict[str, float], ipc_max: float = 4.0, *, strict: bool = False) -> TopDown:
    return topdown_from_counters("k", "a GPU", ipc_max, metrics, is_strict=strict)


def ipcs(result: TopDown) -> dict[str, float]:
    return {part.name: part.ipc for _, part in result.walk()}


def test_equations_by_hand() -> None:
    """Retire 1 x 0.8, Branch 1 x 0.2, Replay 0.25; the stalls cost 4 - 1.25 = 2.75."""
    shares = {"inst_fetch": 0.1, "sync": 0.06, "other": 0.04, "memory_dependency": 0.5}
    shares |= {"constant_memory_dependency": 0.02, "memory_throttle": 0.08, "pipe_busy": 0.05}
    result = analysed(counters(**shares, exec_dependency=0.15))
    shares_of_stalls = {
        "Frontend": 0.2,
        "Fetch Bound": 0.16,
        "Instruction Fetch": 0.1,
        "Synchronization": 0.06,
        "Decode Bound": 0.04,
        "Other": 0.04,
        "Backend": 0.8,
        "Memory Bound": 0.6,
        "Memory Dependency": 0.5,
        "Constant Memory": 0.02,
        "Memory Throttle": 0.08,
        "Core Bound": 0.2,
        "Pipe Busy": 0.05,
        "Execution Dependency": 0.15,
    }
    wanted = {"Retire": 0.8, "Divergence": 0.45, "Branch": 0.2, "Replay": 0.25}
    wanted |= {name: 2.75 * share for name, share in shares_of_stalls.items()}
    assert ipcs(result) == pytest.approx(wanted)
    assert result["Backend"].percent == pytest.approx(55.0)
    assert [part.name for part in result.parts] == list(LEVEL_ONE)


def test_the_first_level_is_ipc_max() -> None:
    """4.1 undoes 4.7: 4 - (0.45 + 0.8) = 2.75."""
    assert equations.ipc_stall(4.0, 0.45, 0.8) == pytest.approx(2.75)
    assert equations.ipc_max(2.75, 0.45, 0.8) == pytest.approx(4.0)


def test_stalls_that_are_no_100_percent() -> None:
    """40 % listed: normalised by default; strict leaves 60 % of IPC_STALL without a part."""
    metrics = counters(sync=0.1, memory_dependency=0.3)
    assert analysed(metrics)["Memory Bound"].ipc == pytest.approx(0.75 * 2.75)
    strict = analysed(metrics, strict=True)
    assert strict["Memory Bound"].ipc == pytest.approx(0.3 * 2.75)
    assert strict["Unattributed"].ipc == pytest.approx(0.6 * 2.75)
    assert strict["Memory Bound"].parts == ()


def test_levels_hold_the_levels_above_them() -> None:
    result = analysed(counters(sync=0.4, memory_dependency=0.6))
    depths = {
        level: {len(path) for path, _ in result.to_level(level).walk()} for level in (1, 2, 3)
    }
    assert depths == {1: {1}, 2: {1, 2}, 3: {1, 2, 3}}
    assert {name: ipcs(result)[name] for name in LEVEL_ONE} == ipcs(result.to_level(1))


def test_half_of_the_threads_make_half_of_the_instructions_divergence() -> None:
    """16 of 32 threads in each half of a branch (section 4.3)."""
    result = analysed(counters(ipc=2.0, issued=2.0, efficiency=0.5, sync=1.0))
    assert result["Retire"].ipc == result["Branch"].ipc == 1.0


def test_percentages_without_a_unit_mean_the_same() -> None:
    metrics = counters(sync=0.2, memory_dependency=0.5)
    percent = {name: value if "ipc" in name else 100 * value for name, value in metrics.items()}
    for strict in (False, True):
        wanted = ipcs(analysed(metrics, strict=strict))
        assert ipcs(analysed(percent, strict=strict)) == pytest.approx(wanted)


def test_no_stall_at_all_leaves_the_rest_unattributed() -> None:
    result = analysed(counters())
    assert result["Unattributed"].ipc == pytest.approx(2.75)


SHARES = st.lists(st.floats(0.0, 1.0), min_size=8, max_size=8)


@given(
    st.sampled_from([2.0, 4.0, 8.0]),
    st.floats(0.0, 1.0),
    st.floats(0.0, 1.0),
    st.floats(0.0, 1.0),
    SHARES,
    st.booleans(),
)
def test_parts_add_up_on_every_level(
    ipc_max: float,
    used: float,
    executed: float,
    efficiency: float,
    stalls: list[float],
    strict: bool,
) -> None:
    """Parts add up on every level, and IPC_STALL = IPC_MAX - IPC_Issued."""
    issued = used * ipc_max
    shares = [stall / max(1.0, math.fsum(stalls)) for stall in stalls]
    metrics = counters(
        max(executed, 0.96) * issued, issued, efficiency, **dict(zip(REASONS, shares, strict=True))
    )
    result = analysed(metrics, ipc_max, strict=strict)
    assert math.fsum(part.ipc for part in result.parts) == pytest.approx(ipc_max, abs=1e-9)
    assert math.fsum(part.percent for part in result.parts) == pytest.approx(100, abs=1e-9)
    for _, part in result.walk():
        assert part.ipc >= 0
        if part.parts:
            total = math.fsum(below.ipc for below in part.parts)
            assert total == pytest.approx(part.ipc, abs=1e-9)
    found = ipcs(result)
    stall = math.fsum(found.get(name, 0.0) for name in ("Frontend", "Backend", "Unattributed"))
    assert stall == pytest.approx(ipc_max - issued, abs=1e-9)


def test_parts_that_do_not_add_up_are_refused() -> None:
    parts = (Part("Retire", 1.0, 25.0), Part("Backend", 2.9, 72.5))
    with pytest.raises(ValueError, match=r"IPC_MAX add up to 3\.9, not to 4"):
        TopDown("k", "a GPU", 4.0, parts)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"issued_ipc": 4.1}, "IPC 4.1 exceeds IPC_MAX 4 of a GPU"),
        ({"issued_ipc": 0.9}, "issued IPC 0.9 is below the executed IPC 1"),
        ({"warp_execution_efficiency": 120.0}, r"efficiency is 1\.2, more than 1"),
        ({"stall_sync": -0.1}, "stall_sync is -0.1, which it cannot be"),
        ({"ipc": math.nan}, "ipc is nan, which it cannot be"),
    ],
)
def test_contradictions_are_errors(changes: dict[str, float], message: str) -> None:
    with pytest.raises(MetricsError, match=f"^kernel k: .*{message}"):
        analysed(counters(sync=1.0) | changes)


def test_strict_cannot_divide_more_than_all_stalls() -> None:
    metrics = counters(sync=70.0, memory_dependency=40.0)
    assert analysed(metrics)["Frontend"].ipc == pytest.approx(70 / 110 * 2.75)
    with pytest.raises(MetricsError, match="add up to 110 %"):
        analysed(metrics, strict=True)
    rounded = analysed(counters(sync=60.01, memory_dependency=40.01), strict=True)
    assert [part.name for part in rounded.parts] == list(LEVEL_ONE)


def test_issues_a_little_below_executions_are_said_not_to_be_replays() -> None:
    result = analysed(counters(ipc=1.0, issued=0.99, sync=1.0))
    assert result["Replay"].ipc == 0
    assert result["Frontend"].ipc == pytest.approx(3.0)
    assert result.assumptions == ("no replays: the issued IPC 0.99 is below the executed 1",)


def test_missing_metrics_are_named_in_one_line() -> None:
    metrics = counters(sync=1.0)
    del metrics["issued_ipc"], metrics["stall_pipe_busy"]
    with pytest.raises(MetricsError) as error:
        topdown_from_counters("k", "d", 4.0, metrics, unavailable=frozenset({"stall_pipe_busy"}))
    assert error.value.message == (
        "kernel k: these nvprof metrics are missing: issued_ipc, "
        "stall_pipe_busy (asked for, without a value)"
    )
    with pytest.raises(MetricsError, match=r"no metric of nvprof or ncu .* inst_executed"):
        analysed({"inst_executed": 5.0})


@pytest.mark.parametrize(
    ("compute_capability", "ipc_max"),
    [
        ("3.5", 8),
        ("5.2", 8),
        ("6.0", 4),
        ("6.1", 8),
        ("7.0", 4),
        ("7.5", 4),
        ("9.0", 4),
        ("12.0", 4),
    ],
)
def test_ipc_max_is_what_the_white_papers_say(compute_capability: str, ipc_max: float) -> None:
    """GP100: two partitions of two dispatch units (section 4.2)."""
    assert issue_width(compute_capability).ipc_max == ipc_max


def test_every_compute_capability_since_kepler_is_known() -> None:
    minors = {3: "0257", 5: "023", 6: "012", 7: "025", 8: "06789", 9: "0", 10: "013", 11: "0"}
    wanted = [f"{major}.{minor}" for major, known in minors.items() for minor in known]
    assert list(issue_widths()) == [*wanted, "12.0", "12.1"]
    assert all(width.source for width in issue_widths().values())
    with pytest.raises(ModelNotApplicable, match=r"capability 2\.0; known are 3\.0, 3\.2"):
        issue_width("2.0")


def test_devices_have_the_schedulers_of_their_compute_capability() -> None:
    devices = [load_device(name) for name in known_devices()]
    widths = issue_widths()
    known = [item for item in devices if item.architecture.compute_capability in widths]
    assert len(known) > 15
    for device in known:
        width = widths[device.architecture.compute_capability]
        assert device.sm.warp_schedulers == width.warp_schedulers, device.name
        assert ipc_max_of_device(replace(device, timing=None)) == width.ipc_max
        assert ipc_max_of_device(device) == width.ipc_max


def constant_result(kernel: str, retire: float, ipc_max: float = 4.0) -> TopDown:
    parts = (
        Part("Retire", retire, 100 * retire / ipc_max),
        Part("Backend", ipc_max - retire, 100 * (1 - retire / ipc_max)),
    )
    return TopDown(kernel, "a GPU", ipc_max, parts)


def test_a_kernel_that_runs_twice_as_long_counts_twice() -> None:
    """Section 5.3."""
    mean = weighted_mean("both", [constant_result("a", 1.0), constant_result("b", 2.5)], [2.0, 1.0])
    assert mean["Retire"].ipc == pytest.approx(1.5)
    assert mean["Backend"].percent == pytest.approx(62.5)
    assert mean.kernel == "both"


def test_parts_of_some_results_only_count_as_nothing_in_the_others() -> None:
    mixed = analysed(counters(memory_dependency=0.5), strict=True)
    whole = analysed(counters(memory_dependency=1.0), strict=True)
    mean = weighted_mean("both", [whole, mixed], [1.0, 1.0])
    assert mean["Unattributed"].ipc == pytest.approx(0.25 * 2.75)


def test_an_application_is_its_launches_by_time() -> None:
    """3 launches of 2 s at 1.0 and 1 launch of 6 s at 3.0: half of the time each."""
    first = KernelTopDown("a", (Invocation(constant_result("a", 1.0), 2.0, 3),))
    second = KernelTopDown("b", (Invocation(constant_result("b", 3.0), 6.0),))
    application = ApplicationTopDown((first, second))
    assert application.total["Retire"].ipc == pytest.approx(2.0)
    assert application.total.kernel == "all 2 kernels"
    assert application.share(first) == 0.5
    assert (first.launch_count, second.launch_count) == (3, 1)
    assert ApplicationTopDown((second,)).total == second.mean


def test_means_need_one_device_and_some_time() -> None:
    results = [constant_result("a", 1.0), constant_result("b", 1.0, ipc_max=8.0)]
    with pytest.raises(ValueError, match="one device"):
        weighted_mean("both", results, [1.0, 1.0])
    with pytest.raises(ValueError, match="not all 0"):
        weighted_mean("a", results[:1], [0.0])


@pytest.fixture
def turing() -> Device:
    """Four slots a cycle."""
    return replace(load_device("quadro-rtx-4000"), timing=None, provenance=dict[str, Provenance]())


def test_simulated_slots_become_parts(turing: Device) -> None:
    """400 slots in 100 cycles: 110 issues, of which 10 replays; 90 % of the threads are active."""
    stalls = {StallReason.DRAM_LATENCY: 200, StallReason.BARRIER: 40, StallReason.IDLE: 50}
    result = topdown_from_stalls("k", turing, IssueSlots(100, 100, 110, 0.9, stalls))
    found = ipcs(result)
    assert found["Retire"] == pytest.approx(0.9)
    assert found["Divergence"] == pytest.approx(0.2)
    assert found["DRAM"] == found["Memory Bound"] == found["Backend"] == pytest.approx(2.0)
    assert found["Barrier"] == found["Frontend"] == pytest.approx(0.4)
    assert found["Idle"] == pytest.approx(0.5)
    assert (result.device, result.ipc_max) == ("quadro-rtx-4000", 4.0)


@given(st.dictionaries(st.sampled_from(StallReason), st.integers(0, 10**9)), st.floats(0, 1))
def test_simulated_parts_add_up(stalls: dict[StallReason, float], share: float) -> None:
    device = replace(load_device("quadro-rtx-4000"), timing=None)
    issued = 1000
    cycles = (issued + sum(stalls.values())) / 4
    result = topdown_from_stalls("k", device, IssueSlots(cycles, issued, issued, share, stalls))
    assert math.fsum(part.ipc for part in result.parts) == pytest.approx(4.0, abs=1e-9)
    for _, part in result.walk():
        if part.parts:
            total = math.fsum(below.ipc for below in part.parts)
            assert total == pytest.approx(part.ipc, abs=1e-9)


def test_more_issues_than_slots_are_refused(turing: Device) -> None:
    with pytest.raises(ValueError, match=r"4\.01 issues a cycle, but only 4 slots"):
        topdown_from_stalls("k", turing, IssueSlots(100, 401, 401, 1.0, {}))


def test_only_the_shares_of_stalls_count(turing: Device) -> None:
    """Slots or cycles of warps: 2.9 of 4 slots a cycle are lost, three of four to DRAM."""
    stalls = {StallReason.DRAM_LATENCY: 6000, StallReason.EXECUTION_DEPENDENCY: 2000}
    result = topdown_from_stalls("k", turing, IssueSlots(100, 110, 110, 1.0, stalls))
    assert result["DRAM"].ipc == pytest.approx(0.75 * 2.9)
    assert result["Core Bound"].ipc == pytest.approx(0.25 * 2.9)
