"""`wgmma` against NumPy products; where elements are by the manual's layouts, written out here."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import ExecutionError, MemoryAccessError
from kernelcast.simcore.isa.matrix.formats import ElementFormat, small_values

Array = npt.NDArray[Any]
oracle: Any = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "wgmma_program.py")))
ENGINES = ["reference", "jit"]
ROWS = 64
SIZES = {"f16": 2, "bf16": 2, "tf32": 4, "e4m3": 1, "e5m2": 1, "s8": 1, "u8": 1, "b1": 4}
B_AT = 32768
RNG = np.random.default_rng(7)


def codes_of(name: str, values: Array) -> Array:
    """Codes of small integers."""
    match name:
        case "f16":
            return values.astype(np.float16).view(np.uint16)
        case "bf16":
            return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        case "tf32":
            return values.astype(np.float32).view(np.uint32)
        case "e4m3" | "e5m2":
            format_ = ElementFormat.named(name)
            assert format_ is not None
            table = small_values(format_)
            found = np.argmax(table[None, None] == values[..., None], axis=-1)
            return np.asarray(found, np.uint8)
    return values.astype(np.int8).view(np.uint8)


class Case:
    """Matrices of small integers, in shared memory as the swizzle says, and the product."""

    def __init__(
        self,
        name: str,
        columns: int,
        swizzle: int = 0,
        a_turned: bool = False,
        b_turned: bool = False,
        b_name: str = "",
    ) -> None:
        self.name, self.b_name, self.columns = name, b_name or name, columns
        self.size = SIZES[name]
        self.depth = 32 // self.size
        low = 0 if "u8" in (name, b_name) else -3
        self.a = RNG.integers(low, 4, (ROWS, self.depth))
        self.b = RNG.integers(low, 4, (self.depth, columns))
        self.a_codes, self.b_codes = codes_of(name, self.a), codes_of(self.b_name, self.b)
        if name == "b1":
            self.a_codes, self.b_codes = (
                RNG.integers(0, 2**32, m.shape, dtype=np.uint32) for m in (self.a, self.b)
            )
        self.tile = np.zeros(oracle.SHARED_BYTES, np.uint8)
        self.descriptors = (
            self._placed(self.a_codes, 0, swizzle, a_turned),
            self._placed(self.b_codes.T, B_AT, swizzle, b_turned),
        )

    def _placed(self, codes: Array, start: int, swizzle: int, turned: bool) -> int:
        """Puts (line, depth) codes into the tile; the descriptor."""
        lines, depth = codes.shape
        width = max(1, swizzle // 16)
        if turned:
            leading = -(-lines * self.size // (16 * width)) and depth * width * 16
            stride = 8 * width * 16
            if swizzle == 0:
                leading, stride = 8 * 16, depth * 16
        else:
            leading, stride = -(-lines // 8) * 128, 128 * width
            if swizzle == 0:
                leading, stride = 128, 256
        line, along = np.meshgrid(np.arange(lines), np.arange(depth), indexing="ij")
        where = oracle.canonical(line, along, self.size, swizzle, turned, leading, stride)
        raw = codes.reshape(-1)[:, None].view(np.uint8)
        self.tile[start + where.reshape(-1)[:, None] + np.arange(self.size)] = raw
        return int(oracle.descriptor(start, leading, stride, swizzle))

    @property
    def product(self) -> Array:
        if self.name == "b1":
            both = self.a_codes[:, :, None] & self.b_codes[None]
            return np.asarray(np.bitwise_count(both).astype(np.int64).sum(axis=1))
        return np.asarray(self.a @ self.b)

    def registers(self) -> Array:
        """A's words, shape (4, threads)."""
        per_word = 4 // self.size
        row, along = oracle.register_places(self.depth, per_word)
        codes = self.a_codes[row, along].reshape(4, per_word, -1)
        return np.ascontiguousarray(codes.transpose(0, 2, 1)).view(np.uint32)[..., 0]

    def run(
        self,
        result: str,
        engine: str,
        *,
        before: Array | None = None,
        scale: int = 1,
        tail: str = "",
        in_registers: bool = False,
        clamp: str = "",
    ) -> Array:
        """D as a matrix."""
        depth = self.depth * (32 if self.name == "b1" else 1)
        bits = ".and.popc" if self.name == "b1" else ""
        name = f"m64n{self.columns}k{depth}{clamp}.{result}.{self.name}.{self.b_name}{bits}"
        left = "{A}" if in_registers else "%da"
        text = f"wgmma.mma_async.sync.aligned.{name} {{D}}, {left}, %db, %scale{tail};"
        words = self.columns // (4 if result == "f16" else 2)
        kind = "f32" if result == "f32" else "b32"
        source = oracle.program(text, words, kind, 4 if in_registers else 0)
        row, column = oracle.accumulator_places(self.columns)
        matrix = np.zeros((ROWS, self.columns)) if before is None else before
        d = packed(matrix[row, column], result)
        oracle.run(
            source,
            d,
            self.tile.view(np.uint32),
            self.registers() if in_registers else np.zeros(128, np.uint32),
            np.zeros(128, np.uint32),
            self.descriptors,
            scale,
            engine,
        )
        found = np.zeros((ROWS, self.columns))
        found[row, column] = unpacked(d, result)
        return found


def packed(values: Array, result: str) -> Array:
    if result == "f16":
        pairs = values.astype(np.float16).reshape(-1, 2, values.shape[1]).transpose(0, 2, 1)
        return np.ascontiguousarray(pairs).view(np.uint32)[..., 0].copy()
    return values.astype(np.float32 if result == "f32" else np.int32).view(np.uint32)


def unpacked(words: Array, result: str) -> Array:
    if result == "f16":
        halves = words[..., None].view(np.float16).transpose(0, 2, 1)
        return halves.reshape(-1, words.shape[1]).astype(float)
    return words.view(np.float32 if result == "f32" else np.int32).astype(float)


def tail_of(name: str, turns: str = "") -> str:
    if name in ("f16", "bf16"):
        return ", 1, 1" + (turns or ", 0, 0")
    return ", 1, 1" if name in ("tf32", "e4m3", "e5m2") else ""


PAIRS = [
    ("f16", "f16", "f32"),
    ("f16", "f16", "f16"),
    ("bf16", "bf16", "f32"),
    ("tf32", "tf32", "f32"),
    *((a, b, d) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2") for d in ("f32", "f16")),
    *((a, b, "s32") for a in ("s8", "u8") for b in ("s8", "u8")),
    ("b1", "b1", "s32"),
]


@pytest.mark.parametrize(("a", "b", "d"), PAIRS)
@pytest.mark.parametrize("in_registers", [False, True])
def test_every_type(a: str, b: str, d: str, in_registers: bool) -> None:
    case = Case(a, 24, b_name=b)
    tail = tail_of(a, ", 0" if in_registers else "")
    found = case.run(d, "reference", tail=tail, in_registers=in_registers)
    np.testing.assert_array_equal(found, case.product)


@pytest.mark.parametrize("columns", [8, 16, 40, 72, 136, 248])
def test_numbers_of_columns(columns: int) -> None:
    case = Case("f16", columns)
    before = RNG.integers(-9, 9, (ROWS, columns)).astype(float)
    found = case.run("f32", "reference", before=before, tail=tail_of("f16"))
    np.testing.assert_array_equal(found, case.product + before)


@pytest.mark.drawn(6)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("name", "result", "columns"),
    [
        ("f16", "f32", 128),
        ("bf16", "f32", 64),
        ("tf32", "f32", 8),
        ("e4m3", "f16", 16),
        ("s8", "s32", 32),
        ("b1", "s32", 24),
    ],
)
def test_both_engines(engine: str, name: str, result: str, columns: int) -> None:
    case = Case(name, columns, 32 if name == "tf32" else 128)
    found = case.run(result, engine, tail=tail_of(name))
    np.testing.assert_array_equal(found, case.product)


@pytest.mark.drawn(8)
@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("a_turned", [False, True])
@pytest.mark.parametrize("b_turned", [False, True])
def test_layouts_of_shared_memory(swizzle: int, a_turned: bool, b_turned: bool) -> None:
    case = Case("bf16", 128, swizzle, a_turned, b_turned)
    turns = f", {int(a_turned)}, {int(b_turned)}"
    for engine in ENGINES if swizzle == 64 and a_turned and b_turned else ENGINES[:1]:
        found = case.run("f32", engine, tail=tail_of("bf16", turns))
        np.testing.assert_array_equal(found, case.product)


@pytest.mark.parametrize("engine", ENGINES)
def test_256_columns(engine: str) -> None:
    case = Case("f16", 256, 128)
    found = case.run("f32", engine, tail=tail_of("f16"))
    np.testing.assert_array_equal(found, case.product)


def test_signs_and_what_was_before() -> None:
    case = Case("f16", 16)
    before = RNG.integers(-9, 9, (ROWS, 16)).astype(float)
    for scale, tail, sign in [(0, ", 1, 1", 1), (1, ", -1, 1", -1), (1, ", -1, -1", 1)]:
        found = case.run("f32", "reference", before=before, scale=scale, tail=f"{tail}, 0, 0")
        np.testing.assert_array_equal(found, sign * case.product + scale * before)


def test_sums_of_integers_wrap_or_stay() -> None:
    case = Case("s8", 16)
    before = np.full((ROWS, 16), 2.0**31 - 1)
    wide = case.product + before
    wrapped = (wide + 2.0**31) % 2.0**32 - 2.0**31
    np.testing.assert_array_equal(case.run("s32", "reference", before=before), wrapped)
    clamped = case.run("s32", "reference", before=before, clamp=".satfinite")
    np.testing.assert_array_equal(clamped, np.minimum(wide, 2.0**31 - 1))


def test_a_depth_further_on_within_a_swizzled_row() -> None:
    """Kernels add bytes to the start address: the swizzle goes by the address itself."""
    depth, columns = 64, 8
    a, b = RNG.integers(-3, 4, (ROWS, depth)), RNG.integers(-3, 4, (depth, columns))
    case = Case("f16", columns, 128)
    case.tile[:] = 0
    for codes, start in ((codes_of("f16", a), 0), (codes_of("f16", b.T), B_AT)):
        line, along = np.meshgrid(*map(np.arange, codes.shape), indexing="ij")
        place = line * 128 + along * 2
        place ^= (place >> 7 & 7) << 4
        case.tile.view(np.uint16)[(start + place) // 2] = codes
    total = np.zeros((ROWS, columns))
    for step in range(4):
        case.descriptors = tuple(
            oracle.descriptor(start + 32 * step, 16, 1024, 128) for start in (0, B_AT)
        )
        total = case.run("f32", "reference", before=total, tail=tail_of("f16"))
    np.testing.assert_array_equal(total, a @ b)


def test_a_pattern_that_starts_between_its_boundaries() -> None:
    """The base offset says how many rows of 128 bytes the pattern starts behind its boundary."""
    case = Case("f16", 8, 128)
    plain, b_descriptor = case.tile.copy(), case.descriptors[1]
    case.tile[384 : 384 + 8192] = plain[:8192]
    case.descriptors = (oracle.descriptor(384, 16, 1024, 128, base=3), b_descriptor)
    found = case.run("f32", "reference", tail=tail_of("f16"))
    np.testing.assert_array_equal(found, case.product)


@pytest.mark.parametrize("engine", ENGINES)
def test_all_four_warps_have_to_come(engine: str) -> None:
    case = Case("f16", 8)
    with pytest.raises(ExecutionError, match="4 whole warps"):
        launched(case, engine, threads=96)
    missing = "setp.eq.u32 %p2, %r0, 5; @%p2 exit;"
    with pytest.raises(ExecutionError, match="4 whole warps"):
        launched(case, engine, more=missing)


def test_a_descriptor_that_leads_outside() -> None:
    case = Case("f16", 8)
    case.descriptors = (0x3FFF, case.descriptors[1])
    with pytest.raises(MemoryAccessError, match=r"k\.ptx"):
        launched(case, "reference")


def launched(case: Case, engine: str, *, threads: int = 128, more: str = "") -> None:
    text = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {D}, %da, %db, 1, 1, 1, 0, 0;"
    d, nothing = np.zeros((4, 128), np.uint32), np.zeros(128, np.uint32)
    source = oracle.program(text, 4, "f32", 0, more)
    tile = case.tile.view(np.uint32)
    oracle.run(source, d, tile, nothing, nothing, case.descriptors, 1, engine, threads)
