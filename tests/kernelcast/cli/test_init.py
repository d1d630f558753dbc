"""`kernelcast init`: workload files to begin with, which run and are estimated."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kernelcast.cli import app
from kernelcast.workload.file import load_workload
from kernelcast.workload.skeleton import workload_skeleton
from tests.kernelcast.inputs.test_cuda import needs_headers, needs_nvrtc

ROOT = Path(__file__).resolve().parents[3]
SAXPY = ROOT / "examples" / "saxpy" / "saxpy.ptx"
PRODUCT = """
#include <iostream>
__global__ void product(const float *a, const float4 *b, float *c, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x].x;
  c[y * n + x] = sum;
}
struct Pair { float x, y; };
template <typename T> __global__ void __launch_bounds__(64) axpy(
    T *out, const Pair *pairs, size_t count, T factor, int stride, Pair p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = factor * pairs[i].x + p.y + stride;
}
int main() { axpy<double><<<1, 64>>>(nullptr, nullptr, 0, 1.0, 1, {}); std::cout << 1; }
"""


def started(*arguments: object) -> tuple[int, str]:
    told = CliRunner().invoke(app, ["init", *map(str, arguments)])
    return told.exit_code, told.output


def test_ptx_gets_a_workload_that_runs(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    status, told = started(SAXPY, "-o", file)
    assert (status, "next: kernelcast estimate" in told) == (0, True)
    found = tomllib.loads(file.read_text())
    assert [item["type"] for item in found["args"]] == ["u32", "f32", "f32[n0]", "f32[n0]"]
    assert load_workload(file).run().data.thread_blocks == 4096


def test_files_are_not_replaced_unless_asked(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("precious")
    status, told = started(SAXPY, "-o", file)
    assert (status, file.read_text()) == (2, "precious")
    assert "--force replaces it" in told
    status, told = started(SAXPY, "-o", file, "--force", "--json")
    found = json.loads(told)
    assert (found["workload"], found["runs"], found["failure"]) == (str(file), True, "")


@needs_nvrtc
@needs_headers
def test_cuda_gets_its_own_names_and_types(tmp_path: Path) -> None:
    source = tmp_path / "both.cu"
    source.write_text(PRODUCT)
    found = tomllib.loads(workload_skeleton(source, "product"))
    assert found["launch"] == {
        "grid": ["ceil(n / block.x)", "ceil(n / block.y)"], "block": [16, 16],
    }  # fmt: skip
    assert {item["name"]: item["type"] for item in found["args"]} == {
        "a": "f32[n * n]", "b": "f32[n * n * 4]", "c": "f32[n * n]", "n": "s32",
    }  # fmt: skip
    found = tomllib.loads(workload_skeleton(source, "axpy<double>"))
    assert found["launch"] == {"grid": ["ceil(count / block.x)"], "block": [64]}
    assert [(item["name"], item["type"], item.get("value")) for item in found["args"]] == [
        ("out", "f64[count]", None),
        ("pairs", "u8[16 * count]", None),
        ("count", "u64", "count"),
        ("factor", "f64", 1.0),
        ("stride", "s32", "count"),
        ("p", "bytes[8]", None),
    ]


@needs_nvrtc
@needs_headers
def test_one_of_several_kernels_is_chosen(tmp_path: Path) -> None:
    source = tmp_path / "both.cu"
    source.write_text(PRODUCT)
    status, told = started(source)
    assert status == 2
    assert "has 2 kernels: choose one with --entry: product, axpy" in " ".join(told.split())
    assert started(source, "--entry", "product")[0] == 0
    assert load_workload(source.with_suffix(".toml")).kernel.entry == "product"


def test_what_does_not_run_yet_says_why(tmp_path: Path) -> None:
    source = tmp_path / "far.ptx"
    source.write_text(
        SAXPY.read_text().replace("mul.wide.s32 	%rd5, %r1, 4", "mul.wide.s32 %rd5, %r1, 64")
    )
    status, told = started(source)
    assert status == 1
    assert "it does not run yet: " in told
    assert "far.ptx:" in told
    assert source.with_suffix(".toml").exists()


@pytest.mark.parametrize("name", ["absent.ptx", "text.txt"])
def test_what_holds_no_kernel_leaves_nothing(tmp_path: Path, name: str) -> None:
    source = tmp_path / name
    if name == "text.txt":
        source.write_text("nothing")
    status, told = started(source)
    assert status == 2
    assert told.startswith("error: ")
    assert not source.with_suffix(".toml").exists()
