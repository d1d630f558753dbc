"""What the command line says besides results: hints, names of the source, help, progress."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from rich.console import Console

import kernelcast as kc
from kernelcast.architectures import Architecture
from kernelcast.cli import main
from kernelcast.cli.trace_source import Simulator, first_compiled
from kernelcast.errors import KernelcastError, LaunchError, TraceFormatError, nearest
from kernelcast.report.summary import summary
from kernelcast.report.text import estimate_details, run_line

SYMBOL = "_Z4fillPi"
FILL = f"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry {SYMBOL}(.param .u64 x)
{{
  .reg .u64 %rd<4>;
  .reg .u32 %r<2>;
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
}}
"""


@pytest.fixture(scope="module")
def trace() -> kc.KernelTrace:
    kernel = kc.load_ptx(FILL)[SYMBOL]
    return kernel.run(grid=1, block=32, args=[np.zeros(32, np.uint32)], devices=["gtx-480"])


def shown(renderable: object) -> str:
    console = Console(width=160, file=None)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()


def test_reports_call_a_kernel_as_its_source_does(trace: kc.KernelTrace) -> None:
    estimate = kc.estimate(trace.profile("gtx-480"), "roofline")
    assert estimate.kernel == SYMBOL
    for text in (
        str(estimate),
        repr(trace),
        shown(estimate_details([estimate], is_complete=True)),
        *map(shown, (summary([estimate]), run_line(trace))),
    ):
        assert "fill" in text
        assert SYMBOL not in text


@pytest.mark.parametrize("suffix", [".ptx", ".cu", ".cl"])
@pytest.mark.parametrize("command", ["estimate", "run", "rank"])
def test_a_kernel_in_place_of_a_workload(
    command: str, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"fill{suffix}"
    file.write_text(FILL)
    device = () if command == "run" else ("--device", "gtx-480")
    assert main([command, str(file), *device]) == 2
    assert f"{file} is a kernel: a workload file" in capsys.readouterr().err


def test_the_nearest_kernel_is_named_as_its_source_names_it() -> None:
    module = kc.load_ptx(FILL)
    with pytest.raises(
        LaunchError, match=r"no kernel 'full' \(did you mean fill\?\); it has fill$"
    ):
        module["full"]


def test_kernels_of_one_source_name_are_told_apart_by_their_symbols() -> None:
    twin = FILL.replace(SYMBOL, "_Z4fillPf").split(".address_size 64")[1]
    with pytest.raises(LaunchError, match=rf"2 kernels, name one as entry: {SYMBOL}, _Z4fillPf$"):
        kc.load_ptx(FILL + twin).only_kernel()


def test_names_that_begin_alike_are_the_first_hints() -> None:
    known = ("mi100", "b200", "a100-80gb", "a100-40gb")
    assert nearest("a100", known) == " (did you mean a100-80gb, a100-40gb, mi100?)"
    assert nearest("mi10", known, 1) == " (did you mean mi100?)"
    assert nearest("xyz", known) == ""
    assert "did you mean" not in nearest("", known)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.2e9, "1.2e+09"), (1_234_567_891.0, "1234567891.0"), (40, "40"), (True, "True")],
)
def test_changed_facts_are_shown_short_and_exact(value: float, text: str) -> None:
    device = kc.device("gtx-480")
    assert Architecture("gtx-480", device, {"fact": value}).label == f"fact={text}"
    assert Architecture("gtx-480", device, {}).label == "as it is"


def test_help_breaks_lines_by_the_terminal_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERMINAL_WIDTH", "200")
    assert main(["layers", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "reuse between layers, and the largest domain with which it does." in text


def test_the_first_run_says_what_it_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kernelcast.simcore.host import ready_code
    from kernelcast.simcore.host.llvm import common_processor
    from kernelcast.simcore.memory import traversal

    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(ready_code, "INSTALLED", tmp_path / "nothing")
    assert first_compiled(Simulator.TIMING) == " (first, once: compiling the timing simulator)"
    assert first_compiled(Simulator.MEMORY) == " (first, once: compiling the memory simulator)"
    function = cast(Any, traversal.traverse).__wrapped__
    made = ready_code.ReadyCode(b"", [], False)
    ready_code.keep_code(function, "int64", common_processor(), made)
    assert first_compiled(Simulator.MEMORY) == ""
    assert first_compiled(Simulator.TIMING)


def test_hot_lines_without_a_visible_share_are_not_printed(trace: kc.KernelTrace) -> None:
    found = kc.topdown(trace, "gtx-480")
    (line, *_) = found.hot_lines
    lost = replace(line, place="nowhere.cu:1", percent=0.04)
    assert "nowhere.cu:1" not in str(replace(found, hot_lines=(line, lost)))
    assert line.place in str(replace(found, hot_lines=(line, lost)))


def test_an_estimate_of_no_profile_is_a_clear_error() -> None:
    with pytest.raises(KernelcastError, match="made of a profile") as found:
        kc.estimate("saxpy")  # type: ignore[arg-type]
    assert str(found.value).endswith("not of a str")


def test_another_device_than_those_of_the_run_is_named(trace: kc.KernelTrace) -> None:
    with pytest.raises(TraceFormatError) as caught:
        trace.profile("gtx-960")
    assert str(caught.value) == (
        "the run simulated the memory of gtx-480, not of gtx-960: execute the kernel with gtx-960 "
        "among its devices, or without devices"
    )


def test_what_differs_from_the_simulated_memory_is_named() -> None:
    """A Fermi SM has 48 warps and 32,768 registers: six thread blocks of 256 threads, or two."""
    kernel = kc.load_ptx(FILL)[SYMBOL]
    array = np.zeros(256, np.uint32)
    trace = kernel.run(grid=400, block=256, args=[array], devices=["gtx-480"])
    with pytest.raises(TraceFormatError, match="gtx-480 with 6 thread blocks per SM, not 2: "):
        trace.with_registers(63).profile("gtx-480")
    with pytest.raises(TraceFormatError, match="of gtx-480 with cold caches, not warm ones: "):
        trace.with_caches("warm").profile("gtx-480")
    device = kc.device("gtx-480")
    other = replace(device, dram=replace(device.dram, bandwidth_bytes_per_s=1e11))
    with pytest.raises(TraceFormatError, match="of gtx-480 with other facts of the device: "):
        trace.profile(other)
