"""`ldmatrix`, `stmatrix`, `movmatrix`: matrices between shared memory and fragments.

Eight or sixteen lanes bring the addresses of a matrix's rows; a row of 16 bytes is one access of a
lane, which the lanes then pass on among each other. Elements of 6 and 4 bits lie side by side with
padding behind them; each becomes a byte whose upper bits are zero.
"""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.ptx_frontend.instruction_writer import InstructionWriter
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.instruction_parts import InstructionParts
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.matrix.products import fragment_destinations, fragment_sources
from kernelcast.simcore.isa.ir.kernel import Immediate, Register, Special, SpecialRegister
from kernelcast.simcore.isa.matrix.exchanges import Exchange, ExchangeKind, exchange_opcode
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["lower_movement", "unpacked"]

_COUNTS = {"x1": 1, "x2": 2, "x4": 4}
_ROW_WORDS, _ROW_BYTES = 4, 16
_LANES = 32
_MOVE_PARTS = ["sync", "aligned", "m8n8", "trans", "b16"]
_SHARED = ("shared", "shared::cta")
_UNPACKED = {"b8x16.b6x16_p32": 6, "b8x16.b4x16_p64": 4}
_LOADS = {
    ("m8n8", "b16"): (False, True),
    ("m16n16", "b8"): (True,),
    **{("m16n16", packed): (True,) for packed in _UNPACKED},
    **{("m8n16", packed): (False,) for packed in _UNPACKED},
}
_STORES = {("m8n8", "b16"): (False, True), ("m16n8", "b8"): (True,)}
"""Whether `.trans` stands, by shape and type."""


@dataclass(frozen=True, slots=True)
class _Movement:
    """`packed_bits`: of elements that are not yet bytes; 0 where nothing is unpacked."""

    exchange: Exchange
    space: AddressSpace
    packed_bits: int


def lower_movement(site: Site, builder: BasicBlockBuilder) -> None:
    """Lowers `ldmatrix`, `stmatrix` or `movmatrix` to accesses and a warp operation."""
    root, *parts = site.mnemonic.split(".")
    code = InstructionParts(site, builder, None)
    whole = InstructionParts.guarded(site, builder)
    if root == "movmatrix":
        _lower_movmatrix(whole, parts)
        return
    movement = _understood(site, parts)
    exchange, space = movement.exchange, movement.space
    word = (ScalarType.B32,)
    opcode = exchange_opcode(exchange)
    site.expect_operands(2)
    rows = tuple(builder.temporary(32) for _ in range(_ROW_WORDS))
    if root == "ldmatrix":
        found = fragment_destinations(site, 0, word * exchange.results)
        address = site.address(1, space, _ROW_BYTES)
        _with_addresses(code, exchange).load(ScalarType.B32, address, rows, is_main=True)
        whole.exchange(opcode, found, unpacked(code, rows, movement.packed_bits))
        return
    held = fragment_sources(site, 1, word * exchange.matrices)
    address = site.address(0, space, _ROW_BYTES)
    whole.exchange(opcode, rows, held)
    _with_addresses(code, exchange).store(ScalarType.B32, address, rows, is_main=True)


def _lower_movmatrix(code: InstructionParts, parts: list[str]) -> None:
    site = code.site
    if parts != _MOVE_PARTS:
        raise site.refused()
    site.expect_operands(2)
    word = (ScalarType.B32,)
    opcode = exchange_opcode(Exchange(ExchangeKind.FRAGMENT, 1, transposes=True))
    code.exchange(
        opcode,
        fragment_destinations(site, 0, word),
        fragment_sources(site, 1, word),
        is_main=True,
    )


def _understood(site: Site, parts: list[str]) -> _Movement:
    """What moves, and where memory is; a generic address must be one of shared memory."""
    counts = [_COUNTS[part] for part in parts if part in _COUNTS]
    space = AddressSpace.SHARED if any(p in _SHARED for p in parts) else AddressSpace.GENERIC
    is_load = site.mnemonic.startswith("ld")
    transposes = "trans" in parts
    markers = {"sync", "aligned", "trans", *_COUNTS, *_SHARED}
    shape, *types = [part for part in parts if part not in markers] or [""]
    type_ = ".".join(types)
    forms = (_LOADS if is_load else _STORES).get((shape, type_), ())
    missing = [part for part in ("sync", "aligned") if part not in parts]
    is_wide = shape == "m16n16"
    if missing or transposes not in forms or len(counts) != 1 or (is_wide and counts[0] > 2):
        raise site.refused()
    kind = ExchangeKind.ROWS_TO_FRAGMENTS if is_load else ExchangeKind.FRAGMENTS_TO_ROWS
    is_of_bytes = shape.startswith("m16")
    exchange = Exchange(kind, counts[0], transposes, is_of_bytes)
    return _Movement(exchange, space, _UNPACKED.get(type_, 0))


def unpacked(
    code: InstructionWriter, rows: tuple[Register, ...], packed_bits: int
) -> tuple[Register, ...]:
    """The 16 elements of a row as bytes, four a word; the row itself where they take no bits."""
    if not packed_bits:
        return rows
    return tuple(
        _as_bytes(code, _four_elements(code, rows, 4 * packed_bits * word), packed_bits)
        for word in range(_ROW_WORDS)
    )


def _four_elements(code: InstructionWriter, rows: tuple[Register, ...], first: int) -> Register:
    """The 32 bits of a row from bit `first` on."""
    word, distance = divmod(first, 32)
    if not distance:
        return rows[word]
    return code.compute("shf.r.wrap.b32", 32, rows[word], rows[word + 1], Immediate(distance))


def _as_bytes(code: InstructionWriter, word: Register, bits: int) -> Register:
    """Spreads the lowest four elements: two steps that each move every second part away."""
    for count in (2, 1):
        width, room = bits * count, 8 * count
        kept = sum(((1 << width) - 1) << 2 * room * k for k in range(2 // count))
        low = code.compute("and.b32", 32, word, Immediate(kept))
        high = code.compute("and.b32", 32, word, Immediate(kept << width))
        high = code.compute("shl.b32", 32, high, Immediate(room - width))
        word = code.compute("or.b32", 32, low, high)
    return word


def _with_addresses(code: InstructionParts, exchange: Exchange) -> InstructionParts:
    """A writer for the lanes that bring addresses."""
    if exchange.rows == _LANES:
        return InstructionParts.guarded(code.site, code.builder)
    lane = SpecialRegister(Special.LANEID)
    return code.guarded_also_by(code.compute("setp.lt.u32", 1, lane, Immediate(exchange.rows)))
