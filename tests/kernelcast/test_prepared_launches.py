"""Launches that are prepared once and run often do what `run` does each time."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import LaunchError, MemoryAccessError

HEAD = ".version 6.0\n.target sm_50\n.address_size 64\n"
ADD = (
    HEAD
    + """
.visible .entry add(.param .u64 out, .param .u32 step, .param .u32 count) {
.reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p;
ld.param.u64 %rd1, [out];
ld.param.u32 %r1, [step];
ld.param.u32 %r2, [count];
mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
mad.lo.u32 %r6, %r3, %r4, %r5;
setp.ge.u32 %p, %r6, %r2;
@%p bra END;
mad.wide.u32 %rd2, %r6, 4, %rd1;
ld.global.u32 %r7, [%rd2];
add.u32 %r8, %r7, %r1;
st.global.u32 [%rd2], %r8;
END:
ret;
}
"""
)


def block(pointer: object, step: int, count: int) -> bytes:
    return struct.pack("<QII", int(pointer), step, count)  # type: ignore[call-overload]


@pytest.fixture
def memory() -> kc.DeviceMemory:
    return kc.DeviceMemory()


def test_every_run_does_the_work_again(memory: kc.DeviceMemory) -> None:
    x = memory.allocate(4 * 100, "x")
    launch = kc.load_ptx(ADD)["add"].prepare(grid=4, block=32, args=[x, 3, 100], memory=memory)
    for _ in range(5):
        launch.run()
    assert memory.read(x, 100, np.uint32).tolist() == [15] * 100


def test_arrays_are_written_in_place() -> None:
    x = np.arange(64, dtype=np.uint32)
    launch = kc.load_ptx(ADD)["add"].prepare(grid=2, block=32, args=[x, 1, 64])
    launch.run()
    launch.run(block(0, 10, 64))  # the array is no pointer of the block
    assert x.tolist() == [i + 11 for i in range(64)]


def test_a_block_replaces_numbers_and_pointers(memory: kc.DeviceMemory) -> None:
    x, y = memory.allocate(4 * 64, "x"), memory.allocate(4 * 64, "y")
    launch = kc.load_ptx(ADD)["add"].prepare(grid=2, block=32, args=[x, 1, 64], memory=memory)
    launch.run(block(y, 5, 32))
    launch.run()
    assert not memory.read(x, 64, np.uint32).any()
    assert memory.read(y, 64, np.uint32).tolist() == [10] * 32 + [0] * 32
    launch.run(block(x + 128, 7, 8))
    assert memory.read(x, 64, np.uint32).tolist() == [0] * 32 + [7] * 8 + [0] * 24


def test_a_block_of_another_size_is_refused(memory: kc.DeviceMemory) -> None:
    x = memory.allocate(4 * 64, "x")
    launch = kc.load_ptx(ADD)["add"].prepare(grid=2, block=32, args=[x, 1, 64], memory=memory)
    with pytest.raises(LaunchError, match="a block of 12 bytes of parameters, kernel add takes 16"):
        launch.run(bytes(12))


def test_what_was_freed_is_refused(memory: kc.DeviceMemory) -> None:
    x = memory.allocate(4 * 64, "x")
    launch = kc.load_ptx(ADD)["add"].prepare(grid=2, block=32, args=[x, 1, 64], memory=memory)
    launch.run()
    memory.free(x)
    with pytest.raises(LaunchError, match="it was freed, or is of another memory"):
        launch.run()
    with pytest.raises(MemoryAccessError, match=r"inside x \(256 bytes, argument out\), which was"):
        launch.run(block(x, 1, 64))


def test_what_was_allocated_later_is_found(memory: kc.DeviceMemory) -> None:
    x = memory.allocate(4 * 64, "x")
    launch = kc.load_ptx(ADD)["add"].prepare(grid=2, block=32, args=[x, 1, 64], memory=memory)
    launch.run()
    y = memory.allocate(4 * 64, "y")
    launch.run(block(y, 2, 64))
    assert memory.read(y, 64, np.uint32).tolist() == [2] * 64


def test_bounds_and_read_only_memory_are_checked(memory: kc.DeviceMemory) -> None:
    x = memory.allocate(4 * 64, "x")
    fixed = memory.allocate(4 * 64, "fixed", is_read_only=True)
    launch = kc.load_ptx(ADD)["add"].prepare(grid=2, block=32, args=[x, 1, 64], memory=memory)
    launch.run()
    with pytest.raises(MemoryAccessError, match="past the end of x"):
        launch.run(block(x + 4, 1, 64))
    with pytest.raises(MemoryAccessError, match="store to a read-only array"):
        launch.run(block(fixed, 1, 64))
    launch.run(block(x, 1, 64))
    assert memory.read(x, 64, np.uint32)[0] == 2


def test_options_of_estimates_are_refused(memory: kc.DeviceMemory) -> None:
    kernel, x = kc.load_ptx(ADD)["add"], memory.allocate(256)
    with pytest.raises(LaunchError, match="simulates no memory"):
        kernel.prepare(grid=1, block=32, args=[x, 1, 1], memory=memory, devices=["gtx-480"])
