"""How a compiler has scheduled an instruction of machine code, and what that waits for."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["KM", "LGKM", "SCOREBOARDS", "VM", "VS", "IssueControl"]

SCOREBOARDS = 6
"""Scoreboards of a warp on NVIDIA GPUs since Maxwell."""
VM, LGKM, VS, KM = range(4)
"""Counters of a wavefront on AMD's GPUs: of vector memory, and of scalar and local memory.

RDNA counts stores to vector memory apart, in the third one, and RDNA 4 scalar loads in the last.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueControl:
    """What the control bits of an instruction say, on Volta and newer GPUs, or AMD's code.

    `address` in bytes from the beginning of the section of code. `stall_cycles`: cycles until the
    warp's next instruction may issue. `yields`: whether the scheduler is asked to turn to another
    warp. `written`, `read`: numbers of the scoreboards that the instruction holds until its result
    is there, until its operands are read. `waits`: scoreboards that must be free before it issues.
    `reuse`: a bit for each operand that is kept in the reuse cache. `bank_reads`: registers that
    the instruction reads of each bank of the register file, without those that the reuse cache has.

    AMD's code has no control bits. There an instruction is `bytes` long; it counts in `counters`
    until its result is there; a wait lets `left` of each counter go on, as many as there are
    counters, or does not wait where that is empty. What `is_interlocked` waits in hardware for the
    registers that it reads; later instructions wait for those that it writes, if no counter says
    when they are there.
    """

    address: int
    stall_cycles: int
    yields: bool
    written: int | None
    read: int | None
    waits: tuple[int, ...]
    reuse: int
    bank_reads: tuple[int, ...] = (0, 0)
    bytes: int = 16
    counters: tuple[int, ...] = ()
    left: tuple[int, ...] = ()
    is_interlocked: bool = False
