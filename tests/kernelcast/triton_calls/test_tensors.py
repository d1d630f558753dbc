"""Launches of Triton kernels on CPU tensors of torch, against torch."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import kernelcast as kc
from kernelcast.errors import InputError

triton: Any = pytest.importorskip("triton", reason="Triton is not installed")
torch: Any = None
tl: Any = importlib.import_module("triton.language")
TensorDescriptor: Any = importlib.import_module("triton.tools.tensor_descriptor").TensorDescriptor

pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")


@pytest.fixture(autouse=True, scope="module")
def _torch() -> None:
    """Imported where a test runs: every process collects all tests, and torch takes seconds."""
    globals()["torch"] = pytest.importorskip("torch", reason="torch is not installed")


PLAIN = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8")
EIGHT_BITS = ("float8_e4m3fn", "float8_e5m2")
ROWS, COLUMNS = 24, 80
BOX_ROWS, BOX_COLUMNS = 16, 64


@triton.jit  # type: ignore[untyped-decorator]
def add(x, y, total, n, size: tl.constexpr):  # type: ignore[no-untyped-def]
    i = tl.program_id(0) * size + tl.arange(0, size)
    inside = i < n
    tl.store(total + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def widen(x, out, size: tl.constexpr):  # type: ignore[no-untyped-def]
    i = tl.arange(0, size)
    tl.store(out + i, tl.load(x + i).to(tl.float32))


@triton.jit  # type: ignore[untyped-decorator]
def double(x, y, x_row, x_column, y_row, y_column, size: tl.constexpr):  # type: ignore[no-untyped-def]
    row, column = tl.program_id(0), tl.arange(0, size)
    tl.store(y + row * y_row + column * y_column, 2 * tl.load(x + row * x_row + column * x_column))


@triton.jit  # type: ignore[untyped-decorator]
def weighted(pair, total, size: tl.constexpr):  # type: ignore[no-untyped-def]
    i = tl.arange(0, size)
    tl.store(total + i, tl.load(pair[1][0] + i) * pair[0] + tl.load(pair[1][1] + i))


@triton.jit  # type: ignore[untyped-decorator]
def copy_described(source, out, rows: tl.constexpr, columns: tl.constexpr):  # type: ignore[no-untyped-def]
    row, column = tl.program_id(0) * rows, tl.program_id(1) * columns
    out.store([row, column], source.load([row, column]))


@triton.jit  # type: ignore[untyped-decorator]
def unpack(pair, out, rows: tl.constexpr, columns: tl.constexpr):  # type: ignore[no-untyped-def]
    row, column = tl.program_id(0) * rows, tl.program_id(1) * columns
    at = (row + tl.arange(0, rows))[:, None] * (2 * columns) + column + tl.arange(0, columns)
    tl.store(out + at, pair[0].load([row, column]) * pair[1])


@triton.jit  # type: ignore[untyped-decorator]
def copy_described_within(x, out, m, n, rows: tl.constexpr, columns: tl.constexpr):  # type: ignore[no-untyped-def]
    source = tl.make_tensor_descriptor(x, [m, n], [n, 1], [rows, columns])
    target = tl.make_tensor_descriptor(out, [m, n], [n, 1], [rows, columns])
    row, column = tl.program_id(0) * rows, tl.program_id(1) * columns
    target.store([row, column], source.load([row, column]))


def whole_numbers(*shape: int) -> Any:
    return torch.randint(0, 50, shape, generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize("dtype", PLAIN)
def test_elements(dtype: str) -> None:
    kind = getattr(torch, dtype)
    x, y, total = (whole_numbers(300).to(kind) for _ in range(3))
    with kc.capture(device="h100-sxm") as session:
        add[(2,)](x, y, total, 300, size=256)
    assert torch.equal(total, x + y)
    assert session.seconds() > 0


@pytest.mark.parametrize("dtype", EIGHT_BITS)
def test_elements_of_eight_bits(dtype: str) -> None:
    """All patterns: what is no number stays none, zeros keep their signs."""
    x = torch.arange(256).to(torch.uint8).view(getattr(torch, dtype))
    out = torch.zeros(256)
    with kc.capture(device="h100-sxm"):
        widen[(1,)](x, out, size=256)
    expected = x.float()
    torch.testing.assert_close(out, expected, rtol=0, atol=0, equal_nan=True)
    assert torch.equal(out.signbit(), expected.signbit())


def test_strides_and_offsets() -> None:
    """A transposed part of a tensor goes into another part of the same storage."""
    whole = whole_numbers(64, 96).to(torch.bfloat16)
    x, y = whole[3:35, 1:33].T, whole[32:64, 64:]
    expected = whole.clone()
    expected[32:64, 64:] = 2 * x
    with kc.capture(device="a100-40gb"):
        double[(32,)](x, y, *x.stride(), *y.stride(), size=32)
    assert torch.equal(whole, expected)


def test_tuples_of_tuples() -> None:
    x, y, total = (whole_numbers(32).float() for _ in range(3))
    with kc.capture(device="h100-sxm"):
        weighted[(1,)]((3.0, (x, y)), total, size=32)
    assert torch.equal(total, x * 3 + y)


@pytest.mark.parametrize("device", ["a100-40gb", "h100-sxm", "b200"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e5m2"])
def test_descriptors_made_on_the_host(device: str, dtype: str) -> None:
    """GPUs that have tensor maps take one; the tensor starts within its storage."""
    whole = whole_numbers(ROWS + 2, COLUMNS).to(getattr(torch, dtype))
    out = torch.zeros(ROWS, COLUMNS).to(whole.dtype)
    box = [BOX_ROWS, BOX_COLUMNS]
    source, target = (TensorDescriptor.from_tensor(t, box) for t in (whole[2:], out))
    grid = (triton.cdiv(ROWS, BOX_ROWS), triton.cdiv(COLUMNS, BOX_COLUMNS))
    with kc.capture(device=device) as session:
        copy_described[grid](source, target, BOX_ROWS, BOX_COLUMNS)
    assert torch.equal(out.view(torch.uint8), whole[2:].view(torch.uint8))
    uses_maps = "cp.async.bulk.tensor" in session.calls[0].ptx
    assert uses_maps == (device != "a100-40gb")


@pytest.mark.parametrize("device", ["a100-40gb", "h100-sxm"])
def test_a_descriptor_in_a_tuple_fills_with_nan(device: str) -> None:
    x = whole_numbers(ROWS, COLUMNS).float()
    out = torch.zeros(2 * BOX_ROWS, 2 * BOX_COLUMNS)
    source = TensorDescriptor.from_tensor(x, [BOX_ROWS, BOX_COLUMNS], padding="nan")
    with kc.capture(device=device):
        unpack[(2, 2)]((source, 0.5), out, BOX_ROWS, BOX_COLUMNS)
    expected = torch.full_like(out, torch.nan)
    expected[:ROWS, :COLUMNS] = x / 2
    torch.testing.assert_close(out, expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("device", ["a100-40gb", "h100-sxm"])
def test_descriptors_made_in_the_kernel(device: str) -> None:
    x, out = whole_numbers(ROWS, COLUMNS).half(), torch.zeros(ROWS, COLUMNS).half()
    with kc.capture(device=device):
        copy_described_within[(2, 2)](x, out, ROWS, COLUMNS, BOX_ROWS, BOX_COLUMNS)
    assert torch.equal(out, x)


def test_a_compiled_kernel_is_launched_again() -> None:
    """The way of the tutorial on softmax: warm up, look at registers, launch what was compiled."""
    x, y, total = (whole_numbers(512).float() for _ in range(3))
    with kc.capture(device="h100-sxm") as session:
        driver = importlib.import_module("triton.runtime.driver").driver.active
        place = driver.get_active_torch_device()
        compiled = add.warmup(x, y, total, 512, size=256, grid=(1,))
        compiled._init_handles()
        assert compiled.n_regs > 0
        compiled[(2, 1, 1)](x, y, total, 512, 256)
    assert place == x.device
    assert driver.utils.get_device_properties(place.index)["multiprocessor_count"] == 132
    assert torch.equal(total, x + y)
    assert [call.grid for call in session.calls] == [(2, 1, 1)]


def test_results_that_are_not_wanted_leave_tensors() -> None:
    x, y, total = (whole_numbers(512).float() for _ in range(3))
    before = total.clone()
    call = kc.estimate_call(
        add, (2,), (x, y, total, 512), device="h100-sxm", results=False, size=256
    )
    assert torch.equal(total, before)
    assert call.estimate.time_s > 0


def test_refusals() -> None:
    x = torch.empty(32, device="meta")
    with pytest.raises(InputError, match="argument x is a tensor on meta"):
        kc.estimate_call(widen, (1,), (x, x), device="h100-sxm", size=32)
