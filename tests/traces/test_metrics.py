"""Profiler files of every layout become the same table; unusable ones name file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelcast.errors import MetricsError
from kernelcast.traces.profilers.metric_cells import read_number, read_size, unit_factor
from kernelcast.traces.profilers.metric_table import (
    KernelMetrics,
    LaunchMetrics,
    MetricTable,
    ProfilerTool,
)
from kernelcast.traces.profilers.metrics import read_metrics

FIXTURES = Path(__file__).parent / "fixtures"
SOR = "sor_red(double*, double const *, double, int)"


def write(folder: Path, text: str) -> Path:
    path = folder / "metrics.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("file", "tool", "instructions", "launches"),
    [
        ("plain.csv", ProfilerTool.PLAIN, "inst_executed", 1),
        ("nvprof_summary.csv", ProfilerTool.NVPROF, "inst_executed", 4),
        ("nvprof_trace.csv", ProfilerTool.NVPROF, "inst_executed", 2),
        ("ncu_details.csv", ProfilerTool.NCU, "smsp__inst_executed.sum", 2),
        ("ncu_raw.csv", ProfilerTool.NCU, "smsp__inst_executed.sum", 1),
    ],
)
def test_layouts(file: str, tool: ProfilerTool, instructions: str, launches: int) -> None:
    table = read_metrics(FIXTURES / file)
    found = table.kernel("sor_red")
    assert (table.tool, found.tool) == (tool, tool)
    assert found.launch_count == launches
    assert found.mean[instructions] == 56_100_732
    if "nvprof_summary" not in file and "plain" not in file:
        assert (found.grid, found.thread_block) == ((65, 2048, 1), (64, 4, 1))
        assert found.duration_s == pytest.approx(5.364e-3)


def test_file_name_decides_nothing(tmp_path: Path) -> None:
    path = tmp_path / "rocprof.txt"
    path.write_text((FIXTURES / "ncu_raw.csv").read_text())
    assert read_metrics(path).tool is ProfilerTool.NCU


def test_nvprof_summary_joins_events_and_metrics_of_a_kernel() -> None:
    found = read_metrics(FIXTURES / "nvprof_summary.csv").kernel(SOR)
    assert len(found.launches) == 1
    assert found.mean["thread_inst_executed"] == 1_790_000_000
    assert found.mean["warp_execution_efficiency"] == pytest.approx(0.994)
    assert found.mean["dram_utilization"] == 8


def test_overflowed_and_not_available_cells_are_remembered() -> None:
    black = read_metrics(FIXTURES / "nvprof_summary.csv").kernel("sor_black")
    assert black.unavailable == {"inst_fp_64"}
    assert "inst_fp_64" not in black.mean
    details = read_metrics(FIXTURES / "ncu_details.csv").kernel()
    assert details.unavailable == {"lts__t_sectors_op_read.sum"}


def test_nvprof_trace_knows_labels_and_skips_copies() -> None:
    table = read_metrics(FIXTURES / "nvprof_trace.csv")
    assert [kernel.kernel for kernel in table.kernels] == [SOR]
    assert table.kernel().mean["dram_read_transactions"] == 17_660_604
    assert [launch.duration_s for launch in table.kernel().launches] == [
        pytest.approx(5.360e-3),
        pytest.approx(5.368e-3),
    ]


def test_ncu_units_are_scaled() -> None:
    raw = read_metrics(FIXTURES / "ncu_raw.csv").kernel("sor_red")
    assert raw.mean["dram__bytes_read.sum"] == pytest.approx(32 * 17_660_604)
    details = read_metrics(FIXTURES / "ncu_details.csv").kernel()
    assert details.mean["dram__throughput.avg.pct_of_peak_sustained_elapsed"] == 0.915


def test_plain_file_without_header_and_with_comments(tmp_path: Path) -> None:
    path = write(tmp_path, "# counted on a GTX-480\ninst_executed,1\n\ninst_fp_32, 2\n")
    found = read_metrics(path)
    assert found.tool is ProfilerTool.PLAIN
    assert found.kernel("k").mean == {"inst_executed": 1.0, "inst_fp_32": 2.0}


@pytest.mark.parametrize("text", ["a,b\nc,2\n", "1,2\n", "inst_executed,1,2\n", "x,1\ny\n"])
def test_other_text_without_header_is_no_plain_file(tmp_path: Path, text: str) -> None:
    with pytest.raises(MetricsError, match="no header of a known format"):
        read_metrics(write(tmp_path, text))


def test_rocprof_dispatches() -> None:
    found = read_metrics(FIXTURES / "rocprof.csv").kernel("scale")
    assert found.launch_count == 2
    assert (found.grid, found.thread_block) == ((1024, 1, 1), (256, 1, 1))
    assert found.warp_width == 64
    assert found.duration_s == pytest.approx(50e-6)
    assert found.mean["SQ_INSTS_VALU"] == 100_000


def test_rocprof_version_2_names(tmp_path: Path) -> None:
    header = "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Wave_Size,Kernel_Name,SQ_WAVES"
    path = write(tmp_path, f'{header}\n1,4,1000,256,32,"k(int) [clone .kd]",16\n')
    found = read_metrics(path).kernel("k")
    assert (found.grid, found.thread_block, found.warp_width) == ((4, 1, 1), (256, 1, 1), 32)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("1,218,190", "", 1218190.0),
        ("1,218,190.5", "", 1218190.5),
        ("-3", "", -3.0),
        ("1.5e3", "", 1500.0),
        ("1.5", "Kbyte", 1500.0),
        ("2", "Mbyte", 2e6),
        ("2", "Gbyte/second", 2e9),
        ("2", "Kbyte/block", 2000.0),
        ("7", "usecond", 7e-6),
        ("7", "ns", 7e-9),
        ("1.2", "cycle/nsecond", 1.2e9),
        ("1.2", "Ghz", 1.2e9),
        ("3", "K", 3000.0),
        ("3", "Msector", 3e6),
        ("50", "%", 0.5),
        ("98.50%", "", 0.985),
        ("163.4GB/s", "", 163.4e9),
        ("32", "register/thread", 32.0),
        ("Low (2)", "", 2.0),
        ("Idle (0)", "", 0.0),
    ],
)
def test_cells(text: str, unit: str, value: float) -> None:
    assert read_number(text, unit) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    "text",
    ["", "n/a", "nan", "inf", "<OVERFLOW>", "9,00", "1,2,3", "1.218.190", "GeForce", "1e999"],
)
def test_cells_that_hold_no_number(text: str) -> None:
    assert read_number(text) is None


def test_unknown_unit_is_no_number_rather_than_a_wrong_scale() -> None:
    assert unit_factor("Mfurlong") is None
    assert read_number("3", "Mfurlong") is None


@pytest.mark.parametrize(
    ("text", "size"),
    [("(65, 2048, 1)", (65, 2048, 1)), ("65x2048x1", (65, 2048, 1)), ("65", None), ("", None)],
)
def test_launch_sizes(text: str, size: tuple[int, int, int] | None) -> None:
    assert read_size(text) == size


def test_kernels_by_name() -> None:
    names = ("sor(int)", "sor_red(int)", "void ns::sor_black<int, 4>(int*)")
    launch = LaunchMetrics({"a": 1.0})
    table = MetricTable(
        "f.csv",
        ProfilerTool.NVPROF,
        tuple(KernelMetrics(name, ProfilerTool.NVPROF, (launch,)) for name in names),
    )
    assert table.kernel("sor(int)").kernel == names[0]
    assert table.kernel("sor").kernel == names[0]  # the bare name goes before parts of names
    assert table.kernel("red").kernel == names[1]
    assert table.kernel("ns::sor_black").kernel == names[2]
    for name, message in (("sor_", "2 kernels fit"), ("xyz", "no kernels fit"), (None, "name a")):
        with pytest.raises(MetricsError, match=message) as raised:
            table.kernel(name)
        assert "sor(int), sor_red(int)" in str(raised.value)


def test_mean_is_weighted_and_counts_only_launches_that_have_the_metric() -> None:
    launches = (
        LaunchMetrics({"a": 1.0, "b": 5.0}, count=3, grid=(1, 1, 1)),
        LaunchMetrics({"a": 9.0}, unavailable=frozenset({"b", "c"}), grid=(2, 1, 1)),
    )
    found = KernelMetrics("k", ProfilerTool.NCU, launches)
    assert found.mean == {"a": 3.0, "b": 5.0}
    assert found.launch_count == 4
    assert found.grid is None  # launches differ
    assert found.unavailable == {"c"}
    assert found.duration_s is None


def test_two_devices_are_not_averaged(tmp_path: Path) -> None:
    header = '"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"'
    rows = [f'"GPU ({n})","k(int)",1,"inst_executed","x",{n},{n},{n}' for n in (0, 1)]
    table = read_metrics(write(tmp_path, "\n".join([header, *rows])))
    with pytest.raises(MetricsError, match=r"several devices: GPU \(0\), GPU \(1\)"):
        table.kernel("k")


NVPROF_HEADER = '"Device","Kernel","Invocations","Metric Name","Min","Max","Avg"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no header of a known format"),
        ("hello\n1,2,3\n", "no header of a known format"),
        ("metric,value\n", "header without any metric"),
        ("metric,value\na,1\na,2\n", ":3: a stands twice"),
        ("metric,value\na,many\n", ":2: a is 'many', not a number"),
        ("metric,value,unit\na,1,parsec\n", ":2: a is '1 parsec'"),
        ("metric,value\na\n", ":2: 1 cells under a header of 2"),
        ("metric,value\na,1,2\n", ":2: 3 cells under a header of 2"),
        (f'{NVPROF_HEADER}\n"G","k",none,"m",1,1,1\n', ":2: 'none' invocations"),
        (
            f'{NVPROF_HEADER}\n"G","k",1,"m",1,1,1\nmetric,value\na,1\n',
            "tables of nvprof and plain",
        ),
        ("Index,KernelName,grd,wgr,SQ_WAVES\n0,k,0,64,1\n", ":2: grd is '0'"),
        ('"Kernel Name","Metric Name","Metric Value"\n"","m","1"\n', ":2: a metric without a"),
        ('metric,value\na,"' + "1" * 140_000 + '"\n', "not CSV"),
    ],
)
def test_unusable_files(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(MetricsError, match=message) as raised:
        read_metrics(write(tmp_path, text))
    assert "metrics.csv" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_missing_and_binary_files(tmp_path: Path) -> None:
    with pytest.raises(MetricsError, match="No such file"):
        read_metrics(tmp_path / "none.csv")
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"\x7fELF\xff\x81")
    with pytest.raises(MetricsError, match="not UTF-8"):
        read_metrics(binary)


def test_plain_file_with_units_and_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    path.write_text("\ufeffMetric, Value, Unit\na, 1.5, Kbyte\n\nb, 2,\n", encoding="utf-8")
    assert read_metrics(path).kernel("any").mean == {"a": 1500.0, "b": 2.0}
