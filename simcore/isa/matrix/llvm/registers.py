"""Registers of a warp to elements in matrix order and back, by shuffles of whole vectors.

Elements come and go as vectors of 64 bytes; each is made from the vectors that hold a part of it,
two at a time: for the fragments of `mma` these are one or two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.matrix.layouts import LANES, Fragment
from kernelcast.simcore.isa.matrix.llvm.function import FunctionCode

__all__ = ["codes_of", "is_shuffled", "registers_of"]

Array = npt.NDArray[Any]
_VECTOR_BITS = 512


def is_shuffled(fragment: Fragment) -> bool:
    """Whether its elements are whole bytes: smaller ones are read one by one."""
    return fragment.format.bits >= 8


def codes_of(
    code: FunctionCode, fragment: Fragment, registers: Sequence[str], order: Array | None = None
) -> str:
    """The array of codes in matrix order, or in another one; `registers`: vectors of LANES words.
    `order`: numbers of the elements in matrix order."""
    size = fragment.format.bits
    pieces = _pieces(code, fragment, registers)
    codes = code.array(fragment.elements, f"i{size}")
    sources = fragment.bit_offsets() // size
    if order is not None:
        sources = sources[order]
    for first, value in _gathered(code, pieces, sources, size):
        count = min(_VECTOR_BITS // size, fragment.elements - first)
        part = _first(code, value, size, count)
        code.store_run(f"i{size}", count, part, codes, str(first))
    return codes


def registers_of(
    code: FunctionCode, fragment: Fragment, codes: str, order: Array | None = None
) -> list[str]:
    """Vectors of LANES words from codes in the same order."""
    size, bits = fragment.format.bits, fragment.format.register_bits
    per_vector = _VECTOR_BITS // size
    pieces = [
        _padded(code, codes, first, min(per_vector, fragment.elements - first), size)
        for first in range(0, fragment.elements, per_vector)
    ]
    sources = np.zeros(fragment.elements, np.int64)
    places = fragment.bit_offsets() // size
    sources[places if order is None else places[order]] = np.arange(fragment.elements)
    vectors = [value for _, value in _gathered(code, pieces, sources, size)]
    words = _VECTOR_BITS // bits
    kind = f"<{words} x i{bits}>"
    cast = [code.op(f"bitcast <{per_vector} x i{size}> {v} to {kind}") for v in vectors]
    found = []
    for register in range(fragment.distinct_registers):
        start = register * LANES // words
        found.append(_joined(code, cast[start : start + LANES // words], words, bits))
    return found * fragment.copies


def _pieces(code: FunctionCode, fragment: Fragment, registers: Sequence[str]) -> list[str]:
    """Registers cut into vectors of 64 bytes of elements."""
    size, bits = fragment.format.bits, fragment.format.register_bits
    words = _VECTOR_BITS // bits
    whole = f"<{LANES} x i{bits}>"
    found = []
    for register in registers:
        for first in range(0, LANES, words):
            chosen = ", ".join(f"i32 {first + lane}" for lane in range(words))
            part = code.op(
                f"shufflevector {whole} {register}, {whole} poison, <{words} x i32> <{chosen}>"
            )
            kind = f"<{_VECTOR_BITS // size} x i{size}>"
            found.append(code.op(f"bitcast <{words} x i{bits}> {part} to {kind}"))
    return found


def _gathered(
    code: FunctionCode, pieces: Sequence[str], sources: Array, size: int
) -> list[tuple[int, str]]:
    """Vectors of the elements numbered in `sources`, with the place of the first of each."""
    per_vector = _VECTOR_BITS // size
    found = []
    for first in range(0, len(sources), per_vector):
        wanted = sources[first : first + per_vector]
        found.append((first, _one_vector(code, pieces, wanted, size)))
    return found


def _one_vector(code: FunctionCode, pieces: Sequence[str], wanted: Array, size: int) -> str:
    per_vector = _VECTOR_BITS // size
    kind = f"<{per_vector} x i{size}>"
    owners, inside = wanted // per_vector, wanted % per_vector
    needed = np.unique(owners).tolist()
    result: str = pieces[needed[0]]
    known = [needed[0]]
    for step in range(max(1, len(needed) - 1)):
        other = needed[step + 1] if len(needed) > 1 else None
        indices = []
        for place in range(per_vector):
            index = "poison"
            if place < len(wanted):
                if owners[place] == other:
                    index = str(per_vector + inside[place])
                elif owners[place] in known:
                    index = str(inside[place] if step == 0 else place)
            indices.append(f"i32 {index}")
        second = pieces[other] if other is not None else "poison"
        result = code.op(
            f"shufflevector {kind} {result}, {kind} {second}, "
            f"<{per_vector} x i32> <{', '.join(indices)}>"
        )
        if other is not None:
            known.append(other)
    return result


def _first(code: FunctionCode, value: str, size: int, count: int) -> str:
    per_vector = _VECTOR_BITS // size
    if count == per_vector:
        return value
    kind = f"<{per_vector} x i{size}>"
    chosen = ", ".join(f"i32 {place}" for place in range(count))
    return code.op(f"shufflevector {kind} {value}, {kind} poison, <{count} x i32> <{chosen}>")


def _padded(code: FunctionCode, codes: str, first: int, count: int, size: int) -> str:
    """Neighbouring elements as a whole vector."""
    per_vector = _VECTOR_BITS // size
    value = code.load_run(f"i{size}", count, codes, str(first))
    if count == per_vector:
        return value
    kind = f"<{count} x i{size}>"
    chosen = ", ".join(
        f"i32 {place}" if place < count else "i32 poison" for place in range(per_vector)
    )
    return code.op(f"shufflevector {kind} {value}, {kind} poison, <{per_vector} x i32> <{chosen}>")


def _joined(code: FunctionCode, parts: Sequence[str], words: int, bits: int) -> str:
    """Vectors one after the other: two, or four of wide words."""
    while len(parts) > 1:
        kind = f"<{words} x i{bits}>"
        chosen = ", ".join(f"i32 {place}" for place in range(2 * words))
        parts = [
            code.op(f"shufflevector {kind} {a}, {kind} {b}, <{2 * words} x i32> <{chosen}>")
            for a, b in zip(parts[::2], parts[1::2], strict=True)
        ]
        words *= 2
    return parts[0]
