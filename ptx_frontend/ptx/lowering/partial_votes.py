"""`bar.red` at a barrier for a part of the thread block, or one whose number is computed.

Votes are summed in shared memory that the source does not declare: two words for each barrier, how
many predicates held and how many threads voted. Three passes of the barrier keep rounds apart:
after the first everybody reads, after the second everybody takes the own vote back. Only the first
counts.
"""

from __future__ import annotations

from dataclasses import replace

from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.instruction_parts import InstructionParts, shifted
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.text.syntax import VariableDeclaration
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    BarrierSync,
    Immediate,
    Operand,
    Register,
    SymbolAddress,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["lower_partial_votes"]

_VOTES = "%votes"
_WORD = ScalarType.U32
_WORDS = 2
_DECLARATION = VariableDeclaration(0, "shared", "b32", _VOTES, 16 * _WORDS, 4 * _WORDS)
_NOTHING_BUT_ONE = 0xFFFFFFFF


def lower_partial_votes(
    site: Site,
    builder: BasicBlockBuilder,
    barrier: BarrierSync,
    predicate: Register,
    reduction: str,
    destination: Register | None,
) -> None:
    """Writes the vote, the barrier and what came of it, whose pcs follow that of the site."""
    site.names.used.setdefault(_VOTES, _DECLARATION)
    code = InstructionParts(site, builder, None)
    held = builder.temporary(_WORD.bits)
    code.assign("selp.u32", held, Immediate(1), Immediate(0), predicate, is_main=True)
    place = _place(code, barrier)
    _add(code, place, held, Immediate(1))
    _pass(builder, barrier)
    sums = [builder.temporary(_WORD.bits) for _ in range(_WORDS)]
    code.load(_WORD, place, sums)
    _again(builder, barrier)
    back = code.compute("sub.u32", 32, Immediate(0), held)
    _add(code, place, back, Immediate(_NOTHING_BUT_ONE))
    _again(builder, barrier)
    if destination is not None:
        _result(
            InstructionParts(replace(site, pc=site.pc + 2), builder, None),
            reduction,
            destination,
            sums,
        )


def _place(code: InstructionParts, barrier: BarrierSync) -> Address:
    """The address of the first word; a number that no barrier has fails at the barrier itself."""
    number = barrier.number
    first = SymbolAddress(_VOTES)
    if number is None:
        return Address(AddressSpace.SHARED, first, 4 * _WORDS * barrier.barrier)
    within = code.compute("and.b32", 32, number, Immediate(15))
    start = code.compute("mov.u32", 32, first)
    base = code.compute("mad.lo.u32", 32, within, Immediate(4 * _WORDS), start)
    return Address(AddressSpace.SHARED, base, 0)


def _add(code: InstructionParts, place: Address, *values: Operand) -> None:
    for number, value in enumerate(values):
        code.atomic("add", _WORD, shifted(place, 4 * number), value)


def _pass(builder: BasicBlockBuilder, barrier: BarrierSync) -> None:
    following = builder.new()
    builder.end_and_continue(replace(barrier, target=following), following)


def _again(builder: BasicBlockBuilder, barrier: BarrierSync) -> None:
    _pass(builder, replace(barrier, pc=builder.added_pc(), is_part=True))


def _result(
    code: InstructionParts, reduction: str, destination: Register, sums: list[Register]
) -> None:
    held, everybody = sums
    match reduction:
        case "popc":
            code.assign("mov.u32", destination, held, is_main=True)
        case "and":
            code.assign("setp.eq.u32", destination, held, everybody, is_main=True)
        case _:
            code.assign("setp.ne.u32", destination, held, Immediate(0), is_main=True)
