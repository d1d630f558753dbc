"""`mma` with scales of blocks against NumPy; lanes of fragments and scales by the manual."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import UnsupportedInstruction

Array = npt.NDArray[Any]
oracle: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[2] / "matrix_program.py"))
)
RNG = np.random.default_rng(3)
FIELDS = {"e4m3": (4, 3), "e5m2": (5, 2), "e3m2": (3, 2), "e2m3": (2, 3), "e2m1": (2, 1)}
LANES = 32


def value_of(code: int, exponent: int, mantissa: int) -> float:
    """The number that a sign, an exponent and a fraction stand for."""
    fraction = code & (1 << mantissa) - 1
    field = code >> mantissa & (1 << exponent) - 1
    sign = -1.0 if code >> (exponent + mantissa) else 1.0
    bias = (1 << (exponent - 1)) - 1
    if field == 0:
        return sign * fraction * 2.0 ** (1 - bias - mantissa)
    return sign * (1 + fraction / (1 << mantissa)) * 2.0 ** (field - bias)


def random_codes(name: str, shape: tuple[int, int]) -> tuple[Array, Array]:
    """Codes of numbers near one, and the numbers."""
    exponent, mantissa = FIELDS[name]
    width = 1 + exponent + mantissa
    codes = np.arange(1 << width)
    values = np.array([value_of(int(c), exponent, mantissa) for c in codes])
    usable = codes[(abs(values) <= 6) & ((values == 0) | (abs(values) >= 0.5))]
    chosen = RNG.choice(usable, shape)
    return chosen, values[chosen]


def a_places(depth: int, per_word: int) -> tuple[Array, Array]:
    lane = np.arange(LANES)[None, :]
    index = np.arange(4 * per_word)[:, None]
    word, inside = index // per_word, index % per_word
    row = lane // 4 + 8 * (word % 2)
    return row, lane % 4 * per_word + inside + depth // 2 * (word // 2)


def b_places(depth: int, per_word: int) -> tuple[Array, Array]:
    lane = np.arange(LANES)[None, :]
    index = np.arange(2 * per_word)[:, None]
    word, inside = index // per_word, index % per_word
    return lane % 4 * per_word + inside + depth // 2 * word, lane // 4 + 0 * index


def words_of(codes: Array, bits: int) -> Array:
    """Codes (elements, lanes) to words (registers, lanes)."""
    per_word = 32 // bits
    parts = codes.astype(np.uint64).reshape(-1, per_word, LANES)
    shifts = (np.arange(per_word) * bits).astype(np.uint64)[None, :, None]
    return np.asarray((parts << shifts).sum(axis=1), np.uint32)


def scale_codes(name: str, shape: tuple[int, int]) -> tuple[Array, Array]:
    if name == "ue8m0":
        codes = RNG.integers(124, 131, shape)
        return codes, 2.0 ** (codes - 127)
    codes = RNG.integers(0x28, 0x48, shape)
    return codes, np.vectorize(lambda c: value_of(int(c), 4, 3))(codes)


def scale_words(codes: Array, byte: int, lanes: Array) -> Array:
    """`codes` (lines, blocks) in the bytes of `lanes`; others hold nothing useful."""
    words = np.full(LANES, 0xA5A5A5A5, np.uint32)
    held = words.view(np.uint8).reshape(LANES, 4)
    for line, blocks in enumerate(codes):
        held[lanes[line], byte : byte + len(blocks)] = blocks
    return words


KINDS = [
    *(("mxf8f6f4", a, b, "ue8m0", 1) for a in FIELDS for b in FIELDS),
    ("mxf4", "e2m1", "e2m1", "ue8m0", 2),
    ("mxf4nvf4", "e2m1", "e2m1", "ue8m0", 2),
    ("mxf4nvf4", "e2m1", "e2m1", "ue4m3", 4),
]


def check(
    kind: str, a: str, b: str, scale: str, blocks: int, engine: str, ids: tuple[int, ...]
) -> None:
    depth, bits = (32, 8) if kind == "mxf8f6f4" else (64, 4)
    per_word = 32 // bits
    (a_codes, x), (b_codes, y) = random_codes(a, (16, depth)), random_codes(b, (depth, 8))
    (sa_codes, sa), (sb_codes, sb) = (
        scale_codes(scale, (16, blocks)),
        scale_codes(scale, (8, blocks)),
    )
    shift = {name: 2 if bits == 8 and name == "e2m1" else 0 for name in (a, b)}
    a_words = words_of(a_codes[a_places(depth, per_word)] << shift[a], bits)
    b_words = words_of(b_codes[b_places(depth, per_word)] << shift[b], bits)
    byte_a, pair, byte_b, lane = ids
    row, column = np.arange(16), np.arange(8)
    in_a = scale_words(sa_codes, byte_a, row % 8 * 4 + row // 8 + 2 * pair)
    in_b = scale_words(sb_codes, byte_b, column * 4 + lane)
    name = f"mma.sync.aligned.m16n8k{depth}.row.col.kind::{kind}.block_scale.scale_vec::{blocks}X"
    tail = f", {{{byte_a}, {pair}}}, %f5_0, {{{byte_b}, {lane}}}"
    source = program(f"{name}.f32.{a}.{b}.f32.{scale}", tail)
    c_matrix = RNG.integers(-5, 5, (16, 8)).astype(np.float32)
    lanes, index = np.arange(LANES)[None, :], np.arange(4)[:, None]
    c_row, c_column = lanes // 4 + 8 * (index // 2), lanes % 4 * 2 + index % 2
    d = np.zeros((4, LANES), np.float32)
    c = c_matrix[c_row, c_column]
    oracle.run(source, [d, a_words, b_words, c, in_a, in_b], engine)
    scaled_x = x * np.repeat(sa, depth // blocks, axis=1)
    scaled_y = y * np.repeat(sb.T, depth // blocks, axis=0)
    wanted = scaled_x @ scaled_y + c_matrix
    bound = 2.0**-20 * (abs(scaled_x) @ abs(scaled_y) + 5)
    assert (abs(d - wanted[c_row, c_column]) <= bound[c_row, c_column]).all()


def program(mnemonic: str, tail: str) -> str:
    """The sixth buffer holds the scales of B."""
    text = oracle.program(mnemonic, (32,) * 6, (4, 4, 2, 4, 1, 1), "sm_120a", tail)
    return str(text.replace("%f4_0, %f5_0, {", "%f4_0, {"))


@pytest.mark.parametrize(("kind", "a", "b", "scale", "blocks"), KINDS)
def test_kinds(kind: str, a: str, b: str, scale: str, blocks: int) -> None:
    check(kind, a, b, scale, blocks, "reference", (0, 0, 0, 0))


@pytest.mark.parametrize("ids", [(3, 1, 1, 2), (0, 1, 2, 3), (2, 0, 3, 1)])
def test_bytes_and_lanes_of_scales(ids: tuple[int, ...]) -> None:
    check("mxf8f6f4", "e4m3", "e5m2", "ue8m0", 1, "reference", ids)


@pytest.mark.parametrize(
    ("kind", "a", "scale", "blocks", "ids"),
    [
        ("mxf8f6f4", "e4m3", "ue8m0", 1, (3, 1, 1, 2)),
        ("mxf4", "e2m1", "ue8m0", 2, (2, 1, 0, 3)),
        ("mxf4nvf4", "e2m1", "ue4m3", 4, (0, 0, 0, 2)),
    ],
)
def test_the_jit_engine(kind: str, a: str, scale: str, blocks: int, ids: tuple[int, ...]) -> None:
    check(kind, a, a, scale, blocks, "jit", ids)


@pytest.mark.parametrize("engine", ["reference", "jit"])
def test_a_scale_that_is_no_number(engine: str) -> None:
    name = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0"
    one = np.full((4, LANES), 0x22222222, np.uint32)
    scales = np.full(LANES, 0x7F7F7F7F, np.uint32)
    broken = scales.copy()
    broken[0] = 0x7FFF
    d = np.zeros((4, LANES), np.float32)
    buffers = [d, one, one[:2].copy(), d.copy(), broken, scales]
    oracle.run(program(name, ", {0, 0}, %f5_0, {0, 0}"), buffers, engine)
    assert np.isnan(d[:2, :4]).all()
    assert (d[2:] == 64).all()
    assert (d[:2, 4:] == 64).all()


@pytest.mark.parametrize(
    "name",
    [
        "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::2X.f32.e4m3.e4m3.f32.ue8m0",
        "m16n8k64.row.col.kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue4m3",
        "m16n8k64.row.col.kind::mxf4.block_scale.f32.e4m3.e4m3.f32.ue8m0",
        "m16n8k32.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
    ],
)
def test_what_ptx_does_not_have(name: str) -> None:
    with pytest.raises(UnsupportedInstruction, match="block_scale"):
        oracle.run(program(f"mma.sync.aligned.{name}", ", {0, 0}, %f5_0, {0, 0}"), [], "reference")
