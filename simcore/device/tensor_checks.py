"""What [tensor] of a device file cannot say: see docs/devices.md, what is refused.

Each rule yields a dotted key and one sentence, as `contradictions` in `device_checks` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.tensor_facts import TensorFacts
from kernelcast.simcore.isa.tensor_types import SPARSE, TensorType

__all__ = ["tensor_contradictions"]

_PEAK_DIFFERENCE = 0.05
_CLOCK_RANGE = (0.8, 1.1)
"""The range of clocks behind the vendor's peak, over the file's: products lower the clock."""
_ABOVE_NOMINAL_CLOCK = 1.1
_SPARSE_FACTORS = (1, 2)
_NO_FASTER = (
    ("tf32", "fp16"),
    ("tf32", "bf16"),
    ("fp16", "fp16_fp16"),
    ("fp16", "fp8"),
    ("fp8", "fp8_fp16"),
    ("fp8", "mxfp8"),
    ("mxfp8", "mxfp4"),
    ("int8", "int4"),
    ("int4", "b1"),
)
"""Types of which the first has wider elements or sums than the second."""
_OBSERVED = re.compile(r"tensor_(\w+?)(_sparse)?_throughput_ops_per_s")

Rule = tuple[str, str]


def tensor_contradictions(device: Device, observed: Mapping[str, float]) -> Iterator[Rule]:
    """`observed` holds the highest figure of each quantity of `[observed]`."""
    tensor = device.tensor
    figures = {quantity: found for quantity in observed if (found := _OBSERVED.match(quantity))}
    if tensor is None:
        for quantity in figures:
            yield f"observed.{quantity}", "there is no section [tensor] to compare it with"
        return
    yield from _rates(device, tensor)
    yield from _peak(device, tensor)
    for quantity, found in figures.items():
        type_name = f"{found[1]}{SPARSE}" if found[2] else found[1]
        yield from _observation(device, tensor, quantity, type_name, observed[quantity])


def _rates(device: Device, tensor: TensorFacts) -> Iterator[Rule]:
    for slower, faster in _NO_FASTER:
        low, high = getattr(tensor, slower), getattr(tensor, faster)
        if low is not None and high is not None and low > high:
            yield f"tensor.{slower}", f"{low:g} is above tensor.{faster}, {high:g}"
    if tensor.sparse_factor not in _SPARSE_FACTORS:
        yield "tensor.sparse_factor", f"must be 1 or 2, got {tensor.sparse_factor}"
    if tensor.warp_efficiency > 1.0:
        yield "tensor.warp_efficiency", f"is a share, got {tensor.warp_efficiency:g}"
    if all(getattr(tensor, type_.value) is None for type_ in TensorType):
        yield "tensor", "names no rate"
    for type_, lanes in ((TensorType.FP32, device.sm.fp32_lanes), (TensorType.FP16, 0)):
        rate = getattr(tensor, type_.value)
        least = max(lanes / 2, 1)
        if rate is not None and rate < least:
            yield f"tensor.{type_.value}", f"{rate:g} is below what {lanes} lanes do without it"


def _peak(device: Device, tensor: TensorFacts) -> Iterator[Rule]:
    """The vendor's figure against SMs x rate x clock."""
    peak, clock = tensor.peak_flops_per_s, tensor.peak_clock_hz
    if (peak is None) != (clock is None):
        yield "tensor.peak_flops_per_s", "belongs together with tensor.peak_clock_hz"
    if peak is None or clock is None:
        return
    nominal = device.architecture.clock_hz
    low, high = (factor * nominal for factor in _CLOCK_RANGE)
    if not low <= clock <= high:
        yield "tensor.peak_clock_hz", f"{clock:g}, but architecture.clock_hz is {nominal:g}"
    if tensor.fp16 is None:
        yield "tensor.fp16", "is missing, of which tensor.peak_flops_per_s is the peak"
        return
    expected = 2.0 * tensor.fp16 * device.architecture.sm_count * clock
    if abs(peak / expected - 1.0) > _PEAK_DIFFERENCE:
        yield (
            "tensor.peak_flops_per_s",
            f"{peak:g}, but {tensor.fp16:g} multiply-adds of each SM at tensor.peak_clock_hz give "
            f"{expected:g}",
        )


def _observation(
    device: Device, tensor: TensorFacts, quantity: str, type_name: str, value: float
) -> Iterator[Rule]:
    key = f"observed.{quantity}"
    if type_name.removesuffix(SPARSE) not in {type_.value for type_ in TensorType}:
        yield key, f"{type_name} is no type of tensor operations"
        return
    rate = tensor.multiply_adds_per_cycle(type_name)
    if rate is None:
        yield key, f"tensor units of the file have no {type_name}"
        return
    limit = 2.0 * rate * device.sm_cycles_per_s
    if value > _ABOVE_NOMINAL_CLOCK * limit:
        yield key, f"{value:g} is above the peak of {limit:g}"
