"""SYNCS: barriers in shared memory that count arrivals and bytes (Hopper).

Which form is which instruction of PTX was found by compiling each (sm_90a, sm_100a). `.A1T0`,
`.ART0` and the plain form arrive: once, as often as the register says, and once with the
register's bytes expected; `.A0TR` and `.A0TX` tell of bytes only, that are expected or have come.
`.TMASK` gives a mask of lanes in place of the lower word. `.OPTOUT` drops the arrivals from later
phases, `.RED` gives no state and takes mbarriers of other thread blocks of the cluster.
`SYNCS.EXCH.64` sets the word, which the statements before compute.
"""

from __future__ import annotations

from kernelcast.ptx_frontend.instruction_writer import InstructionWriter
from kernelcast.ptx_frontend.sass.lowering.memory_access.addresses import address_of
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.simcore.isa.ir import mbarrier_words
from kernelcast.simcore.isa.ir.kernel import Address, Immediate, Operand
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["arrive_for_copies", "complete_transactions"]

_WORD = ScalarType.B64
_MASK = (1 << 64) - 1
_KINDS = {"A1T0": (1, 0), "ART0": (None, 0), "A0TR": (0, 1), "A0TX": (0, -1), "A0T1": (0, None)}
"""Arrivals, and the sign of the register's bytes; None where the register counts arrivals, and for
one byte that stands for copies of the thread."""
_USUAL = (1, 1)


def complete_transactions(code: InstructionWriter, barrier: Address, size: int) -> None:
    """Writes that so many bytes have come, as part of what brought them."""
    added = Immediate(mbarrier_words.change(transactions=-size))
    code.atomic(mbarrier_words.OPERATION, _WORD, barrier, added)


@lowers("SYNCS")
def lower_mbarrier(site: Site) -> None:
    """Lowers an instruction on an mbarrier by its first modifier."""
    if site.take("ARRIVE"):
        _arrive(site)
    elif site.take("PHASECHK"):
        _look(site)
    elif site.take("EXCH"):
        _exchange(site)
    elif site.take("CCTL"):
        _invalidate(site)
    else:
        raise site.refuse()


def _arrive(site: Site) -> None:
    """`state, [place], register`."""
    if not site.take("TRANS64"):
        raise site.refuse("mbarriers of another size")
    arrivals, sign = site.choose(_KINDS, _USUAL)
    drops = site.take("OPTOUT")
    site.ignore("RED")  # RZ stands for the state as well
    given = site.word(site.operand(2), "u32")
    place = address_of(site, site.operand(1), AddressSpace.SHARED)
    if arrivals is None:
        one = mbarrier_words.change(arrivals=1, dropped=int(drops))
        added = _times(site, given, one)
    else:
        own = mbarrier_words.change(arrivals=arrivals, dropped=arrivals if drops else 0)
        if sign is None:
            own, sign = own + mbarrier_words.change(transactions=1) & _MASK, 0
        added = Immediate(own)
        if sign:
            moved = _times(site, given, mbarrier_words.change(transactions=sign))
            added = moved if not own else site.compute("add.u64", 64, moved, added)
    is_wanted, operation = not site.is_discarded(site.operand(0)), mbarrier_words.OPERATION
    if site.take("TMASK") and is_wanted:
        _arrive_with_mask(site, place, added)
        return
    state = site.pair_destination(site.operand(0)) if is_wanted else None
    site.atomic(operation, _WORD, place, added, destination=state, is_main=True)


def _arrive_with_mask(site: Site, place: Address, added: Operand) -> None:
    """Lanes get the upper word of the state, and a mask of those that came at once.

    Each adds the arrivals of lower lanes of the mask to it; here each has its own state already,
    and the mask is empty.
    """
    state = site.register(_WORD.bits)
    operation = mbarrier_words.OPERATION
    site.atomic(operation, _WORD, place, added, destination=state, is_main=True)
    mask, upper = site.destinations(site.operand(0), 2)
    low, high = site.register(32), site.register(32)
    site.part("mov.b64", low, high, state, results=2)
    for target, word in ((mask, Immediate(0)), (upper, high)):
        if target is not None:
            site.part("mov.b32", target, word)


def _times(site: Site, number: Operand, unit: int) -> Operand:
    wide = site.compute("cvt.u64.u32", 64, number)
    return site.compute("mul.lo.u64", 64, wide, Immediate(unit))


def _look(site: Site) -> None:
    """`p, [place], state`: whether the phase whose parity is the highest bit of `state` is over.

    A volatile load, so that a loop around it waits for others.
    """
    if not site.take("TRANS64"):
        raise site.refuse("mbarriers of another size")
    site.ignore("TRYWAIT")
    state = site.word(site.operand(2), "b32")
    place = address_of(site, site.operand(1), AddressSpace.SHARED)
    word = site.register(_WORD.bits)
    site.load(_WORD, place, [word], volatile=True, is_main=True)
    low, high = site.register(32), site.register(32)
    site.part("mov.b64", low, high, word, results=2)
    differs = site.compute("xor.b32", 32, high, state)
    phase = site.compute("and.b32", 32, differs, Immediate(1 << 31))
    site.part("setp.ne.u32", site.destination(site.operand(0)), phase, Immediate(0))


def _exchange(site: Site) -> None:
    """`old, [place], word`."""
    if not site.take("64"):
        raise site.refuse("words of another size")
    word = site.pair(site.operand(2))
    place = address_of(site, site.operand(1), AddressSpace.SHARED)
    if site.is_discarded(site.operand(0)):
        site.store(_WORD, place, [word], is_main=True)
        return
    old = site.pair_destination(site.operand(0))
    site.atomic("exch", _WORD, place, word, destination=old, is_main=True)


def _invalidate(site: Site) -> None:
    """`.IV [place]` is `mbarrier.inval`; `.IVALL` follows words that were stored."""
    if site.take("IVALL"):
        site.nothing()
        return
    if not site.take("IV"):
        raise site.refuse()
    place = address_of(site, site.operand(0), AddressSpace.SHARED)
    site.store(_WORD, place, [Immediate(0)], is_main=True)


def arrive_for_copies(site: Site) -> None:
    """`ARRIVES.LDGSTSBAR.64 [place]`: when the thread's copies are done, as they are at once.

    `.ARVCNT` arrives; `.TRANSCNT` takes back the byte that `SYNCS...A0T1` told of.
    """
    arrives = site.take("ARVCNT")
    if not arrives and not site.take("TRANSCNT"):
        raise site.refuse()
    place = address_of(site, site.operand(0), AddressSpace.SHARED)
    added = mbarrier_words.change(arrivals=1) if arrives else mbarrier_words.change(transactions=-1)
    site.atomic(mbarrier_words.OPERATION, _WORD, place, Immediate(added), is_main=True)
