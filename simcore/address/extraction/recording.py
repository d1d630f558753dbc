"""Symbolic execution once for all launches that give the same answers to its questions.

A kernel keeps what was found for the last launches; another thread-block shape mostly needs the
ranges of its indices only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

from kernelcast.errors import ModelNotApplicable
from kernelcast.simcore.address.expression import AddressExpression
from kernelcast.simcore.address.extraction.answers import Answers
from kernelcast.simcore.address.extraction.domain import in_cells, offset_in_buffer
from kernelcast.simcore.address.extraction.execution import execute
from kernelcast.simcore.address.extraction.launch import Definitions, LaunchValues, place
from kernelcast.simcore.address.extraction.thread_state import RawAccess, Work
from kernelcast.simcore.address.extraction.values import (
    AllOf,
    AnyOf,
    Condition,
    Opaque,
    Value,
)
from kernelcast.simcore.address.kernel import Access
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import Atomic, Kernel, Load

__all__ = ["LocatedAccess", "Recording", "Way", "recording"]

_KEPT = 32
"""Recordings of a kernel."""


@dataclass(frozen=True, slots=True)
class Way:
    """Threads that meet all `conditions`, in the trips of `loops`.

    Conditions on data are left out, as if they were always met.
    """

    conditions: tuple[Condition, ...]
    loops: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LocatedAccess:
    """An access to global memory, located in a buffer.

    `element_bytes` of a part that is a register, `what` for messages.
    """

    access: Access
    way: Way
    is_load: bool
    element_bytes: int
    mnemonic: str
    place: str

    @property
    def what(self) -> str:
        """The access for messages: its mnemonic and place."""
        return f"{self.mnemonic} at {self.place}"


@dataclass(frozen=True, slots=True)
class Recording:
    """What a launch with these `answers` accesses, or why that is not known.

    `flops`: (of 32 bits, of 64 bits) by way, in one thread and trip.
    """

    answers: Answers
    definitions: Definitions
    accesses: tuple[LocatedAccess, ...] = ()
    flops: tuple[tuple[Way, int, int], ...] = ()
    trips: Mapping[str, int] = field(default_factory=dict)
    refusal: str = ""


_Recordings: TypeAlias = dict[object, deque[Recording]]


@once_per_kernel
def _recordings(_: Kernel) -> _Recordings:
    """Recordings by the names of parameters, which expressions hold."""
    return {}


def recording(kernel: Kernel, values: LaunchValues) -> Recording:
    """Executes symbolically, or finds an equivalent earlier launch; `values` know its variables.

    ModelNotApplicable where an address, or who makes an access, depends on data, and for atomic
    operations.
    """
    kept = _recordings(kernel).setdefault(frozenset(values.parameters.items()), deque(maxlen=_KEPT))
    for known in kept:
        if values.gives(known.answers):
            values.adopt(known.definitions)
            found = known
            break
    else:
        found = _made(kernel, values)
        kept.appendleft(found)
    if found.refusal:
        raise ModelNotApplicable(found.refusal)
    return found


def _made(kernel: Kernel, values: LaunchValues) -> Recording:
    try:
        record = execute(kernel, values)
        raw = [item for item in record.items if isinstance(item, RawAccess)]
        for item in sorted(raw, key=_is_not_data):
            _check(kernel, item, values)
        located = (_located(kernel, item, values) for item in raw)
        accesses = tuple(item for item in located if item is not None)
    except ModelNotApplicable as error:
        return Recording(values.answers, values.definitions, refusal=error.message)
    work = [item for item in record.items if isinstance(item, Work)]
    return Recording(
        values.answers, values.definitions, accesses, tuple(_flops(work)), dict(record.trips)
    )


def _located(kernel: Kernel, item: RawAccess, values: LaunchValues) -> LocatedAccess | None:
    """None for memory other than global."""
    instruction = item.instruction
    assert isinstance(item.address, AddressExpression)
    located = offset_in_buffer(item.address, values)
    if located is None:
        return None
    if isinstance(instruction, Atomic):
        _refuse(
            kernel,
            f"{instruction.mnemonic} at {place(instruction)} is an atomic operation, neither a "
            "load nor a store",
        )
    is_load = isinstance(instruction, Load)
    elements = instruction.destinations if isinstance(instruction, Load) else instruction.sources
    element_bytes = instruction.type.bytes
    access = Access(
        located.buffer, in_cells(located.offset), element_bytes * len(elements), item.loops
    )
    way = _way(item)
    return LocatedAccess(
        access, way, is_load, element_bytes, instruction.mnemonic, place(instruction)
    )


def _way(item: RawAccess | Work) -> Way:
    met = (taken.condition for taken in item.taken)
    return Way(tuple(condition for condition in met if _unknown(condition) is None), item.loops)


def _flops(work: Iterable[Work]) -> list[tuple[Way, int, int]]:
    found: dict[Way, tuple[int, int]] = {}
    for item in work:
        way = _way(item)
        narrow, wide = found.get(way, (0, 0))
        found[way] = narrow + item.flops_32, wide + item.flops_64
    return [(way, narrow, wide) for way, (narrow, wide) in found.items()]


def _check(kernel: Kernel, item: RawAccess, values: LaunchValues) -> None:
    """Raises ModelNotApplicable where it is unknown where, or by whom, an access is made."""
    what = f"{item.instruction.mnemonic} at {place(item.instruction)}"
    unknown = _unknown_address(item.address, values)
    if unknown is not None:
        _refuse(kernel, f"the address of {what} depends on {unknown.reason}")
    for taken in item.taken:
        unknown = _unknown(taken.condition)
        if unknown is not None:
            _refuse(kernel, f"whether {what} is executed depends on {unknown.reason}")


def _is_not_data(item: RawAccess) -> bool:
    """Data are the best reason that an access can have."""
    unknown = [_unknown(taken.condition) for taken in item.taken]
    if isinstance(item.address, Opaque):
        unknown.append(item.address)
    return not any(reason is not None and reason.is_data for reason in unknown)


def _unknown_address(address: Value, values: LaunchValues) -> Opaque | None:
    if isinstance(address, Opaque):
        return address
    if not isinstance(address, AddressExpression):
        return Opaque("a predicate")
    derived = sorted(address.variables & values.derived.keys())
    if not derived:
        return None
    instruction = values.derived[derived[0]].instruction
    return Opaque(f"{instruction.mnemonic} at {place(instruction)}, which is not affine")


def _unknown(condition: Condition) -> Opaque | None:
    """The part that is not known."""
    if isinstance(condition, Opaque):
        return condition
    parts: Sequence[Condition] = condition.parts if isinstance(condition, AllOf | AnyOf) else ()
    return next((found for part in parts if (found := _unknown(part)) is not None), None)


def _refuse(kernel: Kernel, reason: str) -> NoReturn:
    raise ModelNotApplicable(f"kernel {kernel.name}: {reason}")
