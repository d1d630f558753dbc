"""`ldmatrix`, `stmatrix`, `movmatrix`: 8 x 8 matrices between shared memory and fragments.

Eight lanes bring the addresses of a matrix's rows; a row of 16 bytes is one access of a lane, which
the lanes then pass on among each other.
"""

from __future__ import annotations

from kernelcast.ptx_frontend.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.instruction_parts import InstructionParts
from kernelcast.ptx_frontend.matrix_instructions import fragment_destinations, fragment_sources
from kernelcast.ptx_frontend.operands import Site
from kernelcast.simcore.isa.kernel import Immediate, Special, SpecialRegister
from kernelcast.simcore.isa.matrix.exchanges import Exchange, ExchangeKind, exchange_opcode
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["lower_movement"]

_COUNTS = {"x1": 1, "x2": 2, "x4": 4}
_ROW_WORDS, _ROW_BYTES, _ROWS = 4, 16, 8
_LANES = 32
_MOVE_PARTS = ["sync", "aligned", "m8n8", "trans", "b16"]
_SHARED = ("shared", "shared::cta")


def lower_movement(site: Site, builder: BasicBlockBuilder) -> None:
    root, *parts = site.mnemonic.split(".")
    code = InstructionParts(site, builder, None)
    whole = InstructionParts.guarded(site, builder)
    if root == "movmatrix":
        _lower_movmatrix(whole, parts)
        return
    exchange, space = _understood(site, parts)
    word = (ScalarType.B32,)
    opcode = exchange_opcode(exchange)
    site.expect_operands(2)
    rows = tuple(builder.temporary(32) for _ in range(_ROW_WORDS))
    if root == "ldmatrix":
        found = fragment_destinations(site, 0, word * exchange.matrices)
        address = site.address(1, space, _ROW_BYTES)
        _with_addresses(code, exchange).load(ScalarType.B32, address, rows, is_main=True)
        whole.exchange(opcode, found, rows)
        return
    held = fragment_sources(site, 1, word * exchange.matrices)
    address = site.address(0, space, _ROW_BYTES)
    whole.exchange(opcode, rows, held)
    _with_addresses(code, exchange).store(ScalarType.B32, address, rows, is_main=True)


def _lower_movmatrix(code: InstructionParts, parts: list[str]) -> None:
    site = code.site
    if parts != _MOVE_PARTS:
        raise site.unsupported(f"instruction {site.mnemonic!r} is not supported")
    site.expect_operands(2)
    word = (ScalarType.B32,)
    opcode = exchange_opcode(Exchange(ExchangeKind.FRAGMENT, 1, transposes=True))
    code.exchange(
        opcode,
        fragment_destinations(site, 0, word),
        fragment_sources(site, 1, word),
        is_main=True,
    )


def _understood(site: Site, parts: list[str]) -> tuple[Exchange, AddressSpace]:
    """What moves, and where memory is; a generic address must be one of shared memory."""
    counts = [_COUNTS[part] for part in parts if part in _COUNTS]
    space = AddressSpace.SHARED if any(p in _SHARED for p in parts) else AddressSpace.GENERIC
    known = {"sync", "aligned", "m8n8", "trans", "b16", *_COUNTS, *_SHARED}
    foreign = [part for part in parts if part not in known]
    missing = [part for part in ("sync", "aligned", "m8n8", "b16") if part not in parts]
    if foreign or missing or len(counts) != 1:
        reason = f"modifier '.{foreign[0]}'" if foreign else "it moves .x1, .x2 or .x4 of .m8n8.b16"
        raise site.unsupported(f"instruction {site.mnemonic!r} is not supported: {reason}")
    is_load = site.mnemonic.startswith("ld")
    kind = ExchangeKind.ROWS_TO_FRAGMENTS if is_load else ExchangeKind.FRAGMENTS_TO_ROWS
    return Exchange(kind, counts[0], "trans" in parts), space


def _with_addresses(code: InstructionParts, exchange: Exchange) -> InstructionParts:
    """For the lanes that bring addresses."""
    count = exchange.matrices * _ROWS
    if count == _LANES:
        return InstructionParts.guarded(code.site, code.builder)
    lane = SpecialRegister(Special.LANEID)
    return code.guarded_also_by(code.compute("setp.lt.u32", 1, lane, Immediate(count)))
