"""Which code is executed: `--code`, `code=`, and what results say of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import InputError, KernelcastError, LaunchError, ModelNotApplicable
from kernelcast.execution.code import Code, code_named, machine_architecture
from kernelcast.inputs.native import tools
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline
from kernelcast.simcore.timing.launch.launch_timing import launch_timing
from tests.ptx_frontend.sass.native_programs import needs_tools

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SAXPY = str(EXAMPLES / "saxpy" / "saxpy.toml")
SGEMM = str(EXAMPLES / "sgemm" / "sgemm32.toml")
Output = Callable[..., str]


def test_machine_code_is_that_of_the_compute_capability() -> None:
    found = {name: machine_architecture(kc.device(name)) for name in kc.devices()}
    assert found["v100-pcie"] == 70
    assert found["h100-sxm"] == 90
    assert (found["mi300x"], found["r9-nano"]) == ("gfx942", "gfx803")
    assert (found["mi355x"], found["rx-9070-xt"]) == ("gfx950", "gfx1201")
    assert (found["rx-6900-xt"], found["rx-7900-xtx"]) == ("gfx1030", "gfx1100")
    others = ("gtx-480", "tesla-k20c", "gtx-960", "gtx-1060-6gb", "arc-b580")
    assert not any(found[name] for name in others)


def test_the_code_is_chosen_by_name_or_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KERNELCAST_CODE", raising=False)
    assert code_named(None) is Code.AUTO
    monkeypatch.setenv("KERNELCAST_CODE", "native")
    assert code_named(None) is Code.NATIVE
    assert code_named("source") is Code.SOURCE
    monkeypatch.setenv("KERNELCAST_CODE", "nativ")
    with pytest.raises(KernelcastError, match=r"KERNELCAST_CODE: unknown code 'nativ' .*native"):
        code_named(None)


def saxpy(
    code: str, *devices: str
) -> tuple[kc.KernelTrace, np.ndarray[tuple[int], np.dtype[np.float32]]]:
    kernel = kc.load(EXAMPLES / "saxpy" / "saxpy.ptx")["saxpy"]
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    trace = kernel.run(grid=4, block=256, args=[1000, 3.0, x, y], devices=devices, code=code)
    return trace, y


def test_devices_of_one_architecture_share_a_run() -> None:
    needs_tools()
    trace, y = saxpy("native", "a100-40gb", "h100-pcie", "a100-80gb")
    assert {item.code for item in (trace, *trace.others)} == {"sm_80", "sm_90"}
    profiles = trace.profiles(["a100-40gb", "h100-pcie", "a100-80gb"])
    assert [item.code for item in profiles] == ["sm_80", "sm_90", "sm_80"]
    assert (y == 3 * np.arange(1000) + 1).all()


def test_devices_without_machine_code_run_the_source_beside_it() -> None:
    needs_tools()
    trace, y = saxpy("auto", "gtx-480", "a100-40gb", "arc-b580")
    codes = {name: trace.profile(name).code for name in ("gtx-480", "a100-40gb", "arc-b580")}
    assert codes == {"gtx-480": "source", "a100-40gb": "sm_80", "arc-b580": "source"}
    assert kc.estimate(trace.profile("a100-40gb")).code == "sm_80"
    assert (y == 3 * np.arange(1000) + 1).all()


def test_without_tools_the_source_is_executed_and_the_reason_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tools, "_newest", lambda: None)
    trace, _ = saxpy("auto", "a100-40gb")
    profile = trace.profile("a100-40gb")
    assert profile.code == "source"
    assert any("kernelcast[native]" in item for item in profile.assumptions)
    with pytest.raises(InputError, match="native"):
        saxpy("native", "a100-40gb")


@pytest.mark.parametrize(
    ("devices", "reason"),
    [((), "name one"), (("gtx-480",), "GTX 480"), (("a100-40gb", "arc-b580"), "B580")],
)
def test_machine_code_that_there_is_not_is_an_error(devices: tuple[str, ...], reason: str) -> None:
    with pytest.raises(LaunchError, match=reason):
        saxpy("native", *devices)


def test_a_mix_of_machine_code_shows_wide_shared_loads(output: Output) -> None:
    needs_tools()
    options = (
        "mix",
        SGEMM,
        "--size",
        "small",
        "--device",
        "a100-40gb",
        "--code",
        "native",
        "--json",
    )
    record = json.loads(output(*options))
    assert record["code"] == record["architecture"] == "sm_80"
    assert 16 <= record["registers"] <= 64
    rows = {row["opcode"]: row for row in record["mix"]}
    # a thread block of 32 x 32 multiplies tiles of 32: a warp's 32 products take 8 loads of 4 words
    assert rows["LDS.128"]["warp"] * 4 == rows["FFMA"]["warp"]
    assert rows["FFMA"]["thread"] == 32 * rows["FFMA"]["warp"]


def test_pipes_and_opcodes_add_up_to_what_is_executed(output: Output) -> None:
    needs_tools()
    options = ("profile", SGEMM, "--size", "small", "--device", "a100-40gb", "--code", "native")
    metrics = json.loads(output(*options, "--metrics", "ncu", "--json"))["metrics"]
    executed = metrics["smsp__inst_executed.sum"]
    prefix = "sass__inst_executed_per_opcode_with_modifier_all."
    opcodes = {name.removeprefix(prefix): v for name, v in metrics.items() if prefix in name}
    assert sum(opcodes.values()) == executed
    without_pipe = sum(v for name, v in opcodes.items() if name.startswith(("BRA", "ULDC", "UMOV")))
    pipes = sum(v for name, v in metrics.items() if name.startswith("smsp__inst_executed_pipe_"))
    assert 0 < without_pipe == executed - pipes
    assert metrics["smsp__inst_executed_op_local_ld.sum"] == 0


def test_stored_traces_say_which_code_they_are_of(tmp_path: Path, output: Output) -> None:
    needs_tools()
    file = str(tmp_path / "t.parquet")
    chosen = ("--size", "small", "--device", "a100-40gb", "--code", "native")
    output("trace", SAXPY, "-o", file, *chosen)
    stored = json.loads(output("estimate", file, "--device", "a100-40gb", "--json"))
    (estimate,) = stored["estimates"]
    assert estimate["code"] == "sm_80"
    executed = json.loads(output("estimate", SAXPY, *chosen, "--json"))
    assert estimate["time_s"] == pytest.approx(executed["estimates"][0]["time_s"], rel=1e-12)


def test_results_of_machine_code_are_checked(output: Output) -> None:
    needs_tools()
    chosen = ("--size", "small", "--device", "h100-pcie", "--code", "native")
    assert "passed" in output("run", SGEMM, "--check", *chosen)


def test_machine_code_takes_its_own_registers_not_those_of_the_workload_file() -> None:
    needs_tools()
    loaded = kc.load_workload(EXAMPLES / "sgemm" / "sgemm32.toml")
    workload = replace(loaded, kernel=replace(loaded.kernel, registers=24))
    found = {
        code: workload.run("small", devices=["a100-40gb"], code=code).data.resources.registers
        for code in ("source", "native")
    }
    assert found["source"] == 24
    assert found["native"] not in (None, 24)
    given = workload.run("small", devices=["a100-40gb"], code="native", registers=48)
    assert given.data.resources.registers == 48


def test_validations_of_machine_code_have_no_baseline(error: Callable[..., str]) -> None:
    assert "--accept" in error("validate", "measured", "--code", "native", "--accept")
    assert "--code" in error("validate", "suite", "--code", "native")


def test_prices_of_ptx_are_not_those_of_machine_code() -> None:
    needs_tools()
    trace, _ = saxpy("native", "a100-40gb")
    with pytest.raises(ModelNotApplicable, match=r"sm_80: --code source"):
        kc.estimate(trace.profile("a100-40gb"), model="mpd-cpd")


def test_constants_of_machine_code_are_no_loads_of_global_memory() -> None:
    needs_tools()
    trace, _ = saxpy("native", "h100-pcie")
    kernel = trace.profile("h100-pcie").derived(timed_warps)
    assert kernel is not None
    by_opcode = {
        row.opcode: pipeline
        for row, pipeline in zip(kernel.instructions, kernel.pipeline, strict=True)
        if not row.is_part
    }
    assert by_opcode["LDG"] is Pipeline.GLOBAL
    assert by_opcode["LDC"] is Pipeline.CONSTANT
    assert by_opcode["ULDC"] is Pipeline.WAIT  # an operand, as no scoreboard is set for it


DYNAMIC = """.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 words[];
.visible .entry k(.param .u64 out) {
.reg .b64 %rd<3>; .reg .b32 %r<4>;
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, words; mad.lo.u32 %r2, %r1, 7264, %r2;
st.shared.u32 [%r2], %r1; bar.sync 0; ld.shared.u32 %r3, [%r2];
mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r3; ret; }"""


@pytest.mark.parametrize("code", ["source", "native"])
def test_the_shared_memory_of_the_system_is_not_the_kernels(code: str) -> None:
    """A thread block may ask for all 227 KB, although machine code has 1 KB before them."""
    needs_tools()
    most = kc.device("h100-pcie").sm.max_shared_bytes_per_thread_block
    out = np.zeros(32, np.uint32)
    trace = kc.load_ptx(DYNAMIC)["k"].run(
        grid=1, block=32, args=[out], shared_bytes=most, devices=["h100-pcie"], code=code
    )
    assert trace.data.resources.shared_bytes == most
    assert (out == np.arange(32)).all()


ASYNC = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b) {
.shared .align 16 .b8 tile[8192];
.reg .b64 %rd<5>; .reg .b32 %r<5>; .reg .f32 %f<3>; .reg .pred %p<2>;
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 16; add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3;
mov.u32 %r2, tile; mad.lo.u32 %r2, %r1, 16, %r2; mov.u32 %r3, 0;
L: cp.async.cg.shared.global [%r2], [%rd1], 16; cp.async.commit_group;
add.s64 %rd1, %rd1, 512; cp.async.wait_group LEFT;
add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 40; @%p1 bra L;
cp.async.wait_all; ld.shared.f32 %f1, [%r2]; st.global.f32 [%rd2], %f1; ret; }"""


def test_copies_of_machine_code_are_waited_for_in_groups() -> None:
    """A copy of which one more may be on its way takes half the time."""
    needs_tools()
    source, target = np.zeros(44 * 128, np.float32), np.zeros(128, np.float32)
    cycles = []
    for left in (0, 1):
        kernel = kc.load_ptx(ASYNC.replace("LEFT", str(left)))["k"]
        arguments = [source, target]
        trace = kernel.run(grid=1, block=32, args=arguments, devices=["a100-40gb"], code="native")
        found = {row.opcode for row in trace.data.instructions}
        assert {"LDGSTS", "commit_group", f"wait_group.{left}"} <= found
        profile = trace.profile("a100-40gb")
        kernel_timed = profile.derived(timed_warps)
        assert kernel_timed is not None
        assert Pipeline.FENCE not in kernel_timed.pipeline
        found_timing = launch_timing(kernel_timed, kc.device("a100-40gb"), is_exact=True)
        cycles.append(found_timing.cycles)
    assert cycles[0] > 1.6 * cycles[1]


def test_a_mix_says_why_it_is_that_of_the_source(
    output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "_newest", lambda: None)
    chosen = ("mix", SAXPY, "--size", "small", "--device", "a100-40gb", "--code", "auto")
    record = json.loads(output(*chosen, "--json"))
    assert record["code"] == "source"
    assert "kernelcast[native]" in record["note"]
    assert "no machine code" in " ".join(output(*chosen).split())


def test_a_stored_trace_shows_its_code(tmp_path: Path, output: Output) -> None:
    needs_tools()
    file = str(tmp_path / "t.parquet")
    chosen = ("--size", "small", "--device", "h100-pcie", "--code", "native")
    output("trace", SAXPY, "-o", file, *chosen)
    assert json.loads(output("trace", "show", file, "--json"))["code"] == "sm_90"


def test_machine_code_of_another_architecture_is_a_stand_in() -> None:
    needs_tools()
    kernel = kc.load(EXAMPLES / "saxpy" / "saxpy.ptx")["saxpy"]
    x, y = np.ones((2, 1000), np.float32)
    arguments: list[Any] = [1000, 3.0, x, y]
    trace = kernel.run(grid=4, block=256, args=arguments, target="a100-40gb", code="native")
    found = {name: trace.profile(name).assumptions for name in ("a100-80gb", "h100-pcie")}
    told = {name: any("stands for that of" in item for item in found[name]) for name in found}
    assert told == {"a100-80gb": False, "h100-pcie": True}
