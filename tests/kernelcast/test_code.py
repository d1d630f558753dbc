"""Which code is executed: `--code`, `code=`, and what results say of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import InputError, KernelcastError, LaunchError
from kernelcast.execution.code import Code, code_named, machine_architecture
from kernelcast.inputs.native import tools
from tests.ptx_frontend.sass.native_programs import needs_tools

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SAXPY = str(EXAMPLES / "saxpy" / "saxpy.toml")
SGEMM = str(EXAMPLES / "sgemm" / "sgemm32.toml")
Output = Callable[..., str]


def test_machine_code_is_that_of_the_compute_capability() -> None:
    found = {name: machine_architecture(kc.device(name)) for name in kc.devices()}
    assert found["v100-pcie"] == 70
    assert found["h100-sxm"] == 90
    others = ("gtx-480", "tesla-k20c", "gtx-960", "gtx-1060-6gb", "mi300x", "arc-b580")
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
    trace, y = saxpy("auto", "gtx-480", "a100-40gb", "r9-nano")
    codes = {name: trace.profile(name).code for name in ("gtx-480", "a100-40gb", "r9-nano")}
    assert codes == {"gtx-480": "source", "a100-40gb": "sm_80", "r9-nano": "source"}
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
    [((), "name one"), (("gtx-480",), "GTX 480"), (("a100-40gb", "mi300x"), "MI300X")],
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
    for prefix in (
        "smsp__inst_executed_pipe_",
        "sass__inst_executed_per_opcode_with_modifier_all.",
    ):
        assert sum(v for name, v in metrics.items() if name.startswith(prefix)) == executed
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
