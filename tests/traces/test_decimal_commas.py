"""Files of a locale with decimal commas mean what their twins with points mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelcast.errors import MetricsError
from kernelcast.traces.profilers.metric_table import MetricTable
from kernelcast.traces.profilers.metrics import read_metrics

DETAILS = '"ID","Kernel Name","Device","CC","Metric Name","Metric Unit","Metric Value"\n'
RAW = (
    '"ID","Kernel Name","Block Size","Grid Size","CC","sm__ipc.avg","dram__bytes.sum"\n'
    '"","","","","","inst/cycle","Mbyte"\n'
)
SUMMARY = '"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"\n'


def table(folder: Path, text: str) -> MetricTable:
    path = folder / "metrics.csv"
    path.write_text(text, encoding="utf-8")
    return read_metrics(path)


def details(*values: str, unit: str = "inst") -> str:
    rows = (f'"0","k","0","7.5","m__{at}","{unit}","{text}"\n' for at, text in enumerate(values))
    return DETAILS + "".join(rows)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2,00", 2.0),
        ("0,500", 0.5),
        ("1234,567", 1234.567),
        ("1.234,5", 1234.5),
        ("1.234.567,25", 1_234_567.25),
        ("12\u202f345,5", 12_345.5),
        ("-3,5e+02", -350.0),
    ],
)
def test_a_number_that_can_only_have_a_decimal_comma(
    tmp_path: Path, text: str, value: float
) -> None:
    assert table(tmp_path, details(text)).kernel().mean["m__0"] == pytest.approx(value)


def test_one_such_number_decides_for_the_file(tmp_path: Path) -> None:
    """`1,500` and `1.500` are read as its locale writes them; the capability keeps its point."""
    found = table(tmp_path, details("1,500", "1.500", "0,25", "7", "n/a")).kernel()
    assert found.mean == {"m__0": 1.5, "m__1": 1500.0, "m__2": 0.25, "m__3": 7.0}
    assert found.unavailable == {"m__4"}


def test_without_one_commas_stand_between_thousands(tmp_path: Path) -> None:
    found = table(tmp_path, details("1,500", "1.500", "12,345,678.5"))
    assert found.kernel().mean == {"m__0": 1500.0, "m__1": 1.5, "m__2": 12_345_678.5}


@pytest.mark.parametrize("other", ["1,234,567", "1,234.5", "0.500", "12.5"])
def test_both_readings_in_one_file_are_refused(tmp_path: Path, other: str) -> None:
    with pytest.raises(MetricsError, match=rf"csv:2: {other} beside 2,00 of line 3: is the comma"):
        table(tmp_path, details(other, "2,00"))


def test_wide_rows_with_units_and_sizes(tmp_path: Path) -> None:
    row = '"0","k(int, float)","(128, 1, 1)","(1024, 2, 1)","8.6","1,500","2.048,25"\n'
    found = table(tmp_path, RAW + row).kernel()
    assert found.mean == {"sm__ipc.avg": 1.5, "dram__bytes.sum": pytest.approx(2048.25e6)}
    assert (found.thread_block, found.grid) == ((128, 1, 1), (1024, 2, 1))


def test_nvprof_and_percent_signs(tmp_path: Path) -> None:
    row = '"GTX 1070 (0)","k",4,"warp_execution_efficiency","","99,00%","99,50%","99,25%"\n'
    assert table(tmp_path, SUMMARY + row).kernel().mean == {
        "warp_execution_efficiency": pytest.approx(0.9925)
    }


def test_the_tables_of_a_file_share_the_comma(tmp_path: Path) -> None:
    events = SUMMARY.replace("Metric Name", "Event Name").replace('"Metric Description",', "")
    text = SUMMARY + '"0","k",1,"ipc","","1,5","1,5","1,5"\n' + events
    found = table(tmp_path, text + '"0","k",1,"cycles","1,250","1,250","1,250"\n').kernel()
    assert found.mean == {"ipc": 1.5, "cycles": 1.25}


@pytest.mark.parametrize("header", ["metric,value\n", ""])
def test_plain_files(tmp_path: Path, header: str) -> None:
    found = table(tmp_path, header + 'ipc,"1,5"\nissued_ipc,"1,625"\n').kernel()
    assert found.mean == {"ipc": 1.5, "issued_ipc": 1.625}


def test_commas_without_quotes_are_named_as_the_likely_cause(tmp_path: Path) -> None:
    with pytest.raises(MetricsError, match=r"csv:2: 11 cells .* 8 columns; .*need quotes"):
        table(tmp_path, SUMMARY + '"0","k",1,"ipc","",1,5,1,5,1,5\n')
