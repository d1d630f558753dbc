"""Launches of a program: executed unless asked otherwise, estimated when they are new.

A launch repeats an earlier one when kernel, sizes and parameter bytes are equal. Repeats are
executed without recording. The second one is estimated again, which shows what warm caches change,
and so are the 16th, 128th, 1024th and so on, which checks the estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kernelcast.api import estimate
from kernelcast.errors import (
    AssertionTriggered,
    ExecutionError,
    KernelcastError,
    LaunchError,
    LimitExceeded,
    MemoryAccessError,
)
from kernelcast.execution.prepared import PreparedLaunch
from kernelcast.models.estimate import Estimate
from kernelcast.program_capture.arena import CallError
from kernelcast.program_capture.code import Function
from kernelcast.program_capture.options import CaptureOptions
from kernelcast.program_capture.protocol import LaunchRequest, Status
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.launch.device_memory import DeviceMemory
from kernelcast.simcore.launch.images import Image, Sampler
from kernelcast.simcore.launch.launch import Argument
from kernelcast.simcore.launch.textures import Surface, Texture
from kernelcast.simcore.memory.contents.cache_contents import CacheContents
from kernelcast.simcore.profile.profile import KernelProfile

__all__ = ["Estimated", "Explained", "Launches", "LongestLaunches", "most_explained"]

_MOST_VARIANTS = 64
"""How many launches of a kernel that differ in parameters alone are all estimated; of those that
follow one of `_ONE_OF` is."""
_ONE_OF = 8
_OBJECT_BYTES = 8
_MOST_SECTIONS = 24
Explained = tuple[Estimate, KernelProfile]
"""An estimate with the profile that it is of."""


@dataclass(frozen=True, slots=True)
class Estimated:
    """What is known of a launch on the devices, in their order.

    `shares`: of the SMs that it takes, at most 1.
    """

    estimates: tuple[Estimate, ...]
    shares: tuple[float, ...]

    @property
    def seconds(self) -> tuple[float, ...]:
        """Time of the launch on each device."""
        return tuple(item.time_s for item in self.estimates)


@dataclass
class _Repeated:
    """A launch that was made: what it costs, and how often it was made."""

    estimated: Estimated
    count: int = 1

    @property
    def is_to_be_checked(self) -> bool:
        """True of the 16th launch, and whenever there were eight times as many."""
        rank = self.count.bit_length() - 1
        return self.count == 1 << rank and rank % 3 == 1


@dataclass
class _Shape:
    """Launches of one kernel with equal sizes.

    `variants`: how many different parameters they had. `latest`: what the last one costs.
    `prepared`: makes them again, whatever their parameters.
    """

    variants: int = 0
    latest: Estimated | None = None
    prepared: PreparedLaunch | None = None


def most_explained(devices: int) -> int:
    """How many kernels a page tells all of, so that it stays below six megabytes."""
    return max(1, _MOST_SECTIONS // devices)


@dataclass
class LongestLaunches:
    """Keeps estimates and profiles of `most` kernels, those that take most of the time so far.

    Of each kernel the launch is kept that takes longest on the first device, of all that were
    estimated. A profile holds what its launch accessed, so that not all of them can be kept.
    """

    most: int = 0
    total_s: dict[str, float] = field(default_factory=dict)
    """Seconds of all launches by kernel, on the first device."""
    kept: dict[str, tuple[Explained, ...]] = field(default_factory=dict)
    """Estimates and profiles by kernel, one for each device."""

    def count(self, kernel: str, seconds: float) -> None:
        """Another launch of the kernel, estimated or not."""
        self.total_s[kernel] = self.total_s.get(kernel, 0.0) + seconds

    def note(
        self, kernel: str, estimates: Sequence[Estimate], profiles: Sequence[KernelProfile]
    ) -> None:
        """A launch that was estimated on the devices."""
        known = self.kept.get(kernel)
        if not self.most or (known is not None and known[0][0].time_s >= estimates[0].time_s):
            return
        self.kept[kernel] = tuple(zip(estimates, profiles, strict=True))
        if len(self.kept) > self.most:
            del self.kept[min(self.kept, key=self._seconds)]

    def _seconds(self, kernel: str) -> float:
        """Seconds of the kernel so far; its first launch is noted before it is counted."""
        return max(self.total_s.get(kernel, 0.0), self.kept[kernel][0][0].time_s)


@dataclass
class Launches:
    """Executes and estimates launches on the memory of one program."""

    devices: Sequence[Device]
    memory: DeviceMemory
    options: CaptureOptions
    objects: dict[int, Texture | Surface | Image | Sampler] = field(default_factory=dict)
    """Textures, surfaces, images and samplers by their handles."""
    contents: CacheContents = field(default_factory=CacheContents)
    """What the launches that were estimated left in L2."""
    estimated: int = 0
    """Launches that were estimated; all others repeat one of them, or are near to it."""
    skipped: int = 0
    """Repeats that were not executed, because the user does not need what they compute."""
    largest_change: float = 0.0
    """The largest relative change of a time at a check."""
    longest: LongestLaunches = field(init=False)
    """What a page about the program needs."""
    _known: dict[tuple[LaunchRequest, bytes], _Repeated] = field(default_factory=dict)
    _shapes: dict[LaunchRequest, _Shape] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.longest = LongestLaunches(self.options.explained_kernels)

    def make(self, function: Function, request: LaunchRequest, parameters: bytes) -> Estimated:
        """Executes one launch: what it costs. CallError, with the reason, when it fails."""
        sizes = request._replace(stream=0)
        known = self._known.get((sizes, parameters))
        try:
            if known is not None:
                found = self._repeat(function, sizes, parameters, known)
            else:
                found = self._first(function, sizes, parameters)
        except KernelcastError as error:
            raise CallError(_status_of(error), f"{function.kernel.name}: {error}") from error
        self.longest.count(function.kernel.name, found.seconds[0])
        return found

    def _first(self, function: Function, sizes: LaunchRequest, parameters: bytes) -> Estimated:
        shape = self._shapes.setdefault(sizes, _Shape())
        shape.variants += 1
        is_near = shape.variants > _MOST_VARIANTS and shape.variants % _ONE_OF
        if shape.latest is not None and is_near and not self.options.every:
            self._execute(function, sizes, parameters)
            found = shape.latest
        else:
            found = self._estimate(function, sizes, parameters)
        shape.latest = found
        self._known[sizes, parameters] = _Repeated(found)
        return found

    def _repeat(
        self, function: Function, sizes: LaunchRequest, parameters: bytes, known: _Repeated
    ) -> Estimated:
        known.count += 1
        if self.options.every or known.count == 2 or known.is_to_be_checked:
            before = known.estimated.seconds
            known.estimated = self._estimate(function, sizes, parameters)
            if known.count > 2:  # the second one finds warm caches, the first did not
                self._note_change(before, known.estimated.seconds)
            return known.estimated
        if self.options.is_fast:
            self.skipped += 1
        else:
            self._execute(function, sizes, parameters)
        return known.estimated

    def _note_change(self, before: Sequence[float], after: Sequence[float]) -> None:
        for old, new in zip(before, after, strict=True):
            self.largest_change = max(self.largest_change, abs(new / old - 1))

    def _estimate(self, function: Function, sizes: LaunchRequest, parameters: bytes) -> Estimated:
        self.estimated += 1
        trace = function.kernel.run(
            args=self.arguments(function, parameters),
            grid=sizes.grid,
            block=sizes.block,
            shared_bytes=sizes.shared_bytes,
            cluster=sizes.cluster,
            devices=self.devices,
            memory=self.memory,
            code=self.options.code,
            limits=self.options.limits,
            caches=self.contents,
        )
        profiles = trace.profiles(self.devices)
        estimates = tuple(estimate(profile) for profile in profiles)
        self.longest.note(function.kernel.name, estimates, profiles)
        shares = tuple(_share(profile) for profile in profiles)
        return Estimated(estimates, shares)

    def _execute(self, function: Function, sizes: LaunchRequest, parameters: bytes) -> None:
        """Makes a launch without recording it."""
        shape = self._shapes[sizes]
        if self.objects and self._has_objects(function, parameters):
            self._prepared(function, sizes, parameters).run()  # their handles mean no memory
            return
        if shape.prepared is None:
            shape.prepared = self._prepared(function, sizes, parameters)
        shape.prepared.run(parameters)

    def _has_objects(self, function: Function, parameters: bytes) -> bool:
        """Whether a parameter is the handle of a texture, surface, image or sampler."""
        return any(
            item.size == _OBJECT_BYTES
            and int.from_bytes(parameters[item.offset : item.offset + item.size], "little")
            in self.objects
            for item in function.kernel.kernel.parameters
        )

    def _prepared(
        self, function: Function, sizes: LaunchRequest, parameters: bytes
    ) -> PreparedLaunch:
        return function.kernel.prepare(
            args=self.arguments(function, parameters),
            grid=sizes.grid,
            block=sizes.block,
            shared_bytes=sizes.shared_bytes,
            cluster=sizes.cluster,
            memory=self.memory,
            target=self.devices[0],
            code=self.options.code,
            limits=self.options.limits,
        )

    def arguments(self, function: Function, parameters: bytes) -> list[Argument]:
        """The arguments in a block of parameters."""
        found: list[Argument] = []
        for item in function.kernel.kernel.parameters:
            content = parameters[item.offset : item.offset + item.size]
            number = int.from_bytes(content, "little")
            if item.size == _OBJECT_BYTES and number in self.objects:
                found.append(self.objects[number])
            elif item.is_struct:
                found.append(content)
            elif np.issubdtype(item.type.dtype, np.floating):
                found.append(np.frombuffer(content, item.type.dtype)[0])
            else:
                found.append(number)
        return found


def _share(profile: KernelProfile) -> float:
    """How much of the SMs' room the thread blocks take while they run."""
    return 1.0 if profile.occupancy is None else min(1.0, profile.occupancy.waves)


def _status_of(error: KernelcastError) -> Status:
    """What CUDA calls the failure."""
    if isinstance(error, MemoryAccessError):
        is_misaligned = "misaligned" in str(error)
        return Status.MISALIGNED_ADDRESS if is_misaligned else Status.ILLEGAL_ADDRESS
    if isinstance(error, AssertionTriggered):
        return Status.ASSERT
    if isinstance(error, LimitExceeded):
        return Status.LAUNCH_TIMEOUT
    if isinstance(error, LaunchError):
        return Status.INVALID_CONFIGURATION
    return Status.LAUNCH_FAILED if isinstance(error, ExecutionError) else Status.NOT_SUPPORTED
