"""Work-item functions, barriers, copies of a work-group and atomics, in kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernelcast.errors import UnsupportedInstruction
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.llvm.builtins.verification import Memory, called, kernel_of

every_engine = pytest.mark.parametrize("engine", sorted(ENGINES))
GRID, THREAD_BLOCK = (2, 3, 1), (4, 2, 2)


def _values(name: str, dimension: int | None, engine: str) -> Any:
    """What the threads of a row along x get, in a grid of three dimensions."""
    symbol = f"_Z{len(name)}{name}{'v' if dimension is None else 'j'}"
    operands: list[Any] = [] if dimension is None else [dimension]
    is_count = name == "get_work_dim"
    kernel = kernel_of(symbol, operands, (np.uint32 if is_count else np.uint64, 1))
    out = np.zeros(GRID[0] * THREAD_BLOCK[0], np.uint32 if is_count else np.uint64)
    execute(kernel, Launch(GRID, THREAD_BLOCK, (out,)), engine=engine)
    return out


SIZES = {
    "get_global_size": tuple(g * b for g, b in zip(GRID, THREAD_BLOCK, strict=True)),
    "get_local_size": THREAD_BLOCK,
    "get_enqueued_local_size": THREAD_BLOCK,
    "get_num_groups": GRID,
    "get_global_offset": (0, 0, 0),
}


@pytest.mark.parametrize(
    ("name", "engine"), [*((name, "reference") for name in SIZES), ("get_global_size", "jit")]
)
def test_sizes(name: str, engine: str) -> None:
    for dimension, size in enumerate(SIZES[name]):
        assert (_values(name, dimension, engine) == size).all()
    beyond = 0 if name == "get_global_offset" else 1
    for outside in (3, 7, 2**32 - 1):
        assert (_values(name, outside, engine) == beyond).all()


@every_engine
def test_places_along_x(engine: str) -> None:
    threads = np.arange(GRID[0] * THREAD_BLOCK[0])
    assert (_values("get_global_id", 0, engine) == threads).all()
    assert (_values("get_local_id", 0, engine) == threads % THREAD_BLOCK[0]).all()
    assert (_values("get_group_id", 0, engine) == threads // THREAD_BLOCK[0]).all()
    for name in ("get_global_id", "get_local_id", "get_group_id"):
        assert (_values(name, 3, engine) == 0).all()


@pytest.mark.parametrize("name", ["get_global_id", "get_local_id", "get_group_id"])
def test_places_along_y(name: str) -> None:
    kernel = kernel_of(f"_Z{len(name)}{name}j", [1], (np.uint64, 1))
    out = np.zeros(1, np.uint64)
    execute(kernel, Launch((1, 3, 1), (1, 4, 1), (out,)), engine="reference")
    # all threads store to one place: it holds the value of one of them
    most = {"get_global_id": 11, "get_local_id": 3, "get_group_id": 2}[name]
    assert out[0] == most


@every_engine
def test_a_dimension_may_be_computed(engine: str) -> None:
    dimensions = np.array([0, 1, 2, 3, 0, 9], np.uint32)
    found = called("_Z14get_local_sizej", [dimensions], (np.uint64, 1), engine)
    assert found.tolist() == [6, 1, 1, 1, 6, 1]
    found = called("_Z13get_global_idj", [dimensions], (np.uint64, 1), engine)
    assert found.tolist() == [0, 0, 0, 0, 4, 0]


@every_engine
@pytest.mark.parametrize(("sizes", "count"), [((8, 1, 1), 1), ((4, 2, 1), 2), ((2, 1, 3), 3)])
def test_the_number_of_dimensions(sizes: tuple[int, int, int], count: int, engine: str) -> None:
    kernel = kernel_of("_Z12get_work_dimv", [], (np.uint32, 1))
    out = np.zeros(8, np.uint32)
    execute(kernel, Launch((1, 1, 1), sizes, (out,)), engine=engine)
    assert out[0] == count


@every_engine
def test_linear_numbers(engine: str) -> None:
    for name, thread_block, wanted in (
        ("get_local_linear_id", (4, 1, 1), [0, 1, 2, 3, 0, 1, 2, 3]),
        ("get_global_linear_id", (4, 1, 1), [0, 1, 2, 3, 4, 5, 6, 7]),
    ):
        kernel = kernel_of(f"_Z{len(name)}{name}v", [], (np.uint64, 1))
        out = np.zeros(8, np.uint64)
        execute(kernel, Launch((2, 1, 1), thread_block, (out,)), engine=engine)
        assert out.tolist() == wanted
    out = np.zeros(1, np.uint64)
    kernel = kernel_of("_Z19get_local_linear_idv", [], (np.uint64, 1))
    execute(kernel, Launch((1, 1, 1), (1, 3, 5), (out,)), engine="reference")
    assert out[0] == 14


def test_unmangled_names_are_known() -> None:
    found = called("get_global_id", [0], (np.uint64, 1), "reference", threads=5)
    assert found.tolist() == [0, 1, 2, 3, 4]


@every_engine
@pytest.mark.parametrize("symbol", ["_Z7barrierj", "_Z18work_group_barrierj", "barrier"])
def test_barriers_count_as_the_call(symbol: str, engine: str) -> None:
    kernel = kernel_of(symbol, [1], None)
    assert [i.mnemonic for i in kernel.instructions if not i.is_added] == [f"call {symbol}()"]
    called(symbol, [1], None, engine, threads=100)


@pytest.mark.parametrize("symbol", ["_Z9mem_fencej", "_Z14read_mem_fencej", "_Z8prefetchPU3AS1Kfm"])
def test_what_does_nothing_counts_once(symbol: str) -> None:
    memory = Memory(np.zeros(4, np.float32))
    operands: list[Any] = [memory, 4] if "prefetch" in symbol else [1]
    kernel = kernel_of(symbol, operands, None)
    assert [i.mnemonic for i in kernel.instructions if not i.is_added] == [f"call {symbol}()"]


@pytest.mark.parametrize(
    ("count", "engine"), [*((n, "reference") for n in (0, 1, 63, 64, 100)), (100, "jit")]
)
def test_a_work_group_copies_together(count: int, engine: str) -> None:
    source = np.arange(256, dtype=np.int32).reshape(-1, 2) + 5
    target = np.zeros_like(source)
    counts = np.full(64, count, np.uint64)
    symbol = "_Z21async_work_group_copyPU3AS1Dv2_iPU3AS1KS_m9ocl_event"
    operands: list[Any] = [Memory(target), Memory(source), counts, 0]
    called(symbol, operands, (np.uint64, 1), engine)
    assert (target[:count] == source[:count]).all()
    assert not target[count:].any()


def test_strided_copies_gather_from_global_memory() -> None:
    source, target = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    symbol = "_Z29async_work_group_strided_copyPU3AS1fPU3AS1Kfmm9ocl_event"
    counts, strides = np.full(8, 20, np.uint64), np.full(8, 5, np.uint64)
    called(symbol, [Memory(target), Memory(source), counts, strides, 0], (np.uint64, 1))
    assert (target[:20] == source[::5]).all()
    assert not target[20:].any()


@every_engine
def test_votes_of_a_work_group(engine: str) -> None:
    values = np.zeros(512, np.int32)
    values[:256] = -7
    values[300] = 4
    for name, wanted in (("any", [1, 1]), ("all", [1, 0])):
        found = called(f"_Z14work_group_{name}i", [values], (np.int32, 1), engine)
        assert (found.reshape(2, 256) == np.array(wanted)[:, None]).all()


OPERATIONS: dict[str, Any] = {
    "add": np.add.reduce,
    "and": np.bitwise_and.reduce,
    "max": np.max,
    "min": np.min,
    "or": np.bitwise_or.reduce,
    "xor": np.bitwise_xor.reduce,
    "sub": np.subtract.reduce,
}
LETTERS = {"i": np.int32, "j": np.uint32, "l": np.int64, "m": np.uint64}


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_atomic_updates(name: str, letter: str) -> None:
    dtype = LETTERS[letter]
    values = (np.arange(40) * 37 % 101 + 3).astype(dtype)
    if np.dtype(dtype).kind == "i":
        values[::3] *= -1
    prefix = "atom" if letter in "lm" else "atomic"
    for symbol in (
        f"_Z{len(prefix) + 1 + len(name)}{prefix}_{name}PU3AS1V{letter}{letter}",
        f"_Z{13 + len(name)}atomic_fetch_{name}PU3AS1VU7_Atomic{letter}{letter}",
    ):
        memory = np.array([77], dtype)
        old = called(symbol, [Memory(memory), values], (dtype, 1), "reference")
        wanted = OPERATIONS[name](np.concatenate([np.array([77], dtype), values]))
        assert memory[0] == wanted
        assert 77 in old


@every_engine
def test_atomic_exchange_and_comparison(engine: str) -> None:
    values = np.arange(1, 65, dtype=np.float32)
    memory = np.zeros(1, np.float32)
    old = called("_Z11atomic_xchgPU3AS1Vff", [Memory(memory), values], (np.float32, 1), engine)
    assert sorted([*old, memory[0]]) == [0, *values]
    places, numbers = np.zeros(64, np.int32), np.arange(64, dtype=np.int32)
    symbol = "_Z14atomic_cmpxchgPU3AS1Viii"
    operands: list[Any] = [Memory(places, 4), numbers % 2, numbers + 100]
    old = called(symbol, operands, (np.int32, 1), engine)
    assert not old.any()
    assert (places == np.where(numbers % 2, 0, numbers + 100)).all()


@every_engine
def test_atomic_steps(engine: str) -> None:
    memory = np.array([10], np.uint32)
    place = Memory(memory)
    old = called("_Z10atomic_incPU3AS1Vj", [place], (np.uint32, 1), engine, threads=50)
    assert sorted(old) == list(range(10, 60))
    called("_Z10atomic_decPU3AS1Vj", [place], (np.uint32, 1), engine, threads=61)
    assert memory[0] == 2**32 - 1


@every_engine
def test_atomics_of_opencl_2(engine: str) -> None:
    memory = np.array([5], np.int32)
    place, values = Memory(memory), np.full(8, 9, np.int32)
    orders = "12memory_order12memory_scope"
    symbol = f"_Z20atomic_load_explicitPU3AS1VU7_Atomici{orders}"
    found = called(symbol, [place, 5, 1], (np.int32, 1), engine, threads=8)
    assert (found == 5).all()
    called("_Z12atomic_storePU3AS1VU7_Atomicii", [place, values], None, engine)
    assert memory[0] == 9
    places = np.arange(8, dtype=np.int32)
    expected = np.array([0, 0, 2, 2, 4, 4, 6, 6], np.int32)
    symbol = "_Z30atomic_compare_exchange_strongPU3AS1VU7_AtomiciPU3AS1ii"
    operands: list[Any] = [Memory(places, 4), Memory(expected, 4), values]
    found = called(symbol, operands, (np.int32, 1), engine)
    assert found.tolist() == [1, 0] * 4
    assert places.tolist() == [9, 1, 9, 3, 9, 5, 9, 7]
    assert expected.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    flag = Memory(np.zeros(1, np.int32))
    symbol = "_Z24atomic_flag_test_and_setPU3AS1VU7_Atomici"
    found = called(symbol, [flag], (np.int32, 1), engine, threads=8)
    assert sorted(found) == [0] + [1] * 7
    called("_Z17atomic_flag_clearPU3AS1VU7_Atomici", [flag], None, engine, threads=1)
    assert flag.buffer[0] == 0


def test_atomics_of_other_types_are_refused() -> None:
    place, values = Memory(np.zeros(4, np.int16)), np.zeros(4, np.int16)
    with pytest.raises(UnsupportedInstruction, match="32 or 64 bits"):
        called("_Z10atomic_addPU3AS1Vss", [place, values], (np.int16, 1))
