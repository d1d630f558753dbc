"""Addresses that descriptors of `wgmma` name, as LLVM IR: the twin of `descriptors`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.numerics.lane_code import LaneCode

__all__ = ["emit_piece_addresses"]

Array = npt.NDArray[Any]
_WORD = "i32"
_FIELD, _UNIT_BITS, _LINE_BITS = 0x3FFF, 4, 7
_LEADING_AT, _STRIDE_AT, _BASE_AT, _SWIZZLE_AT = 16, 32, 49, 62


def emit_piece_addresses(
    code: LaneCode,
    descriptor: str,
    first: str,
    outer: Array,
    deep: Array,
    row: Array,
    *,
    transposed: bool,
) -> tuple[str, ...]:
    """One vector of addresses for each row of `outer` and `deep`, shape (accesses, 32)."""
    rows = _Rows(code, descriptor, transposed)
    return tuple(
        rows.addresses(
            rows.do("add", first, _lanes(code, outer[number])), _lanes(code, deep[number]), row
        )
        for number in range(len(outer))
    )


def _lanes(code: LaneCode, values: Array) -> str:
    """A constant for each lane."""
    whole = np.resize(values, code.lanes).tolist()
    return f"<{', '.join(f'{_WORD} {value}' for value in whole)}>"


class _Rows:
    """The fields of a descriptor, and what they make of places."""

    def __init__(self, code: LaneCode, descriptor: str, transposed: bool) -> None:
        self._code = code
        self._transposed = transposed
        self._start, self._leading, self._stride = (
            self.do("shl", self._field(descriptor, at, _FIELD), self._number(_UNIT_BITS))
            for at in (0, _LEADING_AT, _STRIDE_AT)
        )
        self._base = self._field(descriptor, _BASE_AT, 7)
        mode = self._field(descriptor, _SWIZZLE_AT, 3)
        self._span = self.do("and", self.do("sub", self._number(4), mode), self._number(3))
        one = self._number(1)
        self._mask = self.do("sub", self.do("shl", one, self._span), one)

    def addresses(self, outer: str, deep: str, row: Array) -> str:
        inside, across = (outer, deep) if self._transposed else (deep, outer)
        piece, near = self.do("and", inside, self._mask), self.do("lshr", inside, self._span)
        lines = self.do("shl", _lanes(self._code, row), self._span)
        pieces = self.do("shl", self.do("add", lines, piece), self._number(_UNIT_BITS))
        near_step, far_step = self._steps()
        address = self.do("add", self._start, pieces)
        address = self.do("add", address, self.do("mul", near, near_step))
        address = self.do("add", address, self.do("mul", across, far_step))
        line = self.do("sub", self.do("lshr", address, self._number(_LINE_BITS)), self._base)
        moved = self.do("shl", self.do("and", line, self._mask), self._number(_UNIT_BITS))
        return self.do("xor", address, moved)

    def _steps(self) -> tuple[str, str]:
        """Distances between spans of pieces, and across them."""
        if not self._transposed:
            return self._leading, self._stride
        code = self._code
        is_plain = code.binary("icmp eq", _WORD, self._span, self._number(0))
        near = code.select(_WORD, is_plain, self._stride, self._leading)
        return near, code.select(_WORD, is_plain, self._leading, self._stride)

    def do(self, name: str, a: str, b: str) -> str:
        return self._code.binary(name, _WORD, a, b)

    def _number(self, value: int) -> str:
        return self._code.splat(_WORD, value)

    def _field(self, descriptor: str, at: int, mask: int) -> str:
        code = self._code
        moved = code.binary("lshr", "i64", descriptor, code.splat("i64", at))
        return self.do("and", code.cast("trunc", "i64", moved, _WORD), self._number(mask))
