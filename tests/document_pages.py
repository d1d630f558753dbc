"""What the pages of README and docs presuppose: files of the reader's, and names in their Python.

`FILES` and `NAMES` are keyed by page; `NOT_RUN` says which command lines no test executes, and why.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import kernelcast as kc

__all__ = ["FILES", "NAMES", "NOT_RUN", "with_small_sizes"]

_ROOT = Path(__file__).resolve().parents[1]
_WORKLOADS = _ROOT / "validation" / "workloads"
_COUNTERS = Path(__file__).parent / "kernelcast" / "data" / "topdown"
_SIZES = re.compile(r"^\[sizes\.(\w+)\]\n(.*?)(?=^\[|\Z)", re.MULTILINE | re.DOTALL)

NOT_RUN = {
    "bench: kernelcast bench -o": "measures this machine for up to ten minutes",
    "bench: kernelcast bench --quick": "measures this machine; tests/opencl_bench has made devices",
    "capture: kernelcast build": "needs nvcc; tests/kernelcast/program_capture builds programs",
    "capture: kernelcast capture": "needs the program that nvcc builds",
    "capture: kernelcast estimate": "needs what a captured program leaves",
    "check: kernelcast check --": "needs a program; tests/kernelcast/checking builds one",
    "first-decision: kernelcast": "tests/test_documents.py walks the page",
    "mpd-cpd: kernelcast estimate ...": "no whole command line",
    "report: kernelcast capture": "needs the program that nvcc builds",
    "sweep: kernelcast sweep plan.toml --scheduler": "needs a scheduler under that name",
    "traces: kernelcast trace import": "needs traces of a GPU program; tests/traces has made ones",
    "validation: kernelcast": "minutes to hours: make validate-small",
}
"""Page and beginning of command lines that are not executed -> the reason."""

_TILES = """
extern "C" __global__ void gemm(const float *a, const float *b, float *c, int n)
{
#ifndef TILE
#define TILE 16
#endif
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += TILE)
        for (int l = 0; l < TILE; l++)
            sum += a[i * n + k + l] * b[(k + l) * n + j];
    c[i * n + j] = sum;
}
"""
_TILES_WORKLOAD = """
[kernel]
source = "gemm.cu"
entry = "gemm"
[sizes.full]
n = 64
TILE = 16
[launch]
grid = ["n / block.x", "n / block.y"]
block = [16, 16]
[[args]]
name = "a"
type = "f32[n, n]"
[[args]]
name = "b"
type = "f32[n, n]"
[[args]]
name = "c"
type = "f32[n, n]"
[[args]]
name = "n"
type = "s32"
value = "n"
"""
_PLAN = """
models = ["interval"]
devices = ["a100-40gb", "h100-sxm"]
code = "source"
[[kernels]]
workload = "gemm.toml"
[kernels.vary]
block = [[16, 16], [32, 8]]
"""
_HIP = """
#include "factor.h"
#ifndef TILE
#define TILE 8
#endif
template <typename T> __global__ void scale(T *x, T by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by * TILE / TILE;
}
__global__ void scale(float *x) { x[threadIdx.x] *= 2; }
"""
_HIP_ADD = """
#include <hip/hip_runtime.h>
extern "C" __global__ void vector_add(const float *x, float *y)
{
    y[threadIdx.x] += x[threadIdx.x];
}
"""
_HIP_WORKLOAD = """
[kernel]
source = "vector_add.hip"
entry = "vector_add"
[launch]
grid = [1]
block = [64]
[[args]]
name = "x"
type = "f32[64]"
[[args]]
name = "y"
type = "f32[64]"
"""
_STENCIL = """
kernel void stencil(global float *out, const global float *in, local float *part)
{
    size_t x = get_global_id(0), y = get_global_id(1), place = y * get_global_size(0) + x;
    part[get_local_id(1) * get_local_size(0) + get_local_id(0)] = in[place];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[place] = part[get_local_id(1) * get_local_size(0) + get_local_id(0)] * TILE;
}
"""
_SAXPY = """
kernel void saxpy(global float *y, const global float *x, float a, int n)
{
    size_t i = get_global_id(0);
    if (i < n) y[i] += a * x[i];
}
"""
_RESIZE = """
extern "C" __global__ void resize(cudaTextureObject_t from, uchar4 *to, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float4 c = tex2D<float4>(from, (x + 0.5f) / width, (y + 0.5f) / height);
    to[y * width + x] = make_uchar4(255 * c.x, 255 * c.y, 255 * c.z, 255 * c.w);
}
"""
_TAKES_A_MAP = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)
{
    .reg .b32 %r<3>; .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1; ret;
}
"""


def with_small_sizes(text: str) -> str:
    """A workload file whose problem sizes are all its small ones, so that any takes little."""
    bodies = dict(_SIZES.findall(text))
    small = bodies.get("small")
    if small is None:
        return text
    return _SIZES.sub(lambda match: f"[sizes.{match[1]}]\n{small}", text)


def _workload(folder: Path, file: Path, to: str = ".") -> Path:
    """Copies a workload with all that lies beside it; gives its file."""
    target = folder / to
    shutil.copytree(file.parent, target, dirs_exist_ok=True)
    found = target / file.name
    found.write_text(with_small_sizes(found.read_text(encoding="utf-8")), encoding="utf-8")
    return found


def _saxpy(folder: Path) -> None:
    _workload(folder, _ROOT / "examples" / "saxpy" / "saxpy.toml")


def _sgemm(folder: Path) -> None:
    _workload(folder, _ROOT / "examples" / "sgemm" / "sgemm16.toml")


def _bench(folder: Path) -> None:
    _saxpy(folder)
    shutil.copy(_ROOT / "simcore" / "devices" / "gtx-480.toml", folder / "my-gpu.toml")


def _check(folder: Path) -> None:
    file = _workload(folder, _ROOT / "examples" / "reduction" / "reduction.toml", "kernels")
    file.rename(folder / "kernels" / "scan.toml")
    (folder / "accepted").write_text("")


def _gemm(folder: Path) -> None:
    (folder / "gemm.cu").write_text(_TILES)
    (folder / "gemm.toml").write_text(_TILES_WORKLOAD)


def _sweep(folder: Path) -> None:
    _gemm(folder)
    (folder / "plan.toml").write_text(_PLAN)


def _hip(folder: Path) -> None:
    (folder / "headers").mkdir()
    for place in (folder, folder / "headers"):
        (place / "factor.h").write_text("")
    (folder / "kernel.hip").write_text(_HIP)
    (folder / "vector_add.hip").write_text(_HIP_ADD)
    (folder / "vector_add.toml").write_text(_HIP_WORKLOAD)


def _inputs(folder: Path) -> None:
    saxpy = _ROOT / "examples" / "saxpy" / "saxpy.ptx"
    for name in ("folder", "build/made", "headers"):
        (folder / name).mkdir(parents=True)
    for name in ("kernel.ptx", "folder/a.ptx", "build/made/b.ptx"):
        shutil.copy(saxpy, folder / name)
    (folder / "program").write_bytes(b"no program")
    (folder / "kernel.cu").write_text(_TILES)


def _opencl(folder: Path) -> None:
    (folder / "kernel.cl").write_text(_STENCIL)
    (folder / "headers").mkdir()


def _sass(folder: Path) -> None:
    shutil.copy(_ROOT / "examples" / "sgemm" / "sgemm.ptx", folder)


def _textures(folder: Path) -> None:
    (folder / "resize.cu").write_text(_RESIZE)


def _topdown(folder: Path) -> None:
    _sgemm(folder)
    measured = (_COUNTERS / "nvprof_summary.csv").read_text(encoding="utf-8")
    (folder / "app.csv").write_text(measured.replace("stencil(", "sgemm("), encoding="utf-8")
    shutil.copy(_COUNTERS / "nvprof_trace.csv", folder / "trace.csv")


def _traces(folder: Path) -> None:
    _workload(folder, _ROOT / "examples" / "sor" / "sor.toml")


def _whatif(folder: Path) -> None:
    _sgemm(folder)
    _workload(folder, _WORKLOADS / "zhang_owens" / "matmul_8.toml")
    file = _workload(folder, _WORKLOADS / "sparse" / "spmv_csr_vector.toml")
    file.rename(folder / "spmv.toml")


def _metrics(folder: Path) -> None:
    counters = Path(__file__).parent / "traces" / "fixtures" / "nvprof_summary.csv"
    measured = counters.read_text(encoding="utf-8").replace("sor_red(", "sgemm(")
    (folder / "metrics.csv").write_text(measured, encoding="utf-8")


FILES: dict[str, Callable[[Path], None]] = {
    "bench": _bench,
    "check": _check,
    "compare": _saxpy,
    "hip": _hip,
    "inputs": _inputs,
    "metrics": _metrics,
    "opencl": _opencl,
    "rank": _gemm,
    "sass": _sass,
    "sweep": _sweep,
    "textures": _textures,
    "topdown": _topdown,
    "traces": _traces,
    "whatif": _whatif,
}
"""Page -> what writes the files that a reader has, into the folder where the commands run."""


def _profile() -> Any:
    workload = kc.load_workload(_WORKLOADS / "luo_suda" / "matrix.toml")
    return workload.run("small", record_paths=True).profile("gtx-260")


def _trace() -> Any:
    workload = kc.load_workload(_ROOT / "examples" / "saxpy" / "saxpy.toml")
    return workload.run("small", record_paths=True)


def _opencl_names() -> dict[str, Any]:
    import pyopencl

    n = 256
    context = pyopencl.create_some_context(interactive=False)
    x = np.ones(n, np.float32)
    plane = np.ones(1024 * 512, np.float32)
    given = {"np": np, "pyopencl": pyopencl, "context": context, "source": _SAXPY, "n": n}
    return {**given, "x": x, "y": x.copy(), "inside": plane, "out": plane.copy()}


def _matrices() -> dict[str, Any]:
    return {name: np.ones(1280 * 640, np.float32) for name in "abc"}


NAMES: dict[str, Callable[[], dict[str, Any]]] = {
    "async": lambda: {
        "np": np,
        "kernel": kc.load_ptx(_TAKES_A_MAP)["k"],
        "out": np.zeros(128, np.uint32),
    },
    "hip": lambda: {"x": np.ones(1024, np.float32)},
    "mpd-cpd": lambda: {"profile": _profile()},
    "opencl": _opencl_names,
    "sass": _matrices,
    "textures": lambda: {"out": np.zeros((240, 320, 4), np.uint8)},
    "whatif": lambda: {"trace": _trace()},
}
"""Page -> names that its Python presupposes beside `kc`."""
