"""Storage behind the address spaces: buffers with virtual addresses, and flat per-owner memories.

Buffers get virtual addresses of their own, 256-byte aligned like a device allocator's, so that
traces do not depend on where the host happens to keep an array.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kernelcast.errors import LaunchError
from kernelcast.simcore.host.limits import check_room
from kernelcast.simcore.isa.ir.kernel import Kernel, SymbolAddress
from kernelcast.simcore.isa.types import WINDOWS, AddressSpace
from kernelcast.simcore.launch.image_descriptors import (
    DESCRIPTOR_BYTES,
    descriptor,
    parameter_memory_bytes,
    placed_images,
)
from kernelcast.simcore.launch.images import Image, Sampler
from kernelcast.simcore.launch.launch import Argument, Launch
from kernelcast.simcore.launch.lazy_buffer import LazyBuffer
from kernelcast.simcore.launch.local_arrays import placed_arguments
from kernelcast.simcore.launch.tensor_maps import TensorMap
from kernelcast.simcore.launch.textures import Surface, Texture, levels_of

__all__ = ["Bounds", "Buffer", "FlatMemory", "GlobalMemory", "LaunchMemory", "OutOfBounds"]

Addresses: TypeAlias = npt.NDArray[np.int64]
_FIRST_ADDRESS = 0x7F00_0000_0000
_ALIGNMENT = 256
# Space between buffers, so that running off one end does not land in a neighbour unnoticed.
_GUARD_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Bounds:
    """A range of valid addresses, for error messages."""

    name: str
    first: int
    end: int


class OutOfBounds(Exception):  # carried to the engine, which knows the line
    """Lane `lane` (a position in the address array) points outside, or is misaligned."""

    def __init__(self, lane: int, address: int, reason: str) -> None:
        super().__init__(reason)
        self.lane = lane
        self.address = address
        self.reason = reason


class FlatMemory:
    """`owners` equal pieces of `size` bytes (thread blocks' shared, threads' local memory)."""

    def __init__(self, name: str, size: int, owners: int = 1, data: bytes | None = None) -> None:
        """Makes zeros, or with `data` memory that begins with it and is only read."""
        self.name = name
        self.size = size
        self.stride = max(16, -(-size // 16) * 16)
        self.bytes = np.zeros(self.stride * owners, np.uint8)
        if data is not None:
            self.bytes[: len(data)] = np.frombuffer(data, np.uint8)
            self.bytes.flags.writeable = False
        self._views: dict[np.dtype[Any], npt.NDArray[Any]] = {}

    def typed(self, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """The memory as an array of that type, without a copy."""
        view = self._views.get(dtype)
        if view is None:
            view = self._views[dtype] = self.bytes.view(dtype)
        return view

    def elements(
        self, address: Addresses, owner: Addresses | int, size: int, count: int
    ) -> npt.NDArray[np.int64]:
        """Element positions (of `size` bytes) of `count` neighbours at `address` of each owner."""
        _check_alignment(address, size * count)
        last = self.size - size * count  # address + size may wrap around
        if address.size and (address.min() < 0 or address.max() > last):
            outside = (address < 0) | (address > last)
            lane = int(np.argmax(outside))
            raise OutOfBounds(
                lane, int(address.flat[lane]), f"outside {self.name} of {self.size} bytes"
            )
        return (address + owner * self.stride) >> (size.bit_length() - 1)


@dataclass(frozen=True, slots=True)
class Buffer:
    """An allocation of `size` bytes of global memory at virtual address `first`.

    `host` is the host's memory: flat bytes, or a lazy buffer that makes them when they are needed.
    """

    name: str
    first: int
    size: int
    host: npt.NDArray[np.uint8] | LazyBuffer

    @property
    def end(self) -> int:
        """The first address behind the allocation."""
        return self.first + self.size

    @property
    def bytes(self) -> npt.NDArray[np.uint8]:
        """The contents, read and written in place; LaunchError when they do not fit the memory."""
        if isinstance(self.host, LazyBuffer):
            return _flat_bytes(self.host.materialise())
        return self.host

    @property
    def is_materialised(self) -> bool:
        """Whether the buffer's contents exist; those of a lazy buffer are made on demand."""
        return not isinstance(self.host, LazyBuffer) or self.host.is_materialised

    def typed(self, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """The contents as an array of that type, without a copy or an incomplete last element."""
        return self.bytes[: self.size // dtype.itemsize * dtype.itemsize].view(dtype)


class GlobalMemory:
    """Buffers by address. The same array passed twice is one buffer."""

    def __init__(self) -> None:
        self._buffers: list[Buffer] = []
        self._by_host: dict[object, Buffer] = {}
        self._next = _FIRST_ADDRESS

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """All buffers, in the order of their addresses."""
        return tuple(self._buffers)

    def allocate(self, name: str, array: npt.NDArray[Any] | LazyBuffer) -> Buffer:
        """A place of the array's size; makes no contents."""
        key: object = array
        if isinstance(array, np.ndarray):
            key = (array.__array_interface__["data"][0], array.nbytes)
        if array.nbytes and key in self._by_host:
            return self._by_host[key]
        host = _flat_bytes(array) if isinstance(array, np.ndarray) else array
        buffer = Buffer(name, self._next, array.nbytes, host)
        self._buffers.append(buffer)
        self._by_host[key] = buffer
        self._next = -(-(buffer.end + _GUARD_BYTES) // _ALIGNMENT) * _ALIGNMENT
        return buffer

    def locate(self, address: Addresses, size: int, count: int) -> list[tuple[Buffer, Addresses]]:
        """(buffer, positions of the lanes that it serves) such that all lanes are served."""
        _check_alignment(address, size * count)
        low, high = int(address.min()), int(address.max()) + size * count
        for buffer in self._buffers:
            if buffer.first <= low and high <= buffer.end:
                return [(buffer, _ALL)]
        found = []
        served = np.zeros(address.shape, np.bool_)
        for buffer in self._buffers:
            inside = (address >= buffer.first) & (address <= buffer.end - size * count)
            if inside.any():
                found.append((buffer, np.flatnonzero(inside)))
                served |= inside
        if not served.all():
            lane = int(np.argmin(served))
            raise OutOfBounds(lane, int(address[lane]), self._explain(int(address[lane])))
        return found

    def _explain(self, address: int) -> str:
        if not self._buffers:
            return "outside: the launch has no buffers"
        near = min(self._buffers, key=lambda b: max(b.first - address, address - b.end + 1, 0))
        if address >= near.end:
            return f"{address - near.end} bytes past the end of {near.name} ({near.size} bytes)"
        if address < near.first:
            return f"{near.first - address} bytes before {near.name}"
        return f"across the end of {near.name} ({near.size} bytes)"


def _flat_bytes(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """A view of the array's memory, not a copy."""
    flat = array.reshape(-1)
    return flat.view(np.uint8) if flat.size else _EMPTY


_EMPTY: npt.NDArray[np.uint8] = np.zeros(0, np.uint8)
_ALL: Addresses = np.zeros(0, np.int64)
"""Stands for every lane: an empty array that callers compare by identity."""


def is_all(lanes: Addresses) -> bool:
    """Whether the lanes are the constant that stands for all of them."""
    return lanes is _ALL


def _check_alignment(address: Addresses, size: int) -> None:
    if size > 1 and address.size and int(np.bitwise_or.reduce(address, axis=None)) & (size - 1):
        lane = int(np.argmax((address & (size - 1)) != 0))
        raise OutOfBounds(lane, int(address.flat[lane]), f"misaligned for {size} bytes")


class LaunchMemory:
    """What all thread blocks of a launch share: buffers, constants, parameters, variables."""

    def __init__(self, kernel: Kernel, launch: Launch) -> None:
        self.globals = GlobalMemory()
        self._symbols: dict[str, int] = {}
        values = [
            self._argument_bytes(
                value, launch.argument_name(i, parameter), parameter.size, parameter.type.dtype
            )
            for i, (value, parameter) in enumerate(
                zip(placed_arguments(kernel, launch), kernel.parameters, strict=True)
            )
        ]
        parameters = bytearray(parameter_memory_bytes(kernel, launch))
        for parameter, value in zip(kernel.parameters, values, strict=True):
            parameters[parameter.offset : parameter.offset + len(value)] = value
        for placed in placed_images(kernel, launch):
            offset, end = placed.parameter.offset, placed.place + DESCRIPTOR_BYTES
            if placed.level == 0:
                parameters[offset : offset + 8] = placed.place.to_bytes(8, "little")
            name = placed.parameter.name
            address = self.globals.allocate(name, placed.image.texels).first
            content = descriptor(placed.argument, address, placed.level)
            parameters[placed.place : end] = content
        self.parameters = FlatMemory("parameters", len(parameters), data=bytes(parameters))
        self.constants = self._place_variables(kernel)

    @property
    def symbols(self) -> Mapping[str, int]:
        """Addresses of the kernel's variables, each in its own space."""
        return MappingProxyType(self._symbols)

    def address_of(self, operand: SymbolAddress) -> int:
        """The virtual address of a symbol, with the operand's offset."""
        return self._symbols[operand.symbol] + operand.offset

    def _argument_bytes(self, value: Argument, name: str, size: int, dtype: np.dtype[Any]) -> bytes:
        if isinstance(value, TensorMap):
            return self._tensor_map(value, name, size)
        if isinstance(value, (np.ndarray, LazyBuffer)):
            return self.globals.allocate(name, value).first.to_bytes(8, "little")
        for image in levels_of(value):
            self.globals.allocate(name, image.texels)
        if isinstance(value, Image | Texture | Surface):
            return bytes(8)  # the place of the descriptor comes here
        if isinstance(value, Sampler):
            return value.word.to_bytes(size, "little")
        if isinstance(value, bytes):
            return value
        if np.issubdtype(dtype, np.floating):
            return np.asarray(value, dtype).tobytes()
        if isinstance(value, (float, np.floating)):
            return np.asarray(value, {4: np.float32, 8: np.float64}[size]).tobytes()
        return (int(value) & ((1 << (8 * size)) - 1)).to_bytes(size, "little")

    def _tensor_map(self, value: TensorMap, name: str, size: int) -> bytes:
        """The map's bytes, or where the parameter is a pointer their address."""
        content = value.encoded(self.globals.allocate(name, value.array).first)
        if size == len(content):
            return content
        map_bytes = np.frombuffer(content, np.uint8).copy()
        address = self.globals.allocate(f"tensor map {name}", map_bytes).first
        return address.to_bytes(8, "little")

    def _place_variables(self, kernel: Kernel) -> FlatMemory:
        needed = sum(symbol.size for symbol in kernel.symbols.values())
        check_room(needed, f"the variables of kernel {kernel.name}")
        constant_bytes = 0
        placed: dict[str, Buffer] = {}
        for symbol in kernel.symbols.values():
            if symbol.space is AddressSpace.GLOBAL:
                store = np.zeros(max(symbol.size, 1), np.uint8)
                placed[symbol.name] = self.globals.allocate(symbol.name, store)
                self._symbols[symbol.name] = placed[symbol.name].first
            elif symbol.space is AddressSpace.CONST:
                constant_bytes = -(-constant_bytes // symbol.align) * symbol.align
                self._symbols[symbol.name] = constant_bytes
                constant_bytes += symbol.size
            else:
                self._symbols[symbol.name] = symbol.offset
        constants = FlatMemory("constant memory", constant_bytes)
        for symbol in kernel.symbols.values():
            image = bytearray(symbol.data)  # the rest is zero already
            for position, target in symbol.relocations.items():
                addend = int.from_bytes(image[position : position + 8], "little")
                address = self._generic(kernel, target) + addend & (1 << 64) - 1
                image[position : position + 8] = address.to_bytes(8, "little")
            if symbol.name in placed:
                placed[symbol.name].bytes[: len(image)] = np.frombuffer(bytes(image), np.uint8)
            elif symbol.space is AddressSpace.CONST:
                first = self._symbols[symbol.name]
                constants.bytes[first : first + len(image)] = np.frombuffer(image, np.uint8)
        constants.bytes.flags.writeable = False
        return constants

    def _generic(self, kernel: Kernel, name: str) -> int:
        if name not in self._symbols:
            raise LaunchError(f"variable {name} is used by an initialiser but is not defined")
        return self._symbols[name] + WINDOWS.get(kernel.symbols[name].space, 0)
