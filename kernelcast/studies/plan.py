"""The plan of a sweep: what is run and varied, and the points that follow, in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from kernelcast.errors import InputError
from kernelcast.execution.sampling import Sampling
from kernelcast.models import check_options, get_model, model_options
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.studies.values import Scalar, Space

__all__ = ["CAPTURED", "Plan", "SweptDevice", "SweptKernel", "What"]

CAPTURED = "captured"
"""What rows of captured programs have in place of a model: the time line of all launches."""


class What(Enum):
    """What a swept kernel is: a workload file, a function of Python, a recording of a program."""

    WORKLOAD = "workload"
    PYTHON = "python"
    PROGRAM = "program"


@dataclass(frozen=True)
class SweptKernel:
    """A kernel, or a program, and its launches.

    `source`: a workload file, `file.py:function`, or a recording, `what` says which. A function
    gets RunOptions and the varied values by name, executes a launch and returns its KernelTrace:
    kernels of Triton, numba and pystencils come in that way. `launches` of a workload vary `block`,
    `registers`, `size`, its sizes and preprocessor defines.
    """

    name: str
    source: str
    what: What = What.WORKLOAD
    size: str | None = None
    launches: Space = field(default_factory=Space)

    def __post_init__(self) -> None:
        if self.what is What.PROGRAM and self.launches.names:
            raise InputError(f"{self.name}: the launches of a captured program cannot be varied")


@dataclass(frozen=True, slots=True)
class SweptDevice:
    """A device and the changes to be made to it; none for the device as it is."""

    base: Device
    changes: Mapping[str, Scalar]


@dataclass(frozen=True)
class Plan:
    """Kernels x launches x devices x changed devices x models.

    `changes` are made to each of the devices, which come first as they are. `code` and `sampling`
    as RunOptions has them. `explained`: `interval` says what the launch would gain without its
    parts, and names that as the bottleneck; else its largest term, in a fraction of the time.
    `ranges`: rows say between which times the time may lie, which takes five walks of an SM, not
    one.
    """

    kernels: Sequence[SweptKernel]
    devices: Sequence[Device | str]
    models: Sequence[str] = ("interval",)
    changes: Space = field(default_factory=Space)
    code: str | None = None
    sampling: Sampling = Sampling.AUTO
    explained: bool = False
    ranges: bool = False

    def __post_init__(self) -> None:
        for what, given in (
            ("kernel", self.kernels),
            ("device", self.devices),
            ("model", self.models),
        ):
            if not given:
                raise InputError(f"a sweep needs at least one {what}")
        names = [kernel.name for kernel in self.kernels]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"two kernels of the sweep are called {name!r}: give each a name")
        for model in self.models:
            get_model(model)

    @cached_property
    def swept_devices(self) -> tuple[SweptDevice, ...]:
        """Each device as it is, then changed."""
        points = list(self.changes.points()) if self.changes.names else []
        return tuple(
            SweptDevice(base, change)
            for base in map(_loaded, self.devices)
            for change in ({}, *points)
        )

    @cached_property
    def launches(self) -> tuple[tuple[SweptKernel, Mapping[str, Scalar]], ...]:
        """Each kernel with the values of each of its launches."""
        return tuple(
            (kernel, values) for kernel in self.kernels for values in kernel.launches.points()
        )

    def models_of(self, kernel: SweptKernel) -> tuple[str, ...]:
        """The models that a kernel has rows of."""
        return (CAPTURED,) if kernel.what is What.PROGRAM else tuple(self.models)

    def own_options(self, model: str) -> dict[str, str]:
        """The options that a model is asked with."""
        wanted = {
            "explained": "yes" if self.explained else "no",
            "ranged": "yes" if self.ranges else "no",
        }
        found = {name: text for name, text in wanted.items() if name in model_options(model)}
        check_options((model,), found)
        return found

    @property
    def points(self) -> int:
        """How many rows there will be."""
        return sum(
            len(self.swept_devices) * len(self.models_of(kernel)) for kernel, _ in self.launches
        )


def _loaded(device: Device | str) -> Device:
    return load_device(device) if isinstance(device, str) else device
