"""Kernels of random instructions, each made of its number, for the timing simulator."""

from __future__ import annotations

import random

from micro_kernel import Step, micro_kernel

from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel

DEVICES = {
    name: load_device(name) for name in ("v100-pcie", "gtx-480", "tesla-k20c", "mi210", "a100-80gb")
}
_UNITS = (
    *(Pipeline.FP32, Pipeline.FP32, Pipeline.INTEGER, Pipeline.SPECIAL_FUNCTION),
    *(Pipeline.FP64, Pipeline.CONVERSION, Pipeline.INTEGER_MULTIPLY),
)
_OTHERS = (Pipeline.GLOBAL, Pipeline.SHARED, Pipeline.BARRIER, Pipeline.BRANCH)
_OFTEN = (45, 7, 8, 5)


def random_kernel(seed: int, waves: tuple[int, int]) -> tuple[str, TimedKernel]:
    """A device's name and a kernel of up to twelve instructions.

    It has up to 32 warps of an SM, and fills all SMs so many times.
    """
    chance = random.Random(seed)
    code = [_step(chance) for _ in range(chance.randint(1, 12))]
    if not any(step.pipeline is Pipeline.GLOBAL for step in code):
        code.append(Step(Pipeline.GLOBAL, (0,), (1,), l2_hits=0.5))
    warps = chance.choice([1, 1, 2, 4, 8])
    per_sm = chance.randint(1, 32 // warps)
    trips = chance.choice([1, 2, 5, 10, 20, 40])
    name = chance.choice(list(DEVICES))
    device = DEVICES[name].architecture
    blocks = per_sm * chance.randint(*waves) + chance.randrange(per_sm)
    return name, micro_kernel(
        code, trips, warps, device.sm_count * blocks, per_sm, device.warp_width
    )


def _step(chance: random.Random) -> Step:
    unit = chance.choice(_UNITS)
    (pipeline,) = chance.choices((*_OTHERS, unit), (*_OFTEN, 100 - sum(_OFTEN)))
    is_access = pipeline in (Pipeline.GLOBAL, Pipeline.SHARED)
    has_result = pipeline not in (Pipeline.BARRIER, Pipeline.BRANCH) and chance.random() < 0.8
    return Step(
        pipeline,
        tuple(chance.randrange(6) for _ in range(chance.randint(0, 2))),
        (chance.randrange(6),) if has_result else (),
        passes=chance.choice([1.0, 1.0, 2.0, 4.0]) if is_access else 1.0,
        sectors=chance.choice([1.0, 4.0, 4.0, 4.0, 8.0, 17.3, 32.0]),
        l1_hits=_share(chance),
        l2_hits=_share(chance),
        bytes_per_lane=chance.choice([4.0, 4.0, 8.0, 16.0]),
    )


def _share(chance: random.Random) -> float:
    return chance.choice([0.0, 1.0, 0.3, chance.random(), chance.random(), chance.random() ** 3])
