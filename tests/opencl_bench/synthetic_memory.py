"""A device of known answers: NumPy computes, a hierarchy of memories tells the time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.opencl_bench.memory.access_pattern import scattered
from kernelcast.opencl_bench.target import DeviceFacts, Feature

KIB, MIB = 1 << 10, 1 << 20
LINE = 64
DRAM = 10e9
LEVELS = ((32 * KIB, 100e9, 1e-9), (512 * KIB, 40e9, 5e-9), (1 << 60, DRAM, 80e-9))
"""Capacity in bytes, bandwidth in bytes/s, latency in seconds; the second is shared by all."""
FLOPS = 50e9
CLOCK = 3e9
COPY_S, COPY_BANDWIDTH = 1e-5, 4e9
OUTSTANDING = 1e7
"""Bytes/s for each load that is on its way at a time."""
LAUNCHES = 3
"""However many repetitions are asked for: they are all alike."""

CPU = DeviceFacts(
    name="synthetic",
    vendor="nobody",
    platform="none",
    driver="1",
    is_cpu=True,
    compute_units=4,
    clock_hz=CLOCK,
    global_bytes=64 * MIB,
    max_buffer_bytes=4 * MIB,
    local_bytes=32 * KIB,
    constant_bytes=64 * KIB,
    cache_bytes=512 * KIB,
    cache_line_bytes=LINE,
    max_work_group=1024,
    preferred_work_group_multiple=32,
    features=frozenset({Feature.FP64}),
    llvm_float_width=4,
)
GPU = replace(CPU, is_cpu=False, llvm_float_width=1)


@dataclass(frozen=True)
class Kernel:
    name: str
    defines: Mapping[str, object]

    @property
    def lanes(self) -> int:
        return int(str(self.defines["ELEMENT"]).lstrip("abdefilntou") or 1)

    def by_item(self, elements: Any, items: int, group: int) -> Any:
        """Elements in the order of the array -> shape (items, of each, ...)."""
        if "CONTIGUOUS" in self.defines:
            return elements.reshape(items, -1, *elements.shape[1:])
        apart = elements.reshape(items // group, -1, group, *elements.shape[1:])
        return apart.swapaxes(1, 2).reshape(items, -1, *elements.shape[1:])


@dataclass
class SyntheticMemory:
    """A `Target`. `broken`: what goes wrong with each kernel."""

    facts: DeviceFacts = CPU
    broken: str = ""
    launches: list[str] = field(default_factory=list)

    def kernel(self, file: str, name: str, defines: Mapping[str, object]) -> Kernel:
        return Kernel(name, defines)

    def buffer(self, content: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        return np.frombuffer(content.tobytes(), np.uint8).copy()

    def empty(self, size_bytes: int) -> npt.NDArray[np.uint8]:
        assert size_bytes <= self.facts.max_buffer_bytes
        return np.zeros(size_bytes, np.uint8)

    def read(self, buffer: Any, like: npt.NDArray[Any]) -> npt.NDArray[Any]:
        content: npt.NDArray[Any] = buffer[: like.nbytes].copy()
        content = content.view(like.dtype).reshape(like.shape)
        if self.broken == "one word":
            content.reshape(-1)[-1] += 1
        return content

    def seconds(
        self,
        kernel: Kernel,
        global_size: Sequence[int],
        local_size: Sequence[int],
        arguments: Sequence[Any],
        repeats: int,
    ) -> npt.NDArray[np.float64]:
        assert global_size[0] % local_size[0] == 0
        emulate: Callable[..., float] = getattr(self, f"_{kernel.name}")
        self.launches.append(kernel.name)
        buffers = [
            item.copy() if self.broken == "stores" and isinstance(item, np.ndarray) else item
            for item in arguments
        ]
        for _ in range(LAUNCHES):
            time = emulate(kernel, global_size[0], local_size[0], *buffers)
        return np.full(repeats, 0.0 if self.broken == "clock" else time)

    def transfer_seconds(self, size_bytes: int, to_device: bool, repeats: int) -> Any:
        faster = 2.0 if to_device else 1.0
        return np.full(repeats, COPY_S + size_bytes / (faster * COPY_BANDWIDTH))

    def launch_seconds(self, kernel: Any, arguments: Sequence[Any], launches: int) -> float:
        raise NotImplementedError

    def _stream_read(
        self, kernel: Kernel, items: int, group: int, data: Any, sums: Any, each: Any
    ) -> float:
        count = items * int(each)
        used = data.view(np.uint32)[: count * kernel.lanes].reshape(count, kernel.lanes)
        _store(sums, kernel.by_item(used, items, group).sum(1, dtype=np.uint32))
        return float((used.nbytes + sums.nbytes) / DRAM)

    def _stream_write(
        self, kernel: Kernel, items: int, group: int, out: Any, seed: Any, each: Any
    ) -> float:
        numbers = np.repeat(np.arange(items * each, dtype=np.uint32) + seed, kernel.lanes)
        _store(out, numbers)
        return 2 * numbers.nbytes / DRAM

    def _stream_copy(
        self, kernel: Kernel, items: int, group: int, data: Any, out: Any, each: Any
    ) -> float:
        size = items * int(each) * kernel.lanes * 4
        out[:size] = data[:size]
        return 3 * size / DRAM

    def _stream_triad(
        self, kernel: Kernel, items: int, group: int, a: Any, b: Any, c: Any, by: Any, each: Any
    ) -> float:
        size = items * int(each) * kernel.lanes * 4
        _store(c, a[:size].view(np.uint32) + by * b[:size].view(np.uint32))
        return 4 * size / DRAM

    def _parts(self, kernel: Kernel, groups: int, data: Any, *numbers: int) -> Any:
        """The words of each work-group."""
        team, apart, step, count = numbers
        vectors = data.view(np.uint32)[: data.size // 4 // kernel.lanes * kernel.lanes]
        vectors = vectors.reshape(-1, kernel.lanes)
        return [vectors[i // team * apart + i % team * step :][:count] for i in range(groups)]

    def _walk_bandwidth(self, own: int, everything: int) -> float:
        """The second level is shared; the first is each compute unit's own."""
        first, second, last = LEVELS
        if own <= first[0]:
            return first[1]
        return second[1] if everything <= second[0] else last[1]

    def _cache_seconds(self, kernel: Kernel, groups: int, *numbers: int) -> float:
        """Seconds of reads only; a part holds one slice, or one for each work-group of a team."""
        team, apart, step, count, passes = numbers
        own = count * kernel.lanes * 4 * (team if step else 1)
        everything = own * (groups // team if apart else 1)
        return count * kernel.lanes * 4 * groups * passes / self._walk_bandwidth(own, everything)

    def _cache_read(
        self, kernel: Kernel, items: int, group: int, data: Any, sums: Any, *arguments: Any
    ) -> float:
        numbers = tuple(map(int, arguments))
        assert numbers[3] % (8 * group) == 0
        out = np.zeros((items // group, group * kernel.lanes), np.uint32)
        parts = self._parts(kernel, items // group, data, *numbers[:4])
        out[:, 0] = [int(part.sum(dtype=np.uint64)) * numbers[4] % 2**32 for part in parts]
        _store(sums, out)
        return self._cache_seconds(kernel, items // group, *numbers)

    def _cache_update(
        self, kernel: Kernel, items: int, group: int, data: Any, sums: Any, *arguments: Any
    ) -> float:
        *numbers, seed = map(int, arguments)
        updates = int(str(kernel.defines["UPDATES"]))
        before = data.copy()
        for part in self._parts(kernel, items // group, data, *numbers[:4]):
            first = (part.ctypes.data - data.ctypes.data) // 4 // kernel.lanes
            new = np.arange(first, first + len(part), dtype=np.uint32) + np.uint32(seed)
            eighths = part.reshape(-1, 8, group, kernel.lanes)
            eighths[:, :updates] = new.reshape(*eighths.shape[:3], 1)[:, :updates]
        seconds = self._cache_read(kernel, items, group, before, sums, *numbers)
        return seconds * (1 + updates / 8)

    def _chase_pointers(
        self, kernel: Kernel, items: int, group: int, following: Any, state: Any, steps: Any
    ) -> float:
        assert (items, group, steps % 8) == (1, 1, 0)
        following, state = following.view(np.uint32), state.view(np.uint32)
        order, at = [0], int(following[0])
        while at:
            order.append(at)
            at = int(following[at])
        state[0] = order[(order.index(int(state[0])) + int(steps)) % len(order)]
        state[1] += steps
        return int(steps) * next(level[2] for level in LEVELS if following.nbytes <= level[0])

    def _chase_arithmetic(
        self, kernel: Kernel, items: int, group: int, out: Any, mask: Any, term: Any, steps: Any
    ) -> float:
        x = 0
        for _ in range(64):
            x = (x ^ int(mask)) + int(term)
        _store(out, np.array([x * int(steps) // 64 % 2**32], np.uint32))
        return 2 * int(steps) / CLOCK

    def _constant_read(
        self, kernel: Kernel, items: int, group: int, table: Any, sums: Any, *numbers: Any
    ) -> float:
        count, passes = map(int, numbers)
        step = int(str(kernel.defines["LANE_STEP"]))
        words = table.view(np.uint32)
        lane = [int(words[i * step :][:count].sum(dtype=np.uint64)) for i in range(group)]
        expected = np.arange(items) + passes * np.array(lane * (items // group))
        _store(sums, (expected % 2**32).astype(np.uint32))
        return items * count * passes * 4 / (1e9 if step else 8e9)

    def _stride_read(
        self, kernel: Kernel, items: int, group: int, data: Any, sums: Any, *numbers: Any
    ) -> float:
        pitch, bits, offset, each = map(int, numbers)
        i = np.arange(items * each)
        at = (i >> bits) * pitch + i % 2**bits + offset
        read = kernel.by_item(data.view(np.uint32)[at], items, group)
        _store(sums, read.sum(1, dtype=np.uint32))
        lines = 1 + np.count_nonzero(np.diff(at * 4 // LINE))
        return float(lines * LINE / DRAM)

    def _gather_read(
        self, kernel: Kernel, items: int, group: int, data: Any, sums: Any, bits: Any, each: Any
    ) -> float:
        at = scattered(np.arange(items * each, dtype=np.uint32), int(bits))
        read = kernel.by_item(data.view(np.uint32)[at], items, group)
        _store(sums, read.sum(1, dtype=np.uint32))
        return at.size * next(level[2] for level in LEVELS if 4 << int(bits) <= level[0])

    def _mixed_read(
        self, kernel: Kernel, items: int, group: int, data: Any, sums: Any, *numbers: Any
    ) -> float:
        factor, term, iterations, each = numbers
        count = items * int(each) * kernel.lanes
        real = np.float64 if kernel.defines["REAL"] == "double" else np.float32
        t = data.view(real)[:count].reshape(-1, kernel.lanes)
        for _ in range(int(iterations)):
            t = t * factor + term
        _store(sums, kernel.by_item(t, items, group).sum(1, dtype=real))
        return float(max((t.nbytes + sums.nbytes) / DRAM, t.size * (2 * iterations + 1) / FLOPS))

    def _occupancy_read(
        self, kernel: Kernel, items: int, group: int, data: Any, sums: Any, rounds: Any
    ) -> float:
        loads = int(str(kernel.defines["LOADS"]))
        words = data.view(np.uint32)[: int(rounds) * items * loads * kernel.lanes]
        apart = words.reshape(int(rounds), items // group, loads, group * kernel.lanes)
        _store(sums, apart.sum((0, 2), dtype=np.uint32))
        return float(words.nbytes / on_their_way(items * loads))


def _store(buffer: Any, content: Any) -> None:
    content = np.ascontiguousarray(content)
    buffer[: content.nbytes] = content.view(np.uint8).reshape(-1)


def on_their_way(loads: float) -> float:
    return min(DRAM, loads * OUTSTANDING)
