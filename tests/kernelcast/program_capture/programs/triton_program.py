"""Adds vectors and multiplies matrices in Triton without torch, and checks the results."""

import ctypes
import sys

import numpy as np


class NoTorch:
    """Triton asks torch for GPUs where it is imported, and a build of it for CPUs knows of none."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "torch":
            raise ImportError(name)


sys.meta_path.insert(0, NoTorch)

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

driver = ctypes.CDLL("libcuda.so.1")


class Buffer:
    """An array in the memory of the GPU, as Triton takes it."""

    def __init__(self, host: np.ndarray) -> None:
        self.shape, self.dtype = host.shape, host.dtype.name
        self._bytes = ctypes.c_size_t(host.nbytes)
        address = ctypes.c_uint64()
        assert driver.cuMemAlloc_v2(ctypes.byref(address), self._bytes) == 0
        self._address = address
        assert driver.cuMemcpyHtoD_v2(address, ctypes.c_void_p(host.ctypes.data), self._bytes) == 0

    def data_ptr(self) -> int:
        """The address on the GPU."""
        return self._address.value

    def host(self) -> np.ndarray:
        """A copy of the contents."""
        found = np.empty(self.shape, self.dtype)
        to = ctypes.c_void_p(found.ctypes.data)
        assert driver.cuMemcpyDtoH_v2(to, self._address, self._bytes) == 0
        return found


@triton.jit
def added(out, first, second, count, block: tl.constexpr):
    """One block of elements for each program."""
    i = tl.program_id(0) * block + tl.arange(0, block)
    inside = i < count
    total = tl.load(first + i, mask=inside) + tl.load(second + i, mask=inside)
    tl.store(out + i, total, mask=inside)


@triton.jit
def multiplied(out, first, second, size: tl.constexpr):
    """The product of two matrices in one program, on the tensor cores."""
    rows, columns = tl.arange(0, size)[:, None], tl.arange(0, size)[None, :]
    a = tl.load(first + rows * size + columns)
    b = tl.load(second + rows * size + columns)
    tl.store(out + rows * size + columns, tl.dot(a, b))


def main() -> None:
    """Runs both kernels."""
    assert driver.cuInit(0) == 0
    values = np.arange(1000, dtype=np.float32)
    first, out = Buffer(values), Buffer(np.zeros_like(values))
    added[(triton.cdiv(values.size, 256),)](out, first, first, values.size, block=256)
    assert (out.host() == 2 * values).all()
    random = np.random.default_rng(1)
    a, b = (random.integers(-8, 8, (32, 32)).astype(np.float16) for _ in range(2))
    product = Buffer(np.zeros((32, 32), np.float32))
    multiplied[(1,)](product, Buffer(a), Buffer(b), size=32)
    assert (product.host() == a.astype(np.float32) @ b.astype(np.float32)).all()
    sys.stdout.write("all right\n")


main()
