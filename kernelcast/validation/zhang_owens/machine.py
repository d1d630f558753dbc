"""Zhang and Owens, section 4 and Table 2: peaks, throughput over warps, resident thread blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from kernelcast.models.component_throughput.curves import lanes
from kernelcast.models.component_throughput.saturation import fit_saturation
from kernelcast.models.component_throughput.stage_profile import InstructionType
from kernelcast.simcore.device.changed import changed_device
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.occupancy import occupancy
from kernelcast.simcore.profile.profile import LaunchShape, Occupancy, OccupancyLimiter
from kernelcast.traces.trace import ResourceNeeds
from kernelcast.validation.paper_figures import PaperFigure, Subject
from kernelcast.validation.zhang_owens.case_studies import (
    ZHANG_OWENS,
    paper_gpu,
    printed_numbers,
    printed_table,
)

__all__ = ["machine_figures", "peaks", "table_2_occupancy", "throughputs_at_16_warps"]

_PRINTED_CLOCK_HZ = 1.48e9
"""The paper rounds the GPU's 1.476 GHz, and its peaks follow from that."""
_GIGA = 1e9
_LARGEST, _BY_REGISTERS_OF_LARGEST = "32x32", 4
_MANY = 10_000
"""Thread blocks: more than all SMs hold."""
_FITTED = (6.0, 32.0)
_PEAKS = {
    "peak_mad_instr": ("type II instructions", "Ginstr/s", 0.05),
    "peak_gflops": ("multiply-adds", "GFLOPS", 0.05),
    "peak_shared_bw": ("shared memory", "GB/s", 1.0),
}
"""Peaks by the paper's name: what each is, its unit, and the allowed difference.

That is half a unit of the last digit (one for 1420, which is cut off from 1420.8).
"""


def machine_figures() -> Iterator[PaperFigure]:
    """Executes nothing."""
    yield from _peak_figures()
    yield from _occupancy_figures()
    printed = printed_numbers()
    subject = Subject(ZHANG_OWENS, "throughput at 16 warps", "5.1")
    for name, found in throughputs_at_16_warps(printed).items():
        what, unit = _CURVES[name]
        figure = f"{what}, fitted to 6 and 32 warps"
        yield subject.near(figure, printed[f"{name}_16"], found, percent=2, unit=unit)


def peaks(device: Device) -> dict[str, float]:
    """Section 4's formulas in the paper's units, by the paper's names."""
    sms, clock = device.architecture.sm_count, device.architecture.clock_hz
    width = device.architecture.warp_width
    threads_per_s = lanes(device, InstructionType.II) * clock * sms
    return {
        "peak_mad_instr": threads_per_s / width / _GIGA,
        "peak_gflops": threads_per_s * 2 / _GIGA,
        "peak_shared_bw": threads_per_s * device.shared.bank_bytes / _GIGA,
        "peak_global_bw": device.dram.bandwidth_bytes_per_s / _GIGA,
    }


def table_2_occupancy(row: Mapping[str, str], device: Device) -> Occupancy:
    """The occupancy with the registers and shared memory of a row of Table 2."""
    needs = ResourceNeeds(int(row["registers_per_thread"]), int(row["smem_bytes"]))
    threads = int(row["warps_per_block"]) * device.architecture.warp_width
    return occupancy(needs, LaunchShape((_MANY, 1, 1), (threads, 1, 1)), device)


def throughputs_at_16_warps(printed: Mapping[str, float]) -> dict[str, float]:
    """Read off curves through the printed points at 6 and 32 warps."""
    found = {}
    for name in _CURVES:
        points = np.array([printed[f"{name}_{warps:g}"] for warps in _FITTED])
        found[name] = fit_saturation(np.array(_FITTED), points).at(16.0)
    return found


_CURVES = {"instr_throughput": ("instructions", "Ginstr/s"), "shared_bw": ("shared memory", "GB/s")}


def _peak_figures() -> Iterator[PaperFigure]:
    printed = printed_numbers()
    subject = Subject(ZHANG_OWENS, "peaks at 1.48 GHz", "4.1 to 4.3")
    found = peaks(changed_device(paper_gpu(), {"architecture.clock_hz": _PRINTED_CLOCK_HZ}))
    for name, (figure, unit, points) in _PEAKS.items():
        yield subject.near(figure, printed[name], found[name], points=points, unit=unit)
    # 2.484 GHz x 512 bit / 8 is 158.98: the paper rounds it to tens
    name = "peak_global_bw"
    yield subject.near("global memory", printed[name], found[name], percent=1, unit="GB/s")


def _occupancy_figures() -> Iterator[PaperFigure]:
    """Figures of occupancy; thread blocks as the GPU gives them shared memory.

    The paper divides shared memory by what a thread block asks for; the GPU gives it out in units
    of 512 bytes.
    """
    device = paper_gpu()
    by_words = changed_device(device, {"sm.shared_allocation_bytes": device.shared.bank_bytes})
    for row in printed_table("table_2_matmul_occupancy"):
        side = row["sub_matrix"]
        subject = Subject(ZHANG_OWENS, f"occupancy of {side}", "Table 2")
        as_printed, found = table_2_occupancy(row, by_words), table_2_occupancy(row, device)
        limits = dict(as_printed.limits)
        figure, printed = "thread blocks by registers", int(row["blocks_by_register"])
        if side == _LARGEST:
            # 16384 / (58 x 64) is 4.4, and the paper's own rule rounds down
            figure, printed = f"{figure} (misprinted as {printed})", _BY_REGISTERS_OF_LARGEST
        yield subject.same(figure, printed, limits[OccupancyLimiter.REGISTERS])
        for figure, column, ours in (
            ("thread blocks by shared memory", "blocks_by_smem", OccupancyLimiter.SHARED_MEMORY),
            ("most thread blocks", "max_blocks", OccupancyLimiter.THREAD_BLOCKS),
        ):
            yield subject.same(figure, int(row[column]), limits[ours])
        for figure, column, count in (
            ("resident thread blocks", "blocks", found.thread_blocks_per_sm),
            ("active warps", "active_warps", found.warps_per_sm),
        ):
            yield subject.same(figure, int(row[column]), count)
