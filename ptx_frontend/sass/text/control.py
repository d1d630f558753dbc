"""The control bits of an instruction of Volta and newer GPUs: how the assembler scheduled it.

They stand in bits 105 to 125 of the 128: stall cycles (4 bits), yield (1), the scoreboard that is
released when the result is written (3), the one that is released when the operands have been read
(3), the scoreboards that are waited for (6), and the operands whose values stay in the reuse cache
(4). Found by comparing compiler output with its dependences (docs/sass.md).
"""

from __future__ import annotations

from kernelcast.simcore.isa.ir.machine_code import SCOREBOARDS, IssueControl

__all__ = ["control_of"]

_FIRST_BIT = 105
_NO_SCOREBOARD = 7


def control_of(encoding: int, address: int = 0, bank_reads: tuple[int, ...] = ()) -> IssueControl:
    """The control bits of a 128-bit encoding at an address of its section."""
    bits = encoding >> _FIRST_BIT
    write, read = bits >> 5 & 7, bits >> 8 & 7
    waits = bits >> 11 & 0x3F
    return IssueControl(
        address=address,
        stall_cycles=bits & 0xF,
        # the bit is set where the scheduler is to stay with the warp
        yields=not bits >> 4 & 1,
        written=None if write == _NO_SCOREBOARD else write,
        read=None if read == _NO_SCOREBOARD else read,
        waits=tuple(number for number in range(SCOREBOARDS) if waits >> number & 1),
        reuse=bits >> 17 & 0xF,
        bank_reads=bank_reads,
    )
