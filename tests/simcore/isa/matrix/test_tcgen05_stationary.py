"""`tcgen05.mma.ws` and `.sp` against NumPy products, on both engines.

Where matrices and metadata are in tensor memory is written out here.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import MemoryAccessError
from kernelcast.simcore.engine import execute

Array = npt.NDArray[Any]
HERE = Path(__file__).parents[2]
oracle: Any = SimpleNamespace(**runpy.run_path(str(HERE / "tcgen05_program.py")))
dense: Any = SimpleNamespace(
    **runpy.run_path(str(HERE / "isa" / "matrix" / "test_tcgen05_products.py"))
)
comparison: Any = SimpleNamespace(**runpy.run_path(str(HERE / "trace_comparison.py")))
RNG = np.random.default_rng(23)
DEPTH = {"f16": 16, "tf32": 8}
A_AT, METADATA_AT = 0, 32
"""Columns of what is filled."""
_ON_BOTH = ("mma.ws.cta_group::1.kind::f16", "mma.sp.cta_group::1.kind::f16")


def found_in(product: str, tile: Array, numbers: list[int], held: Array) -> Array:
    """All of tensor memory after a product; those of f16 leave the same in both engines."""
    source = oracle.described(f"@%first tcgen05.mma.{product};")
    words = np.array(numbers, np.uint64)
    kernel, launch = oracle.launched(source, tile, held, words)
    if f"mma.{product}".startswith(_ON_BOTH):
        comparison.run_on_both(kernel, launch)
    else:
        execute(kernel, launch, engine="reference")
    return np.asarray(launch.arguments[0])


def banked(words: Array, rows: int, columns: int) -> Array:
    """D of `.ws`: 128 / rows parts of the columns, one below the other."""
    parts = 128 // rows
    cells = words[:, : columns // parts].reshape(parts, rows, columns // parts)
    return cells.transpose(1, 0, 2).reshape(rows, columns)


def stationary(
    kind: str,
    a: str,
    rows: int,
    columns: int,
    *,
    in_tensor_memory: bool = False,
    zero: int | None = None,
    shift: int = 0,
    name: str = "ws",
) -> tuple[Array, Array, Array]:
    """(D as found, A, B with its columns from `shift` on)."""
    depth = DEPTH.get(kind, 32)
    (x_codes, x), (y_codes, y) = (
        dense.random_matrix(a, (lines, depth)) for lines in (rows, columns + 32)
    )
    tile = np.zeros(oracle.SHARED_BYTES, np.uint8)
    numbers = [
        dense.laid_out(tile, x_codes, a, 0, 0, False, False),
        dense.laid_out(tile, y_codes, a, dense.B_AT, 0, False, False),
        dense.RESULT["s32" if kind == "i8" else "f32"] << 4
        | dense.FORMAT[a] << 7
        | dense.FORMAT[a] << 10
        | columns // 8 << 17
        | rows // 16 << 24,
        zero or 0,
    ]
    held = np.zeros((oracle.FILLED, 128), np.uint32)
    if in_tensor_memory:
        raw = np.ascontiguousarray(x_codes).view(np.uint32)
        held[A_AT : A_AT + raw.shape[1]] = np.tile(raw.T, 128 // rows)
    left = f"[%t+{256 + A_AT}]" if in_tensor_memory else "%rd5"
    tail = "" if zero is None else ", %rd7"
    product = f"{name}.cta_group::1.kind::{kind} [%t], {left}, %rd6, %r6, %p3{tail}"
    words = banked(found_in(product, tile, numbers, held), rows, columns)
    values = words.view(np.int32 if kind == "i8" else np.float32).astype(float)
    return values, x, y[shift : shift + columns]


@pytest.mark.drawn(5)
@pytest.mark.parametrize(("kind", "a"), [("f16", "bf16"), ("tf32", "tf32"), ("i8", "s8")])
@pytest.mark.parametrize(
    ("rows", "columns", "in_tensor_memory"), [(32, 64, True), (64, 128, True), (128, 256, False)]
)
def test_columns_are_shared_by_the_lanes_that_no_row_takes(
    kind: str, a: str, rows: int, columns: int, in_tensor_memory: bool
) -> None:
    found, x, y = stationary(kind, a, rows, columns, in_tensor_memory=in_tensor_memory)
    np.testing.assert_array_equal(found, x @ y.T)


def test_what_is_said_of_collectors_changes_nothing() -> None:
    found, x, y = stationary("f16", "f16", 64, 64, name="ws.collector::b2::lastuse")
    np.testing.assert_array_equal(found, x @ y.T)


SPANS = 1 << 39 | 2 << 40 | 3 << 48
"""The examples of the manual: runs of three zero columns and of four that are used."""


@pytest.mark.parametrize(
    ("rows", "descriptor", "starts"),
    [
        (128, SPANS & ~(1 << 39), [""]),
        (128, SPANS, ["00001110000111"]),
        (64, SPANS | 1 << 32, ["11100001110000111", "00001110000111"]),
        (
            32,
            SPANS | 0b0011 << 32 | 1 << 8 | 2 << 16 | 1 << 24 | 2 << 56,
            ["11100001110000", "1100001110000", "001110000111", "0001110000111"],
        ),
    ],
)
def test_columns_that_count_as_zero(rows: int, descriptor: int, starts: list[str]) -> None:
    """`starts`: the masks as the manual prints them, the first column first here."""
    shift = descriptor >> 56
    found, x, y = stationary("f16", "f16", rows, 128, zero=descriptor, shift=shift)
    zero = np.zeros(128, np.bool_)
    width = 128 // len(starts)
    for part, start in enumerate(starts):
        held = (start + start[-7:] * width)[:width] if start else "0" * width
        zero[part * width : (part + 1) * width] = [bit == "1" for bit in held]
    np.testing.assert_array_equal(found, x @ np.where(zero[:, None], 0, y).T)


def test_a_shift_that_is_too_far() -> None:
    with pytest.raises(MemoryAccessError, match="cannot be shifted by 33"):
        stationary("f16", "f16", 64, 64, zero=33 << 56)


def sparse(
    kind: str, a: str, rows: int, *, name: str, selector: int = 0, in_tensor_memory: bool = False
) -> tuple[Array, Array]:
    """(D as found, A B) of an A with half of its elements."""
    depth, columns = 2 * DEPTH.get(kind, 32), 64
    group, kept = (2, 1) if kind == "tf32" else (4, 2)
    compact, values = dense.random_matrix(a, (rows, depth // 2))
    choice = np.sort(
        RNG.permuted(np.tile(np.arange(group), (rows, depth // group, 1)), axis=-1)[..., :kept]
    )
    x = np.zeros((rows, depth // group, group))
    np.put_along_axis(x, choice, values.reshape(rows, -1, kept), axis=-1)
    # two bits a place; for tf32 two places of half an element each
    bits = choice[..., 0] | choice[..., -1] << 2
    if kind == "tf32":
        bits = np.where(choice[..., 0] == 0, 0b0100, 0b1110)
    y_codes, y = dense.random_matrix(a, (columns, depth))
    tile = np.zeros(oracle.SHARED_BYTES, np.uint8)
    numbers = [
        dense.laid_out(tile, compact, a, 0, 0, False, False),
        dense.laid_out(tile, y_codes, a, dense.B_AT, 0, False, False),
        selector
        | 1 << 2
        | dense.RESULT["s32" if kind == "i8" else "f32"] << 4
        | dense.FORMAT[a] << 7
        | dense.FORMAT[a] << 10
        | columns // 8 << 17
        | rows // 16 << 24,
        0,
    ]
    held = np.zeros((oracle.FILLED, 128), np.uint32)
    parts = 128 // rows
    if in_tensor_memory:
        raw = np.ascontiguousarray(compact).view(np.uint32)
        held[A_AT : A_AT + raw.shape[1]] = np.tile(raw.T, parts)
    lanes = metadata_words(bits, narrow=a in ("s8", "e4m3"))
    held[METADATA_AT + selector :][: lanes.shape[1]] = np.tile(lanes.T, parts)
    left = f"[%t+{256 + A_AT}]" if in_tensor_memory else "%rd5"
    metadata = f"[%t+{256 + METADATA_AT}]"
    product = f"{name}.cta_group::1.kind::{kind} [%t], {left}, %rd6, {metadata}, %r6, %p3"
    words = found_in(product, tile, numbers, held)
    words = banked(words, rows, columns) if rows < 128 else words[:, :columns]
    found = np.ascontiguousarray(words).view(np.int32 if kind == "i8" else np.float32)
    return found.astype(float), x.reshape(rows, depth) @ y.T


def metadata_words(bits: Array, *, narrow: bool) -> Array:
    """(lanes, columns) from four bits for each row and chunk.

    Those of wide elements are as CUTLASS writes them, ((8,2,m),(16,2)) : ((1 lane, 16 bits, 16
    lanes),(1 bit, 8 lanes)).
    """
    rows, chunks = bits.shape
    words = np.zeros((rows, -(-chunks // 8) if narrow else 1), np.uint32)
    for row in range(rows):
        for chunk in range(chunks):
            lane, column, bit = row, chunk // 8, 4 * (chunk % 8)
            if not narrow:
                lane = row % 8 + 16 * (row // 16) + 8 * (chunk // 4)
                column, bit = 0, 4 * (chunk % 4) + 16 * (row // 8 % 2)
            words[lane, column] |= np.uint32(int(bits[row, chunk]) << bit)
    return words


@pytest.mark.parametrize(
    ("kind", "a"), [("f16", "f16"), ("tf32", "tf32"), ("i8", "s8"), ("f8f6f4", "e4m3")]
)
@pytest.mark.parametrize(("name", "rows"), [("sp", 128), ("ws.sp", 64), ("ws.sp", 32)])
def test_sparse_products(kind: str, a: str, name: str, rows: int) -> None:
    found, wanted = sparse(kind, a, rows, name=name)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("name", "rows"), [("sp", 128), ("ws.sp", 32)])
def test_a_sparse_matrix_in_tensor_memory(name: str, rows: int) -> None:
    found, wanted = sparse("f16", "bf16", rows, name=name, in_tensor_memory=True)
    np.testing.assert_array_equal(found, wanted)


def test_a_selector_names_the_next_column_of_metadata() -> None:
    found, wanted = sparse("f16", "f16", 128, name="sp", selector=1)
    np.testing.assert_array_equal(found, wanted)
    with pytest.raises(MemoryAccessError, match="no sparsity selector 2"):
        sparse("f16", "f16", 128, name="sp", selector=2)


def test_sparse_products_that_are_refused() -> None:
    with pytest.raises(MemoryAccessError, match="64 rows a thread block"):
        sparse("f16", "f16", 64, name="sp")
