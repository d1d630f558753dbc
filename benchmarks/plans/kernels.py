"""A product of matrices by Triton, as a function that a sweep calls."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

import kernelcast as kc

_SIZE = 1024
_EXAMPLES = Path(__file__).parents[2] / "examples" / "triton"


def matmul(
    options: kc.RunOptions, tile: int, depth: int, warps: int, stages: int
) -> kc.KernelTrace:
    """One launch of `examples/triton/matmul.py` on 1024 x 1024 half-precision matrices."""
    spec = importlib.util.spec_from_file_location("matmul_example", _EXAMPLES / "matmul.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sizes = dict.fromkeys(("m", "n", "k"), "i32")
    strides = [f"{name}_{side}" for name in "abc" for side in ("row", "column")]
    kernel = kc.from_triton(
        module.matmul_kernel.fn,
        dict.fromkeys("abc", "*fp16") | sizes | dict.fromkeys(strides, "i32"),
        {
            "BLOCK_M": int(tile),
            "BLOCK_N": int(tile),
            "BLOCK_K": int(depth),
            "GROUP": 8,
            "ACTIVATION": "",
        },
        num_warps=int(warps),
        num_stages=int(stages),
        divisible_by_16=["a", "b", "c", "m", "n", "k", "a_row", "b_row", "c_row"],
    )
    rng = np.random.default_rng(0)
    a, b = (rng.random((_SIZE, _SIZE), np.float32).astype(np.float16) for _ in range(2))
    programs = -(-_SIZE // int(tile))
    return kernel.run(
        [a, b, np.zeros_like(a), _SIZE, _SIZE, _SIZE, _SIZE, 1, _SIZE, 1, _SIZE, 1],
        grid=programs * programs,
        options=options,
    )
