"""Atomics that engines do not have: lanes try again until nobody came between."""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import IMPLICIT_PC
from kernelcast.ptx_frontend.sass.lowering.control_flow.flow_context import gone_round
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.text.operands import RegisterOperand, SassOperand
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Branch,
    Guard,
    Immediate,
    Operand,
    Register,
    Symbol,
    SymbolAddress,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["arrive", "lower_wide_atomic"]

_LOCK = "%lock"
_HALF, _WORD = ScalarType.B64, ScalarType.B32
_LOW_BITS, _EXPECTED_BIT = Immediate(0x7FFFFFFF), Immediate(0x40000000)
_NOTHING = Immediate(0)
Pair = tuple[Operand, Operand]


def arrive(site: Site, address: Address) -> Register:
    """One more arrival at an mbarrier of sm_80; gives its 64 bits before.

    The upper word counts up from minus the number of arrivals, in 31 bits, and has the phase above
    them, which a carry changes; then it begins anew with the lower word, minus the same number in
    30 bits. Found in what the assembler makes of `mbarrier.init`, `.arrive` and `.test_wait`.
    """
    old = site.register(64)
    with gone_round(site):
        builder = site.builder
        head, after = builder.new(), builder.new()
        builder.place(head)
        site.load(_HALF, address, (old,), volatile=True)
        low, high = site.register(32), site.register(32)
        site.assign_all("mov.b64", (low, high), old)
        more = site.compute("add.u32", 32, high, Immediate(1))
        again = site.compute("add.u32", 32, low, _EXPECTED_BIT)
        again = site.compute("and.b32", 32, again, _LOW_BITS)
        begun = site.compute("or.b32", 32, more, again)
        left = site.compute("and.b32", 32, more, _LOW_BITS)
        is_over = site.compute("setp.eq.u32", 1, left, _NOTHING)
        new_high = site.compute("selp.b32", 32, begun, more, is_over)
        new = site.compute("mov.b64", 64, low, new_high)
        found = site.register(64)
        site.atomic("cas", _HALF, address, old, new, destination=found, is_main=True)
        is_mine = site.compute("setp.eq.b64", 1, found, old)
        _leave(site, is_mine, after, head)
        builder.place(after)
    return old


def lower_wide_atomic(
    site: Site,
    operation: str,
    address: Address,
    target: SassOperand,
    values: Sequence[SassOperand],
) -> None:
    """`exch` and `cas` of 128 bits: threads take turns by a lock in global memory.

    The load of the old value counts, the store and the lock are parts of it.
    """
    if operation not in ("exch", "cas"):
        raise site.refuse("an atomic of 128 bits")
    given = [_pairs(site, value) for value in values]
    context = site.context
    context.entry.own_symbols[_LOCK] = Symbol(_LOCK, AddressSpace.GLOBAL, 4, 4, 0)
    lock = Address(AddressSpace.GLOBAL, SymbolAddress(_LOCK), 0)
    old = site.register(64), site.register(64)
    with gone_round(site):
        builder = site.builder
        head, after = builder.new(), builder.new()
        builder.place(head)
        found = site.register(32)
        site.atomic("cas", _WORD, lock, _NOTHING, Immediate(1), destination=found)
        is_mine = site.compute("setp.eq.u32", 1, found, _NOTHING)
        site.guard = Guard(is_mine, negated=False)
        site.load(_HALF, address, old, is_main=True, volatile=True)
        site.store(_HALF, address, _new(site, operation, old, given))
        site.atomic("exch", _WORD, lock, _NOTHING)
        site.guard = None
        _leave(site, is_mine, after, head)
        builder.place(after)
    if not site.is_discarded(target):
        assert isinstance(target, RegisterOperand)
        assert target.number is not None
        for half, value in enumerate(old):
            operand = RegisterOperand(target.file, target.number + 2 * half)
            site.part("mov.b64", site.pair_destination(operand), value)


def _pairs(site: Site, operand: SassOperand) -> Pair:
    if not isinstance(operand, RegisterOperand):
        raise site.refuse("128 bits that are no register")
    number = operand.number
    low, high = (
        site.pair(RegisterOperand(operand.file, None if number is None else number + 2 * half))
        for half in range(2)
    )
    return low, high


def _new(site: Site, operation: str, old: tuple[Register, Register], given: list[Pair]) -> Pair:
    if operation == "exch":
        return given[0]
    compared, value = given
    same = [site.compute("setp.eq.b64", 1, a, b) for a, b in zip(old, compared, strict=True)]
    is_same = site.compute("and.pred", 1, *same)
    low, high = (
        site.compute("selp.b64", 64, new, kept, is_same)
        for new, kept in zip(value, old, strict=True)
    )
    return low, high


def _leave(site: Site, predicate: Register, target: int, otherwise: int) -> None:
    site.builder.end(
        Branch(
            pc=IMPLICIT_PC,
            mnemonic="",
            span=site.span,
            guard=Guard(predicate, negated=False),
            target=target,
            otherwise=otherwise,
        )
    )
