"""Copies in bulk and the waits for their mbarriers, within one warp.

A path does not say which mbarrier a copy tells of its bytes: it is taken to be that of the
`expect_tx` beside it, which programs put either before the copies of a phase or behind them, always
the same way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from kernelcast.simcore.timing.mbarrier_waits import MBARRIER_WAIT
from kernelcast.simcore.timing.pipelines import BULK_COPY
from kernelcast.traces.trace import InstructionRow
from kernelcast.traces.warp_paths import WarpPaths

__all__ = ["BulkWait", "bulk_waits"]

_EXPECTS = ".expect_tx"


class _Part(Enum):
    COPY = "copy"
    EXPECT = "expect"
    LOOK = "look"


@dataclass(frozen=True)
class BulkWait:
    """The event of a wait, and those of the copies by the same warp that it waits for."""

    look: int
    copies: tuple[int, ...]


def bulk_waits(instructions: Sequence[InstructionRow], paths: WarpPaths) -> Iterator[BulkWait]:
    """Waits without copies are left out; paths have one look for each wait. A copy that was waited
    for is not waited for again."""
    parts = {row.pc: part for row in instructions if (part := _part(row)) is not None}
    if set(parts.values()) != set(_Part):
        return
    relevant = np.zeros(len(instructions), np.bool_)
    relevant[list(parts)] = True
    events = np.flatnonzero(relevant[paths.pc])
    for first, end in zip(paths.start[:-1], paths.start[1:], strict=True):
        own = events[np.searchsorted(events, first) : np.searchsorted(events, end)]
        steps = [(event, parts[int(paths.pc[event])]) for event in own.tolist()]
        warp = _Warp(_expects_first(steps))
        for event, part in steps:
            if (copies := warp.step(event, part, int(paths.address[event]))) is not None:
                yield BulkWait(event, copies)


def _part(row: InstructionRow) -> _Part | None:
    if row.opcode == MBARRIER_WAIT:
        return _Part.LOOK
    if row.opcode == BULK_COPY and row.kind == "load" and not row.is_part:
        return _Part.COPY
    return _Part.EXPECT if row.kind == "atomic" and _EXPECTS in row.mnemonic else None


def _expects_first(steps: Sequence[tuple[int, _Part]]) -> bool:
    return next((part for _, part in steps if part is not _Part.LOOK), None) is _Part.EXPECT


@dataclass
class _Warp:
    """What one warp has begun; `pending` by the address of the mbarrier."""

    expects_first: bool
    mbarrier: int | None = None
    loose: list[int] = field(default_factory=list)
    pending: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))

    def step(self, event: int, part: _Part, address: int) -> tuple[int, ...] | None:
        match part:
            case _Part.LOOK:
                return tuple(self.pending.pop(address, ())) or None
            case _Part.EXPECT:
                self.mbarrier = address
                self.pending[address] += self.loose
                self.loose = []
            case _Part.COPY if self.expects_first and self.mbarrier is not None:
                self.pending[self.mbarrier].append(event)
            case _Part.COPY:
                self.loose.append(event)
        return None
