"""Arguments that are short, and structures with arrays, as IR and as machine code."""

from __future__ import annotations

import struct
from functools import partial
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.execution.runnable import RunnableKernel

SOURCE = """#include <hip/hip_runtime.h>
struct __attribute__((packed)) Three { unsigned char a, b, c; };
__global__ void take_bool(int *x, bool n) { x[threadIdx.x] = n ? 7 : 5; }
__global__ void take_char(int *x, signed char n) { x[threadIdx.x] = n; }
__global__ void take_short(int *x, short n) { x[threadIdx.x] = n; }
__global__ void take_half(float *x, _Float16 n) { x[threadIdx.x] = n; }
struct Strides { long steps[5]; int count; char flags[7]; };
__global__ void in_a_loop(float *x, const float *table, Strides strides) {
  int rest = threadIdx.x;
  long at = 0;
#pragma nounroll
  for (int i = 0; i < strides.count; ++i, rest >>= 1) at += (rest & 1) * strides.steps[i];
  x[threadIdx.x] = table[at];
}
__global__ void by_lane(int *x, Strides strides) {
  x[threadIdx.x] = strides.flags[threadIdx.x % 7] + strides.steps[threadIdx.x % 5];
}
__global__ void by_group(int *x, Strides strides) {
  x[blockIdx.x * 64 + threadIdx.x] = strides.steps[(blockIdx.x + 3) % 5];
}
__global__ void take_three(int *x, Three n) { x[threadIdx.x] = n.a | n.b << 8 | n.c << 16; }
"""
CASES: dict[str, list[tuple[Any, Any]]] = {
    "take_bool": [(True, 7), (False, 5)],
    "take_char": [(-3, -3), (100, 100)],
    "take_short": [(-300, -300), (30_000, 30_000)],
    "take_half": [(np.float16(-1.5), -1.5)],
    "take_three": [(b"\x01\x82\x03", 0x038201)],
}
RUNS = ("in_a_loop", "by_lane", "by_group")
DEVICES = ("r9-nano", "mi210", "rx-7900-xtx", "rx-9070-xt")


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> kc.LoadedModule:
    file = tmp_path_factory.mktemp("short") / "short.hip"
    file.write_text(SOURCE)
    return kc.load(file)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", CASES)
def test_the_last_bytes_are_read(module: kc.LoadedModule, name: str, device: str) -> None:
    (symbol,) = (symbol for symbol in module if name in symbol)
    for given, wanted in CASES[name]:
        for code in ("source", "native"):
            x = np.zeros(64, np.float32 if name == "take_half" else np.int32)
            arguments = [x, given]
            module[symbol].run(grid=1, block=64, args=arguments, devices=[device], code=code)
            assert np.array_equal(x, np.full(64, wanted, x.dtype)), (code, given)


STEPS, FLAGS = (1, 3, 9, 27, 81), bytes(range(1, 8))
STRIDES = struct.pack("<5qi7s5x", *STEPS, 5, FLAGS)


@pytest.mark.parametrize("code", ["source", "native"])
@pytest.mark.parametrize("device", DEVICES)
def test_elements_of_arrays_in_structures(module: kc.LoadedModule, device: str, code: str) -> None:
    """Chosen in a loop, whose pointer moves on, by each lane, and by each work-group."""
    names = {name: symbol for name in RUNS for symbol in module if name in symbol}
    lane = np.arange(64)
    table = np.random.default_rng(1).normal(size=200).astype(np.float32)
    x = np.zeros(64, np.float32)
    run = partial(RunnableKernel.run, block=64, devices=[device], code=code)
    run(module[names["in_a_loop"]], grid=1, args=[x, table, STRIDES])
    assert np.array_equal(x, table[sum((lane >> i & 1) * step for i, step in enumerate(STEPS))])
    y = np.zeros(64, np.int32)
    run(module[names["by_lane"]], grid=1, args=[y, STRIDES])
    assert np.array_equal(y, lane % 7 + 1 + np.array(STEPS)[lane % 5])
    z = np.zeros((5, 64), np.int32)
    run(module[names["by_group"]], grid=5, args=[z, STRIDES])
    assert np.array_equal(z, np.repeat(np.roll(STEPS, -3), 64).reshape(5, 64))
