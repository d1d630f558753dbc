"""Programs of CUDA C++ as machine code: calls of all kinds, and lanes that part and meet again."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import AssertionTriggered
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.native_programs import ENGINES, machine_kernel, outputs
from tests.ptx_frontend.sass.program_checks import Arrays, Program, check, text_of

Integers = npt.NDArray[np.int32]


def _integers(count: int, seed: int = 1) -> Integers:
    return np.random.default_rng(seed).integers(0, 1000, count, dtype=np.int32)


def _fibonacci(count: int) -> Integers:
    numbers = [0, 1]
    while len(numbers) < 12:
        numbers.append(numbers[-1] + numbers[-2])
    return np.array([numbers[i % 12] for i in range(count)], np.int32)


_ROWS, _ROW = 33, 17
_VALUES = _integers(512)
_KEYS = np.random.default_rng(2).integers(0, 30, 96).astype(np.uint32)
_NOTHING, _TABLE = 0xFFFFFFFF, 64


def _has_sorted_rows(arrays: Arrays) -> bool:
    rows = np.sort(_integers(_ROWS * _ROW).reshape(_ROWS, _ROW), axis=1)
    return np.array_equal(arrays[0], rows.reshape(-1))


def _is_scanned(arrays: Arrays) -> bool:
    sums = _VALUES[:128].reshape(-1, 32).cumsum(axis=1, dtype=np.int32)
    return np.array_equal(arrays[0][:128], sums.reshape(-1))


def _counts_keys(arrays: Arrays) -> bool:
    keys, counts, _ = arrays
    given = _KEYS[:90]
    filled = keys != _NOTHING
    found = dict(zip(keys[filled].tolist(), counts[:_TABLE][filled].tolist(), strict=True))
    right = {int(k): int((given == k).sum()) for k in np.unique(given)}
    return found == right and int(counts[_TABLE]) == len(given)


def _had_the_lock_in_turn(arrays: Arrays) -> bool:
    results, lock = arrays
    return bool(results[0] == 3 * 496 and (results[1:97] == -1).all() and lock[0] == 0)


def _has_the_total(arrays: Arrays) -> bool:
    blocks = np.arange(640).reshape(10, 64).sum(axis=1)
    return np.array_equal(arrays[1][:11], [*blocks, 640 * 639 // 2])


CALLS = (
    Program("from_table", (_VALUES,), 32),
    Program("from_pointer", (_VALUES, np.int32(3)), 32),
    Program(
        "fibonacci_numbers",
        (np.zeros(40, np.int32),),
        40,
        is_right=lambda arrays: np.array_equal(arrays[0], _fibonacci(40)),
    ),
    Program("sorted_rows", (_integers(561), np.int32(_ROW)), _ROWS, is_right=_has_sorted_rows),
    Program("virtual_functions", (_VALUES, np.int32(3)), 32),
    Program("switched", (_VALUES, np.int32(3)), 64),
    Program("on_heap", (_VALUES, np.int32(7)), 32),
)
LANES = (
    Program("scan", (_VALUES,), 64, 2, _is_scanned),
    Program("trips", (_VALUES,), 64, 2),
    Program("two_groups", (_VALUES,), 64, 2),
    Program("by_value", (_VALUES,), 64),
    Program("lock_of_blocks", (_VALUES, np.zeros(1, np.int32)), 64, 5),
    Program(
        "lock_of_lanes",
        (np.zeros(100, np.int32), np.zeros(1, np.int32)),
        32,
        3,
        _had_the_lock_in_turn,
    ),
    Program(
        "hash_table",
        (
            np.full(_TABLE, _NOTHING, np.uint32),
            np.zeros(_TABLE + 1, np.uint32),
            _KEYS,
            np.int32(90),
            np.int32(_TABLE),
        ),
        32,
        3,
        _counts_keys,
    ),
    Program(
        "last_block",
        (np.arange(640, dtype=np.float32), np.zeros(12, np.float32), np.zeros(1, np.uint32)),
        64,
        10,
        _has_the_total,
    ),
    Program(
        "wait_then_shuffle",
        (np.zeros(1, np.int32), np.arange(128, dtype=np.int32), np.int32(64)),
        32,
        2,
    ),
    Program("shared_flag", (np.zeros(128, np.int32),), 64),
    Program(
        "bitonic_sort",
        (_VALUES[:256], np.int32(256)),
        256,
        is_right=lambda arrays: np.array_equal(arrays[0], np.sort(_VALUES[:256])),
    ),
    Program(
        "radix_pass",
        (_VALUES[:128].astype(np.uint32), np.zeros(128, np.uint32), np.int32(2)),
        128,
        is_right=lambda arrays: np.array_equal(
            arrays[1], sorted(arrays[0], key=lambda x: x >> 2 & 1)
        ),
    ),
)
GROUPS = (
    Program("tiles", (_VALUES,), 64),
    Program("coalesced", (_VALUES,), 64),
    Program("whole_grid", (_VALUES, np.int32(128)), 64, 2),
)


def _named(program: Program) -> str:
    return program.name


@pytest.mark.drawn(4)
@pytest.mark.parametrize("architecture", ["sm_70", "sm_80", "sm_120"])
@pytest.mark.parametrize("program", CALLS, ids=_named)
def test_calls(program: Program, architecture: str) -> None:
    check("calls", program, architecture)


@pytest.mark.drawn(6)
@pytest.mark.parametrize("architecture", ["sm_70", "sm_80", "sm_90"])
@pytest.mark.parametrize("program", LANES, ids=_named)
def test_lanes(program: Program, architecture: str) -> None:
    check("lanes", program, architecture)


@pytest.mark.parametrize("architecture", ["sm_75", "sm_100"])
@pytest.mark.parametrize("program", GROUPS, ids=_named)
def test_cooperative_groups(program: Program, architecture: str) -> None:
    check("groups", program, architecture)


@pytest.mark.parametrize("engine", ENGINES)
def test_text_is_printed(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = machine_kernel(text_of("calls"), "sm_80", "printed")
    launch = Launch((1, 1, 1), (32, 1, 1), (np.arange(32, dtype=np.int32), np.int32(77)))
    outputs(kernel, launch, engine)
    expected = "".join(f"{i} has {i * 0.5:f}, half\n" for i in range(3)) + "done\n"
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_an_assertion_that_does_not_hold(engine: str) -> None:
    kernel = machine_kernel(text_of("calls"), "sm_80", "asserted")
    values = np.arange(32, dtype=np.int32)
    outputs(kernel, Launch((1, 1, 1), (32, 1, 1), (values, np.int32(32))), engine)
    with pytest.raises(AssertionTriggered, match=r"calls\.cu"):
        outputs(kernel, Launch((1, 1, 1), (32, 1, 1), (values, np.int32(31))), engine)
