"""Counter files of every compute capability and of other locales."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import kernelcast as kc
from kernelcast.errors import KernelcastError, MetricsError
from kernelcast.models.topdown import ApplicationTopDown, TopDown
from kernelcast.models.topdown.ipc_max import issue_widths
from kernelcast.models.topdown.metric_sets import (
    MetricSet,
    StallNames,
    stall_metrics,
    stall_names,
)

DATA = Path(__file__).parents[1] / "data" / "topdown"
LAST_OF_NVPROF = (7, 0)
"""Saiz 2021, Tables 4.1 to 4.12: nvprof's metrics below 7.2."""
RATES = {
    MetricSet.NVPROF: {"ipc": 1.5, "issued_ipc": 1.75, "warp_execution_efficiency": 80.0},
    MetricSet.NCU: {
        "sm__inst_executed.avg.per_cycle_active": 1.5,
        "sm__inst_issued.avg.per_cycle_active": 1.75,
        "smsp__thread_inst_executed_per_inst_executed.ratio": 25.6,
    },
}
SPELLINGS = [
    (capability, spelling)
    for capability in issue_widths()
    for metric_set in (MetricSet.NVPROF, MetricSet.NCU)
    if (metric_set is MetricSet.NVPROF)
    == (tuple(map(int, capability.split("."))) <= LAST_OF_NVPROF)
    for spelling in stall_names(metric_set)
]


def leaves_sum(result: TopDown) -> float:
    return sum(part.ipc for _, part in result.walk() if not part.parts)


def decimal_commas(source: Path, path: Path) -> None:
    """Writes the file as under a locale with decimal commas, numbers quoted."""
    rows = list(csv.reader(source.read_text().splitlines()))
    header = next(row for row in rows if "Kernel Name" in row or "Kernel" in row)
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
        for row in rows:
            if len(row) == len(header):
                writer.writerow(
                    cell if name == "CC" else comma(cell)
                    for name, cell in zip(header, row, strict=True)
                )
            else:
                stream.write(",".join(row) + "\n")


def comma(cell: str) -> str:
    number = cell.removesuffix("%")
    try:
        value = float(number)
    except ValueError:
        return cell
    return f"{value:.4f}".replace(".", ",") + cell[len(number) :]


@pytest.mark.parametrize(("capability", "spelling"), SPELLINGS)
def test_every_compute_capability(tmp_path: Path, capability: str, spelling: StallNames) -> None:
    """1.5 x 0.8 are retired and 0.25 replayed; equal stalls share what is left of IPC_MAX."""
    reasons = stall_metrics(spelling.metric_set)
    stalls = {name.format(reason.reason): 4.0 for reason in reasons for name in spelling.templates}
    rows = {**RATES[spelling.metric_set], **stalls}
    path = tmp_path / "counters.csv"
    path.write_text("".join(f"{name},{value}\n" for name, value in rows.items()))
    found = kc.topdown(path, compute_capability=capability)
    assert isinstance(found, ApplicationTopDown)
    ipc_max = issue_widths()[capability].ipc_max
    assert leaves_sum(found.total) == pytest.approx(ipc_max, abs=1e-9)
    assert found.total["Retire"].ipc == pytest.approx(1.2)
    assert found.total["Replay"].ipc == pytest.approx(0.25)
    memory = sum(reason.part == "Memory Bound" for reason in reasons) / len(reasons)
    assert found.total["Memory Bound"].ipc == pytest.approx((ipc_max - 1.75) * memory)


@pytest.mark.parametrize("name", ["ncu_details.csv", "ncu_raw.csv", "nvprof_summary.csv"])
def test_decimal_commas_change_nothing(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    decimal_commas(DATA / name, path)
    assert ',0000"' in path.read_text()
    device = "gtx-1070" if name.startswith("nvprof") else "quadro-rtx-4000"
    with_points = kc.topdown(DATA / name, device)
    with_commas = kc.topdown(path, device)
    assert len(with_commas.kernels) == len(with_points.kernels)
    for ours, theirs in zip(with_commas.kernels, with_points.kernels, strict=True):
        assert ours.mean == theirs.mean
        assert with_commas.share(ours) == pytest.approx(with_points.share(theirs))


def test_a_decimal_comma_is_not_a_missing_value(tmp_path: Path) -> None:
    """Both readings in one file are an error that names the lines, not a missing metric."""
    path = tmp_path / "mixed.csv"
    path.write_text('metric,value\nipc,"2,00"\nissued_ipc,2.25\n')
    with pytest.raises(MetricsError, match=r"mixed\.csv:3: 2\.25 beside 2,00 of line 2"):
        kc.topdown(path, "gtx-1070")


def test_ncu_tells_where_it_measured() -> None:
    file = DATA / "ncu_raw.csv"
    assert kc.topdown(file).total.parts == kc.topdown(file, compute_capability="7.5").total.parts
    assert kc.topdown(file).total.ipc_max == 4
    assert kc.topdown(file, "quadro-rtx-4000").total.device == "quadro-rtx-4000"


def test_another_compute_capability_than_the_files_is_refused() -> None:
    refused = r"measured at compute capability 7\.5: .* has 6\.1"
    with pytest.raises(MetricsError, match=refused):
        kc.topdown(DATA / "ncu_raw.csv", "gtx-1070")
    with pytest.raises(MetricsError, match=refused):
        kc.topdown(DATA / "ncu_raw.csv", compute_capability="6.1")


def test_nvprof_does_not_tell_where_it_measured() -> None:
    with pytest.raises(MetricsError, match="name a device or a compute capability"):
        kc.topdown(DATA / "nvprof_summary.csv")
    with pytest.raises(KernelcastError, match="either a device or a compute capability"):
        kc.topdown(DATA / "nvprof_summary.csv", "gtx-1070", compute_capability="6.1")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_files_redirected_by_powershell(tmp_path: Path, encoding: str) -> None:
    """PowerShell's redirection writes UTF-16 with a byte order mark."""
    text = (DATA / "ncu_raw.csv").read_text()
    wide = tmp_path / "wide.csv"
    wide.write_text(text if encoding == "utf-16" else "\ufeff" + text, encoding)
    assert kc.topdown(wide).total.parts == kc.topdown(DATA / "ncu_raw.csv").total.parts


def test_what_rules_promise_is_no_measurement(tmp_path: Path) -> None:
    """Rows of rules carry a speedup of their own, whatever the locale of the metrics."""
    path = tmp_path / "rules.csv"
    header = '"ID","Kernel Name","CC","Metric Name","Metric Value","Rule Name","Estimated Speedup"'
    metrics = RATES[MetricSet.NCU] | {
        f"smsp__warp_issue_stalled_{item.reason}_per_warp_active.pct": 5.0
        for item in stall_metrics(MetricSet.NCU)
    }
    rows = [
        f'"0","k","8.6","{name}","{comma(str(value))}","",""' for name, value in metrics.items()
    ]
    path.write_text("\n".join([header, *rows, '"0","k","8.6","","","Latency","12.5"']) + "\n")
    assert kc.topdown(path).total["Retire"].ipc == pytest.approx(1.5 * 0.8)
