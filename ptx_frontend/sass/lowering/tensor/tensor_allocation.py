"""Who has which columns of tensor memory: UTCATOMSWS and UVIRTCOUNT of sm_100a.

PTX's `alloc` and `dealloc` are code: UTCATOMSWS takes or gives back units of 32 columns, and what
the code around it notes in reserved shared memory is there for its own checks.
"""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.lowering.tensor.tensor_memory import append_operation
from kernelcast.ptx_frontend.sass.text.operands import ImmediateOperand, RegisterOperand
from kernelcast.ptx_frontend.sass.text.statements import Statement
from kernelcast.simcore.isa.analysis.cluster_addresses import OFFSET_BITS
from kernelcast.simcore.isa.ir import mbarrier_words
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Guard,
    Immediate,
    Special,
    SpecialRegister,
)
from kernelcast.simcore.isa.matrix.tensor_memory import Allocation, AllocationStep
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["allocates_for_pair", "lower_pair_allocation", "names_reserved_memory"]

_WORD = ScalarType.U32
_RESERVED, _MBARRIER_BEHIND, _PHASE_BEHIND = 0x40, 0x8, 0x10
"""The place of what allocations note in shared memory, and of two words in it."""


@lowers("UTCATOMSWS")
def lower_allocation(site: Site) -> None:
    """`.FIND_AND_SET.ALIGN p, d, count` takes units, `.AND RZ, mask` gives back those not in it.

    Where none are left hardware says so in p, and the code around it waits for other thread
    blocks; here none shares the memory, and it is an error.
    """
    is_pair = site.take("2CTA")
    if site.take("AND"):
        if is_pair or not site.is_discarded(site.operand(0)):
            raise site.refuse("what was there before")
        mask = site.word(_register(site, 1))
        append_operation(site, Allocation(AllocationStep.KEEP), (), (mask,), (_WORD,))
        return
    if is_pair:
        raise site.refuse("columns of a pair of thread blocks")
    _find(site, is_pair=False)


def _find(site: Site, *, is_pair: bool) -> None:
    """`p, d, count`: units of 32 columns, the first of which is d."""
    if not (site.take("FIND_AND_SET") and site.take("ALIGN")):
        raise site.refuse()
    count = site.word(_register(site, 2))
    target = site.destination(site.operand(1))
    step = Allocation(AllocationStep.FIND, is_pair)
    append_operation(site, step, (target,), (count,), (_WORD,))
    site.part("mov.pred", site.destination(site.operand(0)), Immediate(1))


def _register(site: Site, position: int) -> RegisterOperand:
    operand = site.operand(position)
    if not isinstance(operand, RegisterOperand):
        raise site.refuse("an operand that is no register")
    return operand


def lower_pair_allocation(site: Site) -> None:
    """`.2CTA`: units that both thread blocks of a pair have left, asked for by the even one.

    The code around it tells the other one by mbarriers in reserved shared memory, which somebody
    has prepared before the kernel begins: each waits for one arrival, and the even thread block
    looks for the phase before the first. That is made up for here, the first time.
    """
    if not site.take("2CTA"):
        raise site.refuse()
    begun = site.compute("mov.b32", 32, Immediate(_RESERVED + _PHASE_BEHIND))
    own = site.compute("mov.b32", 32, Immediate(_RESERVED + _MBARRIER_BEHIND))
    rank = site.compute("mov.u32", 32, SpecialRegister(Special.CLUSTER_CTARANK))
    other = site.compute("xor.b32", 32, rank, Immediate(1))
    above = site.compute("add.u32", 32, other, Immediate(1))
    named = site.compute("shl.b32", 32, above, Immediate(OFFSET_BITS))
    theirs = site.compute("or.b32", 32, named, own)
    word = site.register(64)
    mine = Address(AddressSpace.SHARED, own, 0)
    site.load(ScalarType.B64, mine, [word])
    is_new = site.compute("setp.eq.u64", 1, word, Immediate(0))
    guard, held = site.guard, is_new
    if guard is not None:
        raise site.refuse("an allocation under a guard")
    site.guard = Guard(held, negated=False)
    prepared = Immediate(mbarrier_words.initial_word(1))
    site.store(ScalarType.B64, mine, [prepared])
    site.store(ScalarType.B64, Address(AddressSpace.SHARED, theirs, 0), [prepared])
    site.store(ScalarType.B32, Address(AddressSpace.SHARED, begun, 0), [Immediate(1)])
    site.guard = None
    _find(site, is_pair=True)


def allocates_for_pair(statement: Statement) -> bool:
    """Whether the statement looks for columns of two thread blocks."""
    return statement.opcode == "UTCATOMSWS" and "2CTA" in statement.modifiers


def names_reserved_memory(statement: Statement) -> bool:
    """Whether the statement moves the place of what an allocation notes, as found in sm_100a."""
    return statement.opcode in ("MOV", "UMOV") and any(
        isinstance(operand, ImmediateOperand) and operand.value == _RESERVED
        for operand in statement.operands
    )


@lowers("UVIRTCOUNT")
def lower_permit(site: Site) -> None:
    """`.DEALLOC.SMPOOL n`, found where a thread block gives up to allocate: nothing is computed."""
    if not (site.take("DEALLOC") and site.take("SMPOOL")):
        raise site.refuse()
    if not isinstance(site.operand(0), ImmediateOperand):
        raise site.refuse("a number in a register")
    site.nothing()
