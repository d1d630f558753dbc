"""LDSM, STSM and MOVM: matrices between shared memory and fragments, and from lane to lane.

They are `ldmatrix`, `stmatrix` and `movmatrix` of PTX, one instruction each.
"""

from __future__ import annotations

from kernelcast.ptx_frontend.instruction_writer import InstructionWriter
from kernelcast.ptx_frontend.ptx.matrix.movement import unpacked
from kernelcast.ptx_frontend.sass.lowering.memory_access.accesses import address_of
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.simcore.isa.ir.kernel import (
    Guard,
    Immediate,
    Operand,
    Register,
    Special,
    SpecialRegister,
)
from kernelcast.simcore.isa.matrix.exchanges import Exchange, ExchangeKind, exchange_opcode
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__: list[str] = []

_WORD = ScalarType.B32
_ROW_WORDS = 4
_LANES = 32
_PACKED = {"16": 0, "8": 0, "U6x16P32TO8": 6, "U4x16P64TO8": 4}
"""The bits of an element in memory that becomes a byte; 0 where nothing is unpacked."""
_LAYOUTS = {
    "M88": ("16", False),
    "MT88": ("16", True),
    "MT1616": ("8", True),
    "M816": ("8", False),
    "MT168": ("8", True),
}
"""Bits of elements in registers and whether they are transposed."""


def _exchange(site: Site, kind: ExchangeKind) -> tuple[Exchange, int]:
    """What lanes pass to each other, and the bits of an element that is not yet a byte."""
    packed = site.choose(_PACKED, -1)
    name = next((m for m in site.statement.modifiers if m in _LAYOUTS), "")
    if packed < 0 or not site.take(name):
        raise site.refuse("a layout of matrices")
    bits, transposes = _LAYOUTS[name]
    is_of_words = "16" in site.statement.modifiers
    if is_of_words != (bits == "16") or (name == "M816") > bool(packed):
        raise site.refuse("elements of such a layout")
    count = site.choose({"2": 2, "4": 4}, 1)
    # rows of unpacked bytes go to lanes as rows of 16-bit elements do
    is_of_bytes = bits == "8" and transposes
    return Exchange(kind, count, transposes, is_of_bytes), packed


def _narrowed(site: Site, rows: int) -> Guard | None:
    """The statement's guard, for the lanes that bring addresses."""
    if rows == _LANES:
        return site.guard
    lane = SpecialRegister(Special.LANEID)
    condition = site.compute("setp.lt.u32", 1, lane, Immediate(rows))
    if site.guard is not None:
        held: Operand = site.guard.register
        if site.guard.negated:
            held = site.compute("not.pred", 1, held)
        condition = site.compute("and.pred", 1, held, condition)
    return Guard(condition, negated=False)


@lowers("LDSM")
def lower_matrix_load(site: Site) -> None:
    """`d, [address of a row]`: a row of 16 bytes of each lane, then what lanes pass on."""
    exchange, packed = _exchange(site, ExchangeKind.ROWS_TO_FRAGMENTS)
    address = address_of(site, site.operand(1), AddressSpace.SHARED)
    rows = tuple(site.register(32) for _ in range(_ROW_WORDS))
    guard = _narrowed(site, exchange.rows)
    site.load(_WORD, address, rows, guard=guard, is_main=True)
    given = unpacked(site, rows, packed)
    found = site.destinations(site.operand(0), exchange.results)
    site.exchange(exchange_opcode(exchange), found, given)


@lowers("STSM")
def lower_matrix_store(site: Site) -> None:
    """`[address of a row], a`."""
    exchange, _ = _exchange(site, ExchangeKind.FRAGMENTS_TO_ROWS)
    address = address_of(site, site.operand(0), AddressSpace.SHARED)
    held = site.words(site.operand(1), exchange.matrices)
    rows = tuple(site.register(32) for _ in range(_ROW_WORDS))
    site.exchange(exchange_opcode(exchange), rows, held)
    guard, site.guard = site.guard, _narrowed(site, exchange.rows)
    site.store(_WORD, address, rows, is_main=True)
    site.guard = guard


@lowers("MOVM")
def lower_matrix_move(site: Site) -> None:
    """`d, a`: a transposed matrix, or one whose elements of 4 bits become bytes."""
    if site.take("M832"):
        _widen(site)
        return
    if not (site.take("16") and site.take("MT88")):
        raise site.refuse()
    opcode = exchange_opcode(Exchange(ExchangeKind.FRAGMENT, 1, transposes=True))
    given = site.word(site.operand(1))
    site.exchange(opcode, (site.destination(site.operand(0)),), (given,), is_main=True)


def _widen(site: Site) -> None:
    """Rows of 32 elements of 4 bits in four lanes, eight each, become two registers of bytes.

    The second register has the upper 16 elements of a row. That the order within a row stays is
    assumed: sums over rows, all that the assembler makes of it, would not tell.
    """
    if not site.take("U4TO8"):
        raise site.refuse()
    given = site.word(site.operand(1))
    lane = site.compute("mov.u32", 32, SpecialRegister(Special.LANEID))
    within = site.compute("and.b32", 32, lane, Immediate(3))
    half = site.compute("shr.u32", 32, within, Immediate(1))
    group = site.compute("and.b32", 32, lane, Immediate(_LANES - 4))
    first = site.compute("or.b32", 32, group, half)
    odd = site.compute("and.b32", 32, lane, Immediate(1))
    distance = site.compute("shl.b32", 32, odd, Immediate(4))
    whole = Immediate(_LANES - 1)
    found: list[Register] = []
    for upper in range(2):
        source = site.compute("add.u32", 32, first, Immediate(2 * upper))
        taken = site.register(32)
        opcode = WARP_OPCODES["shfl.idx"]
        site.exchange(opcode, (taken, None), (given, source, whole), is_main=not upper)
        found.append(_four_bytes(site, site.compute("shr.u32", 32, taken, distance)))
    for target, value in zip(site.destinations(site.operand(0), 2), found, strict=True):
        if target is not None:
            site.part("mov.b32", target, value)


def _four_bytes(code: InstructionWriter, word: Operand) -> Register:
    """The lowest four elements of 4 bits as bytes."""
    low = code.compute("and.b32", 32, word, Immediate(0x00FF))
    high = code.compute("and.b32", 32, word, Immediate(0xFF00))
    pairs = code.compute("or.b32", 32, low, code.compute("shl.b32", 32, high, Immediate(8)))
    low = code.compute("and.b32", 32, pairs, Immediate(0x000F000F))
    high = code.compute("and.b32", 32, pairs, Immediate(0x00F000F0))
    return code.compute("or.b32", 32, low, code.compute("shl.b32", 32, high, Immediate(4)))
