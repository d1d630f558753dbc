"""Clusters: their barrier, addresses in their shared memory, and what is asked of hardware only."""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.ptx_frontend.sass.lowering.control_flow.flow_context import gone_round
from kernelcast.ptx_frontend.sass.lowering.flow import Body
from kernelcast.ptx_frontend.sass.lowering.memory_access.addresses import address_of
from kernelcast.ptx_frontend.sass.lowering.once_per_warp import (
    chooses_lanes,
    is_once,
    lower_choice,
)
from kernelcast.ptx_frontend.sass.lowering.shared_places import Making, shared_places
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import Lowering, lowers
from kernelcast.ptx_frontend.sass.lowering.tensor.tensor_allocation import (
    allocates_for_pair,
    lower_pair_allocation,
    names_reserved_memory,
)
from kernelcast.ptx_frontend.sass.text.operands import ImmediateOperand
from kernelcast.ptx_frontend.sass.text.statements import Statement
from kernelcast.simcore.isa.analysis.cluster_addresses import (
    OFFSET_BITS,
    OFFSET_MASK,
    RANK_MASK,
)
from kernelcast.simcore.isa.ir.kernel import (
    BarrierSync,
    ClusterArrive,
    Immediate,
    Operand,
    Register,
    Special,
    SpecialRegister,
)
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["other_lowerings"]

_HOPPER = 90
_RANK = SpecialRegister(Special.CLUSTER_CTARANK)


def other_lowerings(body: Body, architecture: int) -> Mapping[int, Lowering]:
    """Lowerings of statements that do something else than their opcode says, by address."""
    if architecture < _HOPPER:
        return {}
    places = shared_places(body)
    found: dict[int, Lowering] = {at: _MAKINGS[making] for at, making in places.items()}
    if Making.MAPPED in places.values():
        found |= {s.address: _is_own_space for s in body.statements if _asks_for_own_space(s)}
    if any(map(names_reserved_memory, body.statements)):
        pairs = filter(allocates_for_pair, body.statements)
        found |= {s.address: lower_pair_allocation for s in pairs}
    if any(map(is_once, body.statements)):
        found |= {s.address: lower_choice for s in body.statements if chooses_lanes(s)}
    return found


def _no_rank(site: Site) -> None:
    """`S2R d, SR_CgaCtaId`, of which only addresses are made, that name no thread block."""
    site.ignore("32")
    site.main("mov.b32", site.destination(site.operand(0)), Immediate(0))


def _own_place(site: Site) -> None:
    """`LEA d, rank, place, 0x18`."""
    place = site.word(site.operand(2))
    site.main("mov.b32", site.destination(site.operand(0)), place)


def _named(site: Site, place: Operand, rank: Operand) -> tuple[Register, Register]:
    """An address without its rank, and a rank where an address has it."""
    offset = site.compute("and.b32", 32, place, Immediate(OFFSET_MASK))
    above = site.compute("add.u32", 32, rank, Immediate(1))
    return offset, site.compute("shl.b32", 32, above, Immediate(OFFSET_BITS))


def _mapped_place(site: Site) -> None:
    """`PRMT d, rank, 0x654, place`."""
    rank = site.compute("and.b32", 32, site.word(site.operand(1)), Immediate(RANK_MASK))
    offset, named = _named(site, site.word(site.operand(3)), rank)
    site.main("or.b32", site.destination(site.operand(0)), offset, named)


def _led_place(site: Site) -> None:
    """`LOP3 d, place, 0xfeffffff`: in the even one of a pair."""
    site.ignore("LUT")
    own = site.compute("mov.u32", 32, _RANK)
    even = site.compute("and.b32", 32, own, Immediate(0xFFFFFFFE))
    offset, named = _named(site, site.word(site.operand(1)), even)
    site.main("or.b32", site.destination(site.operand(0)), offset, named)


def _rank_of_place(site: Site) -> None:
    """`SHF.L.U64.HI d, place, 0x8, RZ`: the own rank where the address names none."""
    site.ignore("L", "U64", "HI")
    place = site.word(site.operand(1))
    above = site.compute("shr.u32", 32, place, Immediate(OFFSET_BITS))
    is_own = site.compute("setp.eq.u32", 1, above, Immediate(0))
    named = site.compute("sub.u32", 32, above, Immediate(1))
    own = site.compute("mov.u32", 32, _RANK)
    site.main("selp.b32", site.destination(site.operand(0)), own, named, is_own)


def _asks_for_own_space(statement: Statement) -> bool:
    return statement.opcode == "QSPC" and "S" in statement.modifiers


def _is_own_space(site: Site) -> None:
    """`QSPC.S p, RZ, [address]`: in shared memory, and of no other thread block."""
    site.ignore("E", "S")
    operand = site.operand(2)
    address = address_of(site, operand, AddressSpace.GENERIC)
    assert isinstance(address.base, Register)
    if address.offset or not site.is_discarded(site.operand(1)):
        raise site.refuse()
    is_shared = site.compute("isspacep.shared", 1, address.base)
    above = site.compute("shr.u64", 64, address.base, Immediate(OFFSET_BITS))
    named = site.compute(
        "and.b32", 32, site.compute("cvt.u32.u64", 32, above), Immediate(RANK_MASK)
    )
    own = site.compute("add.u32", 32, site.compute("mov.u32", 32, _RANK), Immediate(1))
    is_none = site.compute("setp.eq.u32", 1, named, Immediate(0))
    is_own = site.compute("or.pred", 1, is_none, site.compute("setp.eq.u32", 1, named, own))
    site.main("and.pred", site.destination(site.operand(0)), is_shared, is_own)


_MAKINGS: dict[Making, Lowering] = {
    Making.ONLY_PLACE: _no_rank,
    Making.OWN: _own_place,
    Making.MAPPED: _mapped_place,
    Making.LED: _led_place,
    Making.RANK_OF: _rank_of_place,
}


@lowers("UCGABAR_ARV")
def lower_cluster_arrival(site: Site) -> None:
    """Counts the threads at the barrier of their cluster."""
    fields = site.fields("barrier.cluster.arrive", is_main=True)
    site.builder.append(ClusterArrive(**fields))


@lowers("UCGABAR_WAIT")
def lower_cluster_wait(site: Site) -> None:
    """Waits until all threads of the cluster have come by."""
    with gone_round(site):
        following = site.builder.new()
        sync = BarrierSync(
            **site.counted("barrier.cluster.wait", is_main=True),
            barrier=-1,
            target=following,
            is_cluster=True,
        )
        site.builder.end_and_continue(sync, following)


@lowers("USETMAXREG")
def lower_number_of_registers(site: Site) -> None:
    """`[p,] count`: p says whether they could be had, which is always so."""
    site.ignore("TRY_ALLOC", "DEALLOC", "CTAPOOL")
    site.fence()
    if site.is_predicate(0) and not site.is_discarded(site.operand(0)):
        site.part("mov.pred", site.destination(site.operand(0)), Immediate(1))


@lowers("ACQBULK", "PREEXIT")
def lower_order_of_grids(site: Site) -> None:
    """`griddepcontrol`: grids run one after the other."""
    site.fence()


@lowers("USETSHMSZ")
def lower_shared_size(site: Site) -> None:
    """`bytes`, or `.FLUSH`: gives shared memory back before the thread block ends.

    No PTX becomes it. It names no register but a number smaller than the shared memory of the
    kernels that have it, once they prepare no more products: nothing that they still read changes.
    """
    site.ignore("FLUSH")
    if site.operands and not isinstance(site.operands[0], ImmediateOperand):
        raise site.refuse("a size in a register")
    site.fence()
