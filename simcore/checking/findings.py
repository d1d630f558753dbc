"""What a checked launch did wrong, as the follower notes it and as a report tells it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from kernelcast.errors import SourceSpan
from kernelcast.simcore.checking.records import PC_BITS, STAMP_BITS, THREAD_SHIFT

__all__ = ["Finding", "Kind", "Raw", "Side"]


class Kind(Enum):
    """What is wrong; the value is what reports and suppressions call it."""

    RACE = "race"
    SAME_VALUE = "same-value-race"
    UNINITIALISED = "uninitialised"
    BOUNDS = "out-of-bounds"
    ASYNC = "async-copy"
    BARRIER = "barrier"
    WARP_MASK = "warp-mask"
    ACCESS = "memory-access"
    NOT_FINITE = "not-finite"
    OVERFLOW = "address-overflow"
    ENDLESS = "endless-loop"
    TRAP = "trap"

    @property
    def is_benign(self) -> bool:
        """Whether findings of the kind are told without being counted as errors."""
        return self is Kind.SAME_VALUE


@dataclass(frozen=True, slots=True)
class Side:
    """One of the accesses: what it did, who and where.

    `thread_block` and `thread` as (x, y, z); `span` in the source that was executed, `origin` where
    that was compiled from; `values`: what it read and wrote in words, empty where that is unknown.
    """

    what: str
    mnemonic: str
    thread_block: tuple[int, int, int] | None
    thread: tuple[int, int, int] | None
    span: SourceSpan | None
    origin: SourceSpan | None
    values: str = ""

    @property
    def place(self) -> SourceSpan | None:
        """Where a programmer looks: the source that was compiled, where it is known."""
        return self.origin or self.span


@dataclass(frozen=True, slots=True)
class Finding:
    """A defect: `first` is what was done before, None where there is nothing to say of it.

    `address` within `space`; `object` says what is there, empty where that is not known; `count`:
    how many accesses were found of the same kind at the same two places.
    """

    kind: Kind
    message: str
    space: str
    second: Side
    first: Side | None = None
    address: int | None = None
    object: str = ""
    count: int = 1


class Raw(NamedTuple):
    """A row of the follower.

    Threads are numbered over the grid from 1; `prior_*` is of the earlier access, 0 without one.
    `time`: of the warp that made the access, which tells it from others at the same pc.
    """

    kind: int
    thread: int
    pc: int
    stamp: int
    prior_thread: int
    prior_stamp: int
    prior_pc: int
    address: int
    space: int
    time: int

    @property
    def key(self) -> tuple[int, int, int]:
        """What findings at the same places have in common."""
        return self.kind, self.prior_pc, self.pc

    @staticmethod
    def of(row: list[int]) -> Raw:
        """The row that `report` has written."""
        kind, thread, pc, stamp, prior, address, space, time = row
        return Raw(
            kind,
            thread,
            pc,
            stamp,
            prior >> THREAD_SHIFT,
            (prior >> PC_BITS) & ((1 << STAMP_BITS) - 1),
            prior & ((1 << PC_BITS) - 1),
            address,
            space,
            time,
        )
