"""The OpenCL measuring tool: dry runs, twins, and its calls of pyopencl on a stand-in."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.measuring import cases, measurement
from kernelcast.validation.measured_times import Api, read_measured

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "validation"))

measure_opencl: Any = importlib.import_module("measure_opencl")
workload_file: Any = importlib.import_module("kernelcast.workload.file")

TRIAD = ["--workload", "memory/triad", "--size", "small"]
RESULTS = "pretended-gpu-opencl.json"


def twins() -> set[str]:
    """The workloads that have an OpenCL C twin of their kernel."""
    return {
        name
        for name, file in cases.find_workloads().items()
        if cases.opencl_twin(workload_file.load_workload(file))
    }


def test_a_dry_run_goes_through_every_twin(tmp_path: Path) -> None:
    assert measure_opencl.main(["--dry-run", "--output", str(tmp_path)]) == 0
    measured = read_measured(tmp_path / "dry-run-opencl.json")
    assert (measured.api, measured.dry_run, measured.failures) == (Api.OPENCL, True, ())
    assert {row.workload for row in measured.rows} == twins()
    assert "memory/triad" in twins()


def test_a_dry_run_needs_no_pyopencl(monkeypatch: Any, tmp_path: Path, capsys: Any) -> None:
    monkeypatch.setitem(sys.modules, "pyopencl", None)
    assert measure_opencl.main([*TRIAD, "--dry-run", "--output", str(tmp_path)]) == 0
    assert measure_opencl.main(TRIAD) == 2
    assert capsys.readouterr().err == "error: pyopencl is not installed: pip install pyopencl\n"


def test_a_twin_must_define_the_kernel(tmp_path: Path) -> None:
    text = (
        '[kernel]\nsource = "k.ptx"\nentry = "{}"\n'
        "[launch]\ngrid = [1]\nblock = [1]\n"
    )  # fmt: skip
    file, source = tmp_path / "k.toml", tmp_path / "k.cl"
    file.write_text(text.format("scale"))
    assert cases.opencl_twin(workload_file.load_workload(file)) is None
    source.write_text(
        "void helper(int a) { scale(a); }\n"
        "__kernel __attribute__((reqd_work_group_size(1, 1, 1)))\nvoid scale(int n) {}\n"
    )
    assert cases.opencl_twin(workload_file.load_workload(file)) == source
    for other in ("helper", "scal", "n"):
        file.write_text(text.format(other))
        assert cases.opencl_twin(workload_file.load_workload(file)) is None


# --- a stand-in for pyopencl ----------------------------------------------------------------------


class ClError(Exception):
    """What stands for pyopencl.Error."""


@dataclass
class Buffer:
    context: object
    flags: int
    nbytes: int
    memory: npt.NDArray[np.uint8] = field(init=False)

    def __post_init__(self) -> None:
        self.memory = np.zeros(self.nbytes, np.uint8)

    def release(self) -> None:
        self.memory = np.zeros(0, np.uint8)


@dataclass
class Kernel:
    """Knows triad(a, b, c, scalar, n) only: a = b + scalar c for the global size's work-items."""

    program: object
    name: str
    arguments: dict[int, Any] = field(default_factory=dict)

    @property
    def function_name(self) -> str:
        return self.name

    @property
    def num_args(self) -> int:
        return 5 if self.name == "triad" else 0

    def set_arg(self, position: int, value: Any) -> None:
        self.arguments[position] = value

    def get_work_group_info(self, which: int, device: object) -> int:
        return {1: 64, 2: 16}[which]

    def run(self, items: int) -> None:
        a, b, c = (self.arguments[position].memory.view(np.float64) for position in range(3))
        (scalar,), (n,) = (
            np.frombuffer(self.arguments[position], dtype)
            for position, dtype in ((3, np.float64), (4, np.int32))
        )
        end = min(items, int(n))
        a[:end] = b[:end] + scalar * c[:end]


class Program:
    def __init__(self, context: object, source: str) -> None:
        self.source = source

    def build(self, options: list[str], cache_dir: bool) -> Program:
        assert cache_dir is False  # pickles that pyopencl does not check
        if "broken" in self.source:
            raise ClError("build failed\nthe log")
        return self

    def all_kernels(self) -> list[Kernel]:
        return [Kernel(self, name) for name in ("triad", "empty") if f"void {name}(" in self.source]


def run_kernel(
    queue: object, kernel: Kernel, global_size: tuple[int, ...], local_size: tuple[int, ...]
) -> SimpleNamespace:
    assert all(items % local == 0 for items, local in zip(global_size, local_size, strict=True))
    if kernel.name == "triad":
        kernel.run(int(np.prod(global_size)))
    return SimpleNamespace(
        wait=lambda: None, profile=SimpleNamespace(start=1_000, end=4_000)
    )  # fmt: skip


def copy_memory(queue: object, to: Any, source: Any, is_blocking: bool = True) -> None:
    taken = source.memory if isinstance(source, Buffer) else source.reshape(-1).view(np.uint8)
    target = to.memory if isinstance(to, Buffer) else to.reshape(-1).view(np.uint8)
    target[:] = taken


@pytest.fixture
def stand_in(monkeypatch: Any) -> SimpleNamespace:
    platform = SimpleNamespace(name="Pretended")
    device = SimpleNamespace(
        name="Pretended GPU",
        platform=platform,
        max_compute_units=4,
        max_clock_frequency=1200,
        global_mem_cache_size=1 << 20,
        driver_version="3.1",
        type=4,
    )
    platform.get_devices = lambda: [device]
    module = SimpleNamespace(
        Error=ClError,
        device_type=SimpleNamespace(GPU=4, ACCELERATOR=8, CPU=2),
        get_platforms=lambda: [platform],
        Context=lambda devices: devices,
        CommandQueue=lambda context, properties: properties,
        command_queue_properties=SimpleNamespace(PROFILING_ENABLE=2),
        mem_flags=SimpleNamespace(READ_WRITE=1),
        kernel_work_group_info=SimpleNamespace(
            LOCAL_MEM_SIZE=1, PRIVATE_MEM_SIZE=2, WORK_GROUP_SIZE=3
        ),
        Buffer=Buffer,
        Program=Program,
        Kernel=Kernel,
        enqueue_copy=copy_memory,
        enqueue_fill_buffer=lambda queue, buffer, pattern, offset, size: None,
        enqueue_nd_range_kernel=run_kernel,
    )
    monkeypatch.setitem(sys.modules, "pyopencl", module)
    return module


def test_triad_on_the_stand_in(stand_in: SimpleNamespace, tmp_path: Path) -> None:
    assert measure_opencl.main([*TRIAD, "--output", str(tmp_path)]) == 0
    measured = read_measured(tmp_path / RESULTS)
    facts = measured.device
    assert (facts.sm_count, facts.sm_clock_hz, facts.l2_bytes) == (4, 1.2e9, 1 << 20)
    assert (facts.driver, facts.memory_clock_hz, facts.cuda_version) == (
        "Pretended 3.1",
        None,
        None,
    )
    (row,) = measured.rows
    assert row.check is not None
    assert row.check.passed
    assert row.time_s.median == pytest.approx(3e-6)  # of the events: from 1 to 4 microseconds
    assert row.time_s.std == 0
    assert (row.registers, row.shared_bytes, row.local_bytes) == (None, 64, 16)
    assert row.restored == ("a",)


def test_rows_without_a_check_are_marked(stand_in: SimpleNamespace, tmp_path: Path) -> None:
    assert measure_opencl.main([*TRIAD, "--no-check", "--output", str(tmp_path)]) == 0
    (row,) = read_measured(tmp_path / RESULTS).rows
    assert row.check is None
    assert row.warnings == ("results were not compared with a reference",)


def test_a_source_that_does_not_compile_is_recorded(
    stand_in: SimpleNamespace, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(
        stand_in,
        "Program",
        lambda context, text: Program(context, text if "empty" in text else "broken"),
    )
    assert measure_opencl.main([*TRIAD, "--output", str(tmp_path)]) == 1
    (failure,) = read_measured(tmp_path / RESULTS).failures
    assert failure.error == "the source of triad does not compile: build failed"


def test_a_kernel_of_other_arguments_is_recorded(
    stand_in: SimpleNamespace, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(Kernel, "num_args", 4)
    monkeypatch.setattr(measurement.Session, "launch_overhead", lambda _: 0.0)
    assert measure_opencl.main([*TRIAD, "--output", str(tmp_path)]) == 1
    (failure,) = read_measured(tmp_path / RESULTS).failures
    assert "kernel triad takes 4 arguments and no dynamic shared memory, got 5" in failure.error


def test_devices_are_numbered(stand_in: SimpleNamespace, capsys: Any) -> None:
    assert measure_opencl.main(["--devices"]) == 0
    assert capsys.readouterr().out == "0: Pretended GPU (Pretended)\n"
    assert measure_opencl.main([*TRIAD, "--device", "1"]) == 2
    assert "no OpenCL device 1; known are 0 to 0: Pretended GPU" in capsys.readouterr().err


def test_no_platform_is_one_line(stand_in: SimpleNamespace, capsys: Any, monkeypatch: Any) -> None:
    def fail() -> None:
        raise ClError("PLATFORM_NOT_FOUND")

    monkeypatch.setattr(stand_in, "get_platforms", fail)
    assert measure_opencl.main(TRIAD) == 2
    assert capsys.readouterr().err.startswith("error: no OpenCL device: install the driver")
