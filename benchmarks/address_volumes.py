"""How fast configurations are ranked from addresses, beside the targets.

`python benchmarks/address_volumes.py` prints the median time of a core that one configuration takes
on one device, over the 56 shapes of thread blocks of 1024 threads and the 49 of 512 (Ernst et al.
2022, equation 6: z at most 64): of kernels given as addresses, and of their twins in PTX after the
first shape. Then what 2,000 configurations on four devices take of two cores. `--quick`: every
eighth shape and a tenth of the configurations.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from pathlib import Path

from targets import Target, target_table
from timing import THREADS, use_two_threads

from kernelcast.address.extraction import address_kernel
from kernelcast.ranking.addresses import AddressedKernel, AddressedWorkload
from kernelcast.ranking.ranking import Prediction
from kernelcast.ranking.sweep import RankedKernel, rank_configurations
from kernelcast.ranking.variations import (
    Configuration,
    ShapeLimits,
    configurations,
    read_foldings,
    read_shapes,
)
from kernelcast.simcore.device.file import load_device
from kernelcast.validation import warpspeed_twins
from kernelcast.validation.warpspeed_twins import PAPER_DOMAIN, Folding, Twin
from kernelcast.workload.file import load_workload

__all__ = ["ranking_targets"]

DEVICES = ("a100-40gb", "v100-pcie", "mi210", "h100-sxm")
_WORKLOADS = Path(__file__).parents[1] / "validation" / "workloads" / "warpspeed"
_MOST_S = 0.025
"""The most core seconds per configuration and device."""
_SWEEP, _MOST_SWEEP_S = 2000, 120.0
_FOLDINGS = "none,2y,2z"


def ranking_targets(quick: bool = False) -> list[Target]:
    """Measured core seconds of ranking one configuration, beside their limits."""
    step = 8 if quick else 1
    found = []
    for twin in Twin:
        for kernel, form in ((_addressed(twin), "addresses"), (_in_ptx(twin), "PTX")):
            found += [
                Target(
                    f"ranking, a shape of {twin.value} from {form}, {device}",
                    _median_seconds(kernel, device, step),
                    _MOST_S,
                    "s",
                )
                for device in DEVICES
            ]
    count = _SWEEP // 10 if quick else _SWEEP
    taken = _sweep_seconds(count)
    what = f"ranking, {count:,} configurations x {len(DEVICES)} devices, {THREADS} cores"
    return [*found, Target(what, taken, _MOST_SWEEP_S * count / _SWEEP, "s")]


def _addressed(twin: Twin) -> AddressedKernel:
    return AddressedKernel(warpspeed_twins.Configuration(twin, (16, 4, 8)).address_kernel())


def _in_ptx(twin: Twin) -> RankedKernel:
    workload = load_workload(_WORKLOADS / f"{twin.value}.toml")
    size = tuple(workload.sizes)[-1]
    registers = twin.registers(Folding.NONE)
    return AddressedWorkload(address_kernel(workload, size), workload, size, registers)


def _median_seconds(kernel: RankedKernel, device_name: str, step: int) -> float:
    """The median core seconds of one shape; a first one is not counted."""
    device, limits = load_device(device_name), ShapeLimits(kernel.cells)
    shapes = [*read_shapes("product=1024", limits), *read_shapes("product=512", limits)][::step]
    spent = []
    for shape in (shapes[-1], *shapes):
        before = time.process_time()
        (outcome,) = kernel.outcomes(Configuration(shape), [device])
        if isinstance(outcome, Prediction):
            spent.append(time.process_time() - before)
    return statistics.median(spent[1:])


def _sweep_seconds(count: int) -> float:
    """Core seconds of a sweep on two cores that have nothing else to do.

    The time of all processes by their number. For shapes among all legal ones and the foldings of
    the paper.
    """
    limits = ShapeLimits(PAPER_DOMAIN)
    every = configurations(read_shapes("all", limits), read_foldings(_FOLDINGS))
    devices = [load_device(name) for name in DEVICES]
    before = _core_seconds()
    rank_configurations(
        _addressed(Twin.STENCIL), every[:: len(every) // count][:count], devices, processes=THREADS
    )
    return (_core_seconds() - before) / THREADS


def _core_seconds() -> float:
    """Core seconds of this process and of those that it has waited for."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def main() -> int:
    """Prints the targets; exit status 1 where one is missed."""
    use_two_threads()
    targets = ranking_targets("--quick" in sys.argv)
    sys.stdout.write(f"{target_table(targets)}\n")
    return int(any(target.is_met is False for target in targets))


if __name__ == "__main__":
    sys.exit(main())
