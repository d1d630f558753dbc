"""Compiled functions: what they take and return, where their code is kept, what is believed."""

from __future__ import annotations

import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pytest

from kernelcast.simcore.host import compiled, ready_code
from kernelcast.simcore.host.compiled import bound, inlined, is_compiled


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(ready_code, "INSTALLED", tmp_path / "installed")
    return tmp_path / "cache"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of functions that are compiled and not loaded."""
    from kernelcast.simcore.host import numba_code

    found: list[str] = []
    make = numba_code.make_code

    def noted(dispatcher: Any, *rest: Any) -> Any:
        found.append(dispatcher.py_func.__name__)
        return make(dispatcher, *rest)

    monkeypatch.setattr(numba_code, "make_code", noted)
    return found


class Pair(NamedTuple):
    numbers: Any
    scale: float


def half(number: Any) -> Any:
    return number / 2


def weighed(pair: Any, offset: Any, is_negative: Any) -> Any:
    total = 0.0
    for row in range(pair.numbers.shape[0]):
        for column in range(pair.numbers.shape[1]):
            total += pair.numbers[row, column] * (10 * row + column + 1)
    total = total * pair.scale + offset
    return (-total if is_negative else total), pair.numbers.size, is_negative


def fill(numbers: Any, value: Any) -> None:
    for place in range(len(numbers)):
        numbers[place] = value


def put(value: Any, numbers: Any) -> None:
    for place in range(len(numbers)):
        numbers[place] = value


@inlined
def twice(number: Any) -> Any:
    return 2 * number


def four_times(number: Any) -> Any:
    return twice(twice(number))


def count_up(first: Any, step: Any) -> Any:
    found = 0
    for _ in range(first, 10, step):
        found += 1
    return found


@pytest.mark.parametrize("order", ["C", "F", "A"])
@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint8, np.float32, np.float64])
def test_arrays_numbers_and_tuples_arrive_as_they_are(order: str, kind: Any) -> None:
    numbers = np.arange(24, dtype=kind).reshape(4, 6)
    if order != "C":
        numbers = np.asfortranarray(numbers) if order == "F" else numbers[::2, 1::2]
    pair = Pair(numbers, 0.25)
    weights = 10 * np.arange(numbers.shape[0])[:, None] + np.arange(numbers.shape[1]) + 1
    expected = float((numbers * weights).sum()) * 0.25 + 3
    function: Any = compiled.compiled(weighed)
    assert function(pair, 3, False) == (expected, numbers.size, False)
    assert function(pair, np.int8(3), np.True_) == (-expected, numbers.size, True)
    assert function(pair, np.float32(3), True) == (-expected, numbers.size, True)


@pytest.mark.parametrize(
    "value", [7, -7, (1 << 63) - 1, -(1 << 63), (1 << 64) - 1, 0.1, np.uint16(65535), np.int8(-3)]
)
def test_arrays_are_written_where_they_lie(value: Any) -> None:
    whole = np.zeros(9, type(value) if isinstance(value, np.generic) else np.array(value).dtype)
    compiled.compiled(fill)(whole[1:8:3], value)
    assert whole.tolist() == [0, value, 0, 0, value, 0, 0, value, 0]


@pytest.mark.parametrize("count", [1, 2])
def test_last_arguments_may_be_told_before(count: int, made: list[str]) -> None:
    numbers = np.arange(6.0).reshape(2, 3)
    arguments = Pair(numbers, 0.5), 3, True
    function: Any = compiled.compiled(weighed)
    expected = function(*arguments)
    first, last = arguments[:-count], arguments[-count:]
    later: Any = bound(function, *last)
    assert later(*first) == expected
    numbers += 1.0
    assert later(*first) == function(*arguments) != expected
    assert made == ["weighed"]


def test_arrays_that_were_told_before_live_on_and_are_written() -> None:
    whole = np.zeros(3)
    weak = weakref.ref(whole)
    later: Any = bound(cast(Any, compiled.compiled(put)), whole)
    del whole
    later(7.0)
    kept = weak()
    assert kept is not None
    assert kept.tolist() == [7.0] * 3


def test_integers_of_all_sizes_come_back() -> None:
    same: Any = compiled.compiled(lambda number: number)
    for number in (0, -1, (1 << 63) - 1, -(1 << 63), (1 << 64) - 1):
        assert same(number) == number
    assert same(np.int32(-5)) == -5
    assert same(np.uint32(0xFFFFFFFF)) == 0xFFFFFFFF
    assert same(np.float32(0.1)) == np.float32(0.1)


def test_arrays_that_must_not_be_written_are_not() -> None:
    from numba.core.errors import TypingError

    numbers = np.zeros(3)
    numbers.setflags(write=False)
    function = compiled.compiled(fill)
    function(np.zeros(3), 1.0)
    with pytest.raises(TypingError):
        function(numbers, 1.0)
    assert numbers.tolist() == [0] * 3


@pytest.mark.parametrize("value", ["text", None, np.zeros(2, complex), np.zeros(2, "i4,f4"), [1]])
def test_what_compiled_code_cannot_take_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="compiled code takes no"):
        compiled.compiled(half)(value)


def test_parts_are_called_by_compiled_code_only() -> None:
    assert compiled.compiled(four_times)(5) == 20
    with pytest.raises(TypeError, match="part of compiled functions"):
        twice(5)


def test_an_exception_in_compiled_code_is_one_here() -> None:
    function = compiled.compiled(count_up)
    assert function(1, 3) == 3
    with pytest.raises(RuntimeError, match="count_up"):
        function(1, 0)


def test_code_is_there_after_the_first_call_only(folder: Path) -> None:
    function = compiled.compiled(half)
    assert not is_compiled(function)
    assert function(21) == 10.5
    assert list(folder.glob("compiled-half-*.code"))
    assert is_compiled(function)
    assert not is_compiled(compiled.compiled(fill))


def test_each_layout_is_kept_and_found_again(made: list[str]) -> None:
    first, later = compiled.compiled(half), compiled.compiled(half)
    assert first(3) == 1.5
    assert first(np.float32(5.5)) == 2.75
    assert made == ["half"] * 2
    assert later(np.float32(7.5)) == 3.75
    assert later(5) == 2.5
    assert made == ["half"] * 2


def test_other_sources_are_compiled_anew(monkeypatch: pytest.MonkeyPatch, made: list[str]) -> None:
    assert compiled.compiled(half)(3) == 1.5
    monkeypatch.setattr(ready_code, "source_digest", lambda source: "other")
    assert compiled.compiled(half)(3) == 1.5
    assert made == ["half"] * 2


def test_code_of_unknown_sources_is_neither_kept_nor_taken(
    monkeypatch: pytest.MonkeyPatch, folder: Path, made: list[str]
) -> None:
    monkeypatch.setattr(ready_code, "source_digest", lambda source: None)
    for _ in range(2):
        assert compiled.compiled(half)(3) == 1.5
    assert made == ["half"] * 2
    assert not list(folder.glob("compiled-*"))


@pytest.mark.parametrize("place", [0, 40, -1])
@pytest.mark.parametrize("is_installed", [False, True])
def test_damaged_code_is_never_loaded(
    folder: Path, made: list[str], place: int, is_installed: bool
) -> None:
    if is_installed:
        folder = ready_code.INSTALLED
        with ready_code.made_into(folder):
            compiled.compiled(half)(3)
    else:
        compiled.compiled(half)(3)
    (file,) = folder.glob("*.code")
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    assert compiled.compiled(half)(3) == 1.5
    assert made == ["half"] * 2


def test_an_installation_brings_code(folder: Path, made: list[str]) -> None:
    with ready_code.made_into(ready_code.INSTALLED) as asked:
        assert compiled.compiled(half)(3) == 1.5
    assert asked == {file.name for file in ready_code.INSTALLED.iterdir()}
    assert not list(folder.glob("compiled-*"))
    function = compiled.compiled(half)
    assert is_compiled(function)
    assert function(5) == 2.5
    assert made == ["half"]


def test_what_is_made_for_an_installation_is_not_taken_from_elsewhere(made: list[str]) -> None:
    compiled.compiled(half)(3)
    with ready_code.made_into(ready_code.INSTALLED):
        compiled.compiled(half)(3)
    assert made == ["half"] * 2


def test_ready_code_needs_no_numba() -> None:
    """Another process loads it and calls it; numba is not even imported."""
    from kernelcast.simcore.memory.bitmask import count_bits

    cast(Any, count_bits)._loaded.clear()
    assert count_bits(np.uint64(0b1011)) == 3
    program = (
        "import sys, numpy; from kernelcast.simcore.host import ready_code; from pathlib import "
        "Path; ready_code.INSTALLED = Path('nowhere');"
        "from kernelcast.simcore.memory.bitmask import count_bits;"
        "print(count_bits(numpy.uint64(7)), 'numba' in sys.modules)"
    )
    command = [sys.executable, "-c", program]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    assert finished.stdout.split() == ["3", "False"]


V3 = (
    "avx avx2 bmi bmi2 cmov cx16 cx8 f16c fma fxsr lzcnt mmx movbe popcnt sahf sse sse2 sse3 "
    "sse4.1 sse4.2 ssse3 xsave"
)


@pytest.mark.parametrize("missing", ["", "bmi2", "avx2"])
def test_code_is_common_where_the_processor_has_all_that_it_needs(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kernelcast.simcore.host import llvm

    features = ",".join(f"{'-' if name == missing else '+'}{name}" for name in V3.split())
    monkeypatch.setattr(llvm, "_host", lambda: ("x86_64", "znver9", f"{features},+avx512f"))
    llvm.common_processor.cache_clear()
    try:
        found = llvm.common_processor()
    finally:
        monkeypatch.undo()
        llvm.common_processor.cache_clear()
    assert (found.name == "x86-64-v3") == (missing == "")
    assert ("avx512f" in found.features) == (missing != "")
