"""Pallas kernels of JAX, lowered and compiled without a GPU, against NumPy."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import CompilationError, InputError

pytest.importorskip("triton", reason="Triton is not installed")
jax: Any = pytest.importorskip("jax", reason="JAX is not installed")
pl: Any = importlib.import_module("jax.experimental.pallas")
plgpu: Any = importlib.import_module("jax.experimental.pallas.triton")

PARAMETERS = plgpu.CompilerParams(num_warps=4, num_stages=1)


def add_kernel(x: Any, y: Any, total: Any) -> None:
    total[...] = x[...] + y[...]


def add(x: Any, y: Any) -> Any:
    spec = pl.BlockSpec((256,), lambda i: i)
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return pl.pallas_call(
        add_kernel,
        out_shape=shape,
        grid=(4,),
        in_specs=[spec, spec],
        out_specs=spec,
        compiler_params=PARAMETERS,
    )(x, y)


def softmax_kernel(x: Any, out: Any) -> None:
    power = jax.numpy.exp(x[...] - jax.numpy.max(x[...], axis=-1, keepdims=True))
    out[...] = power / jax.numpy.sum(power, axis=-1, keepdims=True)


def product_kernel(a: Any, b: Any, c: Any) -> None:
    c[...] = plgpu.dot(a[...], b[...])


def test_a_sum_runs_and_is_estimated() -> None:
    x, y, total = np.ones(1024, np.float32), np.ones(1024, np.float32), np.zeros(1024, np.float32)
    (kernel,) = kc.from_pallas(add, x, y, arch="sm_90")
    assert kernel.grid == (4, 1, 1)
    trace = kernel.run([x, y, total], devices=["h100-sxm"])
    assert (total == 2).all()
    assert kc.estimate(trace.profile("h100-sxm")).time_s > 0


def test_softmax_and_a_product_in_one_function() -> None:
    def both(x: Any, a: Any, b: Any) -> Any:
        rows = jax.ShapeDtypeStruct(x.shape, x.dtype)
        shape = jax.ShapeDtypeStruct((a.shape[0], b.shape[1]), jax.numpy.float32)
        row = pl.BlockSpec((1, x.shape[1]), lambda i: (i, 0))
        soft = pl.pallas_call(
            softmax_kernel,
            out_shape=rows,
            grid=(x.shape[0],),
            in_specs=[row],
            out_specs=row,
            compiler_params=PARAMETERS,
        )(x)
        return soft, pl.pallas_call(product_kernel, out_shape=shape, compiler_params=PARAMETERS)(
            a, b
        )

    generator = np.random.default_rng(1)
    x = generator.normal(size=(3, 128)).astype(np.float32)
    a, b = (generator.normal(size=(32, 32)).astype(np.float16) for _ in range(2))
    soft, c = np.zeros_like(x), np.zeros((32, 32), np.float32)
    first, second = kc.from_pallas(both, x, a, b)
    first.run([x, soft])
    second.run([a, b, c])
    power = np.exp(x - x.max(1, keepdims=True))
    assert np.allclose(soft, power / power.sum(1, keepdims=True), rtol=1e-5)
    assert np.allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-2, atol=1e-2)


def test_what_is_no_such_kernel_is_refused() -> None:
    x = np.ones(8, np.float32)
    with pytest.raises(InputError, match="no Pallas kernel"):
        kc.from_pallas(jax.numpy.sin, x)

    def wrong(x: Any) -> Any:
        raise ValueError("not so")

    with pytest.raises(CompilationError, match="wrong: JAX: not so"):
        kc.from_pallas(wrong, x)
