"""Passing matrices among lanes: `ldmatrix`, `stmatrix`, `movmatrix` (PTX ISA 9.0, 9.7.14.5.15-17).

In memory a row is 16 bytes, four words of a lane. A matrix of 16-bit elements has 8 x 8; as a
fragment it is one word a lane: row `lane / 4`, columns `2 (lane % 4)` and the next. With 8-bit
elements `ldmatrix` reads 16 rows of 16 and transposes them into two words a lane, columns
`lane / 4` and eight further on, rows `4 (lane % 4)` and the next three; `stmatrix` transposes a
fragment of 16 x 8, one word a lane with the elements as accumulators have them, into 8 rows. (The
layouts are those of CUTLASS, `copy_traits_sm100.hpp`.)
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.numerics.outlined import outlined
from kernelcast.simcore.isa.opcodes.llvm.warp import GROUP, Operand
from kernelcast.simcore.isa.opcodes.warp import WarpOpcode
from kernelcast.simcore.isa.types import ScalarType, Unit

__all__ = ["Exchange", "ExchangeKind", "ExchangeOpcode", "exchange_opcode"]

Array = npt.NDArray[Any]
WORDS = 4
_LANE = np.arange(GROUP)


class ExchangeKind(Enum):
    """The three directions in which lanes pass matrices."""

    ROWS_TO_FRAGMENTS = "ldmatrix"
    FRAGMENTS_TO_ROWS = "stmatrix"
    FRAGMENT = "movmatrix"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One exchange of `matrices` matrices among the lanes of a warp.

    `transposes`: rows become columns; `is_of_bytes`: elements have 8 bits, which are always
    transposed.
    """

    kind: ExchangeKind
    matrices: int
    transposes: bool
    is_of_bytes: bool = False

    @property
    def sources(self) -> int:
        """The number of source registers per lane."""
        return WORDS if self.kind is ExchangeKind.ROWS_TO_FRAGMENTS else self.matrices

    @property
    def results(self) -> int:
        """The number of result registers per lane."""
        if self.kind is ExchangeKind.FRAGMENTS_TO_ROWS:
            return WORDS
        return self.matrices * (2 if self.is_of_bytes else 1)

    @property
    def rows(self) -> int:
        """The rows of all matrices in memory: so many lanes bring an address."""
        is_load = self.kind is ExchangeKind.ROWS_TO_FRAGMENTS
        return self.matrices * (16 if self.is_of_bytes and is_load else 8)

    @property
    def parts(self) -> int:
        """Elements of a word."""
        return 4 if self.is_of_bytes else 2

    def origins(self) -> Array:
        """Where each element of each result comes from: (results, lanes, parts, 3).

        The last axis is the source register, its lane and which of its elements.
        """
        found = np.zeros((self.results, GROUP, self.parts, 3), np.int64)
        for result in range(self.results):
            for part in range(self.parts):
                found[result, :, part] = np.stack(self._origin(result, part), axis=-1)
        return found

    def _origin(self, result: int, part: int) -> tuple[Array, Array, Array]:
        if self.is_of_bytes:
            is_load = self.kind is ExchangeKind.ROWS_TO_FRAGMENTS
            return (_loaded_byte if is_load else self._stored_byte)(result, part)
        matrix, row, column = self._element(result, part)
        if self.transposes:
            row, column = column, row
        return self._place(matrix, row, column)

    def _stored_byte(self, word: int, part: int) -> tuple[Array, Array, Array]:
        """The source of a byte in a row of 16; fragments hold columns 2t, 2t+1 of rows g, g+8."""
        matrix = np.minimum(_LANE // 8, self.matrices - 1)
        row, column = np.full(GROUP, 4 * word + part), _LANE % 8
        return matrix, row % 8 * 4 + column // 2, column % 2 + row // 8 * 2

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


def _loaded_byte(result: int, part: int) -> tuple[Array, Array, Array]:
    """The source of a byte of column lane / 4, or 8 further on, of a matrix held by 16 lanes."""
    matrix, half = divmod(result, 2)
    column = _LANE // 4 + 8 * half
    return column // 4, matrix * 16 + 4 * (_LANE % 4) + part, column % 4


@dataclass(frozen=True, slots=True)
class ExchangeOpcode(WarpOpcode):
    """The opcode of an exchange; kept by the exchange where modules are stored."""

    exchange: Exchange | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return exchange_opcode, (self.exchange,)


@cache
def exchange_opcode(exchange: Exchange) -> ExchangeOpcode:
    """The warp operation that carries out an exchange on arrays of lanes."""
    word = (ScalarType.B32,)
    suffix = ".trans" * exchange.transposes + ".b8" * exchange.is_of_bytes
    name = f"{exchange.kind.value}.x{exchange.matrices}{suffix}"
    bits = 32 // exchange.parts
    mask = np.uint32((1 << bits) - 1)

    def compute(_type: ScalarType, _participants: Array, *operands: Array) -> tuple[Array, ...]:
        words = np.stack(operands, axis=1).astype(np.uint32)
        origins = exchange.origins()
        source, lane, part = (origins[..., axis] for axis in range(3))
        elements = (words[:, source, lane] >> (bits * part).astype(np.uint32)) & mask
        shifts = np.arange(exchange.parts, dtype=np.uint32) * np.uint32(bits)
        joined = np.bitwise_or.reduce(elements << shifts, axis=-1)
        return tuple(joined[:, result] for result in range(exchange.results))

    def write(code: LaneCode, words: list[str]) -> list[str]:
        return [_emitted(code, words, origins) for origins in exchange.origins()]

    def emit(
        code: LaneCode, _type: ScalarType, _scratch: str, _participants: str, *operands: Operand
    ) -> tuple[str, ...]:
        # kernels have hundreds of exchanges
        given = [("i32", operand[0]) for operand in operands]
        return outlined(code, name, given, ["i32"] * exchange.results, write)

    return ExchangeOpcode(
        name=name,
        results=word * exchange.results,
        sources=word * exchange.sources,
        types=frozenset(word),
        unit=Unit.LOAD_STORE,
        is_common=False,
        compute=compute,
        emit=emit,
        exchange=exchange,
    )


def _emitted(code: LaneCode, words: list[str], origins: Array) -> str:
    """Emits one result of the exchange; `origins` of shape (lanes, parts, 3)."""
    parts = origins.shape[1]
    first = _picked(code, words, origins[:, 0])
    if np.array_equal(origins, _neighbours(origins)):
        return first
    bits = 32 // parts
    mask = code.splat("i32", (1 << bits) - 1)
    joined = ""
    for part in range(parts):
        word = _picked(code, words, origins[:, part]) if part else first
        distances = _numbers(code, bits * origins[:, part, 2])
        element = code.binary("and", "i32", code.binary("lshr", "i32", word, distances), mask)
        if part:
            element = code.binary("shl", "i32", element, code.splat("i32", bits * part))
        joined = code.binary("or", "i32", joined, element) if joined else element
    return joined


def _neighbours(origins: Array) -> Array:
    """Origins of whole words: every part from the first part's word and lane, at its own place."""
    whole = np.repeat(origins[:, :1], origins.shape[1], axis=1)
    whole[..., 2] = np.arange(origins.shape[1])
    return whole


def _numbers(code: LaneCode, values: Array) -> str:
    whole = np.resize(values, code.lanes).tolist()
    return f"<{', '.join(f'i32 {value}' for value in whole)}>"


def _flags(code: LaneCode, flags: Array) -> str:
    whole = np.resize(flags, code.lanes).tolist()
    return f"<{', '.join(f'i1 {str(flag).lower()}' for flag in whole)}>"


def _picked(code: LaneCode, words: list[str], origins: Array) -> str:
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
