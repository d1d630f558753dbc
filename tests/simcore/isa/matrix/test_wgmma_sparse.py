"""`wgmma.mma_async.sp`: two of four elements of A, in shared memory and in registers."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

Array = npt.NDArray[Any]
oracle: Any = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "wgmma_program.py")))
ROWS, COLUMNS = 64, 16
SIZES = {"f16": 2, "tf32": 4, "s8": 1}
B_AT = 32768
RNG = np.random.default_rng(11)


def codes_of(name: str, values: Array) -> Array:
    match name:
        case "f16":
            return values.astype(np.float16).view(np.uint16)
        case "tf32":
            return values.astype(np.float32).view(np.uint32)
    return values.astype(np.int8).view(np.uint8)


def thinned(name: str, depth: int) -> tuple[Array, Array, Array]:
    """A dense matrix with zeros, what is stored of it, and four bits for each chunk."""
    per_chunk = 2 if name == "tf32" else 4
    chunks = depth // per_chunk
    dense = np.zeros((ROWS, chunks, per_chunk), np.int64)
    stored = np.zeros((ROWS, chunks, per_chunk // 2), np.int64)
    bits = np.zeros((ROWS, chunks), np.int64)
    for row in range(ROWS):
        for chunk in range(chunks):
            kept = np.sort(RNG.permutation(per_chunk)[: per_chunk // 2])
            values = RNG.integers(1, 4, len(kept))
            dense[row, chunk, kept] = values
            stored[row, chunk] = values
            slots = (2 * kept[0], 2 * kept[0] + 1) if name == "tf32" else kept
            bits[row, chunk] = int(slots[0]) | int(slots[1]) << 2
    return dense.reshape(ROWS, depth), stored.reshape(ROWS, -1), bits


def metadata(name: str, bits: Array, selector: int) -> Array:
    """The words of 128 threads: those that the selector does not name hold nothing useful."""
    words = np.full(128, 0xDEADBEEF, np.uint64)
    narrow = name == "s8"
    named: dict[int, int] = {}
    for row in range(ROWS):
        warp, within = divmod(row, 16)
        group, half = within % 8, within // 8
        for chunk, value in enumerate(bits[row].tolist()):
            if narrow:
                lane, shift = half + 2 * (chunk // 8), chunk % 8 * 4
            else:
                lane, shift = 2 * selector + chunk // 4, half * 16 + chunk % 4 * 4
            thread = warp * 32 + group * 4 + lane
            named[thread] = named.get(thread, 0) | value << shift
    for thread, word in named.items():
        words[thread] = word
    return words.astype(np.uint32)


@pytest.mark.parametrize(
    ("name", "result", "selector"),
    [("f16", "f32", 0), ("f16", "f32", 1), ("tf32", "f32", 1), ("s8", "s32", 0)],
)
@pytest.mark.parametrize(
    ("in_registers", "engine"), [(False, "reference"), (True, "reference"), (False, "jit")]
)
def test_sparse_products(
    name: str, result: str, selector: int, in_registers: bool, engine: str
) -> None:
    size = SIZES[name]
    depth = 64 // size
    dense, stored, bits = thinned(name, depth)
    b = RNG.integers(-3, 4, (depth, COLUMNS))
    tile = np.zeros(oracle.SHARED_BYTES, np.uint8)
    for codes, start in ((codes_of(name, stored), 0), (codes_of(name, b.T.copy()), B_AT)):
        line, along = np.meshgrid(*map(np.arange, codes.shape), indexing="ij")
        place = oracle.canonical(line, along, size, 0, False, 128, 512).reshape(-1)
        tile[start + place[:, None] + np.arange(size)] = codes.reshape(-1)[:, None].view(np.uint8)
    per_word = 4 // size
    row, along = oracle.register_places(depth // 2, per_word)
    words = codes_of(name, stored)[row, along].reshape(4, per_word, -1).transpose(0, 2, 1)
    turns = {"f16": ", 0" if in_registers else ", 0, 0"}.get(name, "")
    tail = f"{', 1, 1' if result == 'f32' else ''}{turns}"
    left = "{A}" if in_registers else "%da"
    shape = f"m64n{COLUMNS}k{depth}.{result}.{name}.{name}"
    text = f"wgmma.mma_async.sp.sync.aligned.{shape} {{D}}, {left}, %db, %meta, {selector}, "
    source = oracle.program(f"{text}%scale{tail};", 8, "b32", 4 if in_registers else 0)
    d = np.zeros((8, 128), np.uint32)
    starts = (oracle.descriptor(0, 128, 512, 0), oracle.descriptor(B_AT, 128, 512, 0))
    registers = np.ascontiguousarray(words).view(np.uint32)[..., 0]
    meta = metadata(name, bits, selector)
    oracle.run(source, d, tile.view(np.uint32), registers, meta, starts, 1, engine)
    rows, columns = oracle.accumulator_places(COLUMNS)
    found = d.view(np.float32 if result == "f32" else np.int32)
    np.testing.assert_array_equal(found, (dense @ b)[rows, columns])
