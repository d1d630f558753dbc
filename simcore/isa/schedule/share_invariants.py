"""Divisions whose reciprocal native code has computed before.

The first half of an integer division depends on the divisor alone. ptxas computes it once for
several divisions by one register in a piece of code, and in front of a loop that does not change
the divisor.
"""

from __future__ import annotations

from kernelcast.simcore.isa.analysis.control_flow import dominators, writes
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import Compute, Kernel, Register
from kernelcast.simcore.isa.opcodes.columns import Algebra
from kernelcast.simcore.isa.schedule.register_facts import register_facts

__all__ = ["SHARED", "shared_sequences"]

SHARED = "shared"
"""What names of sequences end with that find the reciprocal computed."""
_DIVISIONS = (Algebra.QUOTIENT, Algebra.REMAINDER)
_BITS = 32


@once_per_kernel
def shared_sequences(kernel: Kernel) -> tuple[tuple[int, str], ...]:
    """(pc, name of its sequence) of each division of 32 bits that need not divide any more."""
    once, above = (
        register_facts(kernel).written_once,
        dominators([block.successors for block in kernel.blocks]),
    )
    loops = _loops(kernel)
    known: dict[tuple[int, str], list[tuple[int, int]]] = {}
    found = []
    for block in kernel.blocks:
        for item in block.body:
            divisor = _divisor(item) if isinstance(item, Compute) else None
            if divisor is None or divisor not in once:
                continue
            assert isinstance(item, Compute)
            earlier = known.setdefault((divisor, item.type.ptx_name), [])
            is_known = any(other in above[block.index] for other, _ in earlier)
            if is_known or any(
                block.index in body and divisor not in changed for body, changed in loops
            ):
                found.append((item.pc, f"{item.opcode.name}.{item.type.ptx_name}.{SHARED}"))
            earlier.append((block.index, item.pc))
    return tuple(found)


def _divisor(item: Compute) -> int | None:
    is_division = item.opcode.algebra in _DIVISIONS and item.type.is_integer
    if not is_division or item.type.bits != _BITS or len(item.sources) != 2:
        return None
    divisor = item.sources[1]
    return divisor.index if isinstance(divisor, Register) else None


def _loops(kernel: Kernel) -> list[tuple[frozenset[int], frozenset[int]]]:
    """The basic blocks of each loop, and the registers that it changes."""
    found = []
    for latch in kernel.blocks:
        for header in latch.successors:
            if header <= latch.index:
                body = frozenset(range(header, latch.index + 1))
                changed = frozenset(
                    register.index
                    for block in body
                    for item in kernel.blocks[block].body
                    for register in writes(item)
                )
                found.append((body, changed))
    return found
