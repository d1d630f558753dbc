"""Moving, packing and unpacking bits, and conversion between address spaces."""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.isa.opcodes.columns import Algebra, Columns, Expansion
from kernelcast.simcore.isa.opcodes.llvm import movement as llvm
from kernelcast.simcore.isa.opcodes.rounding import Array
from kernelcast.simcore.isa.opcodes.table import Context, opcode
from kernelcast.simcore.isa.types import (
    VALUES,
    WINDOW_BYTES,
    WINDOWS,
    AddressSpace,
    ScalarType,
    Unit,
)

__all__: list[str] = []

_ADDRESS = (ScalarType.U64,)
_PAIRS = (ScalarType.B16, ScalarType.B32, ScalarType.B64)
_QUADS = (ScalarType.B32, ScalarType.B64)
_RENAMING = Columns(expansion=Expansion.RENAMING)
_WINDOW = Columns(algebra=Algebra.WINDOW, expansion=Expansion.OPERAND)


@opcode(
    "mov",
    "t=t",
    (ScalarType.PRED, *VALUES),
    unit=Unit.MOVE,
    columns=Columns(algebra=Algebra.COPY, expansion=Expansion.RENAMING),
    llvm=llvm.emit_mov,
)
def _mov(_context: Context, a: Array) -> Array:
    return a


@opcode("image", "t=t", (ScalarType.B64,), unit=Unit.TEXTURE, llvm=llvm.emit_mov)
def _image(_context: Context, a: Array) -> Array:
    """A read or write of an image as one instruction: what follows it is part of it."""
    return a


@opcode("mov.pack2", "t=hh", _PAIRS, unit=Unit.MOVE, columns=_RENAMING, llvm=llvm.emit_pack)
@opcode("mov.pack4", "t=qqqq", _QUADS, unit=Unit.MOVE, columns=_RENAMING, llvm=llvm.emit_pack)
def _pack(context: Context, *parts: Array) -> Array:
    """Joins parts into one number, the first as its least significant bits."""
    dtype, width = context.type.dtype, context.type.bits // len(parts)
    result = parts[0].astype(dtype)
    for position, part in enumerate(parts[1:], start=1):
        result = result | (part.astype(dtype) << dtype.type(width * position))
    return result


@opcode(
    "mov.unpack2",
    "hh=t",
    _PAIRS,
    unit=Unit.MOVE,
    columns=_RENAMING,
    llvm=llvm.unpack_emission(2),
)
def _unpack2(context: Context, a: Array) -> tuple[Array, ...]:
    return _unpack(context, a, 2)


@opcode(
    "mov.unpack4",
    "qqqq=t",
    _QUADS,
    unit=Unit.MOVE,
    columns=_RENAMING,
    llvm=llvm.unpack_emission(4),
)
def _unpack4(context: Context, a: Array) -> tuple[Array, ...]:
    return _unpack(context, a, 4)


def _unpack(context: Context, a: Array, count: int) -> tuple[Array, ...]:
    dtype, width = context.type.dtype, context.type.bits // count
    part = ScalarType.named(f"b{width}").dtype
    return tuple((a >> dtype.type(width * i)).astype(part) for i in range(count))


def _register_cvta(name: str, window: int) -> None:
    offset = np.uint64(window)
    to_generic = llvm.cvta_emission("add", window)
    from_generic = llvm.cvta_emission("sub", window)
    windows = (window,) if window else tuple(WINDOWS.values())
    is_inside = llvm.isspacep_emission(windows, WINDOW_BYTES, inside=bool(window))

    @opcode(f"cvta.{name}", "t=t", _ADDRESS, unit=Unit.MOVE, columns=_WINDOW, llvm=to_generic)
    def _cvta(_context: Context, a: Array) -> Array:
        return np.add(a, offset)

    @opcode(f"cvta.to.{name}", "t=t", _ADDRESS, unit=Unit.MOVE, columns=_WINDOW, llvm=from_generic)
    def _cvta_to(_context: Context, a: Array) -> Array:
        return np.subtract(a, offset)

    @opcode(f"isspacep.{name}", "p=t", _ADDRESS, unit=Unit.INTEGER, llvm=is_inside)
    def _isspacep(_context: Context, a: Array) -> Array:
        if not window:
            return _is_global(a)
        return np.less(np.subtract(a, offset), np.uint64(WINDOW_BYTES))


def _is_global(a: Array) -> Array:
    """Generic addresses outside of every window are global."""
    inside = np.zeros((), np.bool_)
    for window in WINDOWS.values():
        inside = inside | np.less(np.subtract(a, np.uint64(window)), np.uint64(WINDOW_BYTES))
    return np.logical_not(inside)


for _name, _space in (
    *((space.value, space) for space in (AddressSpace.GLOBAL, *WINDOWS)),
    ("shared::cta", AddressSpace.SHARED),
):
    _register_cvta(_name, WINDOWS.get(_space, 0))
