"""Device memory by itself: places, contents, capacity, and what is wrong with a pointer."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelcast as kc
from kernelcast.errors import DeviceMemoryError
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.allocations import AllocationTable
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.launch_memory import LaunchMemory
from kernelcast.simcore.launch.module_memory import ModuleMemory
from kernelcast.simcore.launch.tensor_maps import DescribedTensor


def test_contents_are_zeros_then_what_was_written() -> None:
    memory = kc.DeviceMemory()
    numbers = memory.allocate(40, "numbers")
    assert memory.read(numbers, 10, np.int32).tolist() == [0] * 10
    memory.write(numbers + 8, np.arange(3, dtype=np.int32))
    assert memory.read(numbers, (2, 5), np.int32).tolist() == [[0, 0, 0, 1, 2], [0] * 5]


def test_fill_sets_elements_and_copy_may_overlap() -> None:
    memory = kc.DeviceMemory()
    numbers = memory.allocate(32)
    memory.fill(numbers, 0xAB, 3)
    assert memory.read(numbers, 4).tolist() == [0xAB, 0xAB, 0xAB, 0]
    memory.fill(numbers + 1, 7, 3, np.uint16)
    assert memory.read(numbers + 1, 3, np.uint16).tolist() == [7, 7, 7]
    memory.write(numbers, np.arange(32, dtype=np.uint8))
    memory.copy(numbers + 4, numbers, 20)
    expected = [*range(4), *range(20), *range(24, 32)]
    assert memory.read(numbers, 32).tolist() == expected


def test_an_allocation_is_a_number() -> None:
    memory = kc.DeviceMemory()
    first, second = memory.allocate(100, "first"), memory.allocate(100, "second")
    assert first.address % 256 == second.address % 256 == 0
    assert second.address >= first.end
    assert struct.pack("<Q", second) == second.address.to_bytes(8, "little")
    assert np.array([first, second], np.uint64).tolist() == [int(first), int(second)]
    assert memory.allocations == (first, second)
    assert repr(first) == f"<first: 100 bytes at {first.address:#x}>"


def test_an_address_is_never_given_twice() -> None:
    memory = kc.DeviceMemory()
    given: set[int] = set()
    for _ in range(50):
        item = memory.allocate(64)
        memory.free(item)
        given.add(item.address)
    assert len(given) == 50
    assert memory.allocations == ()


def test_capacity_counts_units_of_256_bytes_and_what_is_freed_comes_back() -> None:
    memory = kc.DeviceMemory(1024, "small gpu")
    kept = [memory.allocate(1, "a"), memory.allocate(256, "b"), memory.allocate(257, "c")]
    assert memory.used_bytes == 1024
    with pytest.raises(DeviceMemoryError, match="small gpu is full: d takes 1 bytes, and 1,024"):
        memory.allocate(1, "d")
    memory.free(kept[0])
    memory.allocate(256, "d")
    with pytest.raises(DeviceMemoryError, match="is full"):
        memory.adopt(np.zeros(1))


def test_the_capacity_of_a_gpu() -> None:
    size = kc.device("gtx-480").dram.capacity_bytes
    memory = kc.DeviceMemory(size, "gtx-480")
    with pytest.raises(DeviceMemoryError, match="gtx-480 is full: weights takes"):
        memory.allocate(size + 1, "weights")


@pytest.mark.parametrize(
    ("distance", "message"),
    [
        (0, "x was freed before"),
        (4, "no allocation begins there"),
        (8192, "no allocation begins there"),
    ],
)
def test_a_second_free_says_what_was_there(distance: int, message: str) -> None:
    memory = kc.DeviceMemory()
    x = memory.allocate(64, "x")
    memory.free(x)
    with pytest.raises(DeviceMemoryError, match=message):
        memory.free(x + distance)


def test_free_takes_the_start_of_an_allocation() -> None:
    memory = kc.DeviceMemory()
    x = memory.allocate(64, "x")
    with pytest.raises(DeviceMemoryError, match=r"that is 4 bytes into x \(64 bytes\)"):
        memory.free(x + 4)
    assert memory.holds(x)


def test_bytes_that_are_not_there_are_told_by_name() -> None:
    memory = kc.DeviceMemory()
    with pytest.raises(DeviceMemoryError, match="4 bytes at address 0x10: outside: there is no"):
        memory.view(0x10, 4)
    x = memory.allocate(64, "x")
    for pointer, size, reason in (
        (x, 65, r"across the end of x \(64 bytes\)"),
        (x + 65, 1, r"1 bytes past the end of x \(64 bytes\)"),
        (x + -3, 1, "3 bytes before x"),
        (x, -1, "across"),
    ):
        with pytest.raises(DeviceMemoryError, match=reason):
            memory.read(pointer, size) if size >= 0 else memory.view(pointer, size)
    memory.free(x)
    with pytest.raises(DeviceMemoryError, match=r"inside x \(64 bytes\), which was freed"):
        memory.write(x + 60, np.zeros(1, np.float32))


def test_an_array_may_be_device_memory_at_an_address_of_its_own() -> None:
    arena = np.arange(1 << 14, dtype=np.uint8)
    memory, first = kc.DeviceMemory(), 0x2000_0000_0000
    part = memory.adopt(arena[4096:8192], "part", address=first + 4096)
    memory.fill(part, 1, 4096)
    assert arena[4095:4098].tolist() == [4095 % 256, 1, 1]
    assert memory.find(first + 5000) is part
    assert memory.find(first) is None
    for address, size in ((first + 4096, 1), (first + 8191, 5), (first, 4097)):
        with pytest.raises(DeviceMemoryError, match=r"part \(4096 bytes\) is there"):
            memory.allocate(size, "other", address=address)
    memory.adopt(arena[:4096], "before", address=first)
    memory.adopt(arena[8192:], "behind", address=first + 8192)
    for refused in (0x10, 3 << 40, 1 << 48):
        with pytest.raises(DeviceMemoryError, match="device memory has addresses from"):
            memory.allocate(1, address=refused)
    with pytest.raises(DeviceMemoryError, match="not C-contiguous"):
        memory.adopt(arena[::2], "every other")


def test_chosen_places_keep_off_those_that_were_given() -> None:
    memory = kc.DeviceMemory()
    first = memory.allocate(64)
    near = memory.allocate(64, address=first.address + 8192)
    for _ in range(4):
        found = memory.allocate(4096)
        assert found.end <= near.address or found.address >= near.end


def test_textures_and_tensor_maps_of_a_view_have_its_address(
    compile_ptx: Callable[..., Kernel],
) -> None:
    memory = kc.DeviceMemory()
    whole = memory.allocate(4096, "whole")
    view = memory.view(whole + 1024, 1024).view(np.float32).reshape(16, 16)
    arguments = (kc.Texture(view), kc.TensorMap(view, box=(16, 16)))
    launch = Launch((1, 1, 1), (32, 1, 1), arguments, memory=ModuleMemory(memory))
    found = LaunchMemory(compile_ptx("ret;", "u64 t, u64 m"), launch)
    descriptor, tensor_map = found.parameters.bytes[:16].view(np.uint64).tolist()
    assert found.parameters.bytes[descriptor : descriptor + 8].view(np.uint64) == whole + 1024
    content = found.globals.read(tensor_map, 128).tobytes()
    assert DescribedTensor.read(content).address == whole + 1024
    assert memory.allocations == (whole,)


Spans = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 12)), max_size=30)


@given(Spans, Spans, st.lists(st.integers(-5, 420), min_size=1, max_size=8), st.integers(0, 2))
def test_lanes_are_found_as_by_looking_at_each_allocation(
    below: list[tuple[int, int]], above: list[tuple[int, int]], places: list[int], power: int
) -> None:
    """One table and one over it, beside a list that is searched from its start."""
    size = 1 << power
    lower = AllocationTable()
    upper = AllocationTable(lower)
    known: list[kc.Allocation] = []
    for table, spans, shift in ((lower, below, 0), (upper, above, 215)):
        for at, length in spans:
            made = kc.Allocation("a", at + shift, length, np.zeros(length, np.uint8))
            if table.overlapping(made.address, length) is None:
                table.add(made)
                known.append(made)
    address = np.array(places, np.int64)
    holder = [
        next((a for a in known if a.address <= place and place + size <= a.end), None)
        for place in places
    ]
    found, lane = upper.locate(address, size)
    if None in holder:
        assert lane == holder.index(None)
        return
    served: list[kc.Allocation | None] = [None] * len(places)
    for allocation, lanes in found:
        for position in range(len(places)) if not lanes.size else lanes.tolist():
            served[position] = allocation
    assert served == holder
    assert lane is None
