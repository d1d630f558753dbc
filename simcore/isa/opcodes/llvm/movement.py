"""Moves, packing and address-space conversion as LLVM IR: the twin of `movement`."""

from __future__ import annotations

from collections.abc import Iterable

from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.opcodes.table import Context, Emission

__all__ = ["cvta_emission", "emit_mov", "emit_pack", "isspacep_emission", "unpack_emission"]


def emit_mov(_code: LaneCode, _context: Context, a: str) -> str:
    """Emits nothing: the result of `mov` is its operand."""
    return a


def emit_pack(code: LaneCode, context: Context, *parts: str) -> str:
    """Emits the packing of equally wide parts into one value, the first part lowest."""
    type_, width = context.type, context.type.bits // len(parts)
    result = code.cast("zext", f"i{width}", parts[0], type_)
    for position, part in enumerate(parts[1:], start=1):
        wide = code.cast("zext", f"i{width}", part, type_)
        placed = code.binary("shl", type_, wide, code.splat(type_, width * position))
        result = code.binary("or", type_, result, placed)
    return result


def unpack_emission(count: int) -> Emission:
    """The first of `count` parts is the least significant."""

    def emit(code: LaneCode, context: Context, a: str) -> tuple[str, ...]:
        type_, width = context.type, context.type.bits // count
        shifts = [code.splat(type_, width * position) for position in range(count)]
        parts = [code.binary("lshr", type_, a, shift) for shift in shifts]
        return tuple(code.cast("trunc", type_, part, f"i{width}") for part in parts)

    return emit


def cvta_emission(name: str, window: int) -> Emission:
    """`add` of the window makes an address generic, `sub` takes it back."""

    def emit(code: LaneCode, _context: Context, a: str) -> str:
        return code.binary(name, "i64", a, code.splat("i64", window)) if window else a

    return emit


def isspacep_emission(windows: Iterable[int], window_bytes: int, inside: bool) -> Emission:
    """Whether a generic address lies in one of the windows, or in none of them."""
    bases = tuple(windows)

    def emit(code: LaneCode, _context: Context, a: str) -> str:
        result = code.splat("i1", "false" if inside else "true")
        for base in bases:
            offset = code.binary("sub", "i64", a, code.splat("i64", base))
            comparison = "icmp ult" if inside else "icmp uge"
            holds = code.binary(comparison, "i64", offset, code.splat("i64", window_bytes))
            result = code.binary("or" if inside else "and", "i1", result, holds)
        return result

    return emit
