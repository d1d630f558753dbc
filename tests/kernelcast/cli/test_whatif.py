"""`kernelcast whatif` and `kc.whatif`: the same kernel on changed architectures."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.models import MODELS
from kernelcast.report.plots.whatif import whatif_plot
from kernelcast.simcore.device.changed import changed_device
from kernelcast.simcore.device.named_facts import device_facts
from kernelcast.simcore.profile.occupancy import held_share, occupancy
from kernelcast.simcore.profile.profile import LaunchShape, OccupancyLimiter
from kernelcast.traces.trace import ResourceNeeds

EXAMPLES = Path(__file__).parents[3] / "examples"
SGEMM, REDUCTION = EXAMPLES / "sgemm" / "sgemm16.toml", EXAMPLES / "reduction" / "reduction.toml"
CommandLine = Callable[..., str]
Changes = dict[str, int | float | str | bool]

# Each warp works as many times round a loop as its number says: warp 0 first gives up.
STAIRCASE = """
.version 6.4
.target sm_60
.address_size 64
.visible .entry stairs(.param .u64 data) {
  .reg .u32 %r<8>; .reg .u64 %d<4>; .reg .pred %p; .reg .f32 %f<2>;
  ld.param.u64 %d0, [data];
  mov.u32 %r0, %tid.x;
  shr.u32 %r1, %r0, 5;
  mul.lo.u32 %r1, %r1, 50;
  mov.f32 %f0, 0f3F800000;
again:
  setp.eq.u32 %p, %r1, 0;
  @%p bra done;
  fma.rn.f32 %f0, %f0, %f0, %f0;
  sub.u32 %r1, %r1, 1;
  bra again;
done:
  mul.wide.u32 %d1, %r0, 4;
  add.u64 %d2, %d0, %d1;
  st.global.f32 [%d2], %f0;
  ret;
}
"""


@pytest.fixture(scope="module")
def sgemm() -> kc.KernelTrace:
    return kc.load_workload(SGEMM).run("small", record_paths=True)


def differences(before: str, wanted: str) -> Changes:
    has, wants = device_facts(kc.device(before)), device_facts(kc.device(wanted))
    return {name: value for name, value in wants.items() if has.get(name) != value}


@pytest.mark.parametrize("workload", [SGEMM, REDUCTION], ids=lambda path: path.stem)
def test_all_differences_make_one_gpus_estimate_the_others(workload: Path) -> None:
    """Exactly, for every model: nothing that is set is rescaled as well."""
    loaded = kc.load_workload(workload)
    changes = differences("gtx-480", "tesla-m2050")
    changed = kc.whatif(loaded, "gtx-480", changes, size="small").rows
    other = kc.whatif(loaded, "tesla-m2050", size="small").rows
    assert [row.estimate.model for row in other] == list(MODELS)
    found = {row.estimate.model: row.estimate for row in changed if row.architecture.changes}
    for row in other:
        assert found[row.estimate.model].time_s == row.estimate.time_s
        assert found[row.estimate.model].terms == row.estimate.terms


def test_rows_are_the_unchanged_device_then_every_combination(sgemm: kc.KernelTrace) -> None:
    found = kc.whatif(
        sgemm,
        ["gtx-480", "v100-pcie"],
        {"sm.max_blocks": 16},
        sweep={"sm.max_warps": [32, 48], "architecture.sm_count": ["10", "20"]},
        models=["roofline", "quantitative-roofline"],
    )
    changes = [dict(row.architecture.changes) for row in found.rows[:5]]
    assert changes == [
        {},
        *(
            {"sm.max_blocks": 16, "sm.max_warps": warps, "architecture.sm_count": sms}
            for warps in (32, 48)
            for sms in (10, 20)
        ),
    ]
    assert [row.estimate.model for row in found.rows] == 10 * ["roofline"] + 10 * [
        "quantitative-roofline"
    ]
    for row in found.rows:
        first = next(
            item
            for item in found.rows
            if item.estimate.model == row.estimate.model
            and item.architecture.base == row.architecture.base
        )
        assert row.speedup == first.estimate.time_s / row.estimate.time_s


def test_a_row_says_what_kc_estimate_says_of_the_changed_device(sgemm: kc.KernelTrace) -> None:
    changes: Changes = {"architecture.clock_hz": 1e9, "l1": "none", "coalescing": "sectors"}
    device = changed_device(kc.device("gtx-480"), changes)
    found = kc.whatif(sgemm, "gtx-480", changes, models=["interval"])
    expected = kc.estimate(sgemm.profile(device), "interval", device)
    assert found.rows[1].estimate.terms == expected.terms


def test_models_that_do_not_react_are_named(sgemm: kc.KernelTrace) -> None:
    found = kc.whatif(sgemm, "gtx-480", {"sm.max_blocks": 16}, models=["roofline"])
    assert found.statements == (
        "roofline on gtx-480 does not react to sm.max_blocks: none of its terms changes",
    )
    found = kc.whatif(
        sgemm, "gtx-480", {"dram.bandwidth_bytes_per_s": 2e11}, models=["quantitative-roofline"]
    )
    (statement,) = found.statements
    assert "but its time stays the same: it is limited by compute" in statement


def test_launches_that_do_not_fit_are_named_and_the_others_go_on() -> None:
    workload = kc.load_workload(EXAMPLES / "sgemm" / "sgemm32.toml")
    found = kc.whatif(
        workload, "gtx-480", sweep={"sm.max_warps": [16, 32]}, models=["roofline"], size="small"
    )
    assert [dict(row.architecture.changes) for row in found.rows] == [{}, {"sm.max_warps": 32}]
    assert (
        "1024 threads per thread block: GeForce GTX 480, changed allows 512"
        in (found.statements[0])
    )


def test_a_changed_width_of_warps_executes_again() -> None:
    workload = kc.load_workload(REDUCTION)
    found = kc.whatif(
        workload, "gtx-480", sweep={"sm.warp_size": [16, 64]}, models=["interval"], size="small"
    )
    assert len(found.rows) == 3
    source = kc.load_workload(REDUCTION).run("small", warp_width=16, record_paths=True)
    narrow = changed_device(kc.device("gtx-480"), {"sm.warp_size": 16})
    again = kc.estimate(source.profile(narrow), "interval", narrow)
    assert found.rows[1].estimate.time_s == again.time_s


def test_memories_are_simulated_again(sgemm: kc.KernelTrace) -> None:
    """An L2 of one set and no L1 lose what the caches of the GPU keep."""
    device = kc.device("gtx-480")
    small = changed_device(
        device, {"l2.capacity_bytes": 16 * 1024, "l1": "none", "coalescing": "sectors"}
    )
    traffic = sgemm.profile(small).traffic.dram_bytes
    assert traffic > sgemm.profile(device).traffic.dram_bytes


def test_early_release_shares_what_finished_warps_held() -> None:
    """Warps 0 to 7 of eight work in proportion to their number: half of it is free on average."""
    trace = kc.load_ptx(STAIRCASE)["stairs"].run(
        grid=1200, block=256, args=[np.zeros(256, np.float32)], record_paths=True
    )
    times = trace.data.warp_time[:8]
    share = held_share(trace.data)
    assert share == pytest.approx(times.mean() / times.max())
    assert 0.4 < share < 0.6
    device = kc.device("gtx-480")
    early = changed_device(device, {"sm.early_release": True, "sm.max_blocks": 48})
    before = trace.profile(device).occupancy
    after = trace.profile(early).occupancy
    assert before is not None
    assert after is not None
    assert before.thread_blocks_per_sm == 6  # 48 warps of 8
    assert after.thread_blocks_per_sm == 1 + int(5 / share)
    assert after.warps_per_sm <= device.sm.max_warps


def test_a_workload_with_early_release_is_executed_with_its_accesses() -> None:
    workload = kc.load_workload(REDUCTION)
    found = kc.whatif(workload, "gtx-480", {"sm.early_release": "yes"}, size="small")
    trace = workload.run("small", record_paths=True)
    device = changed_device(kc.device("gtx-480"), {"sm.early_release": True})
    for row in found.rows[1::2]:
        assert row.estimate == kc.estimate(trace.profile(device), row.estimate.model, device)


def test_occupancy_by_shared_memory_counts_fractions_of_thread_blocks() -> None:
    """10 of 16 KB: a second one fits when the first has let go of two fifths."""
    device = replace(kc.device("gtx-285"), early_release=True)
    needs, launch = ResourceNeeds(8, 10 * 1024), LaunchShape((512, 1, 1), (256, 1, 1))
    assert occupancy(needs, launch, device, 0.59).thread_blocks_per_sm == 2
    assert occupancy(needs, launch, device, 0.61).thread_blocks_per_sm == 1
    off = replace(device, early_release=False)
    assert occupancy(needs, launch, off, 0.1).thread_blocks_per_sm == 1
    assert occupancy(needs, launch, device, 0.1).thread_blocks_per_sm == 7
    assert occupancy(needs, launch, device, 0.1).limiter is OccupancyLimiter.SHARED_MEMORY


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name a change with --set NAME=VALUE or --sweep"),
        (("--set", "sm.max_warps"), "--set takes NAME=VALUE, got 'sm.max_warps'"),
        (("--sweep", "sm.max_warps=1,,2"), "an empty value"),
        (("--set", "sm.max_warps=8", "--sweep", "sm.max_warps=1,2"), "both set and swept"),
        (("--set", "sm.max_warp=8"), "no fact 'sm.max_warp' (did you mean sm.max_warps"),
        (("--set", "l2.capacity_bytes=1G"), "lines and ways do not divide the capacity"),
        (("--set", "sm.max_warps=8", "--plot", "x.pdf"), "plots are written as .png or .svg"),
        (("--set", "sm.max_warps=8", "--model", "rofline"), "did you mean roofline"),
    ],
)
def test_mistakes_are_told_before_anything_runs(
    arguments: tuple[str, ...], message: str, error: CommandLine
) -> None:
    message_found = error("whatif", str(SGEMM), "--device", "gtx-480", *arguments)
    assert message in message_found
    assert message_found.count("\n") == 1


def test_json_csv_and_table(output: CommandLine, tmp_path: Path) -> None:
    picture = tmp_path / "w.svg"
    arguments = (
        "whatif",
        str(SGEMM),
        "--size",
        "small",
        "--device",
        "gtx-480",
        "--set",
        "sm.max_blocks=16",
        "--sweep",
        "architecture.clock_hz=1.2G,1.5G",
        "--model",
        "roofline",
        "--model",
        "quantitative-roofline",
    )
    record = json.loads(output(*arguments, "--json", "--plot", str(picture)))
    assert record["schema"] == 1
    rows = record["rows"]
    assert [row["set"] for row in rows[:3]] == [
        {},
        {"sm.max_blocks": 16, "architecture.clock_hz": 1.2e9},
        {"sm.max_blocks": 16, "architecture.clock_hz": 1.5e9},
    ]
    assert {row["device"] for row in rows} == {"gtx-480"}
    assert set(rows[0]) >= {"set", "device", "model", "time_s", "bottleneck", "speedup"}
    assert rows[1]["derived"]["peak.fp32_flops_per_s"] == pytest.approx(1.345e12 * 1.2 / 1.55)
    assert "<svg" in picture.read_text(encoding="utf-8")
    table = list(csv.DictReader(io.StringIO(output(*arguments, "--csv"))))
    assert [float(row["time_s"]) for row in table] == [row["time_s"] for row in rows]
    assert table[0]["sm.max_blocks"] == ""
    report = output(*arguments)
    assert "sm.max_blocks=16" in report
    assert "derived for gtx-480" not in report
    assert "derived for gtx-480" in output(*arguments, "-v")


def test_plots_show_lines_over_what_is_swept_and_bars_else(sgemm: kc.KernelTrace) -> None:
    models = ["roofline", "quantitative-roofline"]
    swept = kc.whatif(
        sgemm,
        "gtx-480",
        sweep={"architecture.sm_count": [5, 15, 30], "sm.max_blocks": [8, 16]},
        models=models,
    )
    axes = whatif_plot(swept).axes[0]
    lines = {line.get_label(): line for line in axes.get_lines() if line.get_marker() != "None"}
    assert len(lines) == 4
    line = lines["roofline, sm.max_blocks=8"]
    assert np.asarray(line.get_xdata()).tolist() == [5.0, 15.0, 30.0]
    assert np.asarray(line.get_ydata()).tolist()[1] == 1.0
    bars = whatif_plot(kc.whatif(sgemm, "gtx-480", {"sm.max_blocks": 16}, models=models)).axes[0]
    assert len(bars.patches) == 2
