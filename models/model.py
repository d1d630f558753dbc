"""What a performance model is: a pure function of a profile, a device and options."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from kernelcast.errors import KernelcastError, ModelNotApplicable, nearest
from kernelcast.models.estimate import Estimate
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.profile import KernelProfile, LaunchValidity, WorkType

__all__ = ["Model", "ModelOptions", "check_variant", "dominant_work_type", "launch_validity"]

_MIN_THREADS = 64
_MIN_THREAD_BLOCKS = 90
_MIN_LAUNCH_S = 0.5e-3


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """`work_type` overrides the rule that finds the useful operations.

    `utilization` is E_util of the Konstantinidis thesis, eq 5.13: a factor on the time, measured
    over predicted on a reference device. `variant` names another reading of the model's paper, one
    of the model's own `variants`; None is the model's usual reading. `computation_proportion` is P
    of Luo and Suda, 0 to 1, in the place of what the kernel's instructions give.
    """

    work_type: WorkType | None = None
    utilization: float | None = None
    variant: str | None = None
    computation_proportion: float | None = None

    def __post_init__(self) -> None:
        factor = self.utilization
        if factor is not None and not (math.isfinite(factor) and factor > 0):
            raise KernelcastError(f"the utilization factor must be positive, got {factor}")
        share = self.computation_proportion
        if share is not None and not 0 <= share <= 1:
            raise KernelcastError(f"a proportion lies between 0 and 1, got {share}")


class Model(Protocol):
    """Raises ModelNotApplicable, in one line, where it has nothing to say.

    A model may have two attributes besides: `needs_paths`, whether it looks at paths of warps,
    and `variants`, the names of its other readings.
    """

    def __call__(
        self, profile: KernelProfile, device: Device, options: ModelOptions, /
    ) -> Estimate:
        """The estimate of the kernel that the profile is of, on the device."""


def check_variant(name: str, model: Model, variant: str | None) -> None:
    """Raises ModelNotApplicable, with the known names, where the model has no such variant."""
    known: tuple[str, ...] = getattr(model, "variants", ())
    if variant is None or variant in known:
        return
    if not known:
        raise ModelNotApplicable(f"{name} has no variants, so none named {variant!r}")
    raise ModelNotApplicable(
        f"{name} has no variant {variant!r}{nearest(variant, known)}; known are {', '.join(known)}"
    )


def dominant_work_type(profile: KernelProfile) -> WorkType:
    """K_type by the rule of the Konstantinidis thesis, section 4.2.2: the widest type present.

    The thesis knows no tensor units: their operations are the type where they are most of all.
    """
    counts = profile.instructions
    if counts.tensor_total > counts.fp64 + counts.fma64 + counts.fp32 + counts.fma32:
        return WorkType.TENSOR
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
