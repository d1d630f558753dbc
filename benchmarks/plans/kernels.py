"""A product of matrices by Triton, as a function that a sweep calls."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

import kernelcast as kc

_SIZE = 1024
_KERNELS = Path(__file__).parents[2] / "validation" / "triton_kernels" / "kernels.py"


def matmul(
    options: kc.RunOptions, tile: int, depth: int, warps: int, stages: int
) -> kc.KernelTrace:
    """Executes one product of 1024 x 1024 half-precision matrices in tiles of that size."""
    spec = importlib.util.spec_from_file_location("triton_kernels_of_sweep", _KERNELS)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    strides = [f"{name}_{side}" for name in "abc" for side in ("row", "column")]
    kernel = kc.from_triton(
        module.matmul,
        dict.fromkeys("abc", "*fp16") | dict.fromkeys(("m", "n", "k", *strides), "i32"),
        {"BLOCK_M": tile, "BLOCK_N": tile, "BLOCK_K": depth, "GROUP": 8},
        num_warps=warps,
        num_stages=stages,
        divisible_by_16=["a", "b", "c", "m", "n", "k", "a_row", "b_row", "c_row"],
    )
    rng = np.random.default_rng(0)
    a, b = (rng.random((_SIZE, _SIZE), np.float32).astype(np.float16) for _ in range(2))
    programs = -(-_SIZE // tile)
    return kernel.run(
        [a, b, np.zeros_like(a), _SIZE, _SIZE, _SIZE, _SIZE, 1, _SIZE, 1, _SIZE, 1],
        grid=programs * programs,
        options=options,
    )
