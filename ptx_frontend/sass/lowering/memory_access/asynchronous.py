"""Copies from global to shared memory, done at once as any legal time is, and waits for them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import IMPLICIT_PC
from kernelcast.ptx_frontend.sass.lowering.control_flow.flow_context import gone_round
from kernelcast.ptx_frontend.sass.lowering.memory_access.accesses import HINTS
from kernelcast.ptx_frontend.sass.lowering.memory_access.addresses import address_of
from kernelcast.ptx_frontend.sass.lowering.memory_access.atomic_loops import arrive
from kernelcast.ptx_frontend.sass.lowering.memory_access.mbarriers import arrive_for_copies
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import NameOperand
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Branch,
    Guard,
    Immediate,
    Operand,
    Register,
    Store,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__: list[str] = []

_WORD, _BYTE = ScalarType.B32, ScalarType.U8
_ZERO = Immediate(0)
_LONG = 0xFFFFFFFF_FFFFFFFF
_HOPPER = 90
_COPIES = "SB0"
"""The scoreboard that counts groups of copies."""


@dataclass(frozen=True, slots=True)
class _Copy:
    """`size` bytes from global to shared memory."""

    source: Address
    destination: Address
    size: int
    cache: str

    def words(self, site: Site) -> list[Register]:
        """Registers for what is copied."""
        return [site.register(32) for _ in range(self.size // _WORD.bytes)]


@lowers("LDGSTS")
def lower_copy(site: Site) -> None:
    """`[to], [from][, p]`: zeros where p does not hold.

    `.ZFILL`: what the lower bits of `from` say is missing of a whole copy, of which only the
    first bytes are read; zeros stand for the others. Found by compiling `cp.async` with a size.
    """
    cache = "cg" if site.take("BYPASS") else "ca"
    site.ignore(*HINTS, "CONSTANT", "ACCESS", "STRONG")
    is_partial = site.take("ZFILL")
    size = site.choose({"64": 8, "128": 16}, 4)
    copy = _Copy(
        address_of(site, site.operand(1), AddressSpace.GLOBAL),
        address_of(site, site.operand(0), AddressSpace.SHARED),
        size,
        cache,
    )
    holds = site.predicate(site.operand(2)) if site.is_predicate(2) else Immediate(1)
    if not is_partial and holds == Immediate(1):
        words = copy.words(site)
        site.load(_WORD, copy.source, words, is_main=True, cache=cache)
        _bring(site, copy, words)
        return
    with gone_round(site):
        limit = site.compute("selp.b32", 32, Immediate(size), _ZERO, site.in_register(holds, 1))
        if is_partial:
            copy, limit = _from_aligned(site, copy, limit)
        _copy_some(site, copy, limit)


def _from_aligned(site: Site, copy: _Copy, limit: Register) -> tuple[_Copy, Register]:
    """The copy from a multiple of its size, and how many bytes of it are read."""
    base = copy.source.base
    assert isinstance(base, Register)
    whole = site.compute("add.s64", 64, base, Immediate(copy.source.offset & _LONG))
    low = site.compute("cvt.u32.u64", 32, whole)
    missing = site.compute("and.b32", 32, low, Immediate(copy.size - 1))
    aligned = site.compute("and.b64", 64, whole, Immediate(-copy.size & _LONG))
    left = site.compute("sub.u32", 32, limit, missing)
    limit = site.compute("selp.b32", 32, left, _ZERO, _is(site, "ne", limit, _ZERO))
    return replace(copy, source=Address(AddressSpace.GLOBAL, aligned, 0)), limit


def _copy_some(site: Site, copy: _Copy, limit: Register) -> None:
    """Zeros stand for the bytes from `limit` on."""
    words = copy.words(site)
    for word in words:
        site.assign("mov.b32", word, _ZERO)
    whole = _is(site, "ge", limit, Immediate(copy.size))
    some = _is(site, "ne", limit, _ZERO)
    site.guard = Guard(whole, negated=False)
    site.load(_WORD, copy.source, words, is_main=True, cache=copy.cache)
    site.guard = None
    builder = site.builder
    pieces, stores = builder.new(), builder.new()
    builder.end_and_continue(
        Branch(
            pc=IMPLICIT_PC,
            mnemonic="",
            span=site.span,
            guard=Guard(site.compute("xor.pred", 1, some, whole), negated=False),
            target=pieces,
            otherwise=stores,
        ),
        pieces,
    )
    _read_bytes(site, copy, limit, words)
    builder.place(stores)
    _bring(site, copy, words)


def _bring(site: Site, copy: _Copy, words: list[Register]) -> None:
    """The store of a copy, called as the copy is: engines know by it what has to be waited for."""
    store = Store(
        **site.fields(site.statement.mnemonic),
        type=_WORD,
        address=copy.destination,
        sources=tuple(words),
    )
    site.builder.append(store)


def _read_bytes(site: Site, copy: _Copy, limit: Register, words: list[Register]) -> None:
    for position in range(copy.size):
        byte = site.register(32)
        site.assign("mov.b32", byte, _ZERO)
        site.guard = Guard(_is(site, "gt", limit, Immediate(position)), negated=False)
        place = replace(copy.source, offset=copy.source.offset + position)
        site.load(_BYTE, place, [byte], cache=copy.cache)
        site.guard = None
        word = words[position // _WORD.bytes]
        moved = site.compute("shl.b32", 32, byte, Immediate(8 * (position % _WORD.bytes)))
        site.assign("or.b32", word, word, moved)


def _is(site: Site, order: str, a: Operand, b: Operand) -> Register:
    return site.compute(f"setp.{order}.u32", 1, a, b)


@lowers("LDGDEPBAR")
def lower_commit(site: Site) -> None:
    """The copies so far are a group."""
    site.fence()


@lowers("DEPBAR")
def lower_wait(site: Site) -> None:
    """`SBn, k`: until at most k groups of copies are left, or at most k instructions."""
    site.ignore("LE")
    name = site.operands[0] if site.operands else None
    if isinstance(name, NameOperand) and name.name == _COPIES:
        left = site.word(site.operand(1))
        if not isinstance(left, Immediate):
            raise site.refuse("a number of groups in a register")
        site.fence(left.bits)
        return
    site.nothing()


@lowers("ARRIVES")
def lower_arrival(site: Site) -> None:
    """`ARRIVES.LDGSTSBAR.64 [barrier]`: an arrival when all copies so far are done, as they are."""
    if not site.take("LDGSTSBAR") or not site.take("64"):
        raise site.refuse()
    if site.architecture >= _HOPPER:
        arrive_for_copies(site)
        return
    arrive(site, address_of(site, site.operand(0), AddressSpace.SHARED))
