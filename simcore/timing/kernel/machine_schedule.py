"""How the assembler has scheduled a kernel of machine code, as the timing simulator is told it.

NVIDIA's assembler counts the cycles of units whose latency is fixed, and has the warp stall for
them; what takes an unknown time holds a scoreboard, which later instructions wait for (Huerta et
al. 2025, "Analyzing Modern NVIDIA GPU Cores", arXiv:2503.20481, section 4). So registers do not
matter here: scoreboards take their place, and only those. Of AMD's code it is the turns of a SIMD,
and counters (`wait_counters`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.timing_facts import TimingFacts
from kernelcast.simcore.timing.kernel.amd_rows import is_second_access, vector_turns
from kernelcast.traces.issue_control import IssueControl
from kernelcast.traces.trace import InstructionRow

__all__ = ["MachineSchedule", "is_scheduled", "machine_schedule", "owners", "scoreboards"]

Ints = npt.NDArray[np.int64]
_NONE = -1
_BANKS = 2
_WIDE_PRODUCT = "IMAD.WIDE"


@dataclass(frozen=True)
class MachineSchedule:
    """Columns by pc, shape (instructions,), of what the control bits say.

    `stall_cycles`: cycles until the warp's next instruction may issue, at least 1. `yields`:
    whether the scheduler turns to another warp; `read`: the scoreboard that is held until
    operands are read, -1 for none; `address` of the code in bytes; `bank_reads`: registers read of
    each bank, shape (instructions, 2); `unit_turns`: how many times as long as others an
    instruction takes its unit; `bytes` of its code. What is part of another instruction has the
    address of that, and stalls nobody.
    """

    stall_cycles: Ints
    yields: npt.NDArray[np.bool_]
    read: Ints
    address: Ints
    bank_reads: Ints
    unit_turns: Ints
    bytes: Ints

    def of(self, source: npt.NDArray[np.intp]) -> MachineSchedule:
        """The columns of the instructions `source`, one after the other."""
        return MachineSchedule(
            **{item.name: getattr(self, item.name)[source] for item in fields(self)}
        )


def machine_schedule(rows: Sequence[InstructionRow], timing: TimingFacts) -> MachineSchedule | None:
    """The schedule of a kernel; None where it is no machine code that says how it is scheduled."""
    if not is_scheduled(rows):
        return None
    controls = [_control(row, owner) for row, owner in zip(rows, owners(rows), strict=True)]
    return MachineSchedule(
        stall_cycles=np.maximum(1, _stall_cycles(rows, controls)),
        yields=np.array([item.yields for item in controls], np.bool_),
        read=np.array([_NONE if item.read is None else item.read for item in controls], np.int64),
        address=np.array([item.address for item in controls], np.int64),
        unit_turns=np.array([_unit_turns(row, timing) for row in rows], np.int64),
        bytes=np.array([item.bytes for item in controls], np.int64),
        bank_reads=np.array(
            [(*item.bank_reads, *(0,) * _BANKS)[:_BANKS] for item in controls], np.int64
        ),
    )


def is_scheduled(rows: Sequence[InstructionRow]) -> bool:
    """Whether a kernel is machine code that says how it is scheduled."""
    return any(row.control is not None for row in rows)


def scoreboards(
    rows: Sequence[InstructionRow],
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Scoreboards that each instruction waits for, and the one that its result frees.

    An access that is part of an instruction holds what the instruction holds. Registers take their
    place where hardware looks after them.
    """
    if any(row.control is not None and row.control.is_interlocked for row in rows):
        return _interlocked(rows)
    waits = [() if row.control is None else row.control.waits for row in rows]
    return waits, [_held(owner.control) for owner in owners(rows)]


def _interlocked(
    rows: Sequence[InstructionRow],
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Registers that each instruction reads, and those that it writes without a counter."""
    controls = [(row, row.control) for row in rows]
    reads = [row.reads if control is not None else () for row, control in controls]
    return reads, [
        row.writes if control is not None and not control.counters else ()
        for row, control in controls
    ]


def _stall_cycles(rows: Sequence[InstructionRow], controls: Sequence[IssueControl]) -> Ints:
    """The stall of each row: the second access of an instruction has what its first one leaves."""
    found = np.array([item.stall_cycles for item in controls], np.int64)
    for row, owner in zip(rows, owners(rows), strict=True):
        if row is not owner and is_second_access(row):
            found[row.pc] = found[owner.pc] - 1
            found[owner.pc] = 1
    return found


def _held(control: IssueControl | None) -> tuple[int, ...]:
    return () if control is None or control.written is None else (control.written,)


def _control(row: InstructionRow, owner: InstructionRow) -> IssueControl:
    if row.control is not None:
        return row.control
    address = 0 if owner.control is None else owner.control.address
    return IssueControl(
        address=address, stall_cycles=0, yields=False, written=None, read=None, waits=(), reuse=0
    )


def owners(rows: Sequence[InstructionRow]) -> list[InstructionRow]:
    """The instruction that each row is part of: the nearest one of the same place, or itself."""
    whole: dict[tuple[str, int], list[int]] = {}
    for row in rows:
        if row.control is not None:
            whole.setdefault((row.file, row.line), []).append(row.pc)
    return [
        row if row.control is not None else _nearest(rows, row, whole.get((row.file, row.line), []))
        for row in rows
    ]


def _nearest(
    rows: Sequence[InstructionRow], row: InstructionRow, pcs: Sequence[int]
) -> InstructionRow:
    return rows[min(pcs, key=lambda pc: abs(pc - row.pc), default=row.pc)]


def _unit_turns(row: InstructionRow, timing: TimingFacts) -> int:
    """Products of 64 bits take the unit twice as long as those of 32; AMD's lanes have their rates.

    The assembler puts four cycles between two of them in simulation/monte_carlo, sm_75 to sm_90.
    So timed it takes 13 % less than on an H100, and 36 % less if they took two as those of 32 bits.
    """
    if row.mnemonic.startswith(_WIDE_PRODUCT):
        return 2
    return 1 if row.control is None else vector_turns(row, timing)
