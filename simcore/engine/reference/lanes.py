"""The registers of a batch of thread blocks, and one run of a basic block under a mask.

A register is an array over all lanes of the batch, or a scalar while all lanes agree. Registers are
untyped bits; `reinterpret` and `as_bits` translate at each instruction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.recording.patterns import LaneGroups
from kernelcast.simcore.isa.ir.kernel import Register, Special
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["Frame", "GuardedFrame", "Lanes", "RegisterFile", "as_bits", "reinterpret"]

Lanes: TypeAlias = Any
"""A NumPy array of shape (lanes,), or a NumPy scalar when all lanes agree."""

_BITS: dict[int, np.dtype[Any]] = {
    1: np.dtype(np.bool_),
    8: np.dtype(np.uint8),
    16: np.dtype(np.uint16),
    32: np.dtype(np.uint32),
    64: np.dtype(np.uint64),
}


def reinterpret(value: Lanes, bits: int, read_as: ScalarType) -> Lanes:
    """A register's bits as a type: the low bits of a wider register, zeros above a narrower."""
    if bits != read_as.bits:
        value = value.astype(read_as.storage)
    return value if value.dtype == read_as.dtype else value.view(read_as.dtype)


def as_bits(value: Lanes, written_as: ScalarType, bits: int) -> Lanes:
    """A result as the bits of a register: sign- or zero-extended by its type when that is wider."""
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype != written_as.dtype:
        value = np.asarray(value).astype(written_as.dtype)[()]
    if bits != written_as.bits:
        wide = _BITS[bits]
        if written_as.is_signed:
            wide = np.dtype(f"i{wide.itemsize}")
        value = (value if written_as.is_integer else value.view(written_as.storage)).astype(wide)
    return value if value.dtype == _BITS[bits] else value.view(_BITS[bits])


class RegisterFile:
    """Values of all registers of a batch. `constant` registers hold one value for the launch."""

    def __init__(
        self,
        registers: tuple[Register, ...],
        lanes: int,
        width: int,
        constant: frozenset[int],
        special: Callable[[Special], Lanes],
    ) -> None:
        self.lanes = lanes
        self.width = width
        self.values: dict[int, Lanes] = {r.index: _BITS[r.bits].type(0) for r in registers}
        self.special = special
        self._constant = constant
        # Registers whose array nobody else refers to: only these may be changed in place.
        self._private: set[int] = set()

    def assign(self, register: Register, value: Lanes, sources: tuple[Register, ...] = ()) -> None:
        """Gives all lanes the value; `sources` may share memory with it from now on."""
        self.values[register.index] = value
        self._private.discard(register.index)
        self._private.difference_update(s.index for s in sources)

    def scatter(self, register: Register, lanes: npt.NDArray[np.intp], value: Lanes) -> None:
        """Only `lanes` get the value."""
        index = register.index
        if index in self._constant and np.ndim(value) == 0:
            self.values[index] = value
            return
        old = self.values[index]
        if index not in self._private:
            old = np.full(self.lanes, old) if np.ndim(old) == 0 else old.copy()
            self.values[index] = old
            self._private.add(index)
        old[lanes] = value


class LaneView(Protocol):
    """Some active lanes of a batch: what an instruction sees."""

    count: int

    @property
    def lanes(self) -> npt.NDArray[np.intp] | None:
        """Positions in the batch, ascending; None for every lane of the batch."""

    @property
    def groups(self) -> LaneGroups | None:
        """The active lanes by warp; None for every lane of the batch."""

    def read(self, register: Register) -> Lanes:
        """The register's bits in the active lanes."""

    def special(self, which: Special) -> Lanes:
        """The special register's values in the active lanes."""

    def write(self, register: Register, value: Lanes, sources: tuple[Register, ...] = ()) -> None:
        """Writes a register in the active lanes; `sources` are what the value was made of."""


class Frame:
    """One run of one basic block. Registers that die in it never reach the register file."""

    def __init__(
        self,
        file: RegisterFile,
        lanes: npt.NDArray[np.intp] | None,
        live_out: frozenset[int],
    ) -> None:
        self.lanes = lanes
        self.count = file.lanes if lanes is None else len(lanes)
        self.width = file.width
        self._file = file
        self._groups: LaneGroups | None = None
        self._live_out = live_out
        self._local: dict[int, Lanes] = {}

    @property
    def groups(self) -> LaneGroups | None:
        """The active lanes by warp; None for every lane of the batch."""
        if self._groups is None and self.lanes is not None:
            self._groups = LaneGroups(self.lanes, self.width)
        return self._groups

    def read(self, register: Register) -> Lanes:
        """The register's bits in the active lanes, from this frame if it wrote them."""
        if self.lanes is None:
            return self._file.values[register.index]
        value = self._local.get(register.index)
        if value is None:
            value = self._file.values[register.index]
            if np.ndim(value):
                value = value[self.lanes]
            self._local[register.index] = value
        return value

    def special(self, which: Special) -> Lanes:
        """The special register's values in the active lanes; a scalar where all have one."""
        value = self._file.special(which)
        return value if self.lanes is None or np.ndim(value) == 0 else value[self.lanes]

    def write(self, register: Register, value: Lanes, sources: tuple[Register, ...] = ()) -> None:
        """Writes a register; only values that are live after the basic block reach the file."""
        if self.lanes is None:
            self._file.assign(register, value, sources)
            return
        self._local[register.index] = value
        if register.index in self._live_out:
            self._file.scatter(register, self.lanes, value)


class GuardedFrame:
    """The lanes of a frame where a guard predicate holds; `chosen` are positions in the frame."""

    def __init__(self, frame: Frame, chosen: npt.NDArray[np.intp]) -> None:
        self._frame = frame
        self._chosen = chosen
        self.count = len(chosen)

    @property
    def lanes(self) -> npt.NDArray[np.intp]:
        """Numbers in the batch of the lanes where the guard holds."""
        return self._chosen if self._frame.lanes is None else self._frame.lanes[self._chosen]

    @property
    def groups(self) -> LaneGroups:
        """The lanes where the guard holds, by warp."""
        return LaneGroups(self.lanes, self._frame.width)

    def read(self, register: Register) -> Lanes:
        """The register's bits where the guard holds."""
        return self._select(self._frame.read(register))

    def special(self, which: Special) -> Lanes:
        """The special register's values where the guard holds."""
        return self._select(self._frame.special(which))

    def write(self, register: Register, value: Lanes, sources: tuple[Register, ...] = ()) -> None:
        """Writes where the guard holds; the other lanes of the frame keep what they had."""
        merged = np.array(np.broadcast_to(self._frame.read(register), (self._frame.count,)))
        merged[self._chosen] = value
        self._frame.write(register, merged, sources)

    def _select(self, value: Lanes) -> Lanes:
        return value if np.ndim(value) == 0 else value[self._chosen]
