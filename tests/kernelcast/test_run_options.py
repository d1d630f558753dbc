"""RunOptions and its fields as keywords say the same, to kernels and to workloads."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.execution.run_options import RunKeywords, RunOptions

WORKLOAD = Path(__file__).parents[2] / "examples" / "sgemm" / "sgemm16.toml"
PTX = """.version 7.0
.target sm_70
.address_size 64
.visible .entry fill(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}
"""


def fill(**given: Any) -> kc.KernelTrace:
    kernel = kc.load_ptx(PTX)["fill"]
    return kernel.run(grid=1, block=64, args=[np.zeros(64, np.int32)], **given)


def test_keywords_are_the_fields_with_their_types() -> None:
    assert RunKeywords.__annotations__.keys() == {field.name for field in fields(RunOptions)}
    wanted = {field.name: field.type for field in fields(RunOptions)}
    found = {name: kind.__forward_arg__ for name, kind in RunKeywords.__annotations__.items()}
    assert found == wanted


CHOSEN: dict[str, Any] = {"warp_width": 16, "engine": "reference", "registers": 40}


@pytest.mark.parametrize("given", [CHOSEN, {"options": kc.RunOptions(**CHOSEN)}])
def test_options_do_what_their_keywords_do(given: dict[str, Any]) -> None:
    trace = fill(**given)
    assert trace.data.warp_width == 16
    assert trace.data.engine == "reference"
    assert trace.data.resources.registers == 40


def test_keywords_go_before_options() -> None:
    options = kc.RunOptions(warp_width=16, engine="reference")
    trace = fill(options=options, warp_width=64)
    assert (trace.data.warp_width, trace.data.engine) == (64, "reference")


def test_names_of_arguments_reach_the_message() -> None:
    with pytest.raises(kc.KernelcastError, match="to_fill"):
        kc.load_ptx(PTX)["fill"].run(
            grid=1, block=64, args=[1.5], options=kc.RunOptions(argument_names=["to_fill"])
        )


def test_a_misspelt_keyword_names_the_nearest() -> None:
    with pytest.raises(TypeError, match=r"run\(\) got .* 'engin' \(did you mean engine\?\)"):
        fill(engin="jit")
    with pytest.raises(TypeError, match=r"'gird' \(did you mean grid\?\)"):
        fill(gird=1)
    workload: Any = kc.load_workload(WORKLOAD)
    with pytest.raises(
        TypeError, match=r"run\(\) got .* 'device' \(did you mean devices, engine\?\)"
    ):
        workload.run(device="gtx-480")
    with pytest.raises(TypeError, match=r"run_check\(\) got .* 'limit' \(did you mean limits\?\)"):
        workload.run_check(limit=None)


def test_options_are_run_options() -> None:
    with pytest.raises(TypeError, match="options must be RunOptions, got dict"):
        fill(options={"engine": "jit"})


def test_a_misspelt_part_of_a_launch_names_the_nearest() -> None:
    kernel = kc.load_ptx(PTX)["fill"]
    misspelt: dict[str, Any] = {"gird": 1}
    with pytest.raises(TypeError, match=r"address_kernel\(\) got .* 'gird' \(did you mean grid\?"):
        kc.address_kernel(kernel, args=[0], block=64, **misspelt)


def test_options_of_a_workload_go_before_its_own() -> None:
    workload = kc.load_workload(WORKLOAD)
    size = min(workload.sizes, key=lambda name: workload.launch_shape(name).thread_blocks)
    options = kc.RunOptions(registers=77, record_memory=False)
    assert workload.run(size, options=options).data.resources.registers == 77
