"""Arrays of other elements than a kernel's pointers are for are refused, right programs never."""

from __future__ import annotations

import importlib
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import ElementWarning, LaunchError
from kernelcast.inputs.signatures import declared_elements
from kernelcast.simcore.isa.ir.element_types import part_bytes
from kernelcast.simcore.isa.ir.source_names import elements_of_symbol
from tests.kernelcast.inputs.opencl.test_source import needs_clang
from tests.kernelcast.inputs.test_cuda import needs_nvrtc

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
BODY = "{ x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }\n"
HALVES = f"__global__ void scale(float *x) {BODY}"
needs_hip = pytest.mark.skipif(shutil.which("clang-19") is None, reason="clang-19 is not installed")


def refused(kernel: Any, array: Any) -> str:
    with pytest.raises(LaunchError) as caught:
        kernel.run(grid=1, block=32, args=[array])
    return str(caught.value)


@needs_nvrtc
@pytest.mark.parametrize("linkage", ["", 'extern "C" '])
def test_cuda_names_the_type_that_is_declared(tmp_path: Path, linkage: str) -> None:
    """The mangled name tells it, and the source where that holds none."""
    file = tmp_path / "scale.cu"
    file.write_text(linkage + HALVES)
    kernel = kc.load(file)["scale"]
    message = refused(kernel, np.ones(32))
    assert "is an array of float64, the kernel takes float*: astype(np.float32)" in message
    assert "\n" not in message
    assert "is an array of float16" in refused(kernel, np.ones(32, np.float16))
    assert "is an array of int64" in refused(kernel, np.arange(32))


@needs_nvrtc
def test_what_may_be_right_runs(tmp_path: Path) -> None:
    """Bits of as many bytes, bytes, pairs, structs, and the bytes of other elements."""
    file = tmp_path / "scale.cu"
    file.write_text(HALVES)
    kernel = kc.load(file)["scale"]
    for array in (
        np.zeros(32, np.float32),
        np.zeros(32, np.int32),
        np.zeros(128, np.uint8),
        np.zeros(16, np.complex64),
        np.zeros(16, [("re", np.float32), ("im", np.float32)]),
        np.zeros(16).view(np.float32),
    ):
        kernel.run(grid=1, block=32, args=[array])


@needs_nvrtc
@pytest.mark.parametrize(
    "text",
    [
        "struct Pair { float a, b; }; __global__ void scale(Pair *x) { x[threadIdx.x].a = 1; }",
        "__global__ void scale(void *x) { ((double *)x)[threadIdx.x] = 1; }",
        '#define real double\nextern "C" __global__ void scale(real *x) { x[threadIdx.x] = 1; }',
        '#define float double\nextern "C" __global__ void scale(float *x) { x[threadIdx.x] = 1; }',
        '#if 0\nextern "C" __global__ void scale(float *x) {}\n#else\n'
        'extern "C" __global__ void scale(double *x) { x[threadIdx.x] = 1; }\n#endif',
    ],
    ids=["struct", "void", "macro", "macro of a type", "two definitions"],
)
def test_what_is_not_plain_says_nothing(tmp_path: Path, text: str) -> None:
    file = tmp_path / "scale.cu"
    file.write_text(text)
    kc.load(file)["scale"].run(grid=1, block=32, args=[np.ones(32)])


@needs_clang
@pytest.mark.parametrize("arch", ["", "sm_80"])
def test_opencl_names_the_type_that_is_declared(tmp_path: Path, arch: str) -> None:
    file = tmp_path / "scale.cl"
    file.write_text(
        "__kernel void scale(__global double2 *restrict x) { x[get_global_id(0)] *= 2; }"
    )
    kernel = kc.load(file, arch=arch)["scale"]
    assert "is an array of float32, the kernel takes double2*" in refused(
        kernel, np.ones(128, np.float32)
    )
    kernel.run(grid=1, block=32, args=[np.ones(64)])
    kernel.run(grid=1, block=32, args=[np.ones(32, np.complex128)])


@needs_hip
def test_hip_names_the_type_that_is_declared(tmp_path: Path) -> None:
    file = tmp_path / "scale.hip"
    file.write_text(f'#include <hip/hip_runtime.h>\nextern "C" {HALVES}')
    assert "the kernel takes float*" in refused(kc.load(file)["scale"], np.ones(32))


def test_triton_names_the_type_of_the_signature(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    triton = pytest.importorskip("triton", reason="Triton is not installed")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    copy = importlib.import_module("tests.kernelcast.inputs.test_triton").add
    signature = {"x": "*fp32", "y": "*fp32", "total": "*fp32", "n": "i32"}
    kernel = kc.from_triton(triton.jit(copy), signature, {"size": 32}, grid=1)
    right = np.zeros(32, np.float32)
    with pytest.raises(LaunchError, match=r"argument 2 \(y\) is an array of float64"):
        kernel.run([right, np.zeros(32), right, 32])
    kernel.run([right, right, right, 32])


def test_ptx_that_uses_floats_of_one_width_warns() -> None:
    """PTX says `.u64` of all pointers; its loads and stores tell the width."""
    kernel = kc.load(EXAMPLES / "saxpy" / "saxpy.ptx")["saxpy"]
    right = np.ones(32, np.float32)
    with pytest.warns(ElementWarning, match="is an array of float64, which kernel saxpy reads"):
        kernel.run(grid=1, block=32, args=[32, 2.0, np.ones(32), right])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel.run(grid=1, block=32, args=[32, 2.0, np.zeros(32, np.int64), right])


ESCAPES = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q)
{{
.reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<3>;
ld.param.u64 %rd1, [p];
ld.param.u64 %rd2, [q];
ld.global.f32 %f1, [%rd1];
{}
ret;
}}
"""


@pytest.mark.parametrize(
    ("use", "is_clear"),
    [
        ("st.global.f32 [%rd1+4], %f1;", True),
        ("add.u64 %rd3, %rd1, %rd2; st.global.f32 [%rd3], %f1;", True),
        ("st.global.u64 [%rd1], %rd2;", False),
        ("st.global.u64 [%rd2], %rd1;", False),
        ("ld.global.f64 %rd4, [%rd1];", False),
    ],
    ids=["same", "index", "other type", "escape", "both widths"],
)
def test_ptx_warns_only_where_all_uses_are_seen(use: str, is_clear: bool) -> None:
    kernel = kc.load_ptx(ESCAPES.format(use))["k"]
    arguments: list[Any] = [np.zeros(64), 8 if "add" in use else np.zeros(64, np.uint64)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernel.run(grid=1, block=1, args=arguments)
    assert [item.category for item in caught] == [ElementWarning] * is_clear


def test_workload_files_are_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from kernelcast.cli import main

    shutil.copytree(EXAMPLES / "saxpy", tmp_path, dirs_exist_ok=True)
    file = tmp_path / "saxpy.toml"
    text = file.read_text().replace('type = "f32[n]"', 'type = "f64[n]"', 1)
    file.write_text(text.replace("atol = 1e-6", "atol = 1e9"))
    main(["run", str(file), "--size", "small"])
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if "float64" in line] == [
        "warning: argument 3 (x) is an array of float64, which kernel saxpy reads and writes as "
        "f32 only"
    ]


def test_names_of_symbols_and_sizes() -> None:
    assert elements_of_symbol("_Z5saxpyifPKfPf") == ("", "", "float", "float")
    assert elements_of_symbol("saxpy") == ()
    assert part_bytes("float4") == (4, 16)
    assert part_bytes("unsigned long long") == (8,)
    assert part_bytes("long") == part_bytes("char") == part_bytes("Pair") == ()


def test_declarations_of_sources() -> None:
    text = b"""// __global__ void gone(float *x) {}
    extern "C" __global__ void __launch_bounds__(256, 2) k(const float *__restrict__ x, int n) {}
    __attribute__((reqd_work_group_size(64, 1, 1))) kernel void c(global const uint *x) {}
    template <class T> __global__ void t(T *x, float **y, double z[]) {}
    """
    assert declared_elements(text) == {
        "k": ("float", ""),
        "c": ("uint",),
        "t": ("T", "", "double"),
    }
