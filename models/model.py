"""What a performance model is: a pure function of a profile, a device and options."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import update_wrapper
from typing import Any, Protocol, TypeVar

from kernelcast.errors import KernelcastError, ModelNotApplicable, nearest
from kernelcast.models.estimate import Estimate
from kernelcast.models.option import ModelOption
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.section import Section
from kernelcast.simcore.profile.profile import KernelProfile, LaunchValidity, WorkType

__all__ = [
    "DeclaredModel",
    "Model",
    "ModelOptions",
    "Recording",
    "check_variant",
    "declaration",
    "declared",
    "dominant_work_type",
    "launch_validity",
]

Value = TypeVar("Value", bound=int | float | str)

_MIN_THREADS = 64
_MIN_THREAD_BLOCKS = 90
_MIN_LAUNCH_S = 0.5e-3


class Recording(Enum):
    """What an execution must record for a model beside counts and memory accesses."""

    PATHS = "paths of warps"


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """`work_type` overrides the rule that finds the useful operations.

    `utilization` is E_util of the Konstantinidis thesis, eq 5.13: a factor on the time, measured
    over predicted on a reference device. `variant` names another reading of the model's paper, one
    of the model's own `variants`; None is the model's usual reading. `own` has the values of the
    options that the model declares, by name; `value` gives them their types.
    """

    work_type: WorkType | None = None
    utilization: float | None = None
    variant: str | None = None
    own: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        factor = self.utilization
        if factor is not None and not (math.isfinite(factor) and factor > 0):
            raise KernelcastError(f"the utilization factor must be positive, got {factor}")

    def value(self, option: ModelOption[Value]) -> Value | None:
        """None where it is not given; KernelcastError, in one line, for a value that is wrong."""
        given = self.own.get(option.name)
        return None if given is None else option.read(given)


class Model(Protocol):
    """Raises ModelNotApplicable, in one line, where it has nothing to say.

    `declared` says what a model needs and offers besides; a plain function is a model as well.
    """

    def __call__(
        self, profile: KernelProfile, device: Device, options: ModelOptions, /
    ) -> Estimate:
        """Estimates the time of a launch from its profile on a device."""


class DeclaredModel:
    """A model with all that only it knows.

    `needs` is what an execution must record for it, `variants` are the names of its other readings,
    `options` are its own, `sections` those of a device file that it reads.
    """

    def __init__(
        self,
        estimate: Model,
        needs: frozenset[Recording] = frozenset(),
        variants: tuple[str, ...] = (),
        options: tuple[ModelOption[Any], ...] = (),
        sections: tuple[Section[Any], ...] = (),
    ) -> None:
        self._estimate = estimate
        self.needs = needs
        self.variants = variants
        self.options = options
        self.sections = sections
        update_wrapper(self, estimate)

    def __call__(self, profile: KernelProfile, device: Device, options: ModelOptions) -> Estimate:
        """Calls the function that estimates."""
        return self._estimate(profile, device, options)


def declared(
    *,
    needs: Iterable[Recording] = (),
    variants: Iterable[str] = (),
    options: Iterable[ModelOption[Any]] = (),
    sections: Iterable[Section[Any]] = (),
) -> Callable[[Model], DeclaredModel]:
    """Makes a function a model that says so; see `DeclaredModel`."""

    def declare(estimate: Model) -> DeclaredModel:
        return DeclaredModel(
            estimate, frozenset(needs), tuple(variants), tuple(options), tuple(sections)
        )

    return declare


def declaration(model: Model) -> DeclaredModel:
    """What a model declares: nothing, where it is a plain function."""
    return model if isinstance(model, DeclaredModel) else DeclaredModel(model)


def check_variant(name: str, model: Model, variant: str | None) -> None:
    """Raises ModelNotApplicable, with the known names, where the model has no such variant."""
    known = declaration(model).variants
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
