"""Constants beside the instructions of generated code: arrays, tables of `switch`, of libraries."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import UnsupportedInstruction
from kernelcast.ptx_frontend.amdgcn.constant_data import constants_of

SOURCE = """#include <hip/hip_runtime.h>
__constant__ float table[4] = {1, 2, 3, 4};
__global__ void arrays(double *a, int n) {
  int i = threadIdx.x;
  const int weights[40] = {5, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 1, 2, 3, 4, 5, 6, 7, 8, 91,
                           2, 4, 4, 5, 6, 2, 1, 2, 3, 4,  5,  6, 7, 8, 9, 0, 1, 2, 3, 4};
  a[i] = a[i] * weights[(i * n) % 40] + table[i & 3];
}
__global__ void cases(int *a) {
  int i = threadIdx.x, x = 0;
  switch (a[i]) {
    case 0: x = 71; break;
    case 1: x = 13; break;
    case 2: x = 40; break;
    case 3: x = 99; break;
    case 4: x = 27; break;
    case 5: x = 64; break;
    case 6: x = 31; break;
  }
  a[i] = x;
}
__global__ void sines(double *a) { a[threadIdx.x] = sin(a[threadIdx.x]); }
"""
DEVICES = ["mi210", "rx-7900-xtx"]


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> kc.LoadedModule:
    file = tmp_path_factory.mktemp("constants") / "constants.hip"
    file.write_text(SOURCE)
    return kc.load(file)


def run(module: kc.LoadedModule, name: str, device: str, *arguments: Any) -> None:
    (symbol,) = (symbol for symbol in module if name in symbol)
    trace = module[symbol].run(
        grid=1, block=64, args=list(arguments), devices=[device], code="native"
    )
    assert trace.code.startswith("gfx")


@pytest.mark.parametrize("device", DEVICES)
def test_arrays_of_functions_are_read(module: kc.LoadedModule, device: str) -> None:
    weights = [int(n) for n in re.findall(r"\d+", SOURCE.partition("[40] = ")[2])[:40]]
    a, lane = np.arange(64.0), np.arange(64)
    wanted = a * np.array(weights)[lane * 7 % 40] + (lane & 3) + 1
    run(module, "arrays", device, a, 7)
    assert np.array_equal(a, wanted)


@pytest.mark.parametrize("device", DEVICES)
def test_tables_of_cases_are_read(module: kc.LoadedModule, device: str) -> None:
    a = np.arange(64, dtype=np.int32) % 9
    wanted = np.array([71, 13, 40, 99, 27, 64, 31, 0, 0], np.int32)[a]
    run(module, "cases", device, a)
    assert np.array_equal(a, wanted)


@pytest.mark.parametrize("device", DEVICES)
def test_tables_of_the_library_are_read(module: kc.LoadedModule, device: str) -> None:
    """Large angles are reduced by the digits of 2 / pi, which are an array of the library."""
    a = np.linspace(1, 1e9, 64)
    wanted = np.sin(a)
    run(module, "sines", device, a)
    assert np.allclose(a, wanted, rtol=1e-15, atol=1e-16)


def test_directives_are_bytes_in_their_order() -> None:
    text = (
        "\t.type\t.Lk,@object\n\t.p2align\t4\n.Lk:\n"
        '\t.byte\t255\n\t.short\t-2 ; x\n\t.long\t0x3f800000\n\t.asciz\t"a;\\n\\001"\n'
        "\t.quad\t-1\n\t.zero\t2\n\t.size\t.Lk, 20\n"
        "\t.type\t.Lp,@object\n.Lp:\n\t.quad\tother+8\n\t.size\t.Lp, 8\n"
    )
    wanted = b"\xff\xfe\xff\0\0\x80\x3fa;\n\x01\0" + b"\xff" * 8 + b"\0\0"
    assert constants_of(text) == {".Lk": wanted}, "addresses are left out"


def test_a_constant_that_holds_addresses_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "addresses.ll"
    file.write_text(
        'target triple = "amdgcn-amd-amdhsa"\n'
        "@x = addrspace(1) global i32 7\n@y = addrspace(1) global i32 8\n"
        "@t = private addrspace(4) constant [2 x ptr addrspace(1)] "
        "[ptr addrspace(1) @x, ptr addrspace(1) @y]\n"
        "define amdgpu_kernel void @k(ptr addrspace(1) %out, i32 %n) {\n"
        "  %p = getelementptr ptr addrspace(1), ptr addrspace(4) @t, i32 %n\n"
        "  %q = load ptr addrspace(1), ptr addrspace(4) %p\n"
        "  %v = load volatile i32, ptr addrspace(1) %q\n"
        "  store i32 %v, ptr addrspace(1) %out\n  ret void\n}\n"
    )
    kernel = kc.load(file)["k"]
    with pytest.raises(UnsupportedInstruction, match=r"the content of \.Lt is not known"):
        kernel.run(
            grid=1, block=64, args=[np.zeros(1, np.int32), 1], devices=["mi210"], code="native"
        )
