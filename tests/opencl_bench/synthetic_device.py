"""A GPU that is not there: its kernels compute in NumPy and take the time of simple formulas."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.opencl_bench.target import DeviceFacts, Feature

UNITS, CLOCK_HZ, WARP = 4, 1e9, 32
LANES_A_CLOCK, LATENCY_CLOCKS = 64, 6
LOCAL_BYTES_A_CLOCK, BANKS = 128, 32
ATOMIC_CLOCKS, CONTENDED_CLOCKS = 2, 10
BARRIER_CLOCKS, BARRIER_CLOCKS_A_WARP = 20, 4
LAUNCH_S, AWAIT_S = 2e-6, 5e-6

FACTS = DeviceFacts(
    "synthetic", "nobody", "none", "0", False, UNITS, CLOCK_HZ, 1 << 30, 1 << 28, 48 << 10,
    1 << 16, 1 << 20, 128, 1024, WARP, frozenset({Feature.FP64}),
)  # fmt: skip

Words = npt.NDArray[np.uint32]


@dataclass
class Memory:
    content: npt.NDArray[Any]


@dataclass(frozen=True)
class Program:
    name: str
    defines: Mapping[str, Any]


@dataclass
class SyntheticTarget:
    """`damage`: added to the last value that each launch writes. `warm_ups`: untimed launches."""

    facts: DeviceFacts = FACTS
    damage: int = 0
    warm_ups: int = 1
    asked: list[Program] = field(default_factory=list)

    def kernel(self, file: str, name: str, defines: Mapping[str, object]) -> Program:
        program = Program(name, dict(defines))
        self.asked.append(program)
        return program

    def buffer(self, content: npt.NDArray[Any]) -> Memory:
        return Memory(content.copy())

    def empty(self, size_bytes: int) -> Memory:
        return Memory(np.zeros(size_bytes, np.uint8))

    def read(self, buffer: Memory, like: npt.NDArray[Any]) -> npt.NDArray[Any]:
        assert buffer.content.dtype == like.dtype
        return buffer.content.reshape(like.shape).copy()

    def transfer_seconds(self, size_bytes: int, to_device: bool, repeats: int) -> Any:
        raise NotImplementedError

    def seconds(
        self,
        kernel: Program,
        global_size: Sequence[int],
        local_size: Sequence[int],
        arguments: Sequence[Any],
        repeats: int,
    ) -> npt.NDArray[np.float64]:
        items, group = math.prod(global_size), math.prod(local_size)
        assert items % group == 0
        assert group <= self.facts.max_work_group
        with np.errstate(over="ignore"):
            for _ in range(self.warm_ups + repeats):
                clocks = self._launch(kernel, items, group, arguments)
        first = arguments[0] if kernel.name in _FIRST_IS_RESULT else arguments[2]
        if self.damage:
            last = first.content.reshape(-1)[-1:]
            last += np.asarray(self.damage).astype(last.dtype)
        return np.full(repeats, clocks / CLOCK_HZ)

    def launch_seconds(self, kernel: Program, arguments: Sequence[Any], launches: int) -> float:
        assert kernel.name == "count_launch"
        arguments[0].content[0] += launches if not self.damage else 0
        return LAUNCH_S + AWAIT_S / launches

    def _launch(self, kernel: Program, items: int, group: int, arguments: Sequence[Any]) -> float:
        a_unit = math.ceil(items // group / UNITS) * group
        if kernel.name.startswith("local_swap"):
            assert arguments[2] == group  # places of one work-item: one of each neighbour between
            return _swap(items, a_unit, *arguments)
        if kernel.name == "local_stride":
            return _stride(kernel, items, group, a_unit, *arguments)
        if kernel.name.endswith("_atomic"):
            return _atomic(kernel.name, items, group, a_unit, *arguments)
        if kernel.name == "barriers":
            return _barrier(group, *arguments)
        return _chains(kernel, items, a_unit, *arguments)


_FIRST_IS_RESULT = frozenset(
    (
        *(f"local_swap_{bits}_bit" for bits in (32, 64, 128, 256, 512)),
        *("local_stride", "barriers", "local_atomic", "global_atomic"),
    )
)


def _chains(
    kernel: Program,
    items: int,
    a_unit: int,
    seeds: Memory,
    operands: Memory,
    sums: Memory,
    iterations: np.uint32,
    run: np.uint32 | None = None,
) -> float:
    """fp32 multiply-adds by the state after even and odd numbers of steps; others stay unknown."""
    lanes, chains = sums.content.shape[-1], 1
    steps: int = kernel.defines["STEPS"]
    if "_chains_" in kernel.name:
        chains = int(kernel.name.rpartition("_")[2])
    elif kernel.name.endswith("_throughput"):
        chains = kernel.defines["CHAINS"]
    elif kernel.name.endswith("_latency"):
        steps = kernel.defines["LATENCY_STEPS"]
    assert kernel.name.startswith("fp32_multiply_add")
    assert int(iterations) * steps % 2 == 0  # twice 3 - x is x
    x = seeds.content
    both = x + np.roll(x, -1)
    which = (np.arange(items)[:, np.newaxis] + np.arange(chains)) % len(x)
    sums.content[:] = both[which].sum(axis=1)[:, np.newaxis]
    branches = 2 if run is not None and run < WARP else 1
    clocks = max(a_unit * lanes * chains / LANES_A_CLOCK, LATENCY_CLOCKS)
    return float(branches * clocks * steps * int(iterations))


def _swap(
    items: int,
    a_unit: int,
    sums: Memory,
    tile: object,
    step: np.uint32,
    iterations: np.uint32,
) -> float:
    """Simulates the swaps one after another, as many as are left after whole periods of 60."""
    places = 6 * np.arange(items)[:, np.newaxis] + np.arange(6)
    for _ in range(int(iterations) % 60):
        for j, k in ((0, 1), (2, 3), (4, 5), (1, 2), (3, 4)):
            places[:, [j, k]] = places[:, [k, j]]
    sums.content[:] = (places @ np.arange(1, 7))[:, np.newaxis]
    item_bytes = 4 * sums.content.shape[-1]
    return float(20 * int(iterations) * a_unit * item_bytes / LOCAL_BYTES_A_CLOCK)


def _stride(
    kernel: Program,
    items: int,
    group: int,
    a_unit: int,
    sums: Memory,
    tile: object,
    stride: np.uint32,
    iterations: np.uint32,
) -> float:
    """Adds the words up in read order; work-items that share a bank wait for each other."""
    words = kernel.defines["WORDS"]
    whole, rest = divmod(8 * int(iterations), words)
    starts = np.arange(group) * int(stride)
    path = (starts[:, np.newaxis] + np.arange(rest)) % words
    begin = whole * (words * (words - 1) // 2)
    own = (begin + path.sum(axis=1)) % (1 << 32)
    sums.content[:] = np.tile(own, items // group).astype(np.uint32).reshape(sums.content.shape)
    passes = math.gcd(int(stride), BANKS)
    return 8 * int(iterations) * a_unit * 4 / LOCAL_BYTES_A_CLOCK * passes


def _atomic(
    name: str,
    items: int,
    group: int,
    a_unit: int,
    words: Memory,
    launches: Memory,
    values: Memory,
    spread: np.uint32,
    iterations: np.uint32,
    *tile: object,
) -> float:
    added = np.tile(values.content, items // group) * iterations
    if name == "local_atomic":
        launches.content[0] = 1
        own = added if spread else np.repeat(added.reshape(-1, group).sum(axis=1), group)
        words.content[:] = own
    else:
        launches.content[0] += 1
        np.add.at(words.content, np.arange(items) * int(spread), added)
    at_once = items if name == "global_atomic" else a_unit
    clocks = ATOMIC_CLOCKS if spread else CONTENDED_CLOCKS
    return float(int(iterations) * at_once * clocks)


def _barrier(group: int, values: Memory, tiles: object, iterations: np.uint32) -> float:
    values.content[:] = np.roll(np.arange(group), -(int(iterations) % group))
    return int(iterations) * (BARRIER_CLOCKS + BARRIER_CLOCKS_A_WARP * math.ceil(group / WARP))
