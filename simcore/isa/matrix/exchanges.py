"""How lanes pass 8 x 8 matrices of 16-bit elements among each other: `ldmatrix`, `stmatrix`,
`movmatrix` (PTX ISA 9.0, 9.7.14.5.15 to 17).

In memory and between the halves of `ldmatrix` a matrix is eight rows of 16 bytes, four words a
lane; as a fragment it is one word a lane: row `lane / 4`, columns `2 (lane % 4)` and the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.native_code import NativeCode
from kernelcast.simcore.isa.native_warp import GROUP, Operand
from kernelcast.simcore.isa.types import ScalarType, Unit
from kernelcast.simcore.isa.warp_opcodes import WarpOpcode

__all__ = ["Exchange", "ExchangeKind", "ExchangeOpcode", "exchange_opcode"]

Array = npt.NDArray[Any]
WORDS = 4
_LANE = np.arange(GROUP)


class ExchangeKind(Enum):
    ROWS_TO_FRAGMENTS = "ldmatrix"
    FRAGMENTS_TO_ROWS = "stmatrix"
    FRAGMENT = "movmatrix"


@dataclass(frozen=True, slots=True)
class Exchange:
    """`matrices` at a time; `transposes`: rows become columns."""

    kind: ExchangeKind
    matrices: int
    transposes: bool

    @property
    def sources(self) -> int:
        return WORDS if self.kind is ExchangeKind.ROWS_TO_FRAGMENTS else self.matrices

    @property
    def results(self) -> int:
        return WORDS if self.kind is ExchangeKind.FRAGMENTS_TO_ROWS else self.matrices

    def origins(self) -> Array:
        """Where each half of each result comes from: (results, lanes, 2 halves, 3), the last axis
        being the source register, its lane and its half."""
        found = np.zeros((self.results, GROUP, 2, 3), np.int64)
        for result in range(self.results):
            for half in range(2):
                matrix, row, column = self._element(result, half)
                if self.transposes:
                    row, column = column, row
                found[result, :, half] = np.stack(self._place(matrix, row, column), axis=-1)
        return found

    def _element(self, result: int, half: int) -> tuple[Array, Array, Array]:
        """The (matrix, row, column) that each lane is to hold in half a result."""
        if self.kind is ExchangeKind.FRAGMENTS_TO_ROWS:
            matrix = np.minimum(_LANE // 8, self.matrices - 1)
            return matrix, _LANE % 8, np.full(GROUP, 2 * result + half)
        return np.full(GROUP, result), _LANE // 4, 2 * (_LANE % 4) + half

    def _place(self, matrix: Array, row: Array, column: Array) -> tuple[Array, Array, Array]:
        """The (source, lane, half) that holds an element."""
        if self.kind is ExchangeKind.ROWS_TO_FRAGMENTS:
            return column // 2, matrix * 8 + row, column % 2
        return matrix, row * 4 + column // 2, column % 2


@dataclass(frozen=True, slots=True)
class ExchangeOpcode(WarpOpcode):
    """The opcode of an exchange; kept by the exchange where modules are stored."""

    exchange: Exchange | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return exchange_opcode, (self.exchange,)


@cache
def exchange_opcode(exchange: Exchange) -> ExchangeOpcode:
    word = (ScalarType.B32,)
    suffix = ".trans" if exchange.transposes else ""

    def compute(_type: ScalarType, _participants: Array, *operands: Array) -> tuple[Array, ...]:
        words = np.stack(operands, axis=1).astype(np.uint32)
        origins = exchange.origins()
        source, lane, half = (origins[..., axis] for axis in range(3))
        halves = (words[:, source, lane] >> (16 * half).astype(np.uint32)) & np.uint32(0xFFFF)
        joined = halves[..., 0] | (halves[..., 1] << np.uint32(16))
        return tuple(joined[:, result] for result in range(exchange.results))

    def emit(
        code: NativeCode, _type: ScalarType, _scratch: str, _participants: str, *operands: Operand
    ) -> tuple[str, ...]:
        words = [operand[0] for operand in operands]
        return tuple(_emitted(code, words, origins) for origins in exchange.origins())

    return ExchangeOpcode(
        name=f"{exchange.kind.value}.x{exchange.matrices}{suffix}",
        results=word * exchange.results,
        sources=word * exchange.sources,
        types=frozenset(word),
        unit=Unit.LOAD_STORE,
        is_common=False,
        compute=compute,
        emit=emit,
        exchange=exchange,
    )


def _emitted(code: NativeCode, words: list[str], origins: Array) -> str:
    """One result; `origins` of shape (lanes, 2, 3)."""
    low = _picked(code, words, origins[:, 0])
    if np.array_equal(origins[:, 0, :2], origins[:, 1, :2]):
        return low  # neighbours stay neighbours
    high = _picked(code, words, origins[:, 1])
    sixteen, zero = code.splat("i32", 16), code.splat("i32", 0)
    is_upper = [_flags(code, origins[:, half, 2] == 1) for half in range(2)]
    low = code.binary("lshr", "i32", low, code.select("i32", is_upper[0], sixteen, zero))
    high = code.binary("lshr", "i32", high, code.select("i32", is_upper[1], sixteen, zero))
    low = code.binary("and", "i32", low, code.splat("i32", 0xFFFF))
    return code.binary("or", "i32", low, code.binary("shl", "i32", high, sixteen))


def _flags(code: NativeCode, flags: Array) -> str:
    whole = np.resize(flags, code.lanes).tolist()
    return f"<{', '.join(f'i1 {str(flag).lower()}' for flag in whole)}>"


def _picked(code: NativeCode, words: list[str], origins: Array) -> str:
    """Each lane takes a word of a lane of its group; `origins` of shape (lanes, 3)."""
    found = ""
    kind = code.type("i32")
    for first in range(0, len(words), 2):
        pair = words[first : first + 2]
        second = pair[1] if len(pair) > 1 else "poison"
        chosen = []
        for lane in range(code.lanes):
            source, origin = origins[lane % GROUP, 0] - first, origins[lane % GROUP, 1]
            inside = lane // GROUP * GROUP + origin + code.lanes * source
            chosen.append(str(inside) if 0 <= source < len(pair) else "poison")
        indices = ", ".join(f"i32 {place}" for place in chosen)
        taken = code.op(
            f"shufflevector {kind} {pair[0]}, {kind} {second}, <{code.lanes} x i32> <{indices}>"
        )
        mine = (origins[:, 0] >= first) & (origins[:, 0] < first + 2)
        found = code.select("i32", _flags(code, mine), taken, found) if found else taken
    return found
