"""The CUDA measuring tool through the real bindings, on a stub of driver, nvidia-smi and ncu."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kernelcast.measuring.chains.operations import CHAINS
from kernelcast.validation.measured_times import MeasuredDevice, read_measured

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RESULTS = "nvidia-stub-80gb-x.json"
SAXPY = ["--workload", "examples/saxpy", "--size", "small"]


@pytest.fixture(scope="module")
def stub_driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the stub as libcuda.so.1."""
    pytest.importorskip("cuda.bindings", reason="the stub stands behind cuda-python")
    if not shutil.which("gcc"):
        pytest.skip("gcc compiles the stub")
    folder = tmp_path_factory.mktemp("driver")
    source = HERE / "stub_cuda_driver.c"
    command = ["gcc", "-shared", "-fPIC", "-o", str(folder / "libcuda.so.1"), str(source), "-ldl"]
    subprocess.run(command, check=True)
    return folder


def program(folder: Path, name: str, text: str) -> None:
    """An executable Python script that stands for one of NVIDIA's programs."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)


def run_tool(
    stub: Path, *options: str, programs: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(stub),
        "PATH": str(programs) if programs else "",
        **variables,
    }
    command = [sys.executable, str(ROOT / "validation" / "measure_cuda.py"), *options]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.fixture(scope="module")
def saxpy_run(stub_driver: Path, tmp_path_factory: pytest.TempPathFactory) -> MeasuredDevice:
    folder = tmp_path_factory.mktemp("saxpy")
    finished = run_tool(stub_driver, *SAXPY, "--output", str(folder))
    assert (finished.returncode, finished.stderr) == (0, "")
    return read_measured(folder / RESULTS)


def test_saxpy_through_the_driver(saxpy_run: MeasuredDevice) -> None:
    (row,) = saxpy_run.rows
    assert row.check is not None
    assert row.check.passed  # n, a, x and y reached the kernel where it takes them
    assert (row.grid, row.block, row.restored) == ((40, 1, 1), (256, 1, 1), ("y",))
    assert (row.registers, row.shared_bytes, row.local_bytes) == (12, 256, 8)


def test_the_device_is_what_the_driver_says(saxpy_run: MeasuredDevice) -> None:
    facts = saxpy_run.device
    assert (facts.name, facts.compute_capability) == ("NVIDIA Stub 80GB-X", "9.1")
    assert (facts.sm_count, facts.sm_clock_hz, facts.l2_bytes) == (7, 1.5e9, 65536)
    assert (facts.cuda_version, facts.driver) == ("12.8", None)
    assert facts.peak_bytes_per_s == 2e9 * 64 * 2


def test_times_are_those_of_the_events(saxpy_run: MeasuredDevice) -> None:
    """The stub's elapsed times rise by a microsecond: 20 of them have a known mean and spread.

    The empty kernel comes first: 3 launches or more to warm up, then 20.
    """
    time = saxpy_run.rows[0].time_s
    assert time.min is not None
    assert time.repeats == 20
    assert time.std == pytest.approx(1e-6 * math.sqrt(20 * 21 / 12), rel=1e-4)
    assert time.mean == pytest.approx(time.min + 9.5e-6, rel=1e-4)
    assert time.median == pytest.approx(time.min + 9.5e-6, rel=1e-4)
    assert saxpy_run.launch_overhead_s is not None
    assert 13e-6 < saxpy_run.launch_overhead_s < time.min


def test_chains_are_timed_through_the_driver(stub_driver: Path, tmp_path: Path) -> None:
    """The stub's clock takes 30 cycles and 4 a step; no assembler makes code for its 9.1."""
    options = [*SAXPY, "--latencies", "yes", "--output", str(tmp_path)]
    finished = run_tool(stub_driver, *options)
    assert (finished.returncode, finished.stderr) == (0, "")
    latencies = read_measured(tmp_path / RESULTS).latencies
    assert latencies is not None
    assert not latencies.failures
    assert [chain.name for chain in latencies.chains] == [chain.name for chain in CHAINS]
    for chain in latencies.chains:
        assert (chain.line.cycles_per_step, chain.line.offset) == pytest.approx((4, 30))
        assert chain.machine is None
    assert finished.stdout.startswith(f"latencies of {len(CHAINS)} chains; warning: loaded as PTX")
    again = run_tool(stub_driver, *options, "--resume")
    assert "latencies" not in again.stdout
    assert read_measured(tmp_path / RESULTS).latencies == latencies


def test_results_are_those_that_the_driver_left(saxpy_run: MeasuredDevice) -> None:
    x, y = saxpy_run.rows[0].results
    assert (x.name, x.is_changed) == ("x", False)
    assert (y.name, y.is_changed, len(y.elements)) == ("y", True, 16)
    assert saxpy_run.rows[0].code == "driver"


def test_native_code_that_nobody_assembles_is_a_failure(stub_driver: Path, tmp_path: Path) -> None:
    options = [*SAXPY, "--code", "native", "--output", str(tmp_path)]
    assert run_tool(stub_driver, *options).returncode == 1
    (failure,) = read_measured(tmp_path / RESULTS).failures
    assert "sm_91" in failure.error


def test_a_kernel_that_does_nothing_fails_its_check(stub_driver: Path, tmp_path: Path) -> None:
    options = ["--workload", "memory/triad", "--size", "small", "--output", str(tmp_path)]
    finished = run_tool(stub_driver, *options)
    assert finished.returncode == 1
    assert "CHECK FAILED" in finished.stdout
    (row,) = read_measured(tmp_path / RESULTS).rows
    assert row.check is not None
    assert not row.check.passed
    assert "results differ from the reference" in row.warnings


def test_a_fault_ends_the_run_and_is_recorded(stub_driver: Path, tmp_path: Path) -> None:
    options = [*SAXPY, "--workload", "memory/triad", "--output", str(tmp_path)]
    finished = run_tool(stub_driver, *options, STUB_FAULT="1")
    assert finished.returncode == 2
    assert finished.stderr == "error: cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS\n"
    (failure,) = read_measured(tmp_path / RESULTS).failures
    assert failure.workload == "examples/saxpy/saxpy"
    resumed = run_tool(stub_driver, *options, "--resume")
    assert "[2/2] examples/saxpy/saxpy small" in resumed.stdout  # what failed comes last
    measured = read_measured(tmp_path / RESULTS)
    assert not measured.failures
    assert len(measured.rows) == 2


def test_a_device_that_is_not_there(stub_driver: Path) -> None:
    finished = run_tool(stub_driver, "--device", "3")
    assert finished.returncode == 2
    assert finished.stderr == "error: there is no device 3: 1 CUDA devices are there\n"


def test_an_older_driver_gets_the_ptx_as_an_older_version(
    stub_driver: Path, tmp_path: Path
) -> None:
    finished = run_tool(stub_driver, *SAXPY, "--output", str(tmp_path), STUB_OLD="1")
    assert (finished.returncode, finished.stderr) == (0, "")
    (row,) = read_measured(tmp_path / RESULTS).rows
    assert row.check is not None
    assert row.check.passed
    assert row.warnings[0] == "loaded as PTX 7.0: the driver is older than the PTX file"


def test_the_compilers_complaint_is_told(stub_driver: Path, tmp_path: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from kernelcast.measuring.cuda_device import CudaDevice\n"
        "try: CudaDevice(0).build(b'junk', 'x')\n"
        "except Exception as error: sys.stdout.write(error.message)\n"
    )
    finished = subprocess.run(
        [sys.executable, "-c", script, str(ROOT / "validation")],
        capture_output=True,
        text=True,
        env={**os.environ, "LD_LIBRARY_PATH": str(stub_driver)},
        check=True,
    )
    assert finished.stdout == "cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX: ptxas: no version"


def test_clocks_and_driver_come_from_nvidia_smi(stub_driver: Path, tmp_path: Path) -> None:
    answer = "import sys; print('570.1' if 'driver' in sys.argv[2] else '1410, 2600')"
    program(
        tmp_path / "bin", "nvidia-smi", f"import sys\nassert '01:00.0' in sys.argv[1]\n{answer}"
    )
    run_tool(stub_driver, *SAXPY, "--output", str(tmp_path), programs=tmp_path / "bin")
    measured = read_measured(tmp_path / RESULTS)
    assert measured.device.driver == "570.1"
    assert measured.rows[0].clocks == {
        "sm_hz_before": 1.41e9,
        "sm_hz_after": 1.41e9,
        "memory_hz_before": 2.6e9,
        "memory_hz_after": 2.6e9,
    }


# --- counters -------------------------------------------------------------------------------------

FAKE_NCU = """
import subprocess, sys
arguments = sys.argv[1:]
if "--query-metrics-collection" in arguments:
    print({"launch": "  launch__registers_per_thread", "source":
           "  sass__inst_executed_per_opcode_with_modifier_all"}[arguments[-1]])
    raise SystemExit
if "--query-metrics" in arguments:
    print("Device NVIDIA Stub\\n  dram__bytes_read  Counter  byte  # of bytes\\n"
          "smsp__inst_executed  Counter  inst  # of instructions")
    raise SystemExit
metrics = arguments[arguments.index("--metrics") + 1].split(",")
command = arguments[arguments.index("--metrics") + 2:]
print("==PROF== Connected")
status = subprocess.run(command).returncode
quoted = lambda items: ",".join(f'"{item}"' for item in items)
print(quoted(["ID", "Kernel Name", *metrics]))
print(quoted(["", "", *("unit" for _ in metrics)]))
values = {name: f"{1000 + n:,}" for n, name in enumerate(metrics)}
values["sass__inst_executed_per_opcode_with_modifier_all"] += " (FFMA: 1,280; LDG.E: 640)"
print(quoted(["0", "saxpy", *values.values()]))
assert arguments[arguments.index("--print-metric-instances") + 1] == "details"
assert "--code=driver" in command
raise SystemExit(status)
"""
NO_PERMISSION = """
print("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission")
raise SystemExit(1)
"""


def test_counters_of_one_launch_come_from_ncu(stub_driver: Path, tmp_path: Path) -> None:
    program(tmp_path / "bin", "ncu", FAKE_NCU)
    options = [*SAXPY, "--output", str(tmp_path)]
    finished = run_tool(stub_driver, *options, programs=tmp_path / "bin")
    assert finished.returncode == 0, finished.stderr
    (row,) = read_measured(tmp_path / RESULTS).rows
    by_opcode = "sass__inst_executed_per_opcode_with_modifier_all"
    assert row.metrics == {
        "smsp__inst_executed.sum": 1000.0,
        "dram__bytes_read.sum": 1001.0,
        "launch__registers_per_thread": 1002.0,
        f"{by_opcode}.FFMA": 1280.0,
        f"{by_opcode}.LDG.E": 640.0,
    }
    assert not [text for text in row.warnings if "ncu gave no value" in text]
    line = finished.stdout.splitlines()[0]
    assert line.startswith("not counted on this GPU: ")
    assert "dram__bytes_write.sum" in line
    assert "dram__bytes_read.sum" not in line


def test_no_permission_for_counters_leaves_the_times(stub_driver: Path, tmp_path: Path) -> None:
    program(tmp_path / "bin", "ncu", NO_PERMISSION)
    options = [*SAXPY, "--output", str(tmp_path)]
    finished = run_tool(stub_driver, *options, programs=tmp_path / "bin")
    assert finished.returncode == 0
    (row,) = read_measured(tmp_path / RESULTS).rows
    assert not row.metrics
    assert any("no permission to read the counters" in text for text in row.warnings)


def test_ncu_that_is_asked_for_must_be_there(stub_driver: Path, tmp_path: Path) -> None:
    finished = run_tool(stub_driver, *SAXPY, "--ncu", "yes", "--output", str(tmp_path))
    assert (finished.returncode, finished.stderr) == (2, "error: ncu is not on the PATH\n")
    assert not list(tmp_path.glob("*.json"))
