"""The details of a record against closed forms, and against the sums that they must have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kernelcast.inputs.native.tools import toolset
from tests.kernelcast.html_report.reports import EXAMPLES, Report, report_of


@pytest.fixture(scope="module")
def saxpy(tmp_path_factory: pytest.TempPathFactory) -> Report:
    path = tmp_path_factory.mktemp("saxpy") / "saxpy.html"
    return report_of(EXAMPLES / "saxpy" / "saxpy.toml", ("gtx-960",), path)


def details(report: Report) -> dict[str, Any]:
    found: dict[str, Any] = report.record["estimates"][0]["details"]
    return found


def column(report: Report, name: str, beginning: str) -> list[Any]:
    """A column of the instructions whose texts begin so."""
    code = details(report)["instructions"]
    return [
        value
        for value, text in zip(code[name], code["text"], strict=True)
        if text.startswith(beginning)
    ]


def test_saxpy_line_by_line(saxpy: Report) -> None:
    """y = a x + y: two loads and a store of n floats, a multiply-add each."""
    n = elements(saxpy)
    warps = -(-n // 32)
    assert column(saxpy, "warps", "st.global.f32") == [warps]
    assert column(saxpy, "threads", "st.global.f32") == [n]
    assert column(saxpy, "threads", "fma.rn.f32") == [n]
    assert sum(column(saxpy, "sectors", "ld.global.f32")) == 2 * -(-4 * n // 32)
    assert column(saxpy, "ideal_sectors", "st.global.f32") == [-(-4 * n // 32)]


def elements(report: Report) -> int:
    return int(sum(column(report, "threads", "fma.rn.f32")))


def test_saxpy_moves_its_arrays(saxpy: Report) -> None:
    n, memory = elements(saxpy), details(saxpy)["memory"]
    assert memory["requested"]["load_bytes"] == 8 * n
    assert memory["requested"]["store_bytes"] == 4 * n
    assert memory["dram"]["read_bytes"] == pytest.approx(8 * n, rel=0.01)
    assert memory["l1"]["store_bytes"] == pytest.approx(4 * n, rel=0.01)


def test_slots_add_up(saxpy: Report) -> None:
    slots = details(saxpy)["slots"]
    assert slots["slots"] == slots["cycles"] * slots["slots_per_cycle"]
    assert slots["slots"] == slots["issued"] + sum(row["slots"] for row in slots["lost"])
    assert all(row["meaning"] for row in slots["lost"])


def test_lines_have_the_slots_of_the_whole(saxpy: Report) -> None:
    code, slots = details(saxpy)["instructions"], details(saxpy)["slots"]
    assert sum(code["slots_issued"]) == slots["issued"]
    by_reason: dict[str, int] = {}
    for stalls in code["stalls"]:
        for reason, lost in stalls.items():
            by_reason[reason] = by_reason.get(reason, 0) + lost
    for row in slots["lost"]:
        assert by_reason.get(row["reason"], 0) <= row["slots"]
    assert sum(by_reason.values()) == sum(code["slots_lost"])


def test_each_execution_of_saxpy_takes_a_slot(saxpy: Report) -> None:
    """All lines of a basic block have the SM's share of their executions, in whatever order.

    What a native compiler folds has no slot.
    """
    code = details(saxpy)["instructions"]
    rows = zip(code["basic_block"], code["slots_issued"], code["warps"], strict=True)
    shares = {(block, issued / warps) for block, issued, warps in rows if issued}
    assert len(shares) == len({block for block, _ in shares}) == 3
    assert column(saxpy, "slots_issued", "ld.param") == [0] * 4


def test_topdown_adds_up(saxpy: Report) -> None:
    assert sum(part["percent"] for part in details(saxpy)["topdown"]) == pytest.approx(100)


def test_shares_of_peaks_by_hand(saxpy: Report) -> None:
    item = saxpy.record["estimates"][0]
    rates = {rate["symbol"]: rate for rate in details(saxpy)["rates"]}
    flops = 2 * elements(saxpy)
    device = details(saxpy)["device"]
    assert rates["fp32"]["share"] == pytest.approx(
        flops / item["time_s"] / device["fp32_flops_per_s"]
    )
    moved = sum(details(saxpy)["memory"]["dram"].values())
    assert rates["DRAM"]["share"] == pytest.approx(
        moved / item["time_s"] / device["dram_bytes_per_s"]
    )


def test_machine_code_knows_its_ptx(tmp_path: Path) -> None:
    if toolset(90) is None:
        pytest.skip("no assembler; CI has it")
    file = EXAMPLES / "saxpy" / "saxpy.toml"
    report = report_of(file, ("h100-sxm",), tmp_path / "saxpy.html", "native")
    (store,) = column(report, "ptx_text", "STG")
    assert store.startswith("st.global.f32")
    listed = file.with_suffix(".ptx").read_text(encoding="utf-8").splitlines()
    (line,) = column(report, "ptx_line", "STG")
    assert " ".join(listed[line - 1].split()) == store
    code = details(report)["instructions"]
    assert code["line"] == list(range(1, len(code["line"]) + 1))
    assert set(code["source_line"]) == {0}
