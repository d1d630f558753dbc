"""`tcgen05.mma` against NumPy products; layouts of its operands are written out here."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import MemoryAccessError, UnsupportedInstruction

Array = npt.NDArray[Any]
HERE = Path(__file__).parents[2]
oracle: Any = SimpleNamespace(**runpy.run_path(str(HERE / "tcgen05_program.py")))
layouts: Any = SimpleNamespace(**runpy.run_path(str(HERE / "wgmma_program.py")))
RNG = np.random.default_rng(17)
B_AT = 32768
SIZE = {"f16": 2, "bf16": 2, "tf32": 4}
FORMAT = {"f16": 0, "bf16": 1, "tf32": 2, "e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}
FORMAT |= {"u8": 0, "s8": 1}
RESULT = {"f16": 0, "f32": 1, "s32": 2}
FIELDS = {"e4m3": (4, 3), "e5m2": (5, 2), "e3m2": (3, 2), "e2m3": (2, 3), "e2m1": (2, 1)}
SWIZZLE = {0: 0, 128: 2, 64: 4, 32: 6}
PADDED = {"e2m1": 4, "e2m3": 6, "e3m2": 6}


def table(name: str) -> Array:
    """The number of each code without its sign, of formats of at most a byte."""
    exponent, mantissa = FIELDS[name]
    codes = np.arange(1 << exponent + mantissa)
    field, fraction = codes >> mantissa, codes & (1 << mantissa) - 1
    bias = (1 << exponent - 1) - 1
    whole = np.where(field > 0, 1 << mantissa, 0) + fraction
    return np.asarray(whole * 2.0 ** (np.maximum(field, 1) - bias - mantissa))


def random_matrix(name: str, shape: tuple[int, int]) -> tuple[Array, Array]:
    """Codes and the numbers they stand for, exact in sums."""
    if name in FIELDS:
        values = table(name)
        usable = np.flatnonzero((values <= 4) & ((values == 0) | (values >= 0.5)))
        codes = RNG.choice(usable, shape)
        signs = RNG.integers(0, 2, shape)
        return (codes | signs << sum(FIELDS[name])).astype(np.uint8), values[codes] * (
            1 - 2 * signs
        )
    numbers = RNG.integers(0 if name == "u8" else -3, 4, shape)
    match name:
        case "f16":
            return numbers.astype(np.float16).view(np.uint16), numbers
        case "bf16":
            return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16), numbers
        case "tf32":
            return numbers.astype(np.float32).view(np.uint32), numbers
    return numbers.astype(np.int8).view(np.uint8), numbers


def laid_out(
    tile: Array, codes: Array, name: str, start: int, swizzle: int, turned: bool, nibbles: bool
) -> int:
    """Puts (line, depth) codes into the tile; the descriptor but for the address of the tile."""
    lines = len(codes)
    size = SIZE.get(name, 1)
    if nibbles:
        codes = codes[:, 0::2] | codes[:, 1::2] << 4
    elif name in PADDED:  # 16 elements side by side, then nothing up to 16 bytes
        bits = PADDED[name]
        flat = (codes[..., None] >> np.arange(bits) & 1).reshape(lines, -1, 16 * bits)
        whole = np.pad(flat, ((0, 0), (0, 0), (0, 128 - 16 * bits))).astype(np.uint8)
        codes = np.packbits(whole, axis=-1, bitorder="little").reshape(lines, -1)
    depth = codes.shape[1]
    width = max(1, swizzle // 16)
    if turned:
        leading, stride = depth * width * 16, 8 * width * 16
        if swizzle == 0:
            leading, stride = 128, depth * 16
    else:
        leading, stride = (lines * 16, 128) if swizzle == 0 else (16, 128 * width)
    line, along = np.meshgrid(np.arange(lines), np.arange(depth), indexing="ij")
    place = layouts.canonical(line, along, size, swizzle, turned, leading, stride).reshape(-1, 1)
    tile[start + place + np.arange(size)] = codes.reshape(-1, 1).view(np.uint8)
    fields = start >> 4 | (leading >> 4) << 16 | (stride >> 4) << 32 | 1 << 46
    return int(fields | SWIZZLE[swizzle] << 61)


def rows_to_lanes(rows: int) -> Array:
    row = np.arange(rows)
    return row if rows == 128 else row // 16 * 32 + row % 16


def product(
    kind: str,
    a: str,
    b: str,
    result: str,
    rows: int,
    columns: int,
    *,
    swizzle: int = 0,
    turned: tuple[bool, bool] = (False, False),
    in_tensor_memory: bool = False,
    more: int = 0,
    tail: str = "%first",
    masks: str = "",
) -> tuple[Array, Array]:
    """(D as found, A B); `tail` is what says whether D is added, and what follows."""
    depth = {"f16": 16, "tf32": 8}.get(kind, 32)
    (x_codes, x), (y_codes, y) = random_matrix(a, (rows, depth)), random_matrix(b, (columns, depth))
    tile = np.zeros(oracle.SHARED_BYTES, np.uint8)
    numbers = [
        laid_out(tile, x_codes, a, 0, swizzle, turned[0], False),
        laid_out(tile, y_codes, b, B_AT, swizzle, turned[1], False),
    ]
    word = RESULT[result] << 4 | FORMAT[a] << 7 | FORMAT[b] << 10 | turned[0] << 15
    word |= turned[1] << 16 | columns // 8 << 17 | rows // 16 << 24 | more
    fills, left = "", "%rd5"
    held = np.zeros((8, 128), np.uint32)
    if in_tensor_memory:
        shift = 2 if a == "e2m1" else 0
        raw = np.ascontiguousarray(x_codes << shift).view(np.uint32)
        held[: raw.shape[1], rows_to_lanes(rows)] = raw.T
        fills = "mad.wide.u32 %rd2, %r0, 4, %rd2;\n" + "\n".join(
            f"ld.global.b32 %w, [%rd2+{512 * c}]; "
            f"tcgen05.st.sync.aligned.32x32b.x1.b32 [%q+{256 + c}], {{%w}};"
            for c in range(8)
        )
        left = "[%t+256]"
    body = f"""shr.u32 %r5, %tile, 4; cvt.u64.u32 %rd7, %r5; mov.u64 %rd5, {numbers[0]};
        mov.u64 %rd6, {numbers[1]}; add.u64 %rd5, %rd5, %rd7; add.u64 %rd6, %rd6, %rd7;
        {fills} bar.sync 0; mov.b32 %r6, {word}; setp.ne.u32 %p3, %r0, %r0;
        @%first tcgen05.mma.cta_group::1.kind::{kind} [%t], {left}, %rd6, %r6, {masks}{tail};
        {oracle.COMMIT}"""
    columns_used = 512 if in_tensor_memory else max(32, 1 << (columns - 1).bit_length())
    text = oracle.program(body, "", columns_used)
    found = oracle.run(text, tile, held, np.zeros(1, np.uint32), columns_used)
    words = found[rows_to_lanes(rows), :columns]
    kept = np.zeros(128, np.bool_)
    kept[rows_to_lanes(rows)] = True
    assert not found[~kept].any() or in_tensor_memory
    match result:
        case "f16":
            return words.astype(np.uint16).view(np.float16).astype(float), x @ y.T
        case "f32":
            return words.view(np.float32).astype(float), x @ y.T
    return words.view(np.int32).astype(float), x @ y.T


KINDS = [
    ("f16", "f16", "f16", "f32"), ("f16", "f16", "f16", "f16"), ("f16", "bf16", "bf16", "f32"),
    ("tf32", "tf32", "tf32", "f32"),
    *(("f8f6f4", a, b, "f32") for a in FIELDS for b in ("e4m3", "e2m1")),
    ("f8f6f4", "e2m3", "e3m2", "f16"), ("f8f6f4", "e5m2", "e5m2", "f32"),
    *(("i8", a, b, "s32") for a in ("u8", "s8") for b in ("u8", "s8")),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "a", "b", "result"), KINDS)
def test_kinds(kind: str, a: str, b: str, result: str) -> None:
    found, wanted = product(kind, a, b, result, 128, 32)
    rounded = wanted.astype(np.float16).astype(float) if result == "f16" else wanted
    np.testing.assert_array_equal(found, rounded)


@pytest.mark.parametrize(("rows", "columns"), [(64, 8), (64, 24), (64, 256), (128, 16), (128, 256)])
def test_sizes(rows: int, columns: int) -> None:
    found, wanted = product("f16", "f16", "f16", "f32", rows, columns)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_layouts_of_shared_memory(swizzle: int, turned: tuple[bool, bool]) -> None:
    found, wanted = product("f16", "bf16", "f16", "f32", 64, 64, swizzle=swizzle, turned=turned)
    np.testing.assert_array_equal(found, wanted)


def test_bytes_may_be_transposed_too() -> None:
    found, wanted = product("i8", "s8", "u8", "s32", 128, 32, swizzle=32, turned=(True, True))
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("kind", "a"), [("f16", "f16"), ("f8f6f4", "e4m3"), ("f8f6f4", "e2m1")])
@pytest.mark.parametrize("rows", [64, 128])
def test_a_in_tensor_memory(kind: str, a: str, rows: int) -> None:
    b = "f16" if kind == "f16" else "e4m3"
    found, wanted = product(kind, a, b, "f32", rows, 32, in_tensor_memory=True)
    np.testing.assert_array_equal(found, wanted)


def test_signs_and_lanes_left_alone() -> None:
    found, wanted = product("f16", "f16", "f16", "f32", 128, 16, more=1 << 13)
    np.testing.assert_array_equal(found, -wanted)
    masks = "{240, 0, 1, 0}, "
    found, wanted = product("f16", "f16", "f16", "f32", 128, 16, masks=masks)
    wanted[[4, 5, 6, 7, 64]] = 0
    np.testing.assert_array_equal(found, wanted)


def test_d_is_added_and_may_be_divided() -> None:
    """Twice the same product: the second adds a fourth of the first one."""
    twice = "%p3; @%first tcgen05.mma.cta_group::1.kind::f16 [%t], %rd5, %rd6, %r6, %first, 2"
    found, wanted = product("f16", "f16", "f16", "f32", 128, 16, tail=twice)
    np.testing.assert_array_equal(found, 1.25 * wanted)


@pytest.mark.parametrize(
    ("kind", "a", "scale", "blocks"),
    [
        *(("mxf8f6f4", a, "ue8m0", 1) for a in FIELDS),
        ("mxf4", "e2m1", "ue8m0", 2),
        ("mxf4nvf4", "e2m1", "ue8m0", 2),
        ("mxf4nvf4", "e2m1", "ue4m3", 4),
    ],
)
@pytest.mark.parametrize("byte", [0, 2])
def test_scales_of_blocks(kind: str, a: str, scale: str, blocks: int, byte: int) -> None:
    byte = 0 if blocks == 4 else byte
    rows, columns, depth = 128, 48, 32 if kind == "mxf8f6f4" else 64
    (x_codes, x), (y_codes, y) = (random_matrix(a, (n, depth)) for n in (rows, columns))
    tile = np.zeros(oracle.SHARED_BYTES, np.uint8)
    nibbles = depth == 64
    starts = [
        laid_out(tile, x_codes, a, 0, 0, False, nibbles),
        laid_out(tile, y_codes, a, B_AT, 0, False, nibbles),
    ]
    codes = (
        RNG.integers(126, 130, (rows + columns, 4))
        if scale == "ue8m0"
        else (RNG.integers(0x30, 0x40, (rows + columns, 4)))
    )
    values = 2.0 ** (codes - 127) if scale == "ue8m0" else table("e4m3")[codes]
    held = np.zeros((8, 128), np.uint32)
    words = codes.astype(np.uint8).view(np.uint32)[:, 0]
    for line in range(rows + columns):
        at = line if line < rows else line - rows
        held[at // 32 + (0 if line < rows else 4), at % 32] = words[line]
    fills = "mad.wide.u32 %rd2, %r0, 4, %rd2;\n" + "\n".join(
        f"ld.global.b32 %w, [%rd2+{512 * c}]; "
        f"tcgen05.st.sync.aligned.32x32b.x1.b32 [%q+{64 + c}], {{%w}};"
        for c in range(8)
    )
    code = 1 if nibbles else FORMAT[a]
    word = byte << 4 | code << 7 | code << 10 | columns // 8 << 17 | (scale == "ue8m0") << 23
    word |= rows // 16 << 24 | byte << 29
    name = f"kind::{kind}.block_scale.scale_vec::{blocks}X"
    body = f"""shr.u32 %r5, %tile, 4; cvt.u64.u32 %rd7, %r5; mov.u64 %rd5, {starts[0]};
        mov.u64 %rd6, {starts[1]}; add.u64 %rd5, %rd5, %rd7; add.u64 %rd6, %rd6, %rd7;
        {fills} bar.sync 0; mov.b32 %r6, {word}; setp.ne.u32 %p3, %r0, %r0;
        @%first tcgen05.mma.cta_group::1.{name} [%t], %rd5, %rd6, %r6, [%t+64], [%t+68], %p3;
        {oracle.COMMIT}"""
    found = oracle.run(oracle.program(body, "", 128), tile, held, np.zeros(1, np.uint32), 128)
    factors = np.repeat(values[:, [(byte + i) & 3 for i in range(blocks)]], depth // blocks, axis=1)
    left, right = x * factors[:rows], y * factors[rows:]
    bound = 2.0**-20 * (abs(left) @ abs(right).T + 1)
    assert (abs(found[:, :columns].view(np.float32) - left @ right.T) <= bound).all()


def test_descriptors_that_do_not_fit() -> None:
    for more, reason in ((1 << 2, "sparse"), (3 << 7, "names no format"), (1 << 24, "144 rows")):
        with pytest.raises(MemoryAccessError, match=reason):
            product("f16", "f16", "f16", "f32", 128, 16, more=more)
    with pytest.raises(MemoryAccessError, match="integers cannot be negated"):
        product("i8", "s8", "s8", "s32", 128, 16, more=1 << 13)


def test_pairs_need_clusters() -> None:
    text = oracle.program("tcgen05.mma.cta_group::2.kind::f16 [%t], %rd5, %rd6, %r6, %first;")
    with pytest.raises(MemoryAccessError, match="clusters of an even number"):
        oracle.run(text, np.zeros(65536, np.uint8), np.zeros(1, np.uint32), np.zeros(1, np.uint32))


@pytest.mark.parametrize(
    "name",
    [
        "mma.cta_group::1.kind::f64",
        "mma.cta_group::1.kind::f16.ashift",
        "mma.ws.cta_group::2.kind::f16",
        "mma.ws.cta_group::1.kind::f16.collector::a::fill",
        "mma.cta_group::1.kind::f16.collector::b0::fill",
    ],
)
def test_what_is_refused(name: str) -> None:
    text = oracle.program(f"tcgen05.{name} [%t], %rd5, %rd6, %r6, %first;")
    with pytest.raises(UnsupportedInstruction, match="tcgen05"):
        oracle.run(text, np.zeros(65536, np.uint8), np.zeros(1, np.uint32), np.zeros(1, np.uint32))


def test_scales_of_sparse_products_are_refused() -> None:
    operands = "[%t], %rd5, %rd6, [%t], %r6, [%t], [%t], %first"
    text = oracle.program(f"tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale {operands};")
    with pytest.raises(UnsupportedInstruction, match="scales of sparse products"):
        oracle.run(text, np.zeros(65536, np.uint8), np.zeros(1, np.uint32), np.zeros(1, np.uint32))
