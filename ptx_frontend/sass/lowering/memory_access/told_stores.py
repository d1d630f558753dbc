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
from kernelcast.simcore.isa.ir.bulk_operations import CHUNK_BYTES
from kernelcast.simcore.isa.ir.kernel import Address, Immediate, Operand
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__: list[str] = []


@lowers("UGETNEXTWORKID")
def lower_request_for_work(site: Site) -> None:
    """`[answer], [mbarrier]`: a thread block that has not begun, which is always declined."""
    if not site.take("SELFCAST"):
        raise site.refuse("an answer for all thread blocks of a cluster")
    answer, barrier = (site.in_register(site.word(named_register(site, n)), 32) for n in range(2))
    with once(site):
        zeros = [Immediate(0)] * 4
        place = Address(AddressSpace.SHARED, answer, 0)
        site.store(ScalarType.B32, place, zeros, is_main=True)
        complete_transactions(site, Address(AddressSpace.SHARED, barrier, 0), CHUNK_BYTES)


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
