"""The listing of the code that was executed, and what each of its lines costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kernelcast.report.details.slots import reason_name
from kernelcast.simcore.timing.kernel.stall_reasons import ISSUED, StallReason

if TYPE_CHECKING:
    from kernelcast.models.slot_account import SlotAccount
    from kernelcast.simcore.profile.instruction_use import InstructionUse
    from kernelcast.traces.trace import InstructionRow

__all__ = ["instructions_record"]

Ints = npt.NDArray[np.int64]

_COUNTS = (
    *("warps", "threads", "requests", "sectors", "ideal_sectors", "l1_hits", "l2_sectors"),
    *("dram_transactions", "passes", "ideal_passes"),
)
_EXECUTIONS = ("warps", "threads")
"""Counts of which the parts of an instruction have none of their own."""
_REASONS = tuple(StallReason)


def instructions_record(use: InstructionUse, account: SlotAccount | None) -> dict[str, Any]:
    """Columns of equal length, a row for each line of code in its order.

    What several instructions of the intermediate form do for one line is added up. `slots_issued`,
    `slots_lost` and `warp_cycles_stalled` are those of one SM; `stalls` has the slots lost by
    reason.
    """
    lines = _lines(use.rows)
    first = [rows[0] for rows in lines]
    of_row = np.zeros(len(use.rows), np.intp)
    for number, rows in enumerate(lines):
        of_row[[row.pc for row in rows]] = number
    found: dict[str, Any] = {
        "line": [row.line for row in first],
        "text": [row.text or row.mnemonic for row in first],
        "unit": [row.unit for row in first],
        "basic_block": [row.basic_block for row in first],
        "file": [row.file for row in first],
        "ptx_line": [row.ptx_line for row in first],
        "ptx_text": [row.ptx_text for row in first],
        "source_file": [_source(row)[0] for row in first],
        "source_line": [_source(row)[1] for row in first],
    }
    is_listed = np.array([bool(row.line) for row in use.rows], np.bool_)
    is_whole = is_listed & np.array([row.is_source for row in use.rows], np.bool_)
    for name in _COUNTS:
        chosen = is_whole if name in _EXECUTIONS else is_listed
        found[name] = _summed(getattr(use, name), of_row, chosen, len(lines))
    if account is not None:
        found |= _slots(account, of_row, len(lines))
    return found


def _lines(rows: Sequence[InstructionRow]) -> list[list[InstructionRow]]:
    """The instructions of each line of the listing, in the order of lines; its own one first."""
    found: dict[tuple[str, int], list[InstructionRow]] = {}
    for row in rows:
        if row.line:
            found.setdefault((row.file, row.line), []).append(row)
    for of_line in found.values():
        of_line.sort(key=lambda row: (not row.is_source, row.pc))
    return [found[key] for key in sorted(found)]


def _source(row: InstructionRow) -> tuple[str, int]:
    """The place in a higher-level source than PTX; empty where there is none."""
    is_ptx = bool(row.ptx_line) and row.file.startswith(f"{row.origin_file}[")
    return ("", 0) if is_ptx else (row.origin_file, row.origin_line)


def _summed(
    counts: Ints, of_row: npt.NDArray[np.intp], chosen: npt.NDArray[np.bool_], lines: int
) -> list[int]:
    """Counts by line, those of the chosen instructions."""
    found = np.zeros(lines, np.int64)
    np.add.at(found, of_row[chosen], counts[chosen])
    return [int(value) for value in found]


def _slots(account: SlotAccount, of_row: npt.NDArray[np.intp], lines: int) -> dict[str, Any]:
    pcs = min(len(of_row), len(account.slots) - 1)
    slots = np.zeros((lines, account.slots.shape[1]), np.int64)
    stalled = np.zeros((lines, account.warp_cycles.shape[1]), np.int64)
    np.add.at(slots, of_row[:pcs], account.slots[:pcs])
    np.add.at(stalled, of_row[:pcs], account.warp_cycles[:pcs])
    codes = [reason.code for reason in _REASONS]
    return {
        "slots_issued": slots[:, ISSUED].tolist(),
        "slots_lost": slots[:, codes].sum(axis=1).tolist(),
        "warp_cycles_stalled": stalled[:, codes].sum(axis=1).tolist(),
        "stalls": [_by_reason(row) for row in slots],
    }


def _by_reason(row: Ints) -> dict[str, int]:
    found = {reason_name(reason): int(row[reason.code]) for reason in _REASONS if row[reason.code]}
    return dict(sorted(found.items(), key=lambda item: -item[1]))
