"""Tensor operations in models: how fast a device does them, and who has nothing to say of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kernelcast.errors import ModelNotApplicable
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.profile import KernelProfile

__all__ = ["check_tensor_units", "refuse_tensor_work", "tensor_peaks", "tensor_rate"]


def check_tensor_units(profile: KernelProfile, device: Device) -> None:
    """Raises ModelNotApplicable where the device lacks the kernel's tensor operations."""
    missing = device.missing_tensor_units(profile.instructions.tensor_operations or ())
    if missing:
        raise ModelNotApplicable(missing)


def refuse_tensor_work(profile: KernelProfile, model: str) -> None:
    """Raises ModelNotApplicable for tensor operations, which the model's paper does not have."""
    operations = profile.instructions.tensor_operations
    if operations:
        raise ModelNotApplicable(
            f"{model} knows no tensor units, and kernel {profile.kernel} has tensor operations of "
            f"{', '.join(operations)}; roofline and interval do"
        )


def tensor_rate(profile: KernelProfile, device: Device) -> float | None:
    """Operations per second at the peaks of the types, one after the other; None without any."""
    operations = profile.instructions.tensor_operations or {}
    peaks = dict(tensor_peaks(device, operations))
    seconds = sum(count / peaks[name] for name, count in operations.items() if name in peaks)
    return profile.instructions.tensor_total / seconds if seconds else None


def tensor_peaks(device: Device, type_names: Iterable[str]) -> Iterator[tuple[str, float]]:
    """Operations per second of the types that the device has units for.

    At the clock of the vendor's figure: GPUs may lower theirs for products.
    """
    facts = device.tensor
    if facts is None:
        return
    clock = facts.peak_clock_hz or device.running_clock_hz
    for name in type_names:
        rate = facts.multiply_adds_per_cycle(name)
        if rate is not None:
            yield name, 2.0 * rate * device.architecture.sm_count * clock
