"""The lines of the source at which most issue slots are lost, or warps are stalled longest."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.timing.kernel.stall_reasons import ISSUED, StallReason
from kernelcast.traces.trace import InstructionRow

__all__ = ["HotLine", "hot_lines"]

_MOST = 10
_REASONS = tuple(StallReason)
_FOR_DATA = frozenset(
    {
        *(StallReason.SHARED_DEPENDENCY, StallReason.CONSTANT_DEPENDENCY),
        *(StallReason.L1_LATENCY, StallReason.L2_LATENCY, StallReason.DRAM_LATENCY),
        *(StallReason.L2_BANDWIDTH, StallReason.DRAM_BANDWIDTH),
    }
)
_NO_LOADS: Mapping[int, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class HotLine:
    """A line of the source, and what is lost there.

    `place` in the source that the kernel was compiled from, where that is known, else in the
    kernel's own; `mnemonic` is the instruction there that waits longest, `reason` what for mostly.
    `percent` of all slots, or of all cycles of warps: lost by warps whose next instruction is of
    that line. `load`: the place whose data they wait for, where they wait for any.
    """

    place: str
    mnemonic: str
    percent: float
    reason: StallReason
    load: str = ""


def hot_lines(
    instructions: Iterable[InstructionRow],
    account: npt.NDArray[np.int64],
    reasons: Collection[StallReason] = _REASONS,
    loads: Mapping[int, int] = _NO_LOADS,
) -> tuple[HotLine, ...]:
    """The first ten lines by what they lose for these reasons.

    `account`: rows by pc, a last one for no instruction, and columns as `LaunchTiming.slots` or
    `LaunchTiming.warp_cycles` has them; `loads` by pc: the one whose data it waits for.
    """
    instructions = list(instructions)
    columns = [reason.code for reason in reasons]
    lost = np.zeros_like(account)
    lost[:, columns] = account[:, columns]
    total = max(1, int(account.sum()))
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
        load = loads.get(longest.pc) if reason in _FOR_DATA else None
        source = "" if load is None else _named(instructions[load])
        found.append(HotLine(place, longest.mnemonic, share, reason, source))
    return tuple(sorted(found, key=lambda line: -line.percent)[:_MOST])


def _named(row: InstructionRow) -> str:
    place = _place(row)
    return place if place == row.mnemonic else f"{place} ({row.mnemonic})"


def _place(row: InstructionRow) -> str:
    if row.origin_line:
        return f"{row.origin_file}:{row.origin_line}"
    return f"{row.file}:{row.line}" if row.line else row.mnemonic
