"""The lines of the source at which most issue slots are lost."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.timing.stall_reasons import ISSUED, StallReason
from kernelcast.traces.trace import InstructionRow

__all__ = ["HotLine", "hot_lines"]

_MOST = 10
_REASONS = tuple(StallReason)


@dataclass(frozen=True, slots=True)
class HotLine:
    """`place` in the source that the kernel was compiled from, where that is known, else in the
    kernel's own; `mnemonic` is the instruction there that waits longest, `reason` what for mostly.

    `percent` of all issue slots: lost by warps whose next instruction is of that line.
    """

    place: str
    mnemonic: str
    percent: float
    reason: StallReason


def hot_lines(
    instructions: Iterable[InstructionRow],
    slots: npt.NDArray[np.int64],
    reasons: Collection[StallReason] = _REASONS,
) -> tuple[HotLine, ...]:
    """The first ten by what they lose for these reasons; `slots` of shape (instructions, reasons),
    the columns as `LaunchTiming.slots` has them with a last row for slots of no instruction."""
    columns = [reason.code for reason in reasons]
    lost = np.zeros_like(slots)
    lost[:, columns] = slots[:, columns]
    total = max(1, int(slots.sum()))
    by_line: dict[str, list[InstructionRow]] = {}
    for row in instructions:
        if lost[row.pc].any():
            by_line.setdefault(_place(row), []).append(row)
    found = []
    for place, rows in by_line.items():
        waits = lost[[row.pc for row in rows]]
        longest = rows[int(waits.sum(axis=1).argmax())]
        reason = _REASONS[int(waits.sum(axis=0).argmax()) - ISSUED - 1]
        share = 100 * int(waits.sum()) / total
        found.append(HotLine(place, longest.mnemonic, share, reason))
    return tuple(sorted(found, key=lambda line: -line.percent)[:_MOST])


def _place(row: InstructionRow) -> str:
    if row.origin_line:
        return f"{row.origin_file}:{row.origin_line}"
    return f"{row.file}:{row.line}" if row.line else row.mnemonic
