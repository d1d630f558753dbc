"""A launch: grid, thread block, shared memory and arguments, checked against the kernel."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kernelcast.errors import LaunchError
from kernelcast.simcore.host.limits import MOST_LOCAL_BYTES_PER_THREAD, check_room
from kernelcast.simcore.isa.ir.kernel import Kernel, Parameter
from kernelcast.simcore.isa.types import Kind
from kernelcast.simcore.launch.allocations import Allocation
from kernelcast.simcore.launch.images import Image, Sampler
from kernelcast.simcore.launch.lazy_buffer import LazyBuffer
from kernelcast.simcore.launch.module_memory import ModuleMemory
from kernelcast.simcore.launch.tensor_maps import TENSOR_MAP_BYTES, TensorMap
from kernelcast.simcore.launch.textures import Surface, Texture

__all__ = [
    "MAX_THREADS_PER_THREAD_BLOCK",
    "MAX_THREAD_BLOCKS_PER_CLUSTER",
    "Argument",
    "Launch",
    "LaunchShape",
    "LazyBuffer",
    "Limits",
    "LocalBytes",
    "dimensions",
    "materialised",
    "thread_blocks_of",
]


@dataclass(frozen=True, slots=True)
class LocalBytes:
    """The size of an array in shared memory, as the argument of a `__local` pointer."""

    size: int

    def __int__(self) -> int:
        return self.size


Plain: TypeAlias = npt.NDArray[Any] | LazyBuffer | LocalBytes | int | float | bytes | np.generic
Argument: TypeAlias = Plain | Allocation | Image | Sampler | Texture | Surface | TensorMap
"""A C-contiguous array is a buffer, read and written in place; a LazyBuffer is one whose contents
are made when a thread needs them. An allocation of the launch's device memory, or an address in it,
is a pointer. Numbers and bytes are values; for a `__local` array of OpenCL,
the number of its bytes is."""

MAX_THREADS_PER_THREAD_BLOCK = 1024
MAX_THREAD_BLOCKS_PER_CLUSTER = 16
"""8 everywhere, 16 where a kernel allows what is not portable."""
_MAX_GRID = (2**31 - 1, 65535, 65535)
_MAX_THREAD_BLOCK = (1024, 1024, 64)


@dataclass(frozen=True, slots=True)
class Limits:
    """What ends a run that does not end by itself; None for no limit."""

    seconds: float | None = 600.0
    instructions_per_warp: int | None = 2**20


def dimensions(value: int | Sequence[int], what: str) -> tuple[int, int, int]:
    """(x, y, z) from an integer or up to three; LaunchError when one is not a positive integer."""
    items = tuple(value) if isinstance(value, Iterable) else (value,)
    if not 1 <= len(items) <= 3:
        raise LaunchError(f"{what} needs one to three sizes, got {len(items)}")
    for item in items:
        if not isinstance(item, (int, np.integer)) or item < 1:
            raise LaunchError(f"{what} sizes must be positive integers, got {tuple(items)}")
    x, y, z = (*(int(item) for item in items), 1, 1)[:3]
    return x, y, z


def thread_blocks_of(
    global_size: int | Sequence[int], local_size: int | Sequence[int]
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """(grid, thread block) of an NDRange of OpenCL, whose global size counts work-items.

    LaunchError when the local size does not divide it: work-groups are all of one size.
    """
    items, group = dimensions(global_size, "global_size"), dimensions(local_size, "local_size")
    if any(total % part for total, part in zip(items, group, strict=True)):
        raise LaunchError(
            f"global_size {_by(items)} is no multiple of local_size {_by(group)}: a smaller last "
            "work-group is not executed"
        )
    x, y, z = (total // part for total, part in zip(items, group, strict=True))
    return (x, y, z), group


def materialised(argument: Argument) -> Argument:
    """The argument itself, or the array of a lazy buffer; LaunchError when it does not fit."""
    return argument.materialise() if isinstance(argument, LazyBuffer) else argument


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """Thread blocks of a grid and threads of a thread block, as (x, y, z)."""

    grid: tuple[int, int, int]
    thread_block: tuple[int, int, int]

    @property
    def thread_blocks(self) -> int:
        """The number of thread blocks in the grid."""
        x, y, z = self.grid
        return x * y * z

    @property
    def threads_per_thread_block(self) -> int:
        """The number of threads in a thread block."""
        x, y, z = self.thread_block
        return x * y * z


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel.

    `dynamic_shared_bytes` per thread block, besides those of `__local` arguments; `registers` per
    thread, when the user knows them.
    """

    grid: tuple[int, int, int]
    thread_block: tuple[int, int, int]
    arguments: tuple[Argument, ...]
    dynamic_shared_bytes: int = 0
    registers: int | None = None
    argument_names: tuple[str, ...] = ()
    """What messages call the arguments; empty for the kernel's own parameter names."""
    cluster: tuple[int, int, int] | None = None
    """Thread blocks of a cluster; None for what the kernel says, or no clusters."""
    memory: ModuleMemory | None = None
    """The device memory that the launch is on, with the variables of its module; None for a memory
    and variables of its own, which are gone with it."""

    def argument_name(self, position: int, parameter: Parameter) -> str:
        """The name of an argument for messages: the user's, or the parameter's."""
        return self.argument_names[position] if self.argument_names else parameter.name

    @property
    def shape(self) -> LaunchShape:
        """The grid and the thread block."""
        return LaunchShape(self.grid, self.thread_block)

    @property
    def thread_blocks(self) -> int:
        """The number of thread blocks in the grid."""
        return self.shape.thread_blocks

    @property
    def threads_per_thread_block(self) -> int:
        """The number of threads in a thread block."""
        return self.shape.threads_per_thread_block

    def cluster_of(self, kernel: Kernel) -> tuple[int, int, int]:
        """The thread blocks of a cluster: that of the launch, or what the kernel requires."""
        return self.cluster or kernel.required_cluster or (1, 1, 1)

    def materialised(self) -> Launch:
        """The launch with an array for each lazy buffer, as a full run needs it."""
        if not any(isinstance(value, LazyBuffer) for value in self.arguments):
            return self
        lazy = {value for value in self.arguments if isinstance(value, LazyBuffer)}
        needed = sum(value.nbytes for value in lazy if not value.is_materialised)
        check_room(needed, "the launch's buffers")
        return replace(self, arguments=tuple(map(materialised, self.arguments)))

    def check(self, kernel: Kernel) -> None:
        """Raises LaunchError, in one line, when the launch does not fit the kernel."""
        for name, sizes, most in (
            ("grid", self.grid, _MAX_GRID),
            ("thread block", self.thread_block, _MAX_THREAD_BLOCK),
        ):
            if any(size > limit for size, limit in zip(sizes, most, strict=True)):
                raise LaunchError(f"{name} {_by(sizes)} exceeds {_by(most)}")
        threads = self.threads_per_thread_block
        if threads > MAX_THREADS_PER_THREAD_BLOCK:
            raise LaunchError(
                f"{threads} threads a thread block ({_by(self.thread_block)}) exceed "
                f"{MAX_THREADS_PER_THREAD_BLOCK}"
            )
        if kernel.required_threads and self.thread_block != kernel.required_threads:
            raise LaunchError(
                f"kernel {kernel.name} requires thread blocks of {_by(kernel.required_threads)}, "
                f"got {_by(self.thread_block)}"
            )
        if kernel.max_threads and threads > math.prod(kernel.max_threads):
            raise LaunchError(
                f"kernel {kernel.name} allows {math.prod(kernel.max_threads)} threads "
                f"a thread block, got {threads}"
            )
        self._check_cluster(kernel)
        if self.dynamic_shared_bytes < 0:
            raise LaunchError(f"shared memory of {self.dynamic_shared_bytes} bytes")
        if len(self.arguments) != len(kernel.parameters):
            raise LaunchError(
                f"kernel {kernel.name} takes {len(kernel.parameters)} arguments "
                f"({', '.join(_describe(p) for p in kernel.parameters)}), got {len(self.arguments)}"
            )
        if kernel.local_bytes > MOST_LOCAL_BYTES_PER_THREAD:
            raise LaunchError(
                f"kernel {kernel.name} has {kernel.local_bytes} bytes of local memory per thread: "
                f"no GPU allows more than {MOST_LOCAL_BYTES_PER_THREAD}"
            )
        pairs = zip(self.arguments, kernel.parameters, strict=True)
        for position, (argument, parameter) in enumerate(pairs):
            where = f"argument {position + 1} ({self.argument_name(position, parameter)})"
            if isinstance(argument, Allocation):
                self._check_pointer(where, argument, parameter)
            else:
                _check_argument(where, argument, parameter)

    def _check_pointer(self, where: str, value: Allocation, parameter: Parameter) -> None:
        if parameter.is_struct or parameter.is_opaque or parameter.size != 8:
            raise LaunchError(f"{where} is a pointer but the kernel takes {_describe(parameter)}")
        if self.memory is None:
            raise LaunchError(f"{where} is a device pointer: run the kernel with memory=")
        if not self.memory.memory.holds(value):
            raise LaunchError(
                f"{where} is {value.name}, which {self.memory.memory.name} does not hold: it was "
                "freed, or is of another memory"
            )

    def _check_cluster(self, kernel: Kernel) -> None:
        cluster, required = self.cluster_of(kernel), kernel.required_cluster
        if required is not None and cluster != required:
            raise LaunchError(
                f"kernel {kernel.name} requires clusters of {_by(required)}, got {_by(cluster)}"
            )
        if min(cluster) < 1 or math.prod(cluster) > MAX_THREAD_BLOCKS_PER_CLUSTER:
            raise LaunchError(
                f"a cluster of {_by(cluster)} exceeds {MAX_THREAD_BLOCKS_PER_CLUSTER} thread blocks"
            )
        if any(size % part for size, part in zip(self.grid, cluster, strict=True)):
            raise LaunchError(f"grid {_by(self.grid)} is no multiple of cluster {_by(cluster)}")


def _by(sizes: tuple[int, ...]) -> str:
    return "x".join(str(size) for size in sizes)


def _describe(parameter: Parameter) -> str:
    if parameter.is_struct:
        return f"bytes[{parameter.size}]"
    if parameter.is_local_array:
        return "the size of a __local array in bytes"
    if parameter.image is not None:
        return parameter.image.title
    if parameter.is_sampler:
        return "sampler"
    if parameter.is_texture or parameter.is_surface:
        return "texture" if parameter.is_texture else "surface"
    return parameter.type.ptx_name


def _given(value: object) -> str:
    return "an array" if isinstance(value, (np.ndarray, LazyBuffer)) else type(value).__name__


def _check_argument(where: str, value: Argument, parameter: Parameter) -> None:
    if parameter.is_local_array or isinstance(value, LocalBytes):
        _check_local_array(where, value, parameter)
    elif isinstance(value, (Image, Sampler, Texture, Surface)):
        _check_object(where, value, parameter)
    elif isinstance(value, TensorMap):
        is_pointer = parameter.size == 8 and parameter.type.is_integer
        if parameter.size != TENSOR_MAP_BYTES and (parameter.is_struct or not is_pointer):
            raise LaunchError(f"{where} is a tensor map, the kernel takes {_describe(parameter)}")
    elif parameter.is_opaque:
        raise LaunchError(f"{where} is {_describe(parameter)}, got {_given(value)}")
    elif isinstance(value, (np.ndarray, LazyBuffer)):
        _check_buffer(where, value, parameter)
    elif isinstance(value, bytes):
        if len(value) != parameter.size:
            raise LaunchError(f"{where} has {len(value)} bytes, the kernel takes {parameter.size}")
    elif parameter.is_struct:
        raise LaunchError(f"{where} must be {_describe(parameter)}, got a number")
    elif isinstance(value, (int, float, np.generic)):
        _check_number(where, value, parameter)
    else:
        raise LaunchError(f"{where} has unsupported type {type(value).__name__}")


def _check_buffer(where: str, value: npt.NDArray[Any] | LazyBuffer, parameter: Parameter) -> None:
    if parameter.is_struct or parameter.size != 8:
        raise LaunchError(f"{where} is a buffer but the kernel takes {_describe(parameter)}")
    if value.dtype.hasobject:
        raise LaunchError(f"{where} is an array of Python objects")
    if isinstance(value, np.ndarray) and not value.flags.c_contiguous:
        raise LaunchError(f"{where} is not C-contiguous")


def _check_local_array(where: str, value: Argument, parameter: Parameter) -> None:
    if not parameter.is_local_array:
        raise LaunchError(f"{where} is a __local array but the kernel takes {_describe(parameter)}")
    if not isinstance(value, (int, np.integer, LocalBytes)):
        raise LaunchError(f"{where} is {_describe(parameter)}, got {_given(value)}")
    if int(value) < 1:
        raise LaunchError(f"{where} is a __local array of {int(value)} bytes")


def _check_object(
    where: str, value: Image | Sampler | Texture | Surface, parameter: Parameter
) -> None:
    """An object must be of the kind that the kernel takes, where the source says it."""
    if isinstance(value, (Texture, Surface)):
        is_texture = isinstance(value, Texture)
        title = "texture" if is_texture else "surface"
        fits = parameter.is_texture if is_texture else parameter.is_surface
        if not parameter.is_opaque:  # any number of 64 bits may be that of an object
            fits = parameter.size == 8 and parameter.type.is_integer
    elif isinstance(value, Image):
        title = value.kind.title
        fits = parameter.is_pointer and parameter.image in (None, value.kind)
    else:
        title = "sampler"
        fits = parameter.size in (4, 8) and parameter.type.is_integer
        fits &= parameter.is_sampler or not parameter.is_opaque
    if not fits or parameter.is_struct or (parameter.is_sampler and title != "sampler"):
        raise LaunchError(f"{where} is of type {title} but the kernel takes {_describe(parameter)}")


def _check_number(where: str, value: int | float | np.generic, parameter: Parameter) -> None:
    is_real = isinstance(value, (float, np.floating))
    if is_real and parameter.type.kind is not Kind.FLOAT and parameter.type.kind is not Kind.BITS:
        raise LaunchError(f"{where} is {value} but the kernel takes {_describe(parameter)}")
    if parameter.type.kind is Kind.FLOAT or is_real:
        return
    number, bits = int(value), parameter.type.bits
    if not -(2 ** (bits - 1)) <= number < 2**bits:
        raise LaunchError(f"{where} is {number}, which {_describe(parameter)} cannot hold")
