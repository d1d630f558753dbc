"""`cp.async`: a load and a store that are done at once, as any legal time is.

PTX ISA 9.0, "Data Movement and Conversion Instructions: cp.async".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.guards import gone_round
from kernelcast.ptx_frontend.ptx.lowering.instruction_parts import (
    InstructionParts,
    shared_address,
    shifted,
)
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.simcore.isa.ir import mbarrier_words
from kernelcast.simcore.isa.ir.kernel import Address, Immediate, Operand, Register
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["groups_left", "lower_cp_async"]

_WORD = ScalarType.B32
_SIZES = {"ca": (4, 8, 16), "cg": (16,)}
_HINTS = ("L2::cache_hint", "L2::64B", "L2::128B", "L2::256B")
_SPACES = (["shared", "global"], ["shared::cta", "global"])


def lower_cp_async(site: Site, builder: BasicBlockBuilder) -> None:
    """`cp.async` but for the copies in bulk."""
    parts = site.mnemonic.split(".")[2:]
    code = InstructionParts.guarded(site, builder)
    if parts[:2] == ["mbarrier", "arrive"]:
        _arrive(code, parts[2:])
    elif parts in (["commit_group"], ["wait_all"]):
        site.expect_operands(0)
        code.fence(0 if parts == ["wait_all"] else None)
    elif parts == ["wait_group"]:
        site.expect_operands(1)
        code.fence(groups_left(site))
    else:
        _copy(site, builder, parts)


def groups_left(site: Site) -> int:
    """The number of groups that a wait leaves: its operand, which must be constant."""
    operand = site.source(site.operands[0], 0, ScalarType.U32)
    if not isinstance(operand, Immediate):
        raise site.error(f"{site.mnemonic!r} takes a number", 0)
    return operand.bits


def _arrive(code: InstructionParts, parts: Sequence[str]) -> None:
    """Lowers an arrival after all copies so far, which are done by then.

    Without `.noinc` the arrival was added before, so that nothing changes.
    """
    is_counted = parts[:1] != ["noinc"]
    if parts[not is_counted :] not in (["b64"], ["shared", "b64"], ["shared::cta", "b64"]):
        raise code.site.refused()
    code.site.expect_operands(1)
    added = 0 if is_counted else mbarrier_words.change(arrivals=1)
    place = shared_address(code.site, 0, ScalarType.B64.bytes)
    operation = mbarrier_words.OPERATION
    code.atomic(operation, ScalarType.B64, place, Immediate(added), is_main=True)


@dataclass(frozen=True, slots=True)
class _Copy:
    """`size` bytes from global to shared memory."""

    source: Address
    destination: Address
    size: int
    cache: str


def _copy(site: Site, builder: BasicBlockBuilder, parts: Sequence[str]) -> None:
    """`[to], [from], size{, bytes of the source or whether to ignore it}{, policy}`."""
    cache = parts[0] if parts else ""
    if cache not in _SIZES or [p for p in parts[1:] if p not in _HINTS] not in _SPACES:
        raise site.refused()
    has_policy = "L2::cache_hint" in parts
    site.expect_operands(3 + has_policy, 4 + has_policy)
    size = site.source(site.operands[2], 2, ScalarType.U32)
    if not isinstance(size, Immediate) or size.bits not in _SIZES[cache]:
        known = " or ".join(map(str, _SIZES[cache]))
        raise site.error(f"{site.mnemonic!r} copies {known} bytes", 2)
    copy = _Copy(
        site.address(1, AddressSpace.GLOBAL, size.bits),
        site.address(0, AddressSpace.SHARED, size.bits),
        size.bits,
        cache,
    )
    if len(site.operands) == 3 + has_policy:
        _whole(InstructionParts.guarded(site, builder), copy)
        return
    with gone_round(site, builder):
        size = _source_bytes(site, builder, copy.size)
        _limited(InstructionParts(site, builder, None), copy, size)


def _whole(code: InstructionParts, copy: _Copy) -> None:
    words = _new_words(code, copy)
    code.load(_WORD, copy.source, words, is_main=True, cache=copy.cache)
    code.store(_WORD, copy.destination, words)


def _new_words(code: InstructionParts, copy: _Copy) -> list[Register]:
    return [code.builder.temporary(_WORD.bits) for _ in range(copy.size // _WORD.bytes)]


def _source_bytes(site: Site, builder: BasicBlockBuilder, size: int) -> Operand:
    """How much of the source is read; a predicate says that nothing is."""
    operand = site.operands[3]
    name = getattr(operand, "name", "")
    register = site.names.scope.register(name) if name else None
    if register is None or register.bits != 1:
        return site.source(operand, 3, ScalarType.U32)
    code = InstructionParts(site, builder, None)
    ignored = site.source(operand, 3, ScalarType.PRED)
    return code.compute("selp.b32", 32, Immediate(0), Immediate(size), ignored)


def _limited(code: InstructionParts, copy: _Copy, limit: Operand) -> None:
    """Zeros stand for the bytes from `limit` on."""
    words = _new_words(code, copy)
    for word in words:
        code.assign("mov.b32", word, Immediate(0))
    whole = code.compute("setp.ge.u32", 1, limit, Immediate(copy.size))
    code.under(whole).load(_WORD, copy.source, words, is_main=True, cache=copy.cache)
    some = code.compute("setp.ne.u32", 1, limit, Immediate(0))
    partial = code.compute("xor.pred", 1, some, whole)
    stores = code.builder.new()
    code.skip_unless(partial, stores)
    _partial(code, copy, limit, words)
    code.builder.place(stores)
    code.store(_WORD, copy.destination, words)


def _partial(code: InstructionParts, copy: _Copy, limit: Operand, words: list[Register]) -> None:
    """The words that lie below `limit`, and of the last one some bytes."""
    for number, word in enumerate(words):
        end = Immediate((number + 1) * _WORD.bytes)
        inside = code.compute("setp.ge.u32", 1, limit, end)
        place = shifted(copy.source, number * _WORD.bytes)
        code.under(inside).load(_WORD, place, [word], cache=copy.cache)
    first = code.compute("and.b32", 32, limit, Immediate(~3 & 0xFFFF_FFFF))
    distance = code.compute("cvt.u64.u32", 64, first)
    base = code.compute("add.u64", 64, code.address_register(copy.source), distance)
    last = code.compute("mov.b32", 32, Immediate(0))
    for position in range(_WORD.bytes - 1):
        byte = code.builder.temporary(32)
        code.assign("mov.b32", byte, Immediate(0))
        bytes_below = code.compute("sub.u32", 32, limit, first)
        inside = code.compute("setp.gt.u32", 1, bytes_below, Immediate(position))
        place = Address(AddressSpace.GLOBAL, base, position)
        code.under(inside).load(ScalarType.U8, place, [byte], cache=copy.cache)
        moved = code.compute("shl.b32", 32, byte, Immediate(8 * position))
        last = code.compute("or.b32", 32, last, moved)
    for number, word in enumerate(words):
        is_here = code.compute("setp.eq.u32", 1, first, Immediate(number * _WORD.bytes))
        mine = code.compute("selp.b32", 32, last, Immediate(0), is_here)
        code.assign("or.b32", word, word, mine)
