"""Tensors of the host as a launch's memory: NumPy arrays, and what has pointers as torch's have."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import InputError
from kernelcast.simcore.launch.allocations import Allocation
from kernelcast.simcore.launch.device_memory import DeviceMemory

__all__ = ["ArrayTensor", "HostTensors", "as_tensor"]

_FIRST_ADDRESS = 0x7F00_0000_0000
_GUARD_BYTES = 4096
_ALIGNMENT = 256
_KEPT_ALIGNMENT = 16
"""Triton compiles for pointers that 16 divides: addresses of a launch agree with the host's."""


@dataclass(frozen=True, eq=False)
class ArrayTensor:
    """A NumPy array with the methods of a tensor that Triton and users' heuristics call."""

    array: npt.NDArray[Any]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self.array.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements by dimension."""
        return self.array.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.array.ndim

    def data_ptr(self) -> int:
        """The address of the first element."""
        address: int = self.array.__array_interface__["data"][0]
        return address

    def stride(self, dimension: int | None = None) -> int | tuple[int, ...]:
        """Elements, not bytes, from one index to the next: of one dimension or of all."""
        found = tuple(step // self.array.itemsize for step in self.array.strides)
        return found if dimension is None else found[dimension]

    def numel(self) -> int:
        """The number of elements."""
        return self.array.size

    def element_size(self) -> int:
        """Bytes of an element."""
        return self.array.itemsize

    def is_contiguous(self) -> bool:
        """Whether the elements lie in C order without gaps."""
        return self.array.flags.c_contiguous

    def zero_(self) -> ArrayTensor:
        """Sets all elements to zero, as `reset_to_zero` of an autotuner asks."""
        self.array[...] = 0
        return self

    def clone(self) -> ArrayTensor:
        """A copy, as `restore_value` of an autotuner makes one."""
        return ArrayTensor(self.array.copy())

    def copy_(self, other: ArrayTensor) -> ArrayTensor:
        """Takes the elements of another tensor."""
        self.array[...] = other.array
        return self


def as_tensor(value: Any) -> Any:
    """What Triton takes for an argument: arrays become tensors, NumPy's numbers those of Python."""
    if isinstance(value, np.ndarray):
        return ArrayTensor(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        items = [as_tensor(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


@dataclass(frozen=True, slots=True)
class _Place:
    """Bytes of the host from `low` to `high`, and where they lie in the launch's memory."""

    low: int
    high: int
    allocation: Allocation


class HostTensors:
    """The memory of one launch: the storages of its tensors, read and written in place.

    Views of one storage share it. With `copies` the tensors stay as they are.
    """

    def __init__(self, tensors: Iterable[tuple[str, Any]], *, copies: bool = False) -> None:
        self.memory = DeviceMemory(name="the tensors of the launch")
        self._places: list[_Place] = []
        named = [(name, *_storage(name, tensor)) for name, tensor in tensors]
        address = _FIRST_ADDRESS
        for low, high in _united([(low, high) for _, low, high, _ in named]):
            inside = [item for item in named if low <= item[1] and item[2] <= high]
            address += low % _KEPT_ALIGNMENT
            host = _bytes_of_host(low, high - low)
            host = host.copy() if copies else host
            host.flags.writeable = not any(is_read_only for *_, is_read_only in inside)
            found = self.memory.adopt(host, inside[0][0], address=address)
            self._places.append(_Place(low, high, found))
            address = -(-(address + high - low + _GUARD_BYTES) // _ALIGNMENT) * _ALIGNMENT

    def pointer(self, tensor: Any) -> Allocation | int:
        """The address of a tensor's first element in the launch's memory."""
        address = tensor.data_ptr()
        for place in self._places:
            if place.low <= address <= place.high:
                distance = address - place.low
                found = place.allocation
                return int(found) + distance if distance else found
        return 0


def _bytes_of_host(address: int, size: int) -> npt.NDArray[np.uint8]:
    if not size:
        return np.zeros(0, np.uint8)
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


def _united(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans without what overlaps, in the order in which the arguments name them first."""
    order = list(spans)
    joined: list[tuple[int, int]] = []
    for low, high in sorted(order):
        if joined and low < joined[-1][1]:
            joined[-1] = joined[-1][0], max(high, joined[-1][1])
        elif not joined or (low, high) != joined[-1]:
            joined.append((low, high))
    return sorted(
        joined,
        key=lambda span: next(
            number for number, (low, high) in enumerate(order) if span[0] <= low and high <= span[1]
        ),
    )


def _storage(name: str, tensor: Any) -> tuple[int, int, bool]:
    """First byte, end, and whether it is read-only, of the memory that a tensor is a view of."""
    if isinstance(tensor, ArrayTensor):
        return _owner(tensor.array)
    place = getattr(getattr(tensor, "device", None), "type", "")
    if place != "cpu" or not hasattr(tensor, "untyped_storage"):
        what = f"a tensor on {place}" if place else type(tensor).__name__
        raise InputError(f"argument {name} is {what}: give NumPy arrays or CPU tensors")
    storage = tensor.untyped_storage()
    low = storage.data_ptr()
    return low, low + storage.nbytes(), False


def _owner(array: npt.NDArray[Any]) -> tuple[int, int, bool]:
    is_read_only = not array.flags.writeable
    while isinstance(array.base, np.ndarray):
        array = array.base
    low = array.__array_interface__["data"][0]
    if not array.size:
        return low, low, is_read_only
    steps = [(size - 1) * step for size, step in zip(array.shape, array.strides, strict=True)]
    high = low + sum(step for step in steps if step > 0) + array.itemsize
    return low + sum(step for step in steps if step < 0), high, is_read_only
