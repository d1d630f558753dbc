"""One OpenCL source through both front ends, as LLVM IR and as PTX: results and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.errors import (
    CompilationError,
    InputError,
    MemoryAccessError,
    UnsupportedInstruction,
)
from kernelcast.execution.instruction_mix import instruction_mix
from kernelcast.inputs.clang import find_clang
from kernelcast.inputs.cuda.nvrtc_library import find_libdevice
from kernelcast.inputs.opencl import ptx as opencl_ptx

_SOURCE = """
__kernel void saxpy(__global float *y, __global const float *x, float a, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}
__kernel void stencil(__global float *out, __global const float *in, int width, int height) {
  int x = get_global_id(0), y = get_global_id(1), i = y * width + x;
  if (x > 0 && x < width - 1 && y > 0 && y < height - 1)
    out[i] = 0.25f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}
#define TILE 8
__kernel void gemm(__global const float *a, __global const float *b, __global float *c, int n,
                   __local float *tiles) {
  __local float *ta = tiles, *tb = tiles + TILE * TILE;
  int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
  float sum = 0;
  for (int k = 0; k < n; k += TILE) {
    ta[ly * TILE + lx] = a[y * n + k + lx];
    tb[ly * TILE + lx] = b[(k + ly) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < TILE; j++) sum = fma(ta[ly * TILE + j], tb[j * TILE + lx], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[y * n + x] = sum;
}
"""
_REFUSED = """
__kernel void prints(__global int *x) { printf("%d", x[0]); }
__kernel void plain(__global int *x) { x[get_global_id(0)] = 1; }
__kernel void exponential(__global float *x) { x[0] = exp(x[1]); }
"""
_VALUES = Path(__file__).with_name("test_ptx_values.cl")
ARCH = "sm_75"
ENGINES = ("reference", "jit")


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One for all tests: the definitions of the built-in functions take seconds to compile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERNELCAST_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module", autouse=True)
def back_end(own_cache: None, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skips where no clang is, or one without NVPTX."""
    file = tmp_path_factory.mktemp("try") / "try.cl"
    file.write_text("__kernel void k() {}")
    try:
        find_clang("OpenCL C")
        kc.load(file, arch=ARCH)
    except (InputError, CompilationError) as error:
        pytest.skip(str(error))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "k.cl").write_text(_SOURCE)
    return tmp_path / "k.cl"


def floats(*shape: int) -> npt.NDArray[np.float32]:
    return np.random.default_rng(len(shape)).random(shape, np.float32)


def saxpy() -> tuple[list[Any], int, npt.NDArray[np.float32]]:
    x, y = floats(96), floats(96)[::-1].copy()
    expected = y.copy()
    expected[:90] += np.float32(2) * x[:90]
    return [y, x, np.float32(2), 90], 0, expected


def stencil() -> tuple[list[Any], int, npt.NDArray[np.float32]]:
    inside, out = floats(16, 24), np.zeros((16, 24), np.float32)
    expected = out.copy()
    sides = inside[1:-1, :-2] + inside[1:-1, 2:]
    expected[1:-1, 1:-1] = 0.25 * (sides + inside[:-2, 1:-1] + inside[2:, 1:-1])
    return [out, inside, 24, 16], 0, expected


def gemm() -> tuple[list[Any], int, npt.NDArray[np.float32]]:
    a, b, c = floats(16, 16), floats(16, 16).T.copy(), np.zeros((16, 16), np.float32)
    return [a, b, c, 16, kc.LocalBytes(2 * 8 * 8 * 4)], 2, a @ b


CASES = {
    "saxpy": (saxpy, (96,), (32,), {"global load": 180, "global store": 90, "fma": 90}),
    "stencil": (
        stencil,
        (24, 16),
        (8, 4),
        {"global load": 4 * 22 * 14, "global store": 22 * 14, "fma": 0},
    ),
    "gemm": (
        gemm,
        (16, 16),
        (8, 8),
        {
            "global load": 256 * 4,
            "global store": 256,
            "shared load": 256 * 32,
            "shared store": 256 * 4,
            "fma": 256 * 16,
        },
    ),
}
"""Counted by hand: loads and stores of single elements and fused operations by all threads."""
_SPELLINGS = {
    "global load": ("load global", "ld.global"),
    "global store": ("store global", "st.global"),
    "shared load": ("load local", "ld.shared"),
    "shared store": ("store local", "st.shared"),
    "fma": ("call llvm.fma", "call llvm.fmuladd", "call _Z3fma", "fma."),
}


def counts(trace: kc.KernelTrace) -> Counter[str]:
    """Executed elements by kind, whichever front end spells them; a vector of n counts n."""
    found: Counter[str] = Counter()
    for row in instruction_mix(trace.data).rows:
        for kind, spellings in _SPELLINGS.items():
            if row.opcode.startswith(spellings):
                vector = 4 if ".v4" in row.opcode or "(16 bytes)" in row.opcode else 1
                vector = 2 if ".v2" in row.opcode or "(8 bytes)" in row.opcode else vector
                found[kind] += vector * row.thread
    return found


@pytest.mark.drawn(6)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("arch", ["", ARCH])
@pytest.mark.parametrize("name", CASES)
def test_results_and_counts(source: Path, name: str, arch: str, engine: str) -> None:
    """Results are NumPy's and counts those made by hand, in both front ends and engines."""
    make, items, group, wanted = CASES[name]
    arguments, position, expected = make()
    kernel = kc.load(source, arch=arch)[name]
    trace = kernel.run(global_size=items, local_size=group, args=arguments, engine=engine)
    np.testing.assert_allclose(arguments[position], expected, rtol=1e-5)
    found = counts(trace)
    assert {kind: found[kind] for kind in wanted} == wanted


def run_values(arch: str, engine: str) -> list[npt.NDArray[Any]]:
    """Everything that the kernels of the many built-in functions leave behind."""
    module = kc.load(_VALUES, arch=arch)
    x = np.linspace(-3, 3, 40).astype(np.float32)
    values: list[npt.NDArray[Any]] = [np.zeros((32, 64), np.float32), np.zeros((32, 48), np.int32)]
    values.append(np.zeros((32, 8)))
    module["values"].run(global_size=32, local_size=16, args=[x, *values], engine=engine)
    words, naturals = np.zeros(16, np.int32), np.full(4, 100, np.uint32)
    words[6] = -1
    wide = np.zeros(1, np.int64)
    arguments: Sequence[Any] = [words, naturals, kc.LocalBytes(8), wide]
    module["atomics"].run(global_size=64, local_size=32, args=arguments, engine=engine)
    return [*values, words, naturals, wide]


@pytest.mark.skipif(find_libdevice() is None, reason="libdevice is not installed")
@pytest.mark.parametrize("engine", ENGINES)
def test_built_in_functions_agree(engine: str) -> None:
    """Our own definitions of OpenCL's functions for PTX against those of the other front end."""
    as_ptx = run_values(ARCH, engine)
    for mine, other in zip(as_ptx, run_values("", engine), strict=True):
        if mine.dtype.kind == "f":
            np.testing.assert_allclose(mine, other, rtol=2e-5, atol=1e-6)
        else:
            assert np.array_equal(mine, other)
    assert as_ptx[-1][0] == 2 * sum(range(32)) << 33


def test_what_has_no_definition_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lacks a definition is named, and the other kernels run."""
    file = tmp_path / "refused.cl"
    file.write_text(_REFUSED)
    monkeypatch.setattr(opencl_ptx, "find_libdevice", lambda: None)
    module = kc.load(file, arch=ARCH)
    x = np.zeros(32, np.int32)
    module["plain"].run(grid=1, block=32, args=[x])
    assert x.all()
    with pytest.raises(UnsupportedInstruction, match="printf of OpenCL C has no definition"):
        module["prints"]
    with pytest.raises(UnsupportedInstruction, match=r"exp.* comes from libdevice.*pip install"):
        module["exponential"]


def test_errors_name_the_line_of_the_source(source: Path) -> None:
    y = np.ones(32, np.float32)
    with pytest.raises(MemoryAccessError) as caught:
        kc.load(source, arch=ARCH)["saxpy"].run(grid=2, block=32, args=[y, y, 1.0, 64])
    assert caught.value.origin is not None
    assert Path(caught.value.origin.file) == source
    assert caught.value.origin.line == 4


def test_the_ptx_is_for_the_architecture(source: Path) -> None:
    assert kc.load(source, arch="sm_80")["saxpy"].kernel.target.startswith("sm_80")
    for wrong, message in (("sm_999", "no architecture that PTX"), ("volta", "no architecture")):
        with pytest.raises(InputError, match=message):
            kc.load(source, arch=wrong)


def test_asynchronous_copies(tmp_path: Path) -> None:
    file = tmp_path / "copy.cl"
    file.write_text("""__kernel void turn(__global float *y, __local float *part) {
      event_t copied = async_work_group_copy(part, y + 64 * get_group_id(0), (size_t)64, 0);
      wait_group_events(1, &copied);
      y[get_global_id(0)] = part[63 - get_local_id(0)];
    }""")
    for arch in ("", ARCH):
        y = np.arange(128, dtype=np.float32)
        kernel = kc.load(file, arch=arch)["turn"]
        kernel.run(global_size=128, local_size=64, args=[y, kc.LocalBytes(256)])
        assert y.tolist() == [*range(63, -1, -1), *range(127, 63, -1)]


def test_atomics_of_opencl_2(tmp_path: Path) -> None:
    file = tmp_path / "atomics.cl"
    file.write_text("""__kernel void count(__global atomic_int *a, __global atomic_uint *b) {
      int i = get_global_id(0), none = 0;
      atomic_fetch_add_explicit(a, i, memory_order_relaxed, memory_scope_device);
      atomic_fetch_max(a + 1, i);
      atomic_compare_exchange_strong(a + 2, &none, 7);
      atomic_fetch_or_explicit(b, 1u << i, memory_order_relaxed, memory_scope_device);
      atomic_fetch_min(b + 1, (uint)i + 5u);
    }""")
    a, b = np.zeros(3, np.int32), np.array([0, 99], np.uint32)
    kernel = kc.load(file, arch=ARCH, options=["-cl-std=CL2.0"])["count"]
    kernel.run(global_size=32, local_size=16, args=[a, b])
    assert a.tolist() == [sum(range(32)), 31, 7]
    assert b.tolist() == [2**32 - 1, 5]
