"""Shared fixtures: a few lines of PTX or a command line without ceremony; the thesis's tables."""

from __future__ import annotations

import csv
import gc
import os
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from kernelcast.cli import main
from kernelcast.errors import InputError
from kernelcast.inputs.cuda import nvrtc_library
from kernelcast.inputs.native.tools import toolset
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.device.device import Device, MeasuredThroughput
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.engine import execute
from kernelcast.simcore.engine.jit.runtime import run as jit_run
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Argument, Launch, Limits, dimensions
from kernelcast.simcore.profile.profile import (
    InstructionCounts,
    KernelProfile,
    LaunchShape,
    MemoryTraffic,
)
from kernelcast.traces.trace import Trace
from tests.drawn_cases import ALL_CASES, without_undrawn

_DONE, _BAD_INPUT = 0, 2
# Machines under load take long now and then: that is no failure of the code under test. The same
# tree gives the same verdict; new examples are `make explore`'s business.
settings.register_profile("kernelcast", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile("kernelcast")

# What tests execute must not depend on whether an assembler is installed; some ask for its code.
os.environ["KERNELCAST_CODE"] = "source"

# Where tests are in the background, interrupts are ignored: not so in what they test and start.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

# `make test` executes code as short launches have it, `make test-all` that of long ones.
if ALL_CASES:
    vars(jit_run)["QUICK"] = 2

# GNU readline, which pytest loads, tells processes that it starts a width of its own making.
os.environ.pop("COLUMNS", None)

# Tests execute: what an earlier run of theirs has kept must not hide that they no longer could.
os.environ["KERNELCAST_STORE"] = "off"

_REGISTERS = """
    .reg .pred %p<10>; .reg .b16 %rs<10>; .reg .b32 %r<40>; .reg .b64 %rd<20>;
    .reg .f32 %f<20>; .reg .f64 %fd<20>;
"""

_THESIS = Path(__file__).parent.parent / "validation" / "thesis"
_THESIS_CASES = {
    "sor": ("table_4_4_sor_metrics", 4, LaunchShape((65, 2048, 1), (64, 4, 1))),
    "sgemm": ("table_4_9_sgemm_metrics", 1, LaunchShape((20, 40, 1), (32, 32, 1))),
    "lmsor": ("table_5_10_lmsor_metrics", 4, None),
}


@pytest.fixture(scope="module", autouse=True)
def _what_is_left_stays() -> None:
    """What earlier files left is not looked through again: that took a tenth of the time of all."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported stays: to look through its million objects takes half a second each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 10, 10)
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the cases that only `make test-all` runs."""
    if ALL_CASES:
        return
    items[:], left_out = without_undrawn(items)
    if left_out:
        config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session")
def nvrtc() -> None:
    """Skips tests that compile CUDA C++ where NVRTC or its headers are not installed."""
    try:
        nvrtc_library.load_nvrtc()
    except InputError:
        pytest.skip("NVRTC is not installed")
    if not nvrtc_library.cuda_header_folders():
        pytest.skip("the CUDA headers are not installed")


@pytest.fixture(scope="session")
def assembler() -> None:
    """Skips tests that need NVIDIA's assembler and disassembler where one is not installed."""
    if toolset(80) is None:
        pytest.skip("there is no assembler, or no disassembler")


@pytest.fixture
def compile_ptx() -> Callable[..., Kernel]:
    """(body, parameters="u64 out, u32 n", module="", directives="", target="sm_75") -> Kernel."""

    def build(
        body: str,
        parameters: str = "u64 out",
        module: str = "",
        directives: str = "",
        target: str = "sm_75",
    ) -> Kernel:
        declared = ", ".join(
            f".param .{kind} {name}" for kind, name in (p.split() for p in parameters.split(","))
        )
        text = (
            f".version 8.0\n.target {target}\n.address_size 64\n{module}\n"
            f".visible .entry k({declared}) {directives}\n{{\n{_REGISTERS}\n{body}\n}}\n"
        )
        module_read = read_ptx(text, "test.ptx")
        for reasons in module_read.rejected.values():
            raise reasons[0]
        return module_read.kernels["k"]

    return build


@pytest.fixture
def run_kernel() -> Callable[..., Trace]:
    """(kernel, arguments, grid=1, block=32, ...) -> Trace."""

    def run(
        kernel: Kernel,
        arguments: Sequence[Argument],
        *,
        grid: Any = 1,
        block: Any = 32,
        shared_bytes: int = 0,
        warp_width: int = 32,
        limits: Limits | None = None,
    ) -> Trace:
        launch = Launch(
            dimensions(grid, "grid"),
            dimensions(block, "thread block"),
            tuple(arguments),
            shared_bytes,
        )
        return execute(kernel, launch, warp_width=warp_width, limits=limits)

    return run


@pytest.fixture
def run_ptx(
    compile_ptx: Callable[..., Kernel], run_kernel: Callable[..., Trace]
) -> Callable[..., Trace]:
    """(body, parameters, arguments, ...) -> Trace; buffers among the arguments are changed."""

    def run(
        body: str,
        parameters: str,
        arguments: Sequence[Argument],
        *,
        module: str = "",
        **launch: Any,
    ) -> Trace:
        return run_kernel(compile_ptx(body, parameters, module), arguments, **launch)

    return run


def _thesis_rows(table: str) -> list[dict[str, str]]:
    with (_THESIS / f"{table}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def _thesis_rates(gpu: str) -> dict[str, float]:
    """T_SP ... B_mem of Table 5.2, or of Table 6.2 for the R9 Nano, from giga-units to SI."""
    if gpu == "R9 Nano":
        rows = _thesis_rows("table_6_2_r9nano_parameters")
        return {row["parameter"]: 1e9 * float(row["value"]) for row in rows}
    row = next(row for row in _thesis_rows("table_5_2_gpu_parameters") if row["gpu"] == gpu)
    return {name.rsplit("_G", 1)[0]: 1e9 * float(row[name]) for name in row if "_G" in name}


@pytest.fixture(scope="session")
def thesis_table() -> Callable[[str], list[dict[str, str]]]:
    """(name) -> rows of validation/thesis/<name>.csv."""
    return _thesis_rows


@pytest.fixture(scope="session")
def measured_device() -> Callable[[str], Device]:
    """(GPU as the thesis writes it) -> the device, with the rates of Table 5.2 or 6.2 only."""

    def build(gpu: str) -> Device:
        rates = _thesis_rates(gpu)
        measured = MeasuredThroughput(
            fp32_ops_per_s=rates["T_SP"],
            fp64_ops_per_s=rates["T_DP"],
            int_ops_per_s=rates["T_int"],
            add_ops_per_s=rates["T_add"],
            load_store_ops_per_s=rates["T_ldst"],
            dram_bandwidth_bytes_per_s=rates["B_mem"],
        )
        return replace(load_device(gpu.lower().replace(" ", "-")), measured=measured)

    return build


@pytest.fixture(scope="session")
def thesis_profile() -> Callable[[str], KernelProfile]:
    """("sor", "sgemm" or "lmsor") -> its nvprof metrics as a profile of the GTX-480."""

    def build(case: str) -> KernelProfile:
        table, repeats, launch = _THESIS_CASES[case]
        metric = {row["notation"]: float(row["value"]) for row in _thesis_rows(table)}
        return KernelProfile(
            kernel=case,
            device="gtx-480",
            origin=table,
            instructions=InstructionCounts(
                fma32=metric["M_fma32"],
                fma64=metric["M_fma64"],
                fp32=metric["M_fp32"],
                fp64=metric["M_fp64"],
                integer=metric["M_int"],
                load_store=metric["M_ldst"],
                warp_instructions=metric["M_inst"],
            ),
            traffic=MemoryTraffic(metric["M_tran-r"], metric["M_tran-w"]),
            launch=launch,
            repeats=repeats,
        )

    return build


@pytest.fixture
def output(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """(arguments..., status=0) -> standard output, nothing on standard error."""

    def run(*arguments: str, status: int = _DONE) -> str:
        assert main(arguments) == status
        captured = capsys.readouterr()
        assert captured.err == ""
        return captured.out

    return run


@pytest.fixture
def error(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """(arguments...) -> the message of a command that must end with bad input."""

    def run(*arguments: str) -> str:
        assert main(arguments) == _BAD_INPUT
        captured = capsys.readouterr()
        assert captured.out == ""
        assert "Traceback" not in captured.err
        return captured.err

    return run
