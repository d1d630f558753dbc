"""What is kept of launches: traces, paths of warps, accesses, and what they did to memories.

A launch is known by its kernel (as it is executed: source form or machine code), its sizes, its
arguments with their contents, and the options that change what is recorded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.host_functions import HostFunction
from kernelcast.simcore.isa.ir.kernel import HostCall, Kernel
from kernelcast.simcore.launch.allocations import Allocation
from kernelcast.simcore.launch.launch import Argument, Launch
from kernelcast.simcore.launch.lazy_buffer import LazyBuffer
from kernelcast.simcore.launch.module_memory import ModuleMemory
from kernelcast.simcore.launch.tensor_maps import TensorMap
from kernelcast.simcore.launch.textures import levels_of
from kernelcast.simcore.memory.contents.cache_contents import FirstContents
from kernelcast.store.accesses import AccessKeeper, KeptAccesses
from kernelcast.store.code_version import code_version
from kernelcast.store.digests import NotDigestible, digest
from kernelcast.store.memory_facts import memory_facts
from kernelcast.store.results import Sealed, keep, kept
from kernelcast.traces.trace import AccessTable, PatternCounts, Trace

if TYPE_CHECKING:
    from kernelcast.simcore.memory.simulated_memory import MemoryResult

__all__ = ["KeptDevice", "KeptLaunch", "KeptPaths", "inputs_digest", "launch_identity"]


@dataclass(frozen=True)
class KeptDevice:
    """What one launch did to the memory of `device`, decoded when it is looked at."""

    device: Device
    thread_blocks_per_sm: int
    found: FirstContents
    sealed: Sealed

    @property
    def memory(self) -> MemoryResult:
        """The result of the simulation."""
        result: MemoryResult = self.sealed.value
        return result


@dataclass(frozen=True)
class KeptPaths:
    """The paths of a launch in warps of some width."""

    sealed: Sealed

    def of(self, trace: Trace) -> Trace:
        """The trace of that launch with its paths, or with why there are none."""
        paths, reason, schedule = self.sealed.value
        return replace(trace, paths=paths, no_paths=reason, schedule=schedule)


@dataclass(frozen=True)
class KeptLaunch:
    """The entries of one launch of one code; those of another `identity` are others.

    A `trace` comes without accesses and paths, which are entries of their own.
    """

    identity: str

    def of_mode(self, *mode: object) -> KeptLaunch:
        """Entries of the launch as recorded in another way, from a part of its thread blocks."""
        return KeptLaunch(digest(self.identity, mode))

    @property
    def is_exact(self) -> bool:
        """Whether recording in that way was found to execute all thread blocks."""
        return self._sealed("exact") is not None

    def keep_is_exact(self) -> None:
        """Keeps that this way of recording executes all thread blocks."""
        self._keep("exact", True)

    def trace(self, width: int) -> Trace | None:
        """The counts in warps of that many threads."""
        found: Trace | None = self._value("trace", width)
        return found

    def keep_trace(self, trace: Trace) -> None:
        """Keeps the counts of a trace."""
        bare = replace(
            trace,
            accesses=AccessTable.empty(),
            patterns=trace.patterns.empty(trace.warp_width),
            pattern_counts=PatternCounts.empty(),
            has_memory=False,
            paths=None,
            no_paths="",
            schedule=None,
        )
        self._keep("trace", bare, trace.warp_width)

    def paths(self, width: int) -> KeptPaths | None:
        """The paths of warps that were recorded, or why there are none."""
        sealed = self._sealed("paths", width)
        return None if sealed is None else KeptPaths(sealed)

    def keep_paths(self, trace: Trace) -> None:
        """Keeps the paths of a trace, or why it has none."""
        self._keep("paths", (trace.paths, trace.no_paths, trace.schedule), trace.warp_width)

    def accesses(self, width: int) -> KeptAccesses | None:
        """All accesses of the launch; None also where they were too many."""
        sealed = self._sealed("accesses", width)
        return None if sealed is None else KeptAccesses(sealed)

    def keep_accesses(self, keeper: AccessKeeper, width: int) -> None:
        """Keeps what a keeper has collected, unless it was too much."""
        if keeper.is_complete:
            self._keep("accesses", keeper.parts, width)

    def memory(
        self, width: int, left: Device, thread_blocks_per_sm: int, found: FirstContents
    ) -> Sealed | None:
        """What the launch did to the memory of a device with the L1 that shared memory `left`."""
        return self._sealed("memory", *_memory_parts(width, left, thread_blocks_per_sm, found))

    def keep_memory(self, width: int, left: Device, result: MemoryResult) -> None:
        """Keeps what the launch did to the memory of such a device."""
        parts = _memory_parts(width, left, result.thread_blocks_per_sm, result.found)
        self._keep("memory", result, *parts)

    def _sealed(self, what: str, *parts: object) -> Sealed | None:
        return kept(digest(self.identity, what, parts), what)

    def _value(self, what: str, *parts: object) -> Any:
        sealed = self._sealed(what, *parts)
        return None if sealed is None else sealed.value

    def _keep(self, what: str, value: object, *parts: object) -> None:
        keep(digest(self.identity, what, parts), what, value)


def inputs_digest(launch: Launch, kernels: Iterable[Kernel]) -> str | None:
    """A hash of what a launch finds: arguments, and all of its device memory if it has one.

    The variables of the kernels are made there. None where it cannot be told: different arrays that
    share memory are not.
    """
    held = _held(launch.memory, kernels)
    found = [array for item in launch.arguments for array in _arrays(item)]
    arrays = {id(array): array for array in (*found, *(item.host for item in held))}
    made = [array for array in arrays.values() if isinstance(array, np.ndarray)]
    if any(np.may_share_memory(one, other) for one, other in combinations(made, 2)):
        return None
    arguments = [int(item) if isinstance(item, Allocation) else item for item in launch.arguments]
    first: dict[int, int] = {}
    places = [
        first.setdefault(id(item), len(first))
        for argument in arguments
        if _is_place(argument)
        for item in (argument, *_arrays(argument))
    ]
    variables = {} if launch.memory is None else launch.memory.variables
    try:
        return digest(places, arguments, held, {name: int(at) for name, at in variables.items()})
    except NotDigestible:
        return None


def _held(module: ModuleMemory | None, kernels: Iterable[Kernel]) -> tuple[Allocation, ...]:
    """The allocations of a launch's device memory, with the variables of the kernels."""
    if module is None:
        return ()
    for kernel in kernels:
        module.prepare(kernel)
    return module.memory.allocations


def _arrays(argument: Argument) -> tuple[npt.NDArray[Any], ...]:
    """The arrays that an argument lets a kernel reach, as far as they are made."""
    if isinstance(argument, np.ndarray):
        return (argument,)
    if isinstance(argument, LazyBuffer):
        return (argument.materialise(),) if argument.is_materialised else ()
    if isinstance(argument, TensorMap):
        return (argument.array,)
    return tuple(image.texels for image in levels_of(argument))


def launch_identity(
    kernel: Kernel, launch: Launch, inputs: str, options: Iterable[object]
) -> KeptLaunch | None:
    """The entries of a launch, whatever its registers; None where it prints.

    `inputs` from before the launch; `options` are whatever else changes what is recorded.
    """
    if _prints(kernel):
        return None
    # Registers decide how many thread blocks an SM holds, which memories have in their keys.
    sizes = replace(launch, arguments=(), memory=None, registers=None)
    try:
        return KeptLaunch(digest(code_version(), _kernel_digest(kernel), sizes, inputs, *options))
    except NotDigestible:
        return None


@once_per_kernel
def _kernel_digest(kernel: Kernel) -> str:
    return digest(kernel)


@once_per_kernel
def _prints(kernel: Kernel) -> bool:
    return any(
        isinstance(item, HostCall) and item.function is HostFunction.PRINT
        for item in kernel.instructions
    )


def _is_place(argument: Argument) -> bool:
    """Whether an argument that is given twice is one buffer of the kernel."""
    return not isinstance(argument, int | float | bytes | np.generic)


def _memory_parts(
    width: int, device: Device, thread_blocks_per_sm: int, found: FirstContents
) -> tuple[object, ...]:
    return width, memory_facts(device), thread_blocks_per_sm, found
