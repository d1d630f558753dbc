"""Launches of Triton kernels as they are written, without a GPU, against NumPy."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import CompilationError, InputError, LaunchError
from kernelcast.inputs.native import triton_stages

triton: Any = pytest.importorskip("triton", reason="Triton is not installed")
tl: Any = importlib.import_module("triton.language")

TOO_MANY_STAGES = 20
"""Stages of 16 KB each: more than the shared memory of an H100."""

pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")


@triton.jit  # type: ignore[untyped-decorator]
def add(x, y, total, n, size: tl.constexpr):  # type: ignore[no-untyped-def]
    i = tl.program_id(0) * size + tl.arange(0, size)
    inside = i < n
    tl.store(total + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def transpose(x, y, rows, x_row, x_column, y_row, y_column, size: tl.constexpr):  # type: ignore[no-untyped-def]
    row, column = tl.program_id(0), tl.arange(0, size)
    value = tl.load(x + row * x_row + column * x_column)
    tl.store(y + column * y_row + row * y_column, value)


@triton.jit  # type: ignore[untyped-decorator]
def increase(x, by, size: tl.constexpr):  # type: ignore[no-untyped-def]
    i = tl.arange(0, size)
    tl.store(x + i, tl.load(x + i) + by)


@triton.jit  # type: ignore[untyped-decorator]
def weighted(x, pair, total, size: tl.constexpr):  # type: ignore[no-untyped-def]
    i = tl.arange(0, size)
    tl.store(total + i, tl.load(x + i) * pair[0] + tl.load(pair[1] + i))


@triton.jit  # type: ignore[untyped-decorator]
def matmul(  # type: ignore[no-untyped-def]
    a, b, c, k, a_row, a_column, b_row, b_column, m: tl.constexpr, n: tl.constexpr, d: tl.constexpr
):
    rows, columns, depth = tl.program_id(0) * m + tl.arange(0, m), tl.arange(0, n), tl.arange(0, d)
    total = tl.zeros((m, n), tl.float32)
    for first in range(0, k, d):
        left = tl.load(a + rows[:, None] * a_row + (first + depth)[None, :] * a_column)
        right = tl.load(b + (first + depth)[:, None] * b_row + columns[None, :] * b_column)
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16))


def random(*shape: int) -> Any:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("is_installed", [True, False])
def test_tritons_own_assembler_runs_where_ours_cannot(
    is_installed: bool, assembler: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code is that of our assembler, and a hook of the user's is called as before."""
    backend = importlib.import_module("triton.backends.nvidia.compiler").CUDABackend
    runtime = importlib.import_module("triton").knobs.runtime
    own, seen, asked = backend.make_cubin, list[Any](), list[int]()

    def make_cubin(*given: Any) -> bytes:
        seen.append(given)
        made: bytes = own(*given)
        return made

    def hook(*given: Any) -> tuple[str, str]:
        asked.append(len(given))
        return "mine", f"mine {is_installed}"

    def missing(*_: Any) -> bytes:
        raise InputError("it is not installed")

    monkeypatch.setattr(backend, "make_cubin", make_cubin)
    monkeypatch.setattr(runtime, "add_stages_inspection_hook", hook)
    if not is_installed:
        monkeypatch.setattr(triton_stages, "assemble", missing)
    x = np.zeros(64, np.float32)
    kc.estimate_call(increase, (1,), (x, 1.0), device="h100-sxm", size=64)
    assert len(seen) == (0 if is_installed else 1)
    assert {0, 5} <= set(asked)
    assert runtime.add_stages_inspection_hook is hook
    assert (x == 1).all()


def test_a_launch_as_it_is_written() -> None:
    n = 1000
    x, y, total = random(n), random(n)[::-1], np.zeros(n, np.float32)
    y = y.copy()
    with kc.capture(device="h100-sxm") as session:
        add[lambda constants: (triton.cdiv(n, constants["size"]),)](x, y, total, n, size=256)
    np.testing.assert_array_equal(total, x + y)
    (call,) = session.calls
    assert (call.name, call.grid) == ("add", (4, 1, 1))
    assert call.estimate.device == "h100-sxm"
    assert session.seconds() == call.estimate.time_s > 0


def test_views_of_one_array_share_memory() -> None:
    """Views with an offset and steps, and a result that is part of an operand's array."""
    whole = random(64, 64)
    expected = whole.copy()
    expected[1:33, 32:64] = whole[32:64, :32].T[:32]
    x, y = whole[32:64, :32], whole[1:33, 32:64]
    strides = [step // 4 for step in (*x.strides, *y.strides)]
    with kc.capture(device="a100-40gb"):
        transpose[(32,)](x, y, 32, *strides, size=32)
    np.testing.assert_array_equal(whole, expected)


def test_each_architecture_begins_with_the_same_tensors() -> None:
    x = np.zeros(32, np.float32)
    with kc.capture(device=["h100-sxm", "a100-40gb", "h200"]) as session:
        increase[(1,)](x, 2.5, size=32)
    np.testing.assert_array_equal(x, np.full(32, 2.5))
    (call,) = session.calls
    assert set(call.estimates) == {"h100-sxm", "a100-40gb", "h200"}
    assert ".target sm_90a" in call.ptx
    assert ".target sm_80" in call.kernels["a100-40gb"].ptx


def test_arguments_are_specialised_as_a_launcher_does() -> None:
    x, y, total = random(512), random(512), np.zeros(512, np.float32)
    with kc.capture(device="h100-sxm") as session:
        add[(1,)](x, y, total, 1, size=64)
        add[(1,)](x, y, total, np.int32(512), size=512, num_warps=1)
        add[(1,)](x[1:], y[1:], total[1:], 511, size=512, num_warps=1)
    one, aligned, odd = session.calls
    assert one.constants == {"n": 1, "size": 64}
    assert aligned.constants == {"size": 512}
    assert "ld.global.v4" in aligned.ptx
    assert "ld.global.v4" not in odd.ptx
    np.testing.assert_array_equal(total, x + y)


def test_tuples_and_numbers() -> None:
    x, y, total = random(32), random(32), np.zeros(32, np.float32)
    with kc.capture(device="h100-sxm"):
        weighted[(1,)](x, (np.float32(2), y), total, size=32)
    np.testing.assert_array_equal(total, x * 2 + y)


def test_decorators_run_unmodified() -> None:
    """The autotuner takes predicted times; a heuristic sees the arrays."""
    configs = [triton.Config({"size": size}, num_warps=1) for size in (32, 1024)]
    tuned = triton.autotune(configs, key=["n"], reset_to_zero=["total"])(add)
    n = 1 << 14
    x, y, total = random(n), random(n), np.zeros(n, np.float32)
    with kc.capture(device="h100-sxm") as session:
        tuned[lambda constants: (triton.cdiv(n, constants["size"]),)](x, y, total, n)
    np.testing.assert_array_equal(total, x + y)
    (call,) = session.calls
    times = [tuned.configs_timings[config][0] for config in configs]
    assert tuned.best_config is configs[int(np.argmin(times))]
    assert call.constants["size"] == tuned.best_config.kwargs["size"]
    with_size = triton.heuristics({"size": lambda given: given["x"].numel()})(increase)
    with kc.capture(device="h100-sxm"):
        with_size[(1,)](x[:64], 1.0)


def test_the_product_uses_the_matrix_units_of_an_h100() -> None:
    m, n, k = 128, 64, 128
    random_ = np.random.default_rng(1)
    a, b = (random_.integers(-3, 4, s).astype(np.float16) for s in ((m, k), (k, n)))
    c = np.zeros((m, n), np.float16)
    args = (a, b, c, k, k, 1, n, 1)
    call = kc.estimate_call(matmul, (2,), args, device="h100-sxm", m=64, n=64, d=64)
    np.testing.assert_array_equal(c, a.astype(float) @ b.astype(float))
    assert "wgmma.mma_async" in call.ptx
    assert "cp.async" in call.ptx


def test_steps_of_one_are_the_same_in_a_compiled_kernel() -> None:
    """What `from_triton` runs is what a launch runs: the contiguous dimension is known."""
    a, c = np.zeros((128, 128), np.float16), np.zeros((128, 64), np.float16)
    args = (a, a, c, 128, 128, 1, 128, 1)
    sizes = {"m": 64, "n": 64, "d": 64}
    call = kc.estimate_call(matmul, (2,), args, device="h100-sxm", m=64, n=64, d=64)
    steps = dict.fromkeys(("k", "a_row", "a_column", "b_row", "b_column"), "i32")
    kernel = kc.from_triton(
        matmul,
        {**dict.fromkeys("abc", "*fp16"), **steps},
        sizes,
        grid=2,
        arch="sm_90",
        divisible_by_16=["k", "a_row", "b_row"],
    )
    assert "cp.async" not in kernel.ptx
    trace = kernel.run(args, devices=["h100-sxm"])
    assert kc.estimate(trace.profile("h100-sxm")).time_s == call.estimate.time_s
    assert kernel.with_ones is not None
    assert kernel.with_ones(frozenset({"a_column", "b_column"})).ptx == call.ptx


def test_triton_is_left_as_it_was() -> None:
    interface = importlib.import_module("triton.runtime.jit").KernelInterface
    config = importlib.import_module("triton.runtime.driver").driver
    before, driver = interface.__getitem__, config._active
    with kc.capture(device="h100-sxm"):
        pass
    assert (interface.__getitem__, config._active) == (before, driver)


def test_refusals() -> None:
    x = np.zeros(32, np.float32)
    with pytest.raises(InputError, match="Triton does not compile for"):
        kc.estimate_call(increase, (1,), (x, 1.0), device="gtx-480", size=32)
    with pytest.raises(InputError, match="name a device"):
        kc.estimate_call(increase, (1,), (x, 1.0), device=[], size=32)
    with pytest.raises(CompilationError, match="arange"):
        kc.estimate_call(increase, (1,), (x, 1.0), device="h100-sxm", size=33)
    a = np.zeros((64, 64), np.float16)
    args = (a, a, a, 64, 64, 1, 64, 1)
    with pytest.raises(LaunchError, match="shared memory"):
        kc.estimate_call(
            matmul, (1,), args, device="h100-sxm", m=64, n=64, d=64, num_stages=TOO_MANY_STAGES
        )
