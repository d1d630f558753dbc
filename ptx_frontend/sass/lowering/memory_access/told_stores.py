"""Stores and reductions that tell an mbarrier, and requests for work: STAS, REDAS, UGETNEXTWORKID.

Each is done at once; then its bytes have come to the mbarrier.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.ptx_frontend.sass.lowering.memory_access.mbarriers import complete_transactions
from kernelcast.ptx_frontend.sass.lowering.memory_access.tensor_copies import (
    REDUCTIONS,
    named_register,
)
from kernelcast.ptx_frontend.sass.lowering.once_per_warp import once
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import MemoryOperand, RegisterOperand
from kernelcast.simcore.isa.analysis.cluster_addresses import OFFSET_BITS, OFFSET_MASK
from kernelcast.simcore.isa.ir.bulk_operations import CHUNK_BYTES
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Guard,
    Immediate,
    Operand,
    Register,
    Special,
    SpecialRegister,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__: list[str] = []

_MOST_RANKS = 16


@lowers("UGETNEXTWORKID")
def lower_request_for_work(site: Site) -> None:
    """`[answer], [mbarrier]`: a thread block that has not begun, which is always declined.

    `.BROADCAST` tells all thread blocks of the cluster, each in its own shared memory.
    """
    is_of_cluster = site.take("BROADCAST")
    if not is_of_cluster and not site.take("SELFCAST"):
        raise site.refuse()
    answer, barrier = (site.in_register(site.word(named_register(site, n)), 32) for n in range(2))
    with once(site):
        if not is_of_cluster:
            _decline(site, answer, barrier, is_main=True)
            return
        site.fence()
        _decline_all(site, answer, barrier)


def _decline(site: Site, answer: Register, barrier: Register, *, is_main: bool = False) -> None:
    place = Address(AddressSpace.SHARED, answer, 0)
    site.store(ScalarType.B32, place, [Immediate(0)] * 4, is_main=is_main)
    complete_transactions(site, Address(AddressSpace.SHARED, barrier, 0), CHUNK_BYTES)


def _decline_all(site: Site, answer: Register, barrier: Register) -> None:
    chosen = site.guard
    assert chosen is not None
    count = site.compute("mov.u32", 32, SpecialRegister(Special.CLUSTER_NCTARANK))
    within = [
        site.compute("and.b32", 32, place, Immediate(OFFSET_MASK)) for place in (answer, barrier)
    ]
    for rank in range(_MOST_RANKS):
        is_there = site.compute("setp.gt.u32", 1, count, Immediate(rank))
        both = site.compute("and.pred", 1, chosen.register, is_there)
        named = Immediate(rank + 1 << OFFSET_BITS)
        there = [site.compute("or.b32", 32, offset, named) for offset in within]
        site.guard = Guard(both, negated=False)
        _decline(site, *there)
        site.guard = chosen


_WIDTHS: dict[str, tuple[ScalarType, int]] = {
    "64": (ScalarType.B32, 2),
    "128": (ScalarType.B32, 4),
}


@lowers("STAS")
def lower_told_store(site: Site) -> None:
    """`[place and mbarrier], a`: the bytes come to the mbarrier in the second register."""
    type_, count = site.choose(_WIDTHS, (ScalarType.B32, 1))
    values: Sequence[Operand] = site.words(site.operand(1), count)
    place, barrier = _told(site)
    site.store(type_, place, values, is_main=True)
    complete_transactions(site, barrier, count * type_.bytes)


@lowers("REDAS")
def lower_told_reduction(site: Site) -> None:
    """`[place and mbarrier], a`."""
    reduction = site.choose(REDUCTIONS, "")
    is_wide, is_signed = site.take("64", "U64", "S64"), site.take("S32", "S64")
    if not reduction:
        raise site.refuse("what it does with the memory")
    bits = 64 if is_wide else 32
    kind = "b" if reduction in ("and", "or", "xor") else "s" if is_signed else "u"
    value = site.pair(site.operand(1)) if is_wide else site.word(site.operand(1))
    place, barrier = _told(site)
    site.atomic(reduction, ScalarType.named(f"{kind}{bits}"), place, value, is_main=True)
    complete_transactions(site, barrier, bits // 8)


def _told(site: Site) -> tuple[Address, Address]:
    """The place of a store and its mbarrier, both in a thread block of the cluster."""
    operand = site.operand(0)
    base = operand.base if isinstance(operand, MemoryOperand) else None
    if base is None or base.number is None:
        raise site.refuse("a place that is no pair of registers")
    first, second = (
        site.in_register(site.word(RegisterOperand(base.file, base.number + n)), 32)
        for n in range(2)
    )
    assert isinstance(operand, MemoryOperand)
    if operand.offset:
        raise site.refuse("a place with an offset")
    return Address(AddressSpace.SHARED, first, 0), Address(AddressSpace.SHARED, second, 0)
