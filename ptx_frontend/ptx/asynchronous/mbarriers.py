"""Instructions on mbarriers: atomics on their word (`isa.ir.mbarrier_words`), and looks at it.

PTX ISA 9.0, "Parallel Synchronization and Communication Instructions: mbarrier".
"""

from __future__ import annotations

from kernelcast.ptx_frontend.ptx.asynchronous.peer_addresses import mbarrier_address
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.instruction_parts import InstructionParts, shared_address
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.simcore.isa.ir import mbarrier_words
from kernelcast.simcore.isa.ir.kernel import Address, Immediate, Operand, Register
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["complete_transactions", "lower_mbarrier"]

_WORD = ScalarType.B64
_WORD_BYTES = 8
_SPACES = ("shared", "shared::cta", "shared::cluster")
_SCOPES = ("cta", "cluster")
_RELEASE, _ACQUIRE = ("release", "relaxed"), ("acquire", "relaxed")
_ORDERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("init", "inval", "pending_count"), ()),
    **dict.fromkeys(("expect_tx", "complete_tx"), ("relaxed",)),
    **dict.fromkeys(("arrive", "arrive.expect_tx"), _RELEASE),
    **dict.fromkeys(("arrive_drop", "arrive_drop.expect_tx"), _RELEASE),
    **dict.fromkeys(("arrive.noComplete", "arrive_drop.noComplete"), ("release",)),
    **dict.fromkeys(("test_wait", "test_wait.parity"), _ACQUIRE),
    **dict.fromkeys(("try_wait", "try_wait.parity"), _ACQUIRE),
}
"""Which orders each form may have, always with a scope."""
_OF_PEERS = ("arrive", "arrive_drop", "expect_tx", "complete_tx")
"""What may be done to mbarriers of other thread blocks."""


def lower_mbarrier(site: Site, builder: BasicBlockBuilder) -> None:
    """Lowers an instruction on mbarriers: an atomic on its word, or a look at it."""
    form = _form(site)
    code = InstructionParts.guarded(site, builder)
    name = form.split(".", 1)[0]
    if name == "pending_count":
        _pending_count(code)
    elif name in ("test_wait", "try_wait"):
        _look(code, by_parity=form.endswith(".parity"))
    elif name in ("init", "inval"):
        _set(code, name)
    elif name.startswith("arrive"):
        _arrive(code, form)
    else:
        site.expect_operands(2)
        sign = -1 if name == "complete_tx" else 1
        added = _times(code, _count(site, 1), mbarrier_words.change(transactions=sign))
        code.atomic(mbarrier_words.OPERATION, _WORD, _told(code, 0), added, is_main=True)


def _form(site: Site) -> str:
    """The name without order, scope, space and type; UnsupportedInstruction for what PTX lacks."""
    parts = site.mnemonic.split(".")[1:]
    spaces = [part for part in parts if part in _SPACES]
    scopes = [part for part in parts if part in _SCOPES]
    orders = [part for part in parts if part in ("acquire", *_RELEASE)]
    marks = {"b64", *spaces, *scopes, *orders}
    form = ".".join(part for part in parts if part not in marks)
    known = _ORDERS.get(form)
    if known is None or parts[-1] != "b64":
        raise site.refused()
    if set(orders) - set(known) or len(orders) != len(scopes) or len(orders) > 1:
        why = " or ".join(f".{order}" for order in known)
        raise site.refused(f"it takes {why} with a scope, or neither" if why else "it has no order")
    if "noComplete" in form and "cluster" in scopes:
        raise site.refused("modifier '.cluster'")
    is_of_peers = form.split(".")[0] in _OF_PEERS and "noComplete" not in form
    if len(spaces) > 1 or ("shared::cluster" in spaces and not is_of_peers):
        raise site.refused(f"modifier '.{spaces[-1]}'")
    return form


def complete_transactions(code: InstructionParts, barrier: Address, size: Operand | int) -> None:
    """Emits that so many bytes have come, as part of what brought them."""
    one = mbarrier_words.change(transactions=-1)
    added = Immediate(one * size & _MASK) if isinstance(size, int) else _times(code, size, one)
    code.atomic(mbarrier_words.OPERATION, _WORD, barrier, added)


_MASK = (1 << 64) - 1


def _place(site: Site, index: int) -> Address:
    return shared_address(site, index, _WORD_BYTES)


def _told(code: InstructionParts, index: int) -> Address:
    """The mbarrier that arrivals and bytes are counted by, of the leader's if masked so."""
    place = _place(code.site, index)
    if place.base not in code.site.names.leaders:
        return place
    return Address(place.space, mbarrier_address(code, place), 0)


def _count(site: Site, index: int) -> Operand:
    return site.source(site.operands[index], index, ScalarType.U32)


def _times(code: InstructionParts, number: Operand, unit: int) -> Operand:
    """A number of 32 bits times a constant, 64 bits."""
    if isinstance(number, Immediate):
        return Immediate(number.bits * unit & _MASK)
    wide = code.compute("cvt.u64.u32", 64, number)
    return code.compute("mul.lo.u64", 64, wide, Immediate(unit))


def _set(code: InstructionParts, name: str) -> None:
    site = code.site
    site.expect_operands(2 if name == "init" else 1)
    word: Operand = Immediate(0)
    if name == "init":
        word = _initial_word(code, _count(site, 1))
    code.store(_WORD, _place(site, 0), [word], is_main=True)


def _initial_word(code: InstructionParts, count: Operand) -> Operand:
    if isinstance(count, Immediate):
        return Immediate(mbarrier_words.initial_word(count.bits) & _MASK)
    lacking = code.compute("sub.u32", 32, Immediate(mbarrier_words.FIELD), count)
    return _times(code, lacking, mbarrier_words.initial_word(mbarrier_words.MOST_ARRIVALS))


def _arrive(code: InstructionParts, form: str) -> None:
    """`{state,} [place]{, count}`; the state is the word before."""
    site = code.site
    has_state = not isinstance(site.operands[0], syntax.AddressOperand)
    is_of_peers = "shared::cluster" in site.mnemonic.split(".")
    if is_of_peers and has_state and site.operands[0] != syntax.NameOperand("_"):
        raise site.error(f"{site.mnemonic!r} gives no state", 0)
    place = 1 if has_state else 0
    needs_count = "." in form
    site.expect_operands(place + 1 + needs_count, place + 2)
    given = _count(site, place + 1) if len(site.operands) > place + 1 else Immediate(1)
    dropped = 1 if form.startswith("arrive_drop") else 0
    one = mbarrier_words.change(arrivals=1, dropped=dropped)
    if form.endswith("expect_tx"):
        expected = _times(code, given, mbarrier_words.change(transactions=1))
        added = _sum(code, expected, one)
    else:
        added = _times(code, given, one)
    state = site.destination(site.operands[0], 0, _WORD) if has_state else None
    where = _told(code, place)
    code.atomic(mbarrier_words.OPERATION, _WORD, where, added, destination=state, is_main=True)


def _sum(code: InstructionParts, value: Operand, constant: int) -> Operand:
    if isinstance(value, Immediate):
        return Immediate(value.bits + constant & _MASK)
    return code.compute("add.u64", 64, value, Immediate(constant))


def _look(code: InstructionParts, *, by_parity: bool) -> None:
    """Lowers a test or wait: `done, [place], state or parity{, time}`.

    The result is whether that phase is over. A volatile load, so that a loop around it waits for
    others.
    """
    site = code.site
    site.expect_operands(3, 4)
    word = code.builder.temporary(_WORD.bits)
    code.load(_WORD, _place(site, 1), [word], is_main=True, volatile=True)
    done = site.destination(site.operands[0], 0, ScalarType.PRED)
    if done is None:
        return
    if by_parity:
        parity = code.compute("cvt.u64.u32", 64, _count(site, 2))
        before: Register = code.compute(
            "shl.b64", 64, parity, Immediate(mbarrier_words.PHASE_SHIFT)
        )
    else:
        state = site.source(site.operands[2], 2, _WORD)
        before = code.compute("mov.b64", 64, state)
    differs = code.compute("xor.b64", 64, word, before)
    phase = code.compute("and.b64", 64, differs, Immediate(1 << mbarrier_words.PHASE_SHIFT))
    code.assign("setp.ne.u64", done, phase, Immediate(0))


def _pending_count(code: InstructionParts) -> None:
    """The only one that touches no memory: a field of a state."""
    site = code.site
    site.expect_operands(2)
    state = site.source(site.operands[1], 1, _WORD)
    upper = code.compute("shr.u64", 64, state, Immediate(mbarrier_words.PENDING_SHIFT))
    counted = code.compute("cvt.u32.u64", 32, upper)
    lacking = code.compute("sub.u32", 32, Immediate(mbarrier_words.FIELD), counted)
    count = site.destination(site.operands[0], 0, ScalarType.U32)
    if count is not None:
        most = Immediate(mbarrier_words.MOST_ARRIVALS)
        code.assign("and.b32", count, lacking, most, is_main=True)
