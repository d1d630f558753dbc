"""CUDA C++ through NVRTC: options, headers, templates, errors, the cache, workloads."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import CompilationError, InputError, LaunchError, MemoryAccessError
from kernelcast.inputs.cuda import cuda_source, nvrtc_library
from kernelcast.inputs.cuda.nvrtc import NvrtcResult, nvrtc_compile
from kernelcast.simcore.host.disk_cache import write_checked
from kernelcast.simcore.isa.ir.source_names import source_name


def has_nvrtc() -> bool:
    try:
        nvrtc_library.load_nvrtc()
    except InputError:
        return False
    return True


needs_nvrtc = pytest.mark.skipif(not has_nvrtc(), reason="NVRTC is not installed")
needs_headers = pytest.mark.skipif(
    not nvrtc_library.cuda_header_folders(), reason="the CUDA headers are not installed"
)

_SAXPY = """
extern "C" __global__ void saxpy(float *y, const float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
"""
_TEMPLATE = """
namespace lib {
template <typename T, int N> __global__ void scale(T *x) { x[threadIdx.x] *= N; }
}
__global__ void plain(int *x) { x[threadIdx.x] = threadIdx.x; }
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("KERNELCAST_CACHE", str(folder))
    return folder


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def make(text: str, name: str = "kernel.cu") -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return make


@needs_nvrtc
def test_a_kernel_computes_what_numpy_does(write: Callable[..., Path]) -> None:
    x, y = np.random.default_rng(1).random((2, 100), np.float32)
    expected = np.float32(2.5) * x.astype(np.float64) + y
    kc.load(write(_SAXPY))["saxpy"].run(grid=4, block=32, args=[y, x, 2.5, 100])
    np.testing.assert_allclose(y, expected, rtol=1e-6)


@needs_nvrtc
def test_instances_of_templates_are_called_by_their_names(write: Callable[..., Path]) -> None:
    names = ["lib::scale<double, 3>", "lib::scale<int, 5>"]
    module = kc.load(write(_TEMPLATE), names=names)
    doubles, integers = np.arange(32.0), np.arange(32, dtype=np.int32)
    module[names[0]].run(grid=1, block=32, args=[doubles])
    module[names[1]].run(grid=1, block=32, args=[integers])
    np.testing.assert_array_equal(doubles, 3 * np.arange(32.0))
    np.testing.assert_array_equal(integers, 5 * np.arange(32))
    assert names[0] in module
    assert "plain" in module
    assert module["plain"].name == "_Z5plainPi"
    with pytest.raises(LaunchError, match=r"2 kernels 'lib::scale': lib::scale<double, 3>, lib::"):
        module["lib::scale"]
    with pytest.raises(LaunchError, match=r"did you mean lib::scale<int, 5>"):
        module["lib::scale<int, 7>"]


@needs_nvrtc
def test_a_name_that_the_source_lacks(write: Callable[..., Path]) -> None:
    with pytest.raises(CompilationError, match=r"kernel.cu: there is no 'nothing<int>'"):
        kc.load(write(_TEMPLATE), names=["nothing<int>"])


@needs_nvrtc
def test_options_and_architecture_reach_the_compiler(write: Callable[..., Path]) -> None:
    text = "__global__ void k(int *x) { x[0] = N; x[1] = __CUDA_ARCH__; }"
    x = np.zeros(2, np.int32)
    module = kc.load(write(text), options=["-DN=42"], arch="sm_80")
    module["k"].run(grid=1, block=1, args=[x])
    assert x.tolist() == [42, 800]
    module = kc.load(write(text), options=["-DN=42"])
    module["k"].run(grid=1, block=1, args=[x])
    assert x[1] == 750


@needs_nvrtc
def test_the_first_error_with_its_place(write: Callable[..., Path]) -> None:
    file = write("\n__global__ void k(float *x) {\n\tx[0] = foo(3);\n  int y = bar;\n}\n")
    with pytest.raises(CompilationError) as caught:
        kc.load(file)
    line = "\tx[0] = foo(3);"
    assert caught.value.span is not None
    assert (caught.value.span.line, caught.value.span.column) == (3, line.index("foo") + 1)
    assert caught.value.message == 'identifier "foo" is undefined (and 1 more)'
    assert str(caught.value).startswith(f"{file}:3:9: ")


@needs_nvrtc
def test_a_wrong_architecture_or_option(write: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="'turing' is no architecture such as 'sm_75'"):
        kc.load(write(_SAXPY), arch="turing")
    with pytest.raises(CompilationError, match=r"kernel.cu: nvrtc: error: invalid value"):
        kc.load(write(_SAXPY), arch="sm_10")
    with pytest.raises(CompilationError, match=r"unrecognized option --nonsense"):
        kc.load(write(_SAXPY), options=["--nonsense"])


@needs_nvrtc
def test_headers_beside_the_source_and_in_other_folders(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "more").mkdir()
    write("#define FACTOR 3\n", "near.h")
    (tmp_path / "more" / "far.h").write_text("#define OFFSET 4\n")
    file = write(
        '#include "near.h"\n#include <far.h>\n#include <stdint.h>\n#include <cstdio>\n'
        "__global__ void k(int32_t *x) { x[0] = FACTOR * x[0] + OFFSET; }"
    )
    with pytest.raises(CompilationError, match=r'cannot open source file "far.h"'):
        kc.load(file)
    x = np.array([5], np.int32)
    kc.load(file, include=[tmp_path / "more"])["k"].run(grid=1, block=1, args=[x])
    assert x[0] == 3 * 5 + 4


@needs_nvrtc
@needs_headers
def test_the_headers_of_cuda(write: Callable[..., Path]) -> None:
    text = (
        "#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n#include <cuda/std/array>\n"
        "__global__ void k(float *x) { cuda::std::array<float, 2> a{1.5f, 2.0f};"
        " x[threadIdx.x] = a[1]; cooperative_groups::this_thread_block().sync(); }"
    )
    x = np.zeros(32, np.float32)
    kc.load(write(text))["k"].run(grid=1, block=32, args=[x])
    assert (x == 2.0).all()


@needs_nvrtc
def test_what_was_compiled_before_is_not_compiled_again(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[str] = []

    def counting(source: bytes, name: str, *rest: Any) -> NvrtcResult:
        compiled.append(name)
        return nvrtc_compile(source, name, *rest)

    monkeypatch.setattr(cuda_source, "nvrtc_compile", counting)
    write("#define N 1\n", "n.h")
    text = '#include "n.h"\ntemplate <int M> __global__ void k(int *x) { x[0] = M * N; }'
    file = write(text)

    def value() -> int:
        x = np.zeros(1, np.int32)
        kc.load(file, names=["k<7>"])["k<7>"].run(grid=1, block=1, args=[x])
        return int(x[0])

    assert (value(), value(), len(compiled)) == (7, 7, 1)
    write("#define N 2\n", "n.h")
    assert (value(), len(compiled)) == (14, 2)
    kc.load(file, names=["k<8>"])
    kc.load(file, names=["k<7>"], arch="sm_80")
    assert len(compiled) == 4
    write(text.replace('"n.h"', "HEADER"))
    for _ in range(2):  # nobody knows which file that is
        kc.load(file, names=["k<7>"], options=['-DHEADER="n.h"'])
    assert len(compiled) == 6


@needs_nvrtc
@pytest.mark.parametrize("damage", ["", "{", "[]", '{"ptx": ""}', "\0"])
def test_a_damaged_cache_is_compiled_again(
    write: Callable[..., Path], own_cache: Path, damage: str
) -> None:
    file = write(_SAXPY)
    kc.load(file)
    (entry,) = own_cache.glob("*.ptx.json")
    whole = entry.read_bytes()
    write_checked(entry.name, damage.encode())
    assert list(kc.load(file)) == ["saxpy"]
    assert entry.read_bytes() == whole
    entry.write_text(damage)
    assert list(kc.load(file)) == ["saxpy"]
    assert entry.read_bytes() == whole


@needs_nvrtc
def test_a_run_that_fails_names_the_line_of_the_source(write: Callable[..., Path]) -> None:
    file = write("__global__ void k(int *x) {\n  x[0] = 1;\n  x[1000] = 2;\n}")
    with pytest.raises(MemoryAccessError) as caught:
        kc.load(file)["k"].run(grid=1, block=1, args=[np.zeros(1, np.int32)])
    assert caught.value.message.endswith(f"compiled from {file}:3")
    assert caught.value.span is not None
    assert caught.value.span.file == f"{file} (PTX)"


@needs_nvrtc
def test_a_workload_of_a_template(write: Callable[..., Path]) -> None:
    write("template <typename T> __global__ void k(T *x) { x[threadIdx.x] = N + VALUE; }")
    write("#define VALUE 5\n", "value.h")
    workload = write(
        '[kernel]\nsource = "kernel.cu"\nentry = "k<float>"\narch = "sm_80"\n'
        'options = ["-DN=2", "-include=value.h"]\ninclude = ["."]\n'
        '[launch]\ngrid = 1\nblock = 32\n[[args]]\nname = "x"\ntype = "f32[32]"\n'
        '[check]\nreference = "check.py:expected"\n',
        "kernel.toml",
    )
    write("def expected(args, sizes):\n    return {'x': args['x'] + 7}\n", "check.py")
    assert kc.load_workload(workload).run_check().passed


def test_options_of_a_workload_must_be_texts(write: Callable[..., Path]) -> None:
    workload = write('[kernel]\nsource = "k.cu"\noptions = [1]\n[launch]\ngrid = 1\n', "k.toml")
    with pytest.raises(kc.KernelcastError, match=r"kernel\.options must be a list of texts, got 1"):
        kc.load_workload(workload)


def test_without_nvrtc_the_message_says_what_to_install(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    monkeypatch.setattr(nvrtc_library, "_USUAL_TOOLKIT", Path("/nowhere"))
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    monkeypatch.setattr(ctypes.util, "find_library", lambda _name: None)
    nvrtc_library.load_nvrtc.cache_clear()
    nvrtc_library.cuda_header_folders.cache_clear()
    try:
        with pytest.raises(InputError, match=r"pip install 'kernelcast\[cuda\]'") as caught:
            kc.load(write(_SAXPY))
        assert "\n" not in str(caught.value)
    finally:
        nvrtc_library.load_nvrtc.cache_clear()
        nvrtc_library.cuda_header_folders.cache_clear()


def test_compiler_options_are_refused_for_ptx(write: Callable[..., Path]) -> None:
    file = write(".version 8.0\n.target sm_75\n.address_size 64\n", "k.ptx")
    with pytest.raises(InputError, match=r"compiler options and names are for CUDA C\+\+"):
        kc.load(file, options=["-DN=1"])
    with pytest.raises(InputError, match="it is PTX already"):
        kc.load(file, arch="sm_80")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for name in ("k.cu", "k.ptx"):
        with pytest.raises(InputError, match=r"cannot read .*No such file"):
            kc.load(tmp_path / name)


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_Z5saxpyPfS_i", "saxpy"),
        ("_Z5scaleIfEvPT_S0_i", "scale"),
        ("_ZN3lib5scaleIdLi3EEEvPT_", "lib::scale"),
        (
            "_ZN45_GLOBAL__N__f0f0_8_hidden_cu_0123456789abcdef4workEv",
            "(anonymous namespace)::work",
        ),
        ("_ZN3boxIiE4fillIfEEvPT_", "box::fill"),
        ("_Z6kernelIXadL_Z3addffEEEvPf", "kernel"),
        ("_ZZ4mainENKUlvE_clEv", "main::'lambda'()::operator()"),
        ("_Z1kPf.isra.0", "k"),
        ("saxpy", "saxpy"),
        ("_Z", "_Z"),
        ("_ZN3lib5scale", "_ZN3lib5scale"),
        ("_Z1f" + "P" * 100_000 + "v", "_Z1f" + "P" * 100_000 + "v"),
    ],
)
def test_source_names_of_symbols(symbol: str, name: str) -> None:
    assert source_name(symbol) == name


def test_ptx_as_text() -> None:
    text = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n"
    assert list(kc.load_ptx(text)) == ["k"]
    with pytest.raises(kc.KernelcastError, match=r"^mine:1:1: not PTX"):
        kc.load_ptx("nonsense", "mine")
