"""The histogram of OpenCL kernels: one row an opcode, as Oclgrind prints it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.execution.instruction_mix import Counting, InstructionMix, instruction_mix

EXAMPLES = Path(__file__).parents[2] / "examples"
COMPILER = "clang-14"  # no newer than the LLVM that Oclgrind was built with
OPTIONS = ("-cl-std=CL1.2", "-target", "spir64-unknown-unknown", "-O2")
KERNEL = """declare spir_func i64 @_Z13get_global_idj(i32)
define spir_kernel void @k(ptr addrspace(1) %o, ptr addrspace(3) %l) {
entry:
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %c = icmp ult i64 %i, 8
  br i1 %c, label %some, label %rest
some:
  %f = uitofp i64 %i to float
  %d = fcmp olt float %f, 3.5
  %g = select i1 %d, float %f, float 1.0
  %s = getelementptr float, ptr addrspace(3) %l, i64 %i
  store float %g, ptr addrspace(3) %s
  br label %rest
rest:
  %p = getelementptr i16, ptr addrspace(1) %o, i64 %i
  store i16 3, ptr addrspace(1) %p
  %q = getelementptr i64, ptr addrspace(1) %o, i64 %i
  %x = load i64, ptr addrspace(1) %q
  ret void
}
"""


@pytest.fixture
def trace(tmp_path: Path) -> kc.KernelTrace:
    """32 threads, 8 of which take the first branch."""
    (tmp_path / "k.ll").write_text(KERNEL)
    arguments = (np.zeros(32, np.int64), 128)
    return kc.load(tmp_path / "k.ll")["k"].run(
        grid=(1,), block=(32,), args=arguments, shared_bytes=128, engine="reference"
    )


def by_opcode(found: InstructionMix) -> dict[str, tuple[str, int, int]]:
    return {row.opcode: (row.unit, row.thread, row.warp) for row in found.rows}


def test_an_opcode_of_two_units_is_one_row(trace: kc.KernelTrace) -> None:
    """The jump to the next basic block is a move that native code leaves out."""
    found = instruction_mix(trace.data)
    assert max(Counter(row.opcode for row in found.rows).values()) == 1
    assert by_opcode(found)["br"] == ("control, move", 32 + 8, 2)


def test_accesses_name_address_space_and_bytes(trace: kc.KernelTrace) -> None:
    rows = by_opcode(instruction_mix(trace.data))
    assert rows["store local (4 bytes)"] == ("load/store", 8, 1)
    assert rows["store global (2 bytes)"] == ("load/store", 32, 1)
    assert rows["load global (8 bytes)"] == ("load/store", 32, 1)
    assert rows["call _Z13get_global_idj()"][1:] == (32, 1)


def test_rows_are_sorted_and_add_up(trace: kc.KernelTrace) -> None:
    found = instruction_mix(trace.data)
    counts = [row.thread for row in found.rows]
    assert counts == sorted(counts, reverse=True)
    assert found.thread_instructions == sum(counts) == 32 * 8 + 8 * 6
    assert found.warp_instructions == 14


def test_native_rows_keep_units_apart(trace: kc.KernelTrace) -> None:
    units = [row.unit for row in instruction_mix(trace.data, Counting.MERGED).rows]
    assert not any("," in unit for unit in units)


@pytest.fixture
def module(tmp_path: Path) -> Path:
    if shutil.which("oclgrind-kernel") is None or shutil.which(COMPILER) is None:
        pytest.skip("Oclgrind or its clang is not installed")
    file = tmp_path / "twin.bc"
    source = EXAMPLES / "saxpy" / "saxpy.cl"
    command = [COMPILER, *OPTIONS, "-Xclang", "-finclude-default-header", "-emit-llvm", "-c"]
    subprocess.run([*command, str(source), "-o", str(file)], check=True)
    return file


WORKLOAD = """[kernel]
source = "twin.bc"
[launch]
global_size = [512]
local_size = [64]
[[args]]
name = "n"
type = "s32"
value = 500
[[args]]
name = "a"
type = "f32"
value = 2.0
[[args]]
name = "x"
type = "f32[512]"
init = "zeros"
[[args]]
name = "y"
type = "f32[512]"
init = "zeros"
"""
SIMULATION = """twin.bc
saxpy
512 1 1
64 1 1
<size=4 int>
500
<size=4 float>
2.0
<size=2048 fill=0 uchar>
<size=2048 fill=0 uchar>
"""


def test_the_command_line_prints_what_oclgrind_does(
    module: Path, output: Callable[..., str]
) -> None:
    folder = module.parent
    (folder / "w.toml").write_text(WORKLOAD)
    (folder / "launch.sim").write_text(SIMULATION)
    done = subprocess.run(
        ["oclgrind-kernel", "--inst-counts", "launch.sim"],
        cwd=folder,
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,
        check=True,
        text=True,
    )
    wanted = {
        name: int(count)
        for count, name in re.findall(r"^\s+(\d+) - (.*)$", done.stdout, re.MULTILINE)
    }
    assert wanted["load global (4000 bytes)"] == 1000
    record = json.loads(output("mix", str(folder / "w.toml"), "--counting", "plain", "--json"))
    assert all(
        set(row) == {"opcode", "unit", "thread", "warp", "thread_share"} for row in record["mix"]
    )
    assert dict(map(as_oclgrind, record["mix"])) == wanted


def as_oclgrind(row: dict[str, Any]) -> tuple[str, int]:
    """Oclgrind prints the bytes of all accesses, we those of one."""
    access = re.fullmatch(r"((?:load|store) \w+) \((\d+) bytes\)", row["opcode"])
    if access is None:
        return row["opcode"], row["thread"]
    return f"{access[1]} ({int(access[2]) * row['thread']} bytes)", row["thread"]
