"""UMEMSETS and LDGMC: memory that becomes zero, and loads from all devices of a group."""

from __future__ import annotations

from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import IMPLICIT_PC
from kernelcast.ptx_frontend.sass.lowering.control_flow.flow_context import gone_round
from kernelcast.ptx_frontend.sass.lowering.memory_access.accesses import HINTS
from kernelcast.ptx_frontend.sass.lowering.memory_access.addresses import address_of
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.simcore.isa.ir.kernel import Address, Branch, Guard, Immediate, Jump, Register
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__: list[str] = []

_ZERO = Immediate(0)
_REDUCTIONS = ("ADD", "F32ADD", "MIN", "MAX", "AND", "OR", "XOR", "RN")
_WORDS = {
    **dict.fromkeys(("32", "S32", "F32", "F16x2", "BF16x2"), 1),
    **dict.fromkeys(("64", "S64", "F64", "F32x2", "F16x4", "BF16x4"), 2),
    **dict.fromkeys(("F32x4", "F16x8", "BF16x8"), 4),
}


@lowers("UMEMSETS")
def lower_fill(site: Site) -> None:
    """`[place], URZ, count`: so many words of 64 bits in shared memory become 0."""
    if not site.take("64") or not site.is_discarded(site.operand(1)):
        raise site.refuse("what it stores")
    start, count = (
        address_of(site, site.operand(0), AddressSpace.SHARED),
        site.word(site.operand(2)),
    )
    assert isinstance(start.base, Register)
    place = site.compute("add.u32", 32, start.base, Immediate(start.offset & 0xFFFFFFFF))
    site.fence()
    with gone_round(site):
        chosen = site.compute("mov.pred", 1, _ZERO)
        site.exchange(WARP_OPCODES["elect"], (None, chosen), ())
        left = site.compute("selp.b32", 32, count, _ZERO, chosen)
        _count_down(site, place, left)


def _count_down(site: Site, place: Register, left: Register) -> None:
    builder = site.builder
    head, inside, after = builder.new(), builder.new(), builder.new()
    builder.place(head)
    goes_on = site.compute("setp.ne.u32", 1, left, _ZERO)
    builder.end(
        Branch(
            pc=IMPLICIT_PC,
            mnemonic="",
            span=site.span,
            guard=Guard(goes_on, negated=False),
            target=inside,
            otherwise=after,
        )
    )
    builder.place(inside)
    site.store(ScalarType.B64, Address(AddressSpace.SHARED, place, 0), [_ZERO])
    site.part("add.u32", place, place, Immediate(ScalarType.B64.bytes))
    site.part("sub.u32", left, left, Immediate(1))
    builder.end(Jump(pc=IMPLICIT_PC, mnemonic="", span=site.span, target=head))
    builder.place(after)


@lowers("LDGMC")
def lower_reducing_load(site: Site) -> None:
    """`d, [address]`, `multimem.ld_reduce`: of one device, a load like any other."""
    site.ignore(*_REDUCTIONS)
    words = site.choose(_WORDS, 0)
    if not words:
        raise site.refuse("elements of another kind")
    site.ignore(*HINTS)
    is_ordered = site.take("STRONG")
    address = address_of(site, site.operand(1), AddressSpace.GLOBAL)
    targets = site.destinations(site.operand(0), words)
    site.load(ScalarType.B32, address, targets, volatile=is_ordered, is_main=True)
