"""Configurations of kernels whose addresses are affine: predicted without executing anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import process_time

from kernelcast.address.extraction import address_kernel
from kernelcast.errors import KernelcastError
from kernelcast.models.warpspeed.model import warpspeed_estimate
from kernelcast.models.warpspeed.volumes.bound_kernel import BoundKernel
from kernelcast.models.warpspeed.volumes.volumes import Volumes, volumes
from kernelcast.ranking.execution import check_results, with_thread_block, workload_fingerprint
from kernelcast.ranking.ranking import Outcome, Prediction, Refusal
from kernelcast.ranking.variations import NO_FOLDING, Configuration, Shape
from kernelcast.simcore.address.kernel import AddressKernel
from kernelcast.simcore.device.device import Device
from kernelcast.workload.workload import Workload

__all__ = ["WARPSPEED", "AddressedKernel", "AddressedWorkload", "predicted"]

WARPSPEED = "warpspeed"

_COSTS = (
    "l1_passes",
    "l2_load_bytes",
    "l2_store_bytes",
    "dram_load_bytes",
    "dram_store_bytes",
)


@dataclass(frozen=True)
class _Addressed:
    """What is ranked by its addresses, and what these tell of it."""

    kernel: AddressKernel = field(repr=False)

    @property
    def name(self) -> str:
        return self.kernel.name

    @property
    def cells(self) -> Shape:
        return self.kernel.domain

    @property
    def thread_block(self) -> Shape:
        return self.kernel.block

    def model(self, device: Device) -> str:
        return WARPSPEED


@dataclass(frozen=True)
class AddressedKernel(_Addressed):
    """A kernel that was given as addresses."""

    statements: tuple[str, ...] = ()

    @property
    def folding(self) -> Shape:
        """Cells along each axis that one thread updates."""
        return self.kernel.folding

    def fingerprint(self, device: Device) -> str:
        """What tells the kernel from others in a store: its addresses, without the launch."""
        return repr(self.kernel.with_block(1).with_folding(1))

    def outcomes(
        self, configuration: Configuration, devices: Sequence[Device]
    ) -> tuple[Outcome, ...]:
        """Predicts one configuration on each device."""
        found = self.kernel.with_block(*configuration.thread_block)
        found = found.with_folding(*configuration.folding)
        return predicted(found, devices)


@dataclass(frozen=True)
class AddressedWorkload(_Addressed):
    """A workload whose kernel is affine.

    Its addresses are read off the code for every shape, as code may depend on it. `checked_size` as
    `RankOptions` has it.
    """

    workload: Workload
    size: str | None = None
    registers: int | None = None
    checked_size: str | None = None

    @property
    def folding(self) -> Shape:
        """Cells along each axis that one thread updates: that is the code's own business."""
        return NO_FOLDING

    @property
    def statements(self) -> tuple[str, ...]:
        """Nothing to be said besides the ranking."""
        return ()

    def fingerprint(self, device: Device) -> str:
        """What tells the workload from others in a store, with all that predictions depend on."""
        return repr(
            (
                WARPSPEED,
                workload_fingerprint(self.workload),
                self.size,
                self.registers,
                self.checked_size,
            )
        )

    def outcomes(
        self, configuration: Configuration, devices: Sequence[Device]
    ) -> tuple[Outcome, ...]:
        """Predicts one configuration on each device, or refuses it with the reason."""
        start = process_time()
        shape = configuration.thread_block
        try:
            if configuration.folding != NO_FOLDING:
                raise KernelcastError("the folding of a workload is that of its code: vary block")
            variant = with_thread_block(self.workload, shape, self.size)
            if self.checked_size is not None:
                check_results(self.workload, shape, self.checked_size)
            found = address_kernel(variant, self.size)
        except KernelcastError as error:
            return tuple(Refusal(error.message, process_time() - start) for _ in devices)
        if self.registers is not None:
            found = replace(found, registers=self.registers)
        shared = (process_time() - start) / len(devices)
        outcomes = predicted(found, devices)
        return tuple(self._of_all_launches(item, shared) for item in outcomes)

    def _of_all_launches(self, outcome: Outcome, seconds: float) -> Outcome:
        found = replace(outcome, seconds=outcome.seconds + seconds)
        if isinstance(found, Refusal):
            return found
        return replace(found, time_s=found.time_s * self.workload.launch.repeats)


def predicted(kernel: AddressKernel, devices: Sequence[Device]) -> tuple[Outcome, ...]:
    """What the model says of the kernel as it is on each device, or why it says nothing."""
    bound = BoundKernel(kernel)
    return tuple(_predicted(bound, device) for device in devices)


def _predicted(bound: BoundKernel, device: Device) -> Outcome:
    start = process_time()
    try:
        found = volumes(bound, device)
        made = warpspeed_estimate(found, bound.kernel, device)
    except KernelcastError as error:
        return Refusal(error.message, process_time() - start)
    return Prediction(made.time_s, made.bottleneck, _per_work(found), process_time() - start)


def _per_work(found: Volumes) -> dict[str, float]:
    """Volumes of one update: what the limiters are made of."""
    return {f"{name}_per_work": found.per_work(name) for name in _COSTS}
