"""How many warp instructions a second the timing simulator walks on one core.

`python benchmarks/sm_timing.py` prints the best of several runs of each kernel, all of whose thread
blocks are walked; core time, so that other processes count little.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from micro_kernel import Step, micro_kernel, scheduled
from targets import Target, target_table
from timing import geometric_mean, table

from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.simcore.timing.launch.launch_timing import launch_timing

DEVICE = "a100-80gb"
_TARGET = 60.0
"""Millions of warp instructions a second."""
_SMS = 108
_HOLDING = (Pipeline.SHARED, Pipeline.GLOBAL)
_HELD = (1, 20, 21)
"""Registers that accesses of the bodies write."""


def _fused(count: int, first: int = 2) -> list[Step]:
    return [Step(Pipeline.FP32, (1, i), (i,)) for i in range(first, first + count)]


_BRANCH = [Step(Pipeline.INTEGER, (0,), (0,)), Step(Pipeline.BRANCH, (0,))]
BODIES: Mapping[str, list[Step]] = {
    "dependent multiply-adds": [Step(Pipeline.FP32, (0,), (0,))],
    "independent multiply-adds": _fused(16),
    "tile of a matrix product": [
        *[Step(Pipeline.SHARED, (0,), (i,)) for i in (1, 20)],
        *_fused(16),
        *_BRANCH,
    ],
    "stencil": [
        *[Step(Pipeline.GLOBAL, (0,), (i,), l1_hits=0.8, l2_hits=0.5) for i in (1, 20, 21)],
        *_fused(8),
        Step(Pipeline.GLOBAL, (0, 2)),
        *_BRANCH,
    ],
    "barriers": [*_fused(8), Step(Pipeline.SHARED, (0,), (1,)), Step(Pipeline.BARRIER)],
}


def kernel(name: str, trips: int) -> TimedKernel:
    """64 warps on each SM, two turns of them."""
    return micro_kernel(BODIES[name], trips, 8, thread_blocks=16 * _SMS, thread_blocks_per_sm=8)


def machine_code(name: str, trips: int) -> TimedKernel:
    """The body of a name with control bits: scoreboards of accesses, stalls of two."""
    body = [
        replace(
            step,
            reads=tuple(number % 3 for number in step.reads if number in _HELD),
            writes=tuple(number % 3 for number in step.writes if step.pipeline in _HOLDING),
        )
        for step in BODIES[name]
    ]
    made = micro_kernel(body, trips, 8, thread_blocks=16 * _SMS, thread_blocks_per_sm=8)
    stalls = [1 if step.pipeline in _HOLDING else 2 for step in body]
    banks = [(1, 1) if step.pipeline is Pipeline.FP32 else (0, 0) for step in body]
    return scheduled(made, stalls, banks=banks)


def rate(timed: TimedKernel, repeats: int) -> float:
    """Warp instructions a second of core time, the best run after one warm-up."""
    device, best = load_device(DEVICE), 0.0
    for turn in range(repeats + 1):
        before = time.process_time()
        timing = launch_timing(timed, device, is_exact=True)
        taken = time.process_time() - before
        if turn:
            best = max(best, timing.simulated_instructions / taken)
    return best


def walk_targets(repeats: int) -> list[Target]:
    """The geometric means of all micro-kernels, which it prints, beside what they should be."""
    return [_timed("source", kernel, repeats), _timed("machine code", machine_code, repeats)]


def main() -> int:
    """Prints the speed of all micro-kernels; exit status 1 where their mean is too low."""
    parser = argparse.ArgumentParser(description="Times the timing simulator.")
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    goals = walk_targets(3 if parser.parse_args().quick else 10)
    sys.stdout.write(target_table(goals) + "\n")
    return 0 if all(goal.is_met for goal in goals) else 1


def _timed(code: str, make: Callable[[str, int], TimedKernel], repeats: int) -> Target:
    """The geometric mean of all bodies, after a table of each."""
    rates = {name: rate(make(name, 20000 // len(BODIES[name])), repeats) for name in BODIES}
    rows = [(f"{name}, {code}", f"{value / 1e6:.1f}") for name, value in rates.items()]
    sys.stdout.write(table(("kernel", "M warp instructions/s"), rows) + "\n\n")
    mean = geometric_mean(list(rates.values())) / 1e6
    return Target(f"cycles of an SM, {code}, geometric mean", mean, _TARGET, "M/s", at_least=True)


if __name__ == "__main__":
    sys.exit(main())
