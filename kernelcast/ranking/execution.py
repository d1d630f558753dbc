"""Configurations of a workload that are executed one by one.

For kernels that are not affine, and for models that need a profile.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import process_time

from kernelcast.api import estimate
from kernelcast.defaults import default_model
from kernelcast.errors import KernelcastError, WorkloadError
from kernelcast.execution.code import Code
from kernelcast.execution.sampling import Sampling
from kernelcast.models import needs_paths
from kernelcast.ranking.ranking import Outcome, Prediction, Refusal
from kernelcast.ranking.variations import NO_FOLDING, Configuration, Shape, shape_label
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.launch.launch import Limits
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.workload.workload import Workload

__all__ = ["ExecutedWorkload", "check_results", "with_thread_block", "workload_fingerprint"]

_AXES = "xyz"


@dataclass(frozen=True)
class ExecutedWorkload:
    """A workload that is executed for each configuration.

    `model` None: the device's default one. `checked_size`: a size in which every configuration must
    reproduce the workload's reference first; None checks nothing.
    """

    workload: Workload
    size: str | None = None
    chosen_model: str | None = None
    registers: int | None = None
    engine: str = "auto"
    limits: Limits | None = None
    sampling: Sampling = Sampling.AUTO
    checked_size: str | None = None
    reason: str = ""
    code: Code | None = None

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.workload.load_kernel().name

    @property
    def cells(self) -> Shape:
        """Threads of the launch along each axis."""
        shape = self.workload.launch_shape(self.size)
        x, y, z = (a * b for a, b in zip(shape.grid, shape.thread_block, strict=True))
        return x, y, z

    @property
    def thread_block(self) -> Shape:
        """The thread-block shape of the workload file."""
        return self.workload.launch_shape(self.size).thread_block

    @property
    def folding(self) -> Shape:
        """Cells along each axis that one thread updates: that is the code's own business."""
        return NO_FOLDING

    @property
    def statements(self) -> tuple[str, ...]:
        """What a reader must know: why it is executed, and that results were not checked."""
        said = [self.reason] if self.reason else []
        if self.checked_size is None:
            said.append("results of other thread blocks were not checked: --check SIZE does")
        return tuple(said)

    def model(self, device: Device) -> str:
        """The model for a device: the chosen one, or the device's default."""
        return self.chosen_model or default_model(device)

    def fingerprint(self, device: Device) -> str:
        """A digest of the file, the kernel as it was read and how it is executed."""
        parts = (
            workload_fingerprint(self.workload),
            self.size,
            self.model(device),
            self.registers,
            self.sampling,
            self.checked_size,
            self.code,
        )
        return repr(parts)

    def outcomes(
        self, configuration: Configuration, devices: Sequence[Device]
    ) -> tuple[Outcome, ...]:
        """One execution for all devices that the launch fits."""
        start = process_time()
        try:
            variant = self._variant(configuration)
            reasons = [variant.refusal(device, self.size, self.registers) for device in devices]
            fitting = [
                device for device, reason in zip(devices, reasons, strict=True) if not reason
            ]
            profiles = dict(zip(fitting, self._profiles(variant, fitting), strict=True))
        except KernelcastError as error:
            return tuple(Refusal(error.message, process_time() - start) for _ in devices)
        spent = (process_time() - start) / len(devices)
        return tuple(
            Refusal(reason, spent) if reason else self._predicted(profiles[device], device, spent)
            for device, reason in zip(devices, reasons, strict=True)
        )

    def _variant(self, configuration: Configuration) -> Workload:
        if configuration.folding != NO_FOLDING:
            raise WorkloadError("an executed kernel has the folding of its code: --vary block only")
        variant = with_thread_block(self.workload, configuration.thread_block, self.size)
        if self.checked_size is not None:
            check_results(self.workload, configuration.thread_block, self.checked_size, self.engine)
        return variant

    def _profiles(self, variant: Workload, devices: Sequence[Device]) -> list[KernelProfile]:
        if not devices:
            return []
        trace = variant.run(
            self.size,
            registers=self.registers,
            devices=devices,
            engine=self.engine,
            limits=self.limits,
            record_paths=any(needs_paths(self.model(device)) for device in devices),
            sampling=self.sampling,
            code=self.code,
        )
        return trace.profiles(devices)

    def _predicted(self, profile: KernelProfile, device: Device, spent: float) -> Outcome:
        start = process_time()
        try:
            found = estimate(profile, self.model(device), device)
        except KernelcastError as error:
            return Refusal(error.message, spent)
        return Prediction(
            found.time_s,
            found.bottleneck,
            _volumes(profile),
            spent + process_time() - start,
        )


def workload_fingerprint(workload: Workload) -> str:
    """The file's name and a digest of the file and the source as they are now."""
    source = workload.kernel.source
    digest = hashlib.sha256(workload.path.read_bytes())
    if source.is_file():
        digest.update(source.read_bytes())
    return f"{workload.path.name} {digest.hexdigest()}"


def check_results(workload: Workload, shape: Shape, size: str, engine: str = "auto") -> None:
    """Raises WorkloadError when thread blocks of that shape do not reproduce the reference."""
    variant = with_thread_block(workload, shape, size)
    if not variant.run_check(size, engine=engine).passed:
        raise WorkloadError(f"wrong results in size {size}: the code needs another thread block")


def with_thread_block(workload: Workload, shape: Shape, size: str | None = None) -> Workload:
    """The workload in thread blocks of another shape, over the same cells.

    WorkloadError where the file's grid does not say how it depends on the thread block.
    """
    launch = workload.launch
    given = workload.launch_shape(size).thread_block
    sides = max(len(launch.thread_block), len(launch.extent))
    if any(side > 1 for side in shape[sides:]):
        raise WorkloadError(f"the launch has {sides} dimensions, {shape_label(shape)} has more")
    for axis, before, after in zip(_AXES, given, shape, strict=True):
        if before != after and not launch.extent_is_threads:
            _check_grid(workload, axis)
    changed = replace(launch, thread_block=shape[:sides])
    return replace(workload, launch=changed)


def _check_grid(workload: Workload, axis: str) -> None:
    """Raises WorkloadError unless the grid divides by the thread block's side."""
    wanted = re.compile(rf"\bblock\.{axis}\b")
    if not any(wanted.search(str(item)) for item in workload.launch.extent):
        raise WorkloadError(
            f"{workload.launch.where}.grid does not depend on block.{axis}: write ceil(n / "
            f"block.{axis}) for a grid that covers the same cells with other thread blocks"
        )


def _volumes(profile: KernelProfile) -> dict[str, float]:
    """Bytes per launch."""
    traffic = profile.traffic
    found = {"dram_bytes": traffic.dram_bytes}
    if traffic.l2_read_sectors is not None:
        found["l2_l1_load_bytes"] = traffic.sector_bytes * traffic.l2_read_sectors
    if traffic.l1_read_sectors is not None:
        found["l1_load_bytes"] = traffic.sector_bytes * traffic.l1_read_sectors
    return found
