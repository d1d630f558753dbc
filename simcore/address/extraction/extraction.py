"""Address expressions of a kernel that is there as code: from PTX, SPIR-V or LLVM IR.

The instructions that compute addresses are executed with thread index, thread-block index and
thread-block size as variables, for all threads of a launch at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from kernelcast.errors import ModelNotApplicable
from kernelcast.simcore.address.expression import AXES
from kernelcast.simcore.address.extraction.domain import Box, Guard, guard_of, share_of
from kernelcast.simcore.address.extraction.launch import LaunchValues
from kernelcast.simcore.address.extraction.recording import LocatedAccess, Way, recording
from kernelcast.simcore.address.kernel import Access, AddressKernel, Field, LoopVariable
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.local_arrays import resource_needs

__all__ = ["ExtractedAccess", "ExtractedAddresses", "address_kernel", "extract_addresses"]

_NEARLY_ALL = 0.98
"""The share of the domain's threads from which on all threads count as doing it."""
_NEGLIGIBLE = 0.01
"""The share of accesses that may be left out because only some threads make them."""


@dataclass(frozen=True, slots=True)
class ExtractedAccess:
    """`access` by the threads that `guard` describes: `executions` in all threads and trips.

    `place`: of the instruction in the source.
    """

    access: Access
    guard: Guard
    is_load: bool
    mnemonic: str
    place: str
    executions: float


@dataclass(frozen=True, slots=True)
class ExtractedAddresses:
    """All accesses of a launch to global memory, in program order.

    `fixed`: sizes of the launch and parameters whose values the expressions rely on; for other ones
    they must be extracted again. `flops`: by width, in all threads.
    """

    kernel: str
    accesses: tuple[ExtractedAccess, ...]
    fields: tuple[Field, ...]
    loops: tuple[LoopVariable, ...]
    parameters: tuple[tuple[str, int], ...]
    fixed: frozenset[str]
    thread_block: tuple[int, int, int]
    flops_32: float
    flops_64: float
    registers: int
    shared_bytes: int

    @property
    def domain(self) -> Box:
        """The threads that make most accesses."""
        weights: dict[Box, float] = {}
        for item in self.accesses:
            weights[item.guard.box] = weights.get(item.guard.box, 0.0) + item.executions
        return max(weights, key=lambda box: weights[box])

    def left_out(self) -> tuple[ExtractedAccess, ...]:
        """Accesses of some threads only, too few in all to matter.

        ModelNotApplicable, naming the first one, where they matter.
        """
        domain, trips = self.domain, {loop.name: loop.trips for loop in self.loops}
        rare = []
        for item in self.accesses:
            common = item.guard.box.common(domain).threads
            every = prod(trips[name] for name in item.access.loops) * domain.threads
            is_inside = item.guard.box.threads <= domain.threads / _NEARLY_ALL
            is_inside = is_inside and common >= _NEARLY_ALL * domain.threads
            if not is_inside or item.executions < _NEARLY_ALL * every:
                rare.append(item)
        total = sum(item.executions for item in self.accesses)
        if sum(item.executions for item in rare) > _NEGLIGIBLE * total:
            first = rare[0]
            only = " and ".join(map(str, first.guard.others)) or str(first.guard.box)
            raise ModelNotApplicable(
                f"kernel {self.kernel}: {first.mnemonic} at {first.place} is executed by some "
                f"threads only, where {only}"
            )
        return tuple(rare)

    def address_kernel(self, work_per_thread: float = 1.0) -> AddressKernel:
        """The kernel as the estimator of data volumes takes it: a thread is a cell.

        A cell is `work_per_thread` units of work. ModelNotApplicable as `left_out`.
        """
        rare, domain = set(map(id, self.left_out())), self.domain
        kept = [item for item in self.accesses if id(item) not in rare]
        cells = domain.threads
        used = {name for item in kept for name in item.access.loops}
        flops = self.flops_32 + self.flops_64
        return AddressKernel(
            self.fields,
            [item.access for item in kept if item.is_load],
            [item.access for item in kept if not item.is_load],
            domain.high,
            self.thread_block,
            flops=flops / cells,
            registers=self.registers,
            name=self.kernel,
            parameters=self.parameters,
            loops=[loop for loop in self.loops if loop.name in used],
            origin=domain.low,
            shared_bytes=self.shared_bytes,
            is_double=self.flops_64 >= self.flops_32 if flops else None,
            work_per_cell=work_per_thread,
        )


def address_kernel(kernel: Kernel, launch: Launch) -> AddressKernel:
    """The kernel's loads and stores as expressions of thread and thread-block index.

    ModelNotApplicable, with the instruction and what it depends on, where they are not affine.
    """
    return extract_addresses(kernel, launch).address_kernel()


def extract_addresses(kernel: Kernel, launch: Launch) -> ExtractedAddresses:
    """All accesses to global memory with the threads that make them.

    ModelNotApplicable where an address, or who makes an access, depends on data or is not affine,
    and for atomic operations. LaunchError where the launch does not fit the kernel.
    """
    launch.check(kernel)
    values = LaunchValues(kernel, launch)
    found = recording(kernel, values)
    guards = _Guards(found.trips, values)
    accesses = tuple(_extracted(kernel, item, guards, values) for item in found.accesses)
    if not accesses:
        raise ModelNotApplicable(f"kernel {kernel.name} accesses no global memory")
    needs = resource_needs(kernel, launch)
    known = sorted(values.known.items())
    used = frozenset().union(*(item.access.offset.variables for item in accesses))
    return ExtractedAddresses(
        kernel.name,
        accesses,
        tuple(_fields(found.accesses, values)),
        tuple(LoopVariable(name, trips) for name, trips in found.trips.items()),
        tuple((name, value) for name, value in known if not name.startswith("ntid.")),
        frozenset(values.fixed | {name for name in used if name.startswith("nctaid.")}),
        launch.thread_block,
        sum(narrow * guards.of(way)[1] for way, narrow, _ in found.flops),
        sum(wide * guards.of(way)[1] for way, _, wide in found.flops),
        needs.registers or needs.live_registers,
        needs.shared_bytes,
    )


def _extracted(
    kernel: Kernel, item: LocatedAccess, guards: _Guards, values: LaunchValues
) -> ExtractedAccess:
    """An access with its guards; ModelNotApplicable where the address is not affine."""
    access = item.access
    sizes = tuple(values.known[f"ntid.{axis}"] for axis in AXES)
    try:
        access.offset.bind((sizes[0], sizes[1], sizes[2]), values.known, loops=access.loops)
    except ModelNotApplicable as error:
        raise ModelNotApplicable(f"kernel {kernel.name}: {item.what}: {error.message}") from None
    guard, executions = guards.of(item.way)
    return ExtractedAccess(access, guard, item.is_load, item.mnemonic, item.place, executions)


class _Guards:
    """Guards and numbers of executions, each counted once."""

    def __init__(self, trips: Mapping[str, int], values: LaunchValues) -> None:
        self._trips, self._values = trips, values
        self._known: dict[Way, tuple[Guard, float]] = {}

    def of(self, way: Way) -> tuple[Guard, float]:
        """Executions in all threads."""
        if way not in self._known:
            guard = guard_of(way.conditions, self._values)
            trips = {name: self._trips[name] for name in way.loops}
            share = share_of(guard, trips, self._values)
            self._known[way] = guard, guard.box.threads * prod(trips.values()) * share
        return self._known[way]


def _fields(accesses: Sequence[LocatedAccess], values: LaunchValues) -> list[Field]:
    """Buffers in the order of their first access; elements are the narrowest that is accessed."""
    element: dict[str, int] = {}
    for item in accesses:
        buffer, size = item.access.field, item.element_bytes
        element[buffer] = min(size, element.get(buffer, size))
    return [
        Field(name, size, (values.buffer_bytes[name] // size,)) for name, size in element.items()
    ]
