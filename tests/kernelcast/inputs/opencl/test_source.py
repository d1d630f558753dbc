"""OpenCL C through clang: options, headers, errors, the cache, workloads, the command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import CompilationError, InputError, LaunchError, MemoryAccessError
from kernelcast.inputs import clang_source
from kernelcast.inputs.clang import find_clang, run_clang


def has_clang() -> bool:
    try:
        find_clang("OpenCL C")
    except InputError:
        return False
    return True


needs_clang = pytest.mark.skipif(not has_clang(), reason="clang is not installed")

_SAXPY = """
__kernel void saxpy(__global float *y, __global const float *x, float a, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] += a * x[i];
}
"""
_WORKLOAD = """[kernel]
source = "scale.cl"
options = ["-DSTEP=2"]
include = ["headers"]
[sizes.full]
n = 64
[launch]
global_size = ["n"]
local_size = [16]
[[args]]
name = "x"
type = "s32[n]"
init = "ones"
[[args]]
name = "part"
type = "local s32[local_size.x]"
[check]
reference = "reference.py:scaled"
"""
_SCALE = """
#include "factor.h"
__kernel void scale(__global int *x, __local int *part) {
  part[get_local_id(0)] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  x[get_global_id(0)] = FACTOR * STEP * part[get_local_size(0) - 1 - get_local_id(0)];
}
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("KERNELCAST_CACHE", str(folder))
    return folder


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def make(text: str, name: str = "kernel.cl") -> Path:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return make


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry for each call of the compiler."""
    made: list[str] = []

    def counted(*arguments: object) -> bytes:
        made.append("call")
        return run_clang(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(clang_source, "run_clang", counted)
    return made


@needs_clang
@pytest.mark.parametrize("engine", ["reference", "jit"])
def test_a_source_runs(write: Callable[..., Path], engine: str) -> None:
    x, y = np.arange(64, dtype=np.float32), np.ones(64, np.float32)
    kernel = kc.load(write(_SAXPY))["saxpy"]
    kernel.run(global_size=64, local_size=16, args=[y, x, 2.0, 60], engine=engine)
    expected = np.ones(64, np.float32)
    expected[:60] += 2 * x[:60]
    assert np.array_equal(y, expected)


@needs_clang
def test_errors_of_a_run_name_the_line_of_the_source(write: Callable[..., Path]) -> None:
    y = np.ones(64, np.float32)
    file = write(_SAXPY)
    with pytest.raises(MemoryAccessError, match=r"past the end of [xy] ") as caught:
        kc.load(file)["saxpy"].run(grid=5, block=16, args=[y, y, 2.0, 80])
    assert caught.value.origin is not None
    assert (caught.value.origin.file, caught.value.origin.line) == (str(file), 4)


@needs_clang
def test_definitions_and_folders_of_headers(write: Callable[..., Path], tmp_path: Path) -> None:
    write("#define FACTOR 3\n", "headers/factor.h")
    file = write(_SCALE)
    x, part = np.ones(16, np.int32), kc.LocalBytes(64)
    headers = tmp_path / "headers"
    by_argument = kc.load(file, options=["-DSTEP=2"], include=[headers])
    by_option = kc.load(file, options=["-DSTEP=5", "-I", str(headers)])
    for step, module in ((2, by_argument), (5, by_option)):
        kernel = module["scale"]
        x[:] = 1
        kernel.run(grid=1, block=16, args=[x, part])
        assert (x == 3 * step).all()


@needs_clang
def test_the_standard_is_chosen(write: Callable[..., Path]) -> None:
    file = write("__kernel void k(__global int *x) { x[0] = __OPENCL_C_VERSION__; }")
    for options, version in (((), 120), (("-cl-std=CL2.0",), 200)):
        x = np.zeros(1, np.int32)
        kc.load(file, options=options)["k"].run(grid=1, block=1, args=[x])
        assert x[0] == version


@needs_clang
def test_optimisation_changes_the_code(write: Callable[..., Path]) -> None:
    """Unoptimised code keeps its variables in private memory."""
    file = write(_SAXPY)
    assert kc.load(file)["saxpy"].kernel.local_bytes == 0
    assert kc.load(file, options=["-O0"])["saxpy"].kernel.local_bytes > 0


@needs_clang
def test_the_first_error_has_a_place(write: Callable[..., Path]) -> None:
    file = write("__kernel void k(__global int *x) {\n\tx[0] = missing + absent;\n}\n")
    with pytest.raises(CompilationError, match=r"'missing' \(and 1 more\)") as caught:
        kc.load(file)
    span = caught.value.span
    assert span is not None
    assert (span.file, span.line, span.column) == (str(file), 2, 9)
    assert span.text[span.column - 1 :].startswith("missing")


@needs_clang
def test_an_error_in_a_header_is_shown_there(write: Callable[..., Path], tmp_path: Path) -> None:
    header = write("#define FACTOR 3\nint broken(;\n", "headers/factor.h")
    with pytest.raises(CompilationError) as caught:
        kc.load(write(_SCALE), include=[tmp_path / "headers"])
    assert caught.value.span is not None
    assert (caught.value.span.file, caught.value.span.line) == (str(header), 2)
    assert caught.value.span.text == "int broken(;"


@needs_clang
@pytest.mark.parametrize("option", ["-cl-std=CL9", "--unknown-option"])
def test_a_wrong_option_is_named(write: Callable[..., Path], option: str) -> None:
    with pytest.raises(CompilationError, match=option):
        kc.load(write(_SAXPY), options=[option])


def test_there_are_no_templates(write: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="no templates"):
        kc.load(write(_SAXPY), names=["saxpy<float>"])


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        kc.load(tmp_path / "missing.cl")


def test_advice_where_no_clang_is(
    write: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KERNELCAST_CLANG", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(InputError, match=r"apt install clang.*\.bc or \.spv") as caught:
        kc.load(write(_SAXPY))
    assert "\n" not in str(caught.value)


def test_the_variable_names_a_compiler(
    write: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(_SAXPY)
    monkeypatch.setenv("KERNELCAST_CLANG", str(tmp_path / "absent"))
    with pytest.raises(InputError, match=r"KERNELCAST_CLANG is .*absent"):
        kc.load(file)
    monkeypatch.setenv("KERNELCAST_CLANG", shutil.which("true") or "true")
    with pytest.raises(InputError, match="is no clang"):
        kc.load(file)


@needs_clang
def test_a_compiler_beside_python_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = find_clang("OpenCL C").program
    monkeypatch.delenv("KERNELCAST_CLANG", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setattr(sysconfig, "get_path", lambda name: os.path.dirname(program))
    assert os.path.dirname(find_clang("OpenCL C").program) == os.path.dirname(program)


@needs_clang
def test_what_was_compiled_is_kept(
    write: Callable[..., Path], tmp_path: Path, calls: list[str]
) -> None:
    """A compiled program is kept until source, header, options or the compiler change."""
    header = write("#define FACTOR 3\n", "headers/factor.h")
    file = write(_SCALE)
    for compiled, options in ((1, ["-DSTEP=1"]), (1, ["-DSTEP=1"]), (2, ["-DSTEP=2"])):
        kc.load(file, options=options, include=[tmp_path / "headers"])
        assert len(calls) == compiled
    header.write_text("#define FACTOR 4\n")
    kc.load(file, options=["-DSTEP=2"], include=[tmp_path / "headers"])
    assert len(calls) == 3
    kc.load(file, options=["-DSTEP=2", "-I", str(tmp_path / "headers")])
    header.write_text("#define FACTOR 5\n")
    kc.load(file, options=["-DSTEP=2", "-I", str(tmp_path / "headers")])
    assert len(calls) == 5


@needs_clang
def test_files_that_options_include_are_not_missed(
    write: Callable[..., Path], calls: list[str]
) -> None:
    forced = write("#define N 1\n", "forced.h")
    file = write("__kernel void k(__global int *x) { x[0] = N; }")
    for number in (1, 2):
        forced.write_text(f"#define N {number}\n")
        x = np.zeros(1, np.int32)
        kernel = kc.load(file, options=["-include", str(forced)])["k"]
        kernel.run(grid=1, block=1, args=[x])
        assert x[0] == number
    assert len(calls) == 2


@pytest.fixture
def workload(write: Callable[..., Path]) -> Path:
    write(_SCALE, "scale.cl")
    write("#define FACTOR 3\n", "headers/factor.h")
    write("def scaled(args, sizes):\n    return {'x': args['x'] * 6}\n", "reference.py")
    return write(_WORKLOAD, "scale.toml")


@needs_clang
def test_a_workload(workload: Path) -> None:
    assert kc.load_workload(workload).run_check().passed


@needs_clang
def test_the_command_line_takes_workloads(workload: Path, output: Callable[..., str]) -> None:
    assert "scale" in output("run", str(workload), "--check")
    rows = json.loads(output("mix", str(workload), "--json"))["mix"]
    counts = {row["opcode"]: row["thread"] for row in rows}
    assert counts["load local (4 bytes)"] == counts["store local (4 bytes)"] == 64
    estimated = output("estimate", str(workload), "--device", "gtx-480", "--json")
    assert json.loads(estimated)


@needs_clang
def test_support(write: Callable[..., Path], tmp_path: Path, output: Callable[..., str]) -> None:
    write("#define FACTOR 3\n", "headers/factor.h")
    arguments = ("support", str(write(_SCALE)), "--option=-DSTEP=1")
    assert "scale: supported" in output(*arguments, "-I", str(tmp_path / "headers"))
    assert "'factor.h' file not found" in output(*arguments, status=1)


@needs_clang
def test_the_bitcode_is_that_of_the_command_line(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    """The instructions equal those of a file that clang made by itself."""
    file = write(_SAXPY)
    bitcode = tmp_path / "kernel.bc"
    options = ["--target=spir64-unknown-unknown", "-cl-std=CL1.2", "-O2", "-emit-llvm", "-c"]
    clang = find_clang("OpenCL C")
    command = [clang.program, *options, *clang.declaring_options, str(file), "-o", str(bitcode)]
    subprocess.run(command, check=True, capture_output=True)
    mine, other = kc.load(file)["saxpy"].kernel, kc.load(bitcode)["saxpy"].kernel
    assert [x.mnemonic for x in mine.instructions] == [x.mnemonic for x in other.instructions]
    assert [p.name for p in mine.parameters] == ["y", "x", "a", "n"]


def test_sizes_are_given_once() -> None:
    kernel = kc.load_ptx(
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n"
    )["k"]
    assert kernel.run(global_size=(64, 2), local_size=(16, 1), args=[]).data.grid == (4, 2, 1)
    for sizes, wrong in (
        ({"grid": 1, "block": 1, "global_size": 1}, "either"),
        ({"grid": 1}, "grid and block"),
        ({"global_size": 32}, "local_size"),
        ({"global_size": 30, "local_size": 16}, "30x1x1 is no multiple of local_size 16x1x1"),
        ({"global_size": 0, "local_size": 16}, "global_size sizes must be positive"),
    ):
        with pytest.raises(LaunchError, match=wrong):
            kernel.run(args=[], **sizes)  # type: ignore[arg-type]


@needs_clang
def test_a_required_local_size_need_not_be_given(write: Callable[..., Path]) -> None:
    file = write(
        "__kernel __attribute__((reqd_work_group_size(8, 2, 1)))"
        "void k(__global int *x) { x[get_global_id(1) * 16 + get_global_id(0)] = 1; }"
    )
    x = np.zeros(64, np.int32)
    trace = kc.load(file)["k"].run(global_size=(16, 4), args=[x])
    assert x.all()
    assert trace.data.thread_block == (8, 2, 1)


@needs_clang
@pytest.mark.parametrize("options", [(), ("-O3",)])
def test_scalars_are_packed_on_request_only(options: tuple[str, ...]) -> None:
    """Whatever the level: GPUs have no vectors for the sums of one work-item."""
    source = Path(__file__).resolve().parents[4] / "benchmarks" / "kernels" / "twins.cl"

    def mnemonics(*chosen: str) -> set[str]:
        kernel = kc.load(source, options=chosen)["sgemm_register"].kernel
        return {instruction.mnemonic for instruction in kernel.instructions}

    assert "insertelement" not in mnemonics(*options)
    assert "insertelement" in mnemonics(*options, "-fslp-vectorize")
