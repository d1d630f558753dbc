"""`kernelcast support` over the programs with tensor cores, asynchronous copies and textures."""

from __future__ import annotations

import importlib
import importlib.util
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernelcast as kc

HERE = Path(__file__).parent
MATRIX_KERNELS = HERE.parents[2] / "benchmarks" / "matrix_kernels"
PROGRAMS = [
    ("test_wgmma_programs.py", "sm_90a", 2),
    ("test_tensor_maps.py", "sm_90", 3),
    ("test_texture_programs.py", "sm_75", 6),
    ("test_cuda_pipelines.py", "sm_75", 4),
    ("test_cuda_pipelines.py", "sm_90", 4),
]


@pytest.mark.drawn(2)
@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize(("test", "arch", "kernels"), PROGRAMS)
def test_programs_of_other_tests(
    test: str, arch: str, kernels: int, tmp_path: Path, output: Callable[..., str]
) -> None:
    file = tmp_path / "programs.cu"
    file.write_text(runpy.run_path(str(HERE / test))["SOURCE"])
    said = output("support", str(file), "--arch", arch, "--option=-std=c++17")
    assert f"{kernels} of {kernels} kernels supported (100.0%)" in said


@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize("arch", ["sm_80", "sm_120a"])
def test_gemms_attention_and_transposes(arch: str, output: Callable[..., str]) -> None:
    files = [str(file) for file in sorted(MATRIX_KERNELS.glob("*.cu"))]
    assert len(files) == 5
    assert "5 of 5 kernels supported (100.0%)" in output("support", *files, "--arch", arch)


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
def test_triton(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: Callable[..., str]
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    for arch in ("sm_80", "sm_90"):
        for name, ptx in triton_kernels(arch).items():
            (tmp_path / f"{name}_{arch}.ptx").write_text(ptx)
    assert "5 of 5 kernels supported (100.0%)" in output("support", str(tmp_path / "*.ptx"))


def triton_kernels(arch: str) -> dict[str, str]:
    """PTX of matmul and attention, and of matmul by tensor descriptors where there are any."""
    triton: Any = importlib.import_module("triton")
    functions = runpy.run_path(str(HERE / "test_triton_dot.py"))
    by_descriptors = runpy.run_path(str(HERE / "test_triton_descriptors.py"))["by_descriptors"]
    each, sizes = dict.fromkeys, {"bm": 64, "bn": 64, "bk": 64}
    lengths = each(("m", "n", "k"), "i32")
    wanted = {
        "matmul": (functions["matmul"], each("ab", "*fp16") | {"c": "*fp32"} | lengths, sizes),
        "attention": (
            functions["attention"],
            each("qkv", "*fp16") | {"o": "*fp32", "keys": "i32", "scale": "fp32"},
            {"bm": 64, "bn": 32, "d": 64},
        ),
    }
    if arch != "sm_80":
        wanted["descriptors"] = (by_descriptors, each("abc", "*fp16") | lengths, sizes)
    return {
        name: kc.from_triton(triton.jit(function), types, constants, arch=arch).ptx
        for name, (function, types, constants) in wanted.items()
    }
