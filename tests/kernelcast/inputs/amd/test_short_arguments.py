"""Arguments of less than a word at the end of a launch's, as IR and as machine code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import UnsupportedInstruction

SOURCE = """#include <hip/hip_runtime.h>
struct __attribute__((packed)) Three { unsigned char a, b, c; };
__global__ void take_bool(int *x, bool n) { x[threadIdx.x] = n ? 7 : 5; }
__global__ void take_char(int *x, signed char n) { x[threadIdx.x] = n; }
__global__ void take_short(int *x, short n) { x[threadIdx.x] = n; }
__global__ void take_half(float *x, _Float16 n) { x[threadIdx.x] = n; }
__global__ void take_three(int *x, Three n) { x[threadIdx.x] = n.a | n.b << 8 | n.c << 16; }
"""
CASES: dict[str, list[tuple[Any, Any]]] = {
    "take_bool": [(True, 7), (False, 5)],
    "take_char": [(-3, -3), (100, 100)],
    "take_short": [(-300, -300), (30_000, 30_000)],
    "take_half": [(np.float16(-1.5), -1.5)],
    "take_three": [(b"\x01\x82\x03", 0x038201)],
}
IN_VECTORS = ("take_three", "r9-nano", "native")
"""Code of GCN 3 reads these from an address in vector registers."""
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
            if (name, device, code) == IN_VECTORS:
                with pytest.raises(UnsupportedInstruction, match="address of the arguments in vec"):
                    module[symbol].run(
                        grid=1, block=64, args=arguments, devices=[device], code=code
                    )
                continue
            module[symbol].run(grid=1, block=64, args=arguments, devices=[device], code=code)
            assert np.array_equal(x, np.full(64, wanted, x.dtype)), (code, given)
