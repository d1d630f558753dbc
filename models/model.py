"""What a performance model is: a pure function of a profile, a device and options."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from kernelcast.errors import KernelcastError
from kernelcast.models.estimate import Estimate
from kernelcast.simcore.device import Device
from kernelcast.simcore.profile import KernelProfile, LaunchValidity, WorkType

__all__ = ["Model", "ModelOptions", "dominant_work_type", "launch_validity"]

_MIN_THREADS = 64
_MIN_THREAD_BLOCKS = 90
_MIN_LAUNCH_S = 0.5e-3


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """`work_type` overrides the rule that finds the useful operations.

    `utilization` is E_util of the Konstantinidis thesis, eq 5.13: a factor on the time, measured
    over predicted on a reference device.
    """

    work_type: WorkType | None = None
    utilization: float | None = None

    def __post_init__(self) -> None:
        factor = self.utilization
        if factor is not None and not (math.isfinite(factor) and factor > 0):
            raise KernelcastError(f"the utilization factor must be positive, got {factor}")


class Model(Protocol):
    """Raises ModelNotApplicable, in one line, where it has nothing to say."""

    def __call__(
        self, profile: KernelProfile, device: Device, options: ModelOptions, /
    ) -> Estimate: ...


def dominant_work_type(profile: KernelProfile) -> WorkType:
    """K_type by the rule of the Konstantinidis thesis, section 4.2.2: the widest type present."""
    if profile.instructions.fp64 > 0:
        return WorkType.FP64
    if profile.instructions.fp32 > 0:
        return WorkType.FP32
    return WorkType.INT


def launch_validity(profile: KernelProfile, time_s: float) -> LaunchValidity:
    """The conditions under which the thesis compares (sections 5.1.4 and 5.2.6).

    `time_s` covers all of the profile's launches.
    """
    time_enough = time_s / profile.repeats >= _MIN_LAUNCH_S
    if profile.launch is None:
        return LaunchValidity(None, None, time_enough)
    return LaunchValidity(
        threads_enough=profile.launch.threads_per_thread_block >= _MIN_THREADS,
        thread_blocks_enough=profile.launch.thread_blocks >= _MIN_THREAD_BLOCKS,
        time_enough=time_enough,
    )
