"""Lazy buffers: place and size at once, contents when somebody needs them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelcast.errors import LaunchError
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, LazyBuffer
from kernelcast.simcore.launch.launch_memory import LaunchMemory
from kernelcast.simcore.launch.lazy_buffer import ELEMENTS_PER_CHUNK

INCREMENT = """
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3]; add.u32 %r2, %r2, 1; st.global.u32 [%rd3], %r2; ret;
"""


def squares(chunk: int, elements: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return (chunk * ELEMENTS_PER_CHUNK + np.arange(elements)) ** 2


def launch(*arguments: object) -> Launch:
    return Launch((1, 1, 1), (32, 1, 1), arguments)  # type: ignore[arg-type]


def test_parts_and_whole_have_the_same_contents() -> None:
    size = 2 * ELEMENTS_PER_CHUNK + 10
    buffer = LazyBuffer((2, size // 2), np.int64, squares)
    cut = slice(ELEMENTS_PER_CHUNK - 3, 2 * ELEMENTS_PER_CHUNK + 4)
    part = buffer.elements(cut.start, cut.stop)
    assert not buffer.is_materialised
    assert (part == np.arange(cut.start, cut.stop) ** 2).all()
    assert (buffer.materialise().ravel() == np.arange(size) ** 2).all()
    assert buffer.materialise().shape == (2, size // 2)
    assert buffer.materialise() is buffer.materialise()


def test_parts_outside_are_refused() -> None:
    with pytest.raises(LaunchError, match="elements 2 to 5 of a buffer of 4"):
        LazyBuffer((4,), np.uint8).elements(2, 5)


def test_contents_larger_than_any_memory_are_an_error() -> None:
    buffer = LazyBuffer((2**60,), np.float32)
    assert buffer.nbytes == 2**62
    with pytest.raises(LaunchError, match="no memory for a buffer of shape"):
        buffer.materialise()


def test_addresses_are_those_of_arrays_and_cost_nothing(compile_ptx: Callable[..., Kernel]) -> None:
    kernel = compile_ptx(INCREMENT, "u64 out, u64 other")
    lazy = LazyBuffer((100,), np.float32), LazyBuffer((2**40,), np.float64)
    memory = LaunchMemory(kernel, launch(*lazy))
    first, second = memory.globals.allocations
    arrays = LaunchMemory(kernel, launch(np.zeros(100, np.float32), np.zeros(2)))
    assert [b.address for b in memory.globals.allocations] == [
        b.address for b in arrays.globals.allocations
    ]
    assert (first.size, second.size) == (400, 2**43)
    assert second.end - second.address == 2**43
    assert not any(buffer.is_materialised for buffer in (first, second, *lazy))
    assert first.bytes.size == 400
    assert first.is_materialised
    assert lazy[0].is_materialised
    assert not lazy[1].is_materialised


def test_the_same_buffer_twice_has_one_place(compile_ptx: Callable[..., Kernel]) -> None:
    buffer = LazyBuffer((4,), np.uint8)
    memory = LaunchMemory(compile_ptx(INCREMENT, "u64 out, u64 other"), launch(buffer, buffer))
    assert len(memory.globals.allocations) == 1


def test_a_full_run_changes_the_contents_in_place(compile_ptx: Callable[..., Kernel]) -> None:
    buffer = LazyBuffer((32,), np.int64, squares)
    whole = launch(buffer).materialised()
    kernel = compile_ptx(INCREMENT, "u64 out")
    whole.check(kernel)
    execute(kernel, whole, engine="reference")
    expected = (np.arange(32) ** 2).view(np.uint32)
    expected[:32] += 1
    assert (buffer.materialise().view(np.uint32) == expected).all()


def test_a_launch_of_arrays_is_its_own_materialised_launch() -> None:
    plain = launch(np.zeros(3), 4)
    assert plain.materialised() is plain


def test_a_lazy_buffer_is_no_number(compile_ptx: Callable[..., Kernel]) -> None:
    with pytest.raises(LaunchError, match=r"\(n\) is a buffer but the kernel takes u32"):
        launch(LazyBuffer((4,), np.uint8)).check(compile_ptx("ret;", "u32 n"))
    launch(LazyBuffer((4,), np.uint8)).check(compile_ptx("ret;", "u64 out"))
