"""Work-group and sub-group functions, in work-groups and warps of several sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import UnsupportedInstruction
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.llvm.builtins.verification import Memory, kernel_of

Array = npt.NDArray[Any]
GROUPS = 2
TYPES: dict[str, Any] = {
    "i": np.int32,
    "j": np.uint32,
    "l": np.int64,
    "m": np.uint64,
    "Dh": np.float16,
    "f": np.float32,
    "d": np.float64,
}
FUNCTIONS: dict[str, Any] = {"add": np.add, "min": np.minimum, "max": np.maximum}


def symbol_of(name: str, types: str) -> str:
    return f"_Z{len(name)}{name}{types}"


def run(
    symbol: str,
    operands: list[Any],
    result: tuple[Any, int],
    shape: tuple[int, int, int],
    width: int = 32,
    engines: Iterable[str] = ENGINES,
) -> Array:
    """What each work-item of `GROUPS` work-groups gets, the same from all engines."""
    kernel = kernel_of(symbol, operands, result, "ZYX")
    outs = []
    for engine in sorted(engines):
        dtype, count = result
        threads = GROUPS * int(np.prod(shape))
        out = np.zeros((threads, count) if count > 1 else threads, dtype)
        buffers = [x.buffer if isinstance(x, Memory) else x for x in operands if not _constant(x)]
        launch = Launch((GROUPS, 1, 1), shape, (*(x.copy() for x in buffers), out))
        execute(kernel, launch, engine=engine, warp_width=width)
        outs.append(out)
    assert all(np.array_equal(outs[0], out, equal_nan=True) for out in outs)
    return outs[0]


def _constant(operand: Any) -> bool:
    return isinstance(operand, int)


def numbers(dtype: Any, count: int) -> Array:
    """Small enough that sums of them are exact in every type."""
    low = 0 if np.issubdtype(dtype, np.unsignedinteger) else -6
    return np.random.default_rng(7).integers(low, 7, count).astype(dtype)


def identity(name: str, dtype: Any) -> Any:
    if name == "add":
        return 0
    if np.issubdtype(dtype, np.floating):
        return np.inf if name == "min" else -np.inf
    info = np.iinfo(dtype)
    return info.max if name == "min" else info.min


def expected(form: str, name: str, values: Array, size: int, threads: int) -> Array:
    """NumPy's, for groups of `size` work-items within work-groups of `threads`."""
    wanted = np.empty_like(values)
    for group in range(0, len(values), threads):
        for first in range(group, group + threads, size):
            part = slice(first, min(first + size, group + threads))
            running = FUNCTIONS[name].accumulate(values[part], dtype=values.dtype)
            if form == "reduce":
                wanted[part] = running[-1]
            elif form == "scan_inclusive":
                wanted[part] = running
            else:
                wanted[part] = [identity(name, values.dtype), *running[:-1]]
    return wanted


@pytest.mark.drawn(10)
@pytest.mark.parametrize("letter", TYPES)
@pytest.mark.parametrize(
    ("form", "name"),
    [("reduce", "min"), ("scan_inclusive", "add"), ("scan_exclusive", "max")],
)
def test_combinations_of_all_types(letter: str, form: str, name: str) -> None:
    shape, width, dtype = (10, 5, 1), 16, TYPES[letter]
    values = numbers(dtype, GROUPS * 50)
    for kind, size in (("work", 50), ("sub", width)):
        symbol = symbol_of(f"{kind}_group_{form}_{name}", letter)
        found = run(symbol, [values], (dtype, 1), shape, width, ["jit"])
        assert np.array_equal(found, expected(form, name, values, size, 50)), symbol


@pytest.mark.drawn(6)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("threads", "width"), [(1, 8), (70, 8), (70, 64), (256, 64)])
def test_groups_of_all_sizes(name: str, threads: int, width: int) -> None:
    values = numbers(np.int32, GROUPS * threads)
    for kind, size in (("work", threads), ("sub", width)):
        symbol = symbol_of(f"{kind}_group_scan_exclusive_{name}", "i")
        found = run(symbol, [values], (np.int32, 1), (threads, 1, 1), width)
        assert np.array_equal(found, expected("scan_exclusive", name, values, size, threads))


def test_a_whole_work_group_of_1024() -> None:
    values = numbers(np.float32, GROUPS * 1024)
    found = run(symbol_of("work_group_reduce_add", "f"), [values], (np.float32, 1), (1024, 1, 1), 8)
    assert np.array_equal(found, expected("reduce", "add", values, 1024, 1024))


def test_other_operations() -> None:
    values = np.array([3, 5, 6, 7] * 16, np.int32)
    cases: dict[str, Callable[[Array], int]] = {
        "mul": lambda x: int(np.multiply.reduce(x)),
        "and": lambda x: int(np.bitwise_and.reduce(x)),
        "or": lambda x: int(np.bitwise_or.reduce(x)),
        "xor": lambda x: int(np.bitwise_xor.reduce(x)),
        "logical_and": lambda x: int(x.all()),
        "logical_xor": lambda x: int(np.count_nonzero(x) % 2),
    }
    for name, function in cases.items():
        symbol = symbol_of(f"sub_group_reduce_{name}", "i")
        found = run(symbol, [values], (np.int32, 1), (32, 1, 1), 16)
        assert (found.view(np.uint32) == function(values[:16]) & 0xFFFFFFFF).all(), name
    bytes_ = np.arange(-32, 32).astype(np.int8)
    found = run(symbol_of("sub_group_reduce_max", "c"), [bytes_], (np.int8, 1), (32, 1, 1), 16)
    assert np.array_equal(found, np.repeat(bytes_.reshape(-1, 16).max(axis=1), 16))
    with pytest.raises(UnsupportedInstruction, match="of f32"):
        kernel_of(
            symbol_of("sub_group_reduce_and", "f"), [values.astype(np.float32)], (np.float32, 1)
        )


def test_broadcast_of_a_work_item() -> None:
    values = np.arange(GROUPS * 60, dtype=np.int64)
    first = values.reshape(GROUPS, 60)
    found = run(
        symbol_of("work_group_broadcast", "ljjj"), [values, 2, 1, 3], (np.int64, 1), (5, 3, 4)
    )
    assert np.array_equal(found, np.repeat(first[:, 2 + 5 * 1 + 15 * 3], 60))
    places = np.full(GROUPS * 60, 41, np.uint64)
    found = run(
        symbol_of("work_group_broadcast", "lm"), [values, places], (np.int64, 1), (60, 1, 1), 8
    )
    assert np.array_equal(found, np.repeat(first[:, 41], 60))


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_places_in_a_sub_group(width: int) -> None:
    threads = 50
    lane = np.arange(threads) % width
    warp = np.arange(threads) // width
    warps = -(-threads // width)
    wanted = {
        symbol_of("get_sub_group_size", "v"): np.minimum(width, threads - warp * width),
        symbol_of("get_max_sub_group_size", "v"): np.full(threads, width),
        symbol_of("get_num_sub_groups", "v"): np.full(threads, warps),
        symbol_of("get_enqueued_num_sub_groups", "v"): np.full(threads, warps),
        symbol_of("get_sub_group_id", "v"): warp,
        symbol_of("get_sub_group_local_id", "v"): lane,
    }
    for symbol, values in wanted.items():
        found = run(symbol, [], (np.uint32, 1), (10, 5, 1), width)
        assert np.array_equal(found, np.tile(values, GROUPS)), symbol


@pytest.mark.parametrize("width", [16, 64])
def test_values_of_other_lanes(width: int) -> None:
    count = GROUPS * 64
    values = np.arange(count, dtype=np.float64) / 2
    half = np.arange(count, dtype=np.float16)
    lane, first = np.arange(count) % width, np.arange(count) // width * width
    other = ((lane * 7 + 3) % width).astype(np.uint32)
    shape = (64, 1, 1)
    found = run(
        symbol_of("sub_group_shuffle", "dj"), [values, other], (np.float64, 1), shape, width
    )
    assert np.array_equal(found, values[first + other])
    found = run(symbol_of("sub_group_shuffle_xor", "Dhj"), [half, 5], (np.float16, 1), shape, width)
    assert np.array_equal(found, half[first + (lane ^ 5)])
    found = run(symbol_of("sub_group_shuffle_up", "dj"), [values, 3], (np.float64, 1), shape, width)
    assert np.array_equal(found[lane >= 3], values[first + lane - 3][lane >= 3])
    found = run(
        symbol_of("sub_group_shuffle_down", "dj"), [values, 3], (np.float64, 1), shape, width
    )
    inside = lane < width - 3
    assert np.array_equal(found[inside], values[:-3][inside[:-3]] + 1.5)
    found = run(symbol_of("sub_group_rotate", "di"), [values, 3], (np.float64, 1), shape, width)
    assert np.array_equal(found, values[first + (lane + 3) % width])
    found = run(
        symbol_of("sub_group_clustered_rotate", "dij"),
        [values, 3, 4],
        (np.float64, 1),
        shape,
        width,
    )
    assert np.array_equal(found, values[first + lane // 4 * 4 + (lane + 3) % 4])
    found = run(symbol_of("sub_group_broadcast", "dj"), [values, 9], (np.float64, 1), shape, width)
    assert np.array_equal(found, values[first + 9])
    found = run(
        symbol_of("sub_group_broadcast_first", "d"), [values], (np.float64, 1), shape, width
    )
    assert np.array_equal(found, values[first])


def test_shuffles_of_intel() -> None:
    width, count = 16, GROUPS * 32
    one = np.arange(2 * count, dtype=np.int32).reshape(-1, 2)
    other = -one
    lane, first = np.arange(count) % width, np.arange(count) // width * width
    for name, step in (("down", 5), ("up", -5)):
        symbol = symbol_of(f"intel_sub_group_shuffle_{name}", "Dv2_iS_j")
        found = run(symbol, [one, other, 5], (np.int32, 2), (32, 1, 1), width)
        source = lane + step
        own, beyond = (one, other) if step > 0 else (other, one)
        inside = (source >= 0) & (source < width)
        wanted = np.where(
            inside[:, None], own[first + source % width], beyond[first + source % width]
        )
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("width", [8, 64])
def test_votes_and_ballots(width: int) -> None:
    threads = 64
    count = GROUPS * threads
    flags = np.random.default_rng(1).integers(0, 2, count).astype(np.int32)
    flags[:width], flags[-width:] = 1, 0
    rows = flags.reshape(-1, width)
    shape = (threads, 1, 1)
    for name, wanted in (("all", rows.all(axis=1)), ("any", rows.any(axis=1))):
        for prefix in ("sub_group_", "sub_group_non_uniform_"):
            symbol = symbol_of(f"{prefix}{name}", "i")
            found = run(symbol, [flags], (np.int32, 1), shape, width)
            assert np.array_equal(found, np.repeat(wanted, width))
    found = run(
        symbol_of("sub_group_non_uniform_all_equal", "i"), [flags], (np.int32, 1), shape, width
    )
    assert np.array_equal(found, np.repeat((rows == rows[:, :1]).all(axis=1), width))
    found = run(symbol_of("sub_group_elect", "v"), [], (np.int32, 1), shape, width)
    assert np.array_equal(found, np.arange(count) % width == 0)
    masks = (rows.astype(np.uint64) << np.arange(width, dtype=np.uint64)).sum(axis=1)
    words = np.zeros((len(rows), 4), np.uint32)
    words[:, 0], words[:, 1] = masks & np.uint64(0xFFFFFFFF), masks >> np.uint64(32)
    found = run(symbol_of("sub_group_ballot", "i"), [flags], (np.uint32, 4), shape, width)
    assert np.array_equal(found, np.repeat(words, width, axis=0))


def test_what_ballots_say() -> None:
    width = 64
    count, shape = GROUPS * 64, (64, 1, 1)
    masks = np.random.default_rng(2).integers(1, 1 << 16, (count, 4)).astype(np.uint32)
    lane = np.arange(count) % width
    bits = [[int(row[b // 32]) >> b % 32 & 1 for b in range(width)] for row in masks]
    table = np.array(bits)
    before = np.arange(width) < lane[:, None]
    wanted = {
        "inverse_ballot": table[np.arange(count), lane],
        "ballot_bit_count": table.sum(axis=1),
        "ballot_exclusive_scan": (table * before).sum(axis=1),
        "ballot_inclusive_scan": (table * before).sum(axis=1) + table[np.arange(count), lane],
        "ballot_find_lsb": table.argmax(axis=1),
        "ballot_find_msb": width - 1 - table[:, ::-1].argmax(axis=1),
    }
    for name, values in wanted.items():
        symbol = symbol_of(f"sub_group_{name}", "Dv4_j")
        found = run(symbol, [masks], (np.uint32, 1), shape, width)
        assert np.array_equal(found, values), name
    chosen = ((lane * 5 + 2) % width).astype(np.uint32)
    symbol = symbol_of("sub_group_ballot_bit_extract", "Dv4_jj")
    found = run(symbol, [masks, chosen], (np.int32, 1), shape, width)
    assert np.array_equal(found, table[np.arange(count), chosen])
    relations = {"eq": np.equal, "ge": np.greater_equal, "gt": np.greater, "le": np.less_equal}
    for name, relation in relations.items():
        found = run(symbol_of(f"get_sub_group_{name}_mask", "v"), [], (np.uint32, 4), shape, width)
        held = relation(np.arange(width), lane[:, None]).astype(np.uint64)
        words = (held << np.arange(width, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
        assert np.array_equal(found[:, 0] | found[:, 1].astype(np.uint64) << np.uint64(32), words)


def test_combinations_of_clusters() -> None:
    values = np.arange(GROUPS * 64, dtype=np.int32) % 11
    symbol = symbol_of("sub_group_clustered_reduce_add", "ij")
    found = run(symbol, [values, 4], (np.int32, 1), (64, 1, 1), 32)
    assert np.array_equal(found, np.repeat(values.reshape(-1, 4).sum(axis=1), 4))
    symbol = symbol_of("sub_group_non_uniform_scan_exclusive_min", "i")
    found = run(symbol, [values], (np.int32, 1), (64, 1, 1), 16)
    assert np.array_equal(found, expected("scan_exclusive", "min", values, 16, 64))


@pytest.mark.parametrize(("letter", "dtype"), [("h", np.uint8), ("t", np.uint16), ("j", np.uint32)])
def test_reads_and_writes_of_rows(letter: str, dtype: Any) -> None:
    ending = {"h": "_uc", "t": "_us", "j": ""}[letter]
    width, threads = 16, GROUPS * 16
    source = Memory(np.arange(width * 4).astype(dtype))
    name = f"intel_sub_group_block_read{ending}4"
    found = run(symbol_of(name, f"PU3AS1K{letter}"), [source], (dtype, 4), (16, 1, 1), width)
    wanted = source.buffer.reshape(4, width).T
    assert np.array_equal(found, np.tile(wanted, (GROUPS, 1)))
    target = Memory(np.zeros(width * 2, dtype))
    values = np.arange(threads * 2).astype(dtype).reshape(-1, 2)
    name = f"intel_sub_group_block_write{ending}2"
    kernel = kernel_of(symbol_of(name, f"PU3AS1{letter}Dv2_{letter}"), [target, values], None)
    for engine in sorted(ENGINES):
        rows, out = np.zeros(width * 2, dtype), np.zeros(16, np.int32)
        launch = Launch((1, 1, 1), (16, 1, 1), (rows, values.copy(), out))
        execute(kernel, launch, engine=engine, warp_width=width)
        assert np.array_equal(rows.reshape(2, width), values[:16].T)
