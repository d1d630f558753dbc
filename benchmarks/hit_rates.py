"""Fits the hit rates of [warpspeed]: volumes of the memory simulator against estimated ones.

    python benchmarks/hit_rates.py [random|lru]

A star stencil of range 4 on a small device, an A100 with 12 SMs and their share of L2, over domain
sizes and shapes of thread blocks. The hit rate of an overlap is what the simulated volume lacks of
the sum of all estimated parts (Ernst et al. 2022, section 5.6); it weighs as much as the bytes of
which it is a share.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from kernelcast.simcore.address.access_stream import access_batches, instruction_rows
from kernelcast.simcore.address.hit_rate_fit import HitRatePoint, fit_hit_rate
from kernelcast.simcore.address.kernel import AddressKernel, Field
from kernelcast.simcore.address.volumes import Volumes, volumes
from kernelcast.simcore.device import Device
from kernelcast.simcore.device_file import load_device
from kernelcast.simcore.memory.stream import TrafficSimulator
from kernelcast.simcore.warpspeed_facts import HitRateFacts

SMS, L2_BYTES = 12, 2359296
RADIUS = 4
LAYERS = [
    (extent, extent, block, folding)
    for extent in (96, 128, 160, 192, 224, 256)
    for block, folding in (
        ((32, 32, 1), (1, 1, 1)),
        ((32, 16, 2), (1, 1, 1)),
        ((32, 8, 4), (1, 1, 1)),
        ((16, 8, 8), (1, 1, 1)),
        ((32, 8, 4), (1, 2, 1)),
        ((32, 16, 1), (1, 1, 2)),
    )
    if not extent % (block[1] * folding[1])
]
WHOLE_SMS, WHOLE_L2_BYTES = 108, 20971520
PLANES = [
    ((extent, extent, (32, 32, 1), (1, 1, 1)), WHOLE_L2_BYTES) for extent in (448, 512, 544, 576)
]
"""On the whole device: with few sets and SMs the z layer is lost less sharply."""
ROWS = [
    (640, 96, (16, 2, 32), (1, 1, 1)),
    (1280, 64, (16, 2, 32), (1, 1, 1)),
    (2560, 48, (16, 2, 32), (1, 1, 1)),
    (1280, 64, (8, 4, 32), (1, 1, 1)),
    (2560, 64, (32, 2, 16), (1, 1, 1)),
    (5120, 64, (32, 2, 16), (1, 1, 1)),
    (320, 128, (8, 8, 16), (1, 1, 1)),
]
NARROW = [
    (128, 128, block, folding)
    for block, folding in (
        ((1, 32, 32), (1, 1, 1)),
        ((2, 16, 32), (1, 1, 1)),
        ((1, 128, 8), (1, 1, 1)),
        ((2, 128, 4), (1, 1, 1)),
        ((4, 8, 32), (1, 1, 1)),
        ((4, 8, 32), (1, 2, 1)),
    )
]
CASES = [
    *PLANES,
    *((case, L2_BYTES) for case in (*LAYERS, *ROWS, *NARROW)),
    *((case, L2_BYTES >> shift) for case in NARROW[:4] for shift in (1, 2, 3)),
]


def star(nx: int, ny: int, nz: int) -> AddressKernel:
    shape = (nx + 2 * RADIUS, ny + 2 * RADIUS, nz + 2 * RADIUS)
    points = {(0, 0, 0)} | {
        tuple(sign * far * (axis == at) for at in range(3))
        for axis in range(3)
        for far in range(1, RADIUS + 1)
        for sign in (-1, 1)
    }
    loads = [
        ("src", tuple(f"{name} + {RADIUS + step}" for name, step in zip("xyz", point, strict=True)))
        for point in sorted(points)
    ]
    store = ("dst", tuple(f"{name} + {RADIUS}" for name in "xyz"))
    fields = (Field("src", 8, shape), Field("dst", 8, shape))
    return AddressKernel(fields, loads, [store], (nx, ny, nz), (32, 4, 8), registers=32)


def small_device(policy: str, l2_bytes: int) -> Device:
    whole = load_device("a100-40gb")
    sms = WHOLE_SMS if l2_bytes == WHOLE_L2_BYTES else SMS
    assert whole.warpspeed is not None
    return replace(
        whole,
        architecture=replace(whole.architecture, sm_count=sms),
        l2=replace(whole.l2, capacity_bytes=l2_bytes, replacement=policy, index="hashed"),
        warpspeed=replace(whole.warpspeed, l2_effective_bytes=l2_bytes),
    )


def simulated(kernel: AddressKernel, device: Device, estimated: Volumes) -> dict[str, float]:
    """Bytes a cell of the second half of the grid, when caches are warm."""
    total = kernel.grid[0] * kernel.grid[1] * kernel.grid[2]
    half = total // 2
    simulator = TrafficSimulator(
        instruction_rows(kernel),
        device.architecture.warp_width,
        -(-kernel.threads_per_thread_block // device.architecture.warp_width),
        device,
        estimated.thread_blocks_per_sm,
    )
    counts = []
    for first, end in ((0, half), (half, total)):
        for batch in access_batches(kernel, device.architecture.warp_width, first, end):
            simulator.accept(batch)
        found = simulator.traffic_so_far()
        counts.append(
            {
                "dram_load": 32.0 * found.dram_read_transactions,
                "dram_store": 32.0 * found.dram_write_transactions,
                "l2_load": 32.0 * float(found.by_instruction.l2_reads.sum()),
            }
        )
    cells = kernel.cells / total * (total - half)
    return {name: (counts[1][name] - counts[0][name]) / cells for name in counts[0]}


def points(policy: str) -> Iterator[tuple[str, HitRatePoint]]:
    for (nx, ny, block, folding), l2_bytes in CASES:
        device = small_device(policy, l2_bytes)
        deep = block[2] * folding[2]
        depth = 2 * deep * max(1, -(-12 // deep))
        kernel = star(nx, ny, depth).with_block(*block).with_folding(*folding)
        estimated = volumes(kernel, device)
        found = simulated(kernel, device, estimated)
        part = estimated.per_work
        l1 = part("l1_requested_bytes") - part("l2_load_compulsory_bytes")
        missed = found["l2_load"] - part("l2_load_compulsory_bytes")
        yield "l1", HitRatePoint(estimated.l1_oversubscription, 1 - missed / l1, l1)
        rest = found["dram_load"] - part("dram_compulsory_bytes")
        in_y, in_z = part("y_layer_overlap_bytes"), part("z_layer_overlap_bytes")
        if l2_bytes == WHOLE_L2_BYTES:
            yield "z", HitRatePoint(estimated.z_layer_oversubscription, 1 - rest / in_z, in_z)
        if l2_bytes == L2_BYTES and estimated.z_layer_oversubscription > 3 and in_y > 1:
            rate = 1 - (rest - in_z) / in_y
            yield "y", HitRatePoint(estimated.y_layer_oversubscription, rate, in_y)
        again = part("l2_store_bytes") - 8.0
        if again > 1:
            lost = found["dram_store"] - 8.0
            yield "store", HitRatePoint(estimated.wave_oversubscription, 1 - lost / again, again)


def main() -> None:
    policy = sys.argv[1] if len(sys.argv) > 1 else "random"
    by_name: dict[str, list[HitRatePoint]] = defaultdict(list)
    for name, point in points(policy):
        by_name[name].append(point)
        row = f"{name:6} {point.oversubscription:7.3f} {point.hit_rate:7.3f}"
        sys.stdout.write(row + "\n")
    for name, found in by_name.items():
        fit: HitRateFacts = fit_hit_rate(found)
        row = f"{policy} {name} a = {fit.a:.4g}, b = {fit.b:.4g}, steepness = {fit.steepness:.4g}"
        sys.stdout.write(row + "\n")


if __name__ == "__main__":
    main()
