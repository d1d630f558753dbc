"""All memory that the thread blocks of a launch share, as its arguments and its module make it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.ir.kernel import GRID, Kernel, Parameter, SymbolAddress
from kernelcast.simcore.launch.allocations import Allocation
from kernelcast.simcore.launch.device_memory import DeviceMemory
from kernelcast.simcore.launch.image_descriptors import (
    DESCRIPTOR_BYTES,
    DescriptorField,
    descriptor,
    parameter_memory_bytes,
    placed_images,
)
from kernelcast.simcore.launch.images import Image, Sampler
from kernelcast.simcore.launch.launch import Argument, Launch
from kernelcast.simcore.launch.lazy_buffer import LazyBuffer
from kernelcast.simcore.launch.local_arrays import placed_arguments
from kernelcast.simcore.launch.memory_spaces import FlatMemory
from kernelcast.simcore.launch.module_memory import ModuleMemory
from kernelcast.simcore.launch.pointer_words import POINTER_BYTES, PointerWords, words
from kernelcast.simcore.launch.tensor_maps import TensorMap
from kernelcast.simcore.launch.textures import Surface, Texture, levels_of

__all__ = ["LaunchMemory"]


class LaunchMemory:
    """What all thread blocks of a launch share: buffers, constants, parameters, variables.

    Arrays among the arguments are allocations that live as long as this object, in the launch's
    device memory or in one of their own. The same array passed twice is one allocation; one that
    is a view of the device memory is the place that it shows.
    """

    def __init__(self, kernel: Kernel, launch: Launch) -> None:
        module = launch.memory
        self._has_pointers = module is not None
        self.globals = DeviceMemory() if module is None else module.memory.for_launch()
        self._by_host: dict[object, Allocation] = {}
        self._pointers = PointerWords(self.globals)
        content = bytearray(parameter_memory_bytes(kernel, launch))
        for i, (value, parameter) in enumerate(
            zip(placed_arguments(kernel, launch), kernel.parameters, strict=True)
        ):
            held = self._argument_bytes(value, launch.argument_name(i, parameter), parameter)
            content[parameter.offset : parameter.offset + len(held)] = held
        self._place_images(kernel, launch, content)
        self.parameters = FlatMemory("parameters", len(content), data=bytes(content))
        self._kernel = kernel
        self._module = module = module or ModuleMemory(self.globals)
        self._symbols = module.load(kernel, self.globals)
        self.constants = module.constants(kernel, self._symbols)

    @property
    def symbols(self) -> Mapping[str, int]:
        """Addresses of the kernel's variables, each in its own space."""
        return MappingProxyType(self._symbols)

    @property
    def pointers(self) -> tuple[tuple[int, Allocation], ...]:
        """Places in the memory of parameters that hold pointers, and to what.

        Numbers of 64 bits count as pointers where they point to an allocation of the launch's
        device memory: parameters, and words of structs.
        """
        return self._pointers.found

    @property
    def pointer_rows(self) -> npt.NDArray[np.int64]:
        """What each of `pointers` points to, as rows of allocations; they are changed in place."""
        return self._pointers.rows

    def take(self, block: bytes, ranges: Iterable[tuple[int, int]]) -> bool:
        """Replaces the bytes [first, end) of each range of the parameters by those of a block.

        False, with nothing done, where other words than before are pointers.
        """
        if not self._pointers.replace(block):
            return False
        self.parameters.replace(block, ranges)
        return True

    def look_again(self) -> bool:
        """Finds pointers and variables when allocations have come or gone.

        False where code must know: other words are pointers, or variables are elsewhere.
        """
        is_there = self._module.still_has(self._kernel, self._symbols)
        return is_there and self._pointers.look_again()

    def name_arguments(self) -> None:
        """Makes messages name the arguments that point to allocations by now."""
        self._pointers.name_arguments()

    def begin_again(self) -> None:
        """Makes what begins anew with each launch what it was: constants, and the grid's state."""
        if self.constants.size:
            now = self._module.constants(self._kernel, self._symbols).bytes.tobytes()
            self.constants.replace(now, [(0, len(self.constants.bytes))])
        if GRID in self._symbols:
            size = self._kernel.symbols[GRID].size
            self.globals.fill(self._symbols[GRID], 0, size)

    def address_of(self, operand: SymbolAddress) -> int:
        """The virtual address of a symbol, with the operand's offset."""
        return self._symbols[operand.symbol] + operand.offset

    def _place_images(self, kernel: Kernel, launch: Launch, content: bytearray) -> None:
        """Writes the descriptors of images behind the parameters, and where they are into these."""
        for placed in placed_images(kernel, launch):
            offset, end = placed.parameter.offset, placed.place + DESCRIPTOR_BYTES
            if placed.level == 0:
                content[offset : offset + 8] = placed.place.to_bytes(8, "little")
            texels, first = self._adopted(placed.parameter.name, placed.image.texels)
            self._pointers.add(placed.place + DescriptorField.TEXELS, texels)
            content[placed.place : end] = descriptor(placed.argument, first, placed.level)

    def _adopted(self, name: str, array: npt.NDArray[Any] | LazyBuffer) -> tuple[Allocation, int]:
        """The allocation that an array is in, and the address of its first byte."""
        key: object = array
        if isinstance(array, np.ndarray):
            key = (array.__array_interface__["data"][0], array.nbytes)
            if self._has_pointers and (found := self.globals.place_of(array)) is not None:
                self.globals.note_argument(found[1], name)
                return found
        if not array.nbytes or key not in self._by_host:
            self._by_host[key] = self.globals.adopt(array, name)
        return self._by_host[key], self._by_host[key].address

    def _argument_bytes(self, value: Argument, name: str, parameter: Parameter) -> bytes:
        size, dtype = parameter.size, parameter.type.dtype
        if isinstance(value, TensorMap):
            return self._tensor_map(value, name, size)
        if isinstance(value, (np.ndarray, LazyBuffer)):
            return self._pointer(parameter.offset, *self._adopted(name, value))
        if isinstance(value, Allocation):
            return self._with_pointers(value.address.to_bytes(size, "little"), name, parameter)
        for image in levels_of(value):
            self._adopted(name, image.texels)
        if isinstance(value, Image | Texture | Surface):
            return bytes(8)  # the place of the descriptor comes here
        if isinstance(value, Sampler):
            return value.word.to_bytes(size, "little")
        if isinstance(value, bytes):
            return self._with_pointers(value, name, parameter)
        if np.issubdtype(dtype, np.floating):
            return np.asarray(value, dtype).tobytes()
        if isinstance(value, (float, np.floating)):
            return np.asarray(value, {4: np.float32, 8: np.float64}[size]).tobytes()
        number = (int(value) & ((1 << (8 * size)) - 1)).to_bytes(size, "little")
        return self._with_pointers(number, name, parameter)

    def _pointer(self, place: int, allocation: Allocation, address: int) -> bytes:
        self._pointers.add(place, allocation)
        return address.to_bytes(POINTER_BYTES, "little")

    def _with_pointers(self, content: bytes, name: str, parameter: Parameter) -> bytes:
        """The bytes of an argument; notes the pointers among them."""
        if self._has_pointers and not parameter.is_local_array:
            for place, address in words(content, parameter.offset):
                self._pointers.add_word(place, name, address)
        return content

    def _tensor_map(self, value: TensorMap, name: str, size: int) -> bytes:
        """The map's bytes, or where the parameter is a pointer their address."""
        content = value.encoded(self._adopted(name, value.array)[1])
        if size == len(content):
            return content
        map_bytes = np.frombuffer(content, np.uint8).copy()
        _, address = self._adopted(f"tensor map {name}", map_bytes)
        return address.to_bytes(8, "little")
