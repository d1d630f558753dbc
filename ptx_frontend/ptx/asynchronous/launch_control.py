"""`clusterlaunchcontrol` and `st.bulk`.

PTX ISA 9.0. A request to cancel a cluster that has not begun is always declined, as hardware may:
every thread block of the grid runs on its own, and persistent kernels do one tile each.
"""

from __future__ import annotations

from collections.abc import Callable

from kernelcast.ptx_frontend.ptx.asynchronous.mbarriers import complete_transactions
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import IMPLICIT_PC, BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.guards import go_round
from kernelcast.ptx_frontend.ptx.lowering.instruction_parts import InstructionParts, shared_address
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.lowering.wide_registers import halves
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.simcore.isa.analysis.cluster_addresses import OFFSET_BITS, RANK_MASK
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Immediate,
    Jump,
    Operand,
    Register,
    Special,
    SpecialRegister,
)
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["lower_bulk_store", "lower_launch_control"]

_ANSWER_BYTES = 16
_BARRIER_BYTES = 8
_COMPLETION = "mbarrier::complete_tx::bytes"
_MULTICAST = "multicast::cluster::all"
_SPACES: tuple[list[str], ...] = ([], ["shared::cta"])
_DECLINED = Immediate(0)
"""Each half of an answer. Of its four words the first tells of a success, the others say which
thread block has been cancelled."""


def lower_launch_control(site: Site, builder: BasicBlockBuilder) -> None:
    """Lowers `clusterlaunchcontrol`: no thread block is ever cancelled."""
    parts = site.mnemonic.split(".")[1:]
    match parts:
        case ["try_cancel", "async", *rest, "b128"] if _COMPLETION in rest:
            rest.remove(_COMPLETION)
            is_multicast = rest[-1:] == [_MULTICAST]
            if rest[: len(rest) - is_multicast] in _SPACES:
                _decline(site, builder, is_multicast)
                return
        case ["query_cancel", "is_canceled", "pred", "b128"]:
            _was_cancelled(InstructionParts.guarded(site, builder))
            return
        case ["query_cancel", "get_first_ctaid", "v4", "b32", "b128"]:
            _first_place(InstructionParts.guarded(site, builder))
            return
        case ["query_cancel", name, "b32", "b128"] if name[:-1] == "get_first_ctaid::":
            if name[-1] in "xyz":
                _first_place(InstructionParts.guarded(site, builder), "xyz".index(name[-1]))
                return
    raise site.refused()


def _decline(site: Site, builder: BasicBlockBuilder, is_multicast: bool) -> None:
    """Lowers `try_cancel`: `[answer], [mbarrier]`.

    The answer is there at once, for this thread block or for all of the cluster, and its bytes have
    come to the mbarrier.
    """
    site.expect_operands(2)
    answer = shared_address(site, 0, _ANSWER_BYTES)
    barrier = shared_address(site, 1, _BARRIER_BYTES)
    if not is_multicast:
        code = InstructionParts.guarded(site, builder)
        code.store(ScalarType.B64, answer, (_DECLINED, _DECLINED), is_main=True)
        complete_transactions(code, barrier, _ANSWER_BYTES)
        return
    following = builder.new()
    go_round(site, builder, following)
    code = InstructionParts(site, builder, None)
    places = [(address.space, code.address_register(address)) for address in (answer, barrier)]
    code.fence()
    size = code.compute("mov.u32", 32, SpecialRegister(Special.CLUSTER_NCTARANK))

    def tell(left: Register) -> None:
        """The thread block of rank `left` - 1."""
        wide = code.compute("cvt.u64.u32", 64, left)
        rank = code.compute("shl.b64", 64, wide, Immediate(OFFSET_BITS))
        there = [Address(space, _ranked(code, place, rank), 0) for space, place in places]
        code.store(ScalarType.B64, there[0], (_DECLINED, _DECLINED))
        complete_transactions(code, there[1], _ANSWER_BYTES)

    _count_down(code, size, 1, tell, following)


def _ranked(code: InstructionParts, place: Register, rank: Register) -> Register:
    """The corresponding place in the shared memory of another thread block."""
    keep = Immediate(((1 << 64) - 1) & ~(RANK_MASK << OFFSET_BITS))
    offset = code.compute("and.b64", 64, place, keep)
    return code.compute("or.b64", 64, offset, rank)


def _was_cancelled(code: InstructionParts) -> None:
    site = code.site
    site.expect_operands(2)
    destination = site.destination(site.operands[0], 0, ScalarType.PRED)
    low = site.source(halves(site, 1)[0], 1, ScalarType.B64)
    word = code.compute("and.b64", 64, low, Immediate((1 << 32) - 1))
    if destination is not None:
        code.assign("setp.ne.u64", destination, word, Immediate(0), is_main=True)


def _first_place(code: InstructionParts, axis: int | None = None) -> None:
    """Lowers a query for the coordinates of the first cancelled thread block, or one of them.

    Nothing is written where none was cancelled (PTX leaves that open).
    """
    site = code.site
    site.expect_operands(2)
    operand = site.operands[0]
    items: tuple[syntax.Operand, ...] = (operand,)
    if axis is None:
        if not isinstance(operand, syntax.VectorOperand) or len(operand.items) != 4:
            raise site.error(f"{site.mnemonic!r} gives four values", 0)
        items = operand.items
    low, high = (site.source(half, 1, ScalarType.B64) for half in halves(site, 1))
    words: tuple[tuple[Operand, int], ...] = ((low, 32), (high, 0), (high, 32))
    chosen = words if axis is None else words[axis : axis + 1]
    for number, (item, (half, shift)) in enumerate(zip(items, chosen, strict=False)):
        destination = site.destination(item, 0, ScalarType.B32)
        moved = code.compute("shr.u64", 64, half, Immediate(shift))
        if destination is not None and number == 0:
            code.assign("cvt.u32.u64", destination, moved, is_main=True)
        elif destination is not None:
            code.assign("cvt.u32.u64", destination, moved)


def lower_bulk_store(site: Site, builder: BasicBlockBuilder) -> None:
    """`st.bulk [address], size, 0`: zeros, word by word."""
    parts = [part for part in site.mnemonic.split(".")[2:] if part != "weak"]
    if parts not in _SPACES:
        raise site.refused()
    site.expect_operands(3)
    if site.operands[2] != syntax.Integer(0):
        raise site.error(f"{site.mnemonic!r} stores nothing but 0", 2)
    word = ScalarType.B64
    size = site.source(site.operands[1], 1, word)
    if isinstance(size, Immediate) and size.bits % word.bytes:
        raise site.error(f"{site.mnemonic!r} takes a multiple of {word.bytes} bytes", 1)
    start = shared_address(site, 0, word.bytes)
    following = builder.new()
    go_round(site, builder, following)
    code = InstructionParts(site, builder, None)
    place = code.compute("mov.b64", 64, code.address_register(start))
    code.fence()

    def zero(_left: Register) -> None:
        code.store(word, Address(start.space, place, 0), (Immediate(0),))
        code.assign("add.u64", place, place, Immediate(word.bytes))

    _count_down(code, code.compute("mov.b64", 64, size), word.bytes, zero, following)


def _count_down(
    code: InstructionParts,
    left: Register,
    step: int,
    body: Callable[[Register], None],
    following: int,
) -> None:
    """Runs `body` and takes `step` from `left` until that is 0, then goes on at `following`."""
    builder, top = code.builder, code.builder.new()
    builder.place(top)
    code.skip_unless(code.compute(f"setp.ne.u{left.bits}", 1, left, Immediate(0)), following)
    body(left)
    code.assign(f"sub.u{left.bits}", left, left, Immediate(step))
    builder.end(Jump(pc=IMPLICIT_PC, mnemonic="", span=code.site.span, target=top))
    builder.place(following)
