"""Fits all hit rates of [warpspeed] in one run: simulated volumes against estimated ones.

    python benchmarks/hit_rates.py

prints every point, then the coefficients: of L1 for caches of sectored lines and of whole lines, of
L2 by its replacement policy. `kernelcast validate volumes` looks at none of these thread blocks.
L1: the kernels of Ernst et al. 2022 on the devices themselves. Layers of L2: their star stencil on
an A100 with domains of many sizes; stores: a transposition on a V100 cut to 12 SMs.
A hit rate is what the simulated volume lacks of the sum of all estimated parts (section 5.6).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from access_stream import access_batches, instruction_rows
from hit_rate_fit import HitRatePoint, fit_hit_rate

from kernelcast.models.warpspeed.volumes.bound_kernel import BoundKernel
from kernelcast.models.warpspeed.volumes.l1_reuse import l1_reuse
from kernelcast.models.warpspeed.volumes.thread_blocks import thread_block_classes
from kernelcast.models.warpspeed.volumes.volumes import volumes
from kernelcast.models.warpspeed.warpspeed_facts import WARPSPEED
from kernelcast.simcore.address.kernel import AddressKernel, Field
from kernelcast.simcore.device.changed import changed_device
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.memory.stream import TrafficSimulator
from kernelcast.validation.simulated_volumes import simulated_volumes, uneven
from kernelcast.validation.warpspeed_twins import Configuration, Folding, Twin

STENCIL, TRACKING = Twin.STENCIL, Twin.INTERFACE_TRACKING
L1_DEVICES = {"sectors": ("a100-40gb", "v100-pcie"), "whole lines": ("mi210",)}
L1_CASES = (
    *(
        Configuration(STENCIL, thread_block)
        for thread_block in (
            *((64, 16, 1), (64, 2, 8), (16, 16, 4), (8, 16, 8), (4, 16, 16), (2, 32, 16)),
            *((8, 128, 1), (32, 32, 1), (16, 4, 16), (128, 2, 4), (2, 512, 1)),
        )
    ),
    Configuration(STENCIL, (32, 16, 2), Folding.TWO_Y),
    Configuration(STENCIL, (8, 4, 32), Folding.TWO_Y),
    Configuration(STENCIL, (128, 4, 2), Folding.TWO_Z),
    Configuration(STENCIL, (8, 16, 8), Folding.TWO_Z),
    Configuration(TRACKING, (16, 8, 4)),
    Configuration(TRACKING, (64, 8, 1)),
    Configuration(TRACKING, (4, 16, 8)),
    Configuration(TRACKING, (8, 16, 4), Folding.TWO_Y),
)
PLANES = tuple(
    Configuration(STENCIL, thread_block, domain=(side, side, 512))
    for thread_block in ((64, 16, 1), (32, 16, 2))
    for side in (384, 448, 480, 512, 576)
)
"""Larger than a wave where they fill L2: smaller ones would be lost several times in a wave."""
ROWS = tuple(
    Configuration(STENCIL, (16, 1, 64), domain=(width, 96, 512))
    for width in (1280, 2048, 2560, 3072, 3584, 4096, 4608, 5120, 6144)
)
"""Rows as long as a wave, or not much shorter, where they fill L2."""
TRANSPOSED = tuple((1 << 10) * step for step in (2, 4, 6, 8, 10, 12, 16, 24))
L2_DEVICES = {"layers": "a100-40gb", "stores": "v100-pcie"}
SMS, L2_BYTES = 12, 1 << 20


def l1_points(devices: tuple[str, ...]) -> Iterator[HitRatePoint]:
    """Yields the points of the L1 fit for all devices and cases."""
    for name in devices:
        device = load_device(name)
        for case in L1_CASES:
            yield l1_point(case, device)


def l1_point(case: Configuration, device: Device) -> HitRatePoint:
    """The point of a case in shares of the simulated volume, so that each weighs the same."""
    assert device.l1 is not None
    kernel = case.address_kernel()
    estimated, simulated = volumes(kernel, device), simulated_volumes(case, device).l2_load_bytes
    shape, l1 = thread_block_classes(kernel)[0], device.l1
    again = l1_reuse(BoundKernel(kernel), shape, l1.sector_bytes, l1.line_bytes)
    cells = kernel.threads_per_thread_block * case.folding.cells[1] * case.folding.cells[2]
    parts = again.sectors * device.l1.sector_bytes / cells / simulated
    room = device.l1.capacity_bytes / device.l1.line_bytes
    over = again.lines(estimated.thread_blocks_per_sm) / room
    hits = parts.sum() + estimated.per_work("l2_load_compulsory_bytes") / simulated - 1
    say("L1", case.title, device.name, float(over @ parts / parts.sum()), hits / parts.sum())
    return HitRatePoint(tuple(over.tolist()), tuple(parts.tolist()), float(hits))


def layer_points(policy: str, layer: str) -> Iterator[HitRatePoint]:
    """Yields the points of the planes or rows that waves share with the layer before them."""
    device = changed_device(load_device(L2_DEVICES["layers"]), {"l2.replacement": policy})
    for case in PLANES if layer == "z" else ROWS:
        estimated = volumes(case.address_kernel(), device)
        part = estimated.per_work
        rest = simulated_volumes(case, device).dram_load_bytes - part("dram_compulsory_bytes")
        if layer == "y":
            rest -= part("z_layer_overlap_bytes")
        overlap = part(f"{layer}_layer_overlap_bytes")
        over = getattr(estimated, f"{layer}_layer_oversubscription")
        say(f"{layer} layer", f"{case.title} {case.domain}", policy, over, 1 - rest / overlap)
        yield HitRatePoint.of_rate(over, 1 - rest / overlap, overlap)


def store_points(policy: str) -> Iterator[HitRatePoint]:
    """Sectors of which rows of thread blocks write a part each, one row after the other."""
    whole = changed_device(load_device(L2_DEVICES["stores"]), {"l2.replacement": policy})
    facts = whole.section(WARPSPEED)
    assert facts is not None
    changes = {"architecture.sm_count": SMS, "l2.capacity_bytes": L2_BYTES}
    device = changed_device(whole, changes).with_section(
        WARPSPEED, replace(facts, l2_effective_bytes=L2_BYTES)
    )
    for width in TRANSPOSED:
        kernel = transposition(width)
        estimated = volumes(kernel, device)
        over = estimated.y_layer_oversubscription
        again = estimated.per_work("l2_store_bytes") - 8.0
        rate = 1 - (written_bytes(kernel, device, estimated.thread_blocks_per_sm) - 8.0) / again
        say("stores", f"{width} rows", policy, over, rate)
        yield HitRatePoint.of_rate(over, rate)


def transposition(width: int) -> AddressKernel:
    """A transposition of `width` x 64 doubles; each thread block's row writes a double a sector."""
    fields = (Field("to", 8, (64, width)), Field("from", 8, (width, 64)))
    loads, stores = [("from", ("x", "y"))], [("to", ("y", "x"))]
    return AddressKernel(fields, loads, stores, (width, 64), (256, 1), registers=32)


def written_bytes(kernel: AddressKernel, device: Device, thread_blocks_per_sm: int) -> float:
    """Bytes written to DRAM for a cell of the second half of the grid, when L2 is warm."""
    total, width = int(np.prod(kernel.grid)), device.architecture.warp_width
    warps = kernel.threads_per_thread_block // width
    simulator = TrafficSimulator(
        instruction_rows(kernel), width, warps, device, thread_blocks_per_sm
    )
    counts = []
    for first, end in ((0, total // 2), (total // 2, total)):
        for batch in access_batches(kernel, width, first, end):
            simulator.accept(replace(batch, warp_time=uneven(batch)))
        counts.append(simulator.traffic_so_far().dram_write_transactions)
    return device.dram.transaction_bytes * (counts[1] - counts[0]) / (kernel.cells / 2)


def say(*row: object) -> None:
    """Prints a row at once."""
    shown = (f"{item:.3f}" if isinstance(item, float) else str(item) for item in row)
    sys.stdout.write("  ".join(shown) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Fits all hit rates and prints them with their points."""
    fits = {
        f"L1 of {lines}": fit_hit_rate(list(l1_points(devices)))
        for lines, devices in L1_DEVICES.items()
    }
    for policy in ("lru", "random"):
        for layer in ("y", "z"):
            points = list(layer_points(policy, layer))
            fits[f"{layer} layer, {policy}"] = fit_hit_rate(points)
        fits[f"stores, {policy}"] = fit_hit_rate(list(store_points(policy)))
    for name, fit in fits.items():
        say(f"{name}: a = {fit.a:.4g}, b = {fit.b:.4g}, steepness = {fit.steepness:.4g}")


if __name__ == "__main__":
    main()
