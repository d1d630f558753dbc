"""Extracted address expressions against the addresses of the recorded trace of the same launch."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.simcore.address.extraction.extraction import (
    ExtractedAccess,
    ExtractedAddresses,
    extract_addresses,
)
from kernelcast.simcore.address.extraction.values import AllOf, AnyOf, Comparison, Relation
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.launch_memory import LaunchMemory
from kernelcast.traces.trace import Trace

ROOT = Path(__file__).parents[4]
WORKLOADS = ROOT / "validation" / "workloads"
THREADS = 60
AXES = "xyz"

REGULAR = {
    # every access of these is affine, wherever the domain ends
    "../../examples/saxpy/saxpy.toml": {},
    "memory/copy.toml": {},
    "memory/misaligned_17.toml": {},
    "stencil/star5_2d.toml": {},
    "stencil/star7_3d.toml": {},
    "stencil/box27_3d.toml": {},
    "warpspeed/star25_fp64.toml": {},
    "warpspeed/star25_fp64_2z.toml": {},
    "warpspeed/interface_tracking.toml": {},
    "gemm/naive.toml": {},
    "gemm/batched.toml": {},
    "luo_suda/matrix.toml": {},
    "luo_suda/linear.toml": {},
    "learning/backprop_adjust.toml": {},
    "physics/streamcluster_gain.toml": {},
    "zhang_owens/cyclic_reduction.toml": {},
    "reduction/dot_fp64.toml": {},
    "transpose/naive.toml": {"rows": 128, "columns": 96},
    "transpose/tiled.toml": {"rows": 128, "columns": 96},
    "gemm/tiled.toml": {"m": 64, "n": 96, "k": 128},
}


@pytest.mark.drawn(10)
@pytest.mark.parametrize("file", REGULAR)
def test_threads_access_what_the_expressions_say(file: str) -> None:
    workload = kc.load_workload(WORKLOADS / file)
    if REGULAR[file]:
        workload = replace(workload, sizes={"small": REGULAR[file]})
    kernel, launch = workload.load_kernel().kernel, workload.make_launch("small")
    extracted = extract_addresses(kernel, launch)
    first = {a.name: a.address for a in LaunchMemory(kernel, launch).globals.allocations}
    trace = workload.run("small", arguments=launch.arguments).data
    compared = 0
    for thread, thread_block in chosen(launch):
        found = Counter(addresses_in_trace(trace, kernel, launch, thread, thread_block))
        wanted = Counter(
            first[item.access.field] + offset
            for item in extracted.accesses
            for offset in offsets(item, extracted, launch, thread, thread_block)
        )
        assert found == wanted, (thread, thread_block)
        compared += sum(found.values())
    assert compared > THREADS


def chosen(launch: Launch) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Random threads of random thread blocks, and those at both ends of the grid."""
    yield (0, 0, 0), (0, 0, 0)
    yield tuple(n - 1 for n in launch.thread_block), tuple(n - 1 for n in launch.grid)
    generator = np.random.default_rng(7)
    for _ in range(THREADS):
        yield (
            tuple(int(generator.integers(n)) for n in launch.thread_block),
            tuple(int(generator.integers(n)) for n in launch.grid),
        )


def addresses_in_trace(
    trace: Trace,
    kernel: Kernel,
    launch: Launch,
    thread: tuple[int, ...],
    thread_block: tuple[int, ...],
) -> Iterator[int]:
    """Addresses of all accesses of a thread to global memory."""
    spaces = {row.pc for row in trace.instructions if row.space in ("global", "generic")}
    x, y, _ = launch.thread_block
    number = thread[0] + x * (thread[1] + y * thread[2])
    gx, gy, _ = launch.grid
    block = thread_block[0] + gx * (thread_block[1] + gy * thread_block[2])
    warp = block * trace.warps_per_thread_block + number // trace.warp_width
    lane = number % trace.warp_width
    table, patterns = trace.accesses, trace.patterns
    for row in np.flatnonzero(table.warp == warp):
        pattern = table.pattern[row]
        if int(patterns.mask[pattern]) >> lane & 1 and int(table.pc[row]) in spaces:
            yield int(table.address[row] + patterns.offsets[pattern, lane])


def offsets(
    item: ExtractedAccess,
    extracted: ExtractedAddresses,
    launch: Launch,
    thread: tuple[int, ...],
    thread_block: tuple[int, ...],
) -> Iterator[int]:
    """Offsets of an access of one thread, in bytes, in all trips in which it is made."""
    cells = [c * n + t for c, n, t in zip(thread_block, launch.thread_block, thread, strict=True)]
    box = item.guard.box
    if not all(low <= c < high for low, c, high in zip(box.low, cells, box.high, strict=True)):
        return
    values = dict(extracted.parameters)
    for axis, t, c, n, g in zip(
        AXES, thread, thread_block, launch.thread_block, launch.grid, strict=True
    ):
        values |= {f"tid.{axis}": t, f"ctaid.{axis}": c, f"ntid.{axis}": n, f"nctaid.{axis}": g}
        values[axis] = c * n + t
    trips = {loop.name: loop.trips for loop in extracted.loops}
    for point in itertools.product(*(range(trips[name]) for name in item.access.loops)):
        here = values | dict(zip(item.access.loops, point, strict=True))
        if all(holds(condition, here) for condition in item.guard.others):
            offset = item.access.offset.substitute(here).as_constant
            assert offset is not None
            yield offset


def holds(condition: object, values: Mapping[str, int]) -> bool:
    match condition:
        case Comparison(expression, relation):
            value = expression.substitute(values).as_constant
            assert value is not None, expression
            is_zero = {Relation.EQUAL: value == 0, Relation.UNEQUAL: value != 0}
            return is_zero.get(relation, value < 0)
        case AllOf(parts):
            return all(holds(part, values) for part in parts)
        case AnyOf(parts):
            return any(holds(part, values) for part in parts)
    raise AssertionError(condition)
