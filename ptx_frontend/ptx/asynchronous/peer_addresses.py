"""Addresses in the even one of a pair of thread blocks, made by clearing a bit.

On hardware an address in shared memory of a cluster holds the rank of its thread block from bit 24
on; CUTLASS names the leader of a pair by `address & 0xFEFFFFFF`. Addresses here hold no rank of
their own, so that the mask is looked for where such an address is used.
"""

from __future__ import annotations

from kernelcast.ptx_frontend.ptx.lowering.instruction_parts import InstructionParts
from kernelcast.simcore.isa.analysis.cluster_addresses import OFFSET_BITS, OFFSET_MASK
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Compute,
    Immediate,
    Register,
    Special,
    SpecialRegister,
)

__all__ = ["clears_peer_bit", "mbarrier_address"]

_CLEARED = 0xFFFFFFFF & ~(1 << OFFSET_BITS)


def clears_peer_bit(instruction: Compute) -> bool:
    """Whether the instruction masks 32 bits as CUTLASS does."""
    is_mask = instruction.opcode.name == "and" and Immediate(_CLEARED) in instruction.sources
    return is_mask and instruction.guard is None


def mbarrier_address(code: InstructionParts, place: Address) -> Register:
    """A number of 64 bits, with the rank of the leader where the address was masked."""
    address = code.address_register(place)
    if place.base not in code.site.names.leaders:
        return address
    rank = code.compute("mov.u32", 32, SpecialRegister(Special.CLUSTER_CTARANK))
    even = code.compute("and.b32", 32, rank, Immediate(0xFFFFFFFE))
    above = code.compute("add.u32", 32, even, Immediate(1))
    above = code.compute("shl.b32", 32, above, Immediate(OFFSET_BITS))
    within = code.compute("and.b64", 64, address, Immediate(OFFSET_MASK))
    return code.compute("or.b64", 64, within, code.compute("cvt.u64.u32", 64, above))
