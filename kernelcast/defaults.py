"""What the Python API and the command line choose when nobody says otherwise."""

from __future__ import annotations

from typing import Any

from kernelcast.models import model_options
from kernelcast.simcore.device.device import Device

__all__ = ["DEFAULT_MODEL", "default_model", "only_time", "why_not_default"]

DEFAULT_MODEL = "interval"
_WITHOUT_TIMING = "quantitative-roofline"
_WITHOUT_MEASUREMENTS = _OF_PROCESSORS = "roofline"
_PLAIN_WORK_ITEMS = "work_item_dram_read_bandwidth_bytes_per_s"
"""A finding that only the files of measured processors have."""


def default_model(device: Device) -> str:
    """The model of an estimate for `device`: the first of which its file has the facts.

    For a processor the one with a ceiling for each cache: caches serve most of what kernels load
    there, and compilers take the address arithmetic that other models count out of the loops.
    """
    if device.timing is not None:
        return DEFAULT_MODEL
    if _PLAIN_WORK_ITEMS in device.ceilings:
        return _OF_PROCESSORS
    return _WITHOUT_TIMING if device.measured is not None else _WITHOUT_MEASUREMENTS


def why_not_default(device: Device) -> tuple[str, ...]:
    """A line of an estimate when `default_model` is another one than usual."""
    model = default_model(device)
    if model == DEFAULT_MODEL:
        return ()
    is_processor = device.measured is not None and model == _OF_PROCESSORS
    missing = "[timing]" if model == _WITHOUT_TIMING or is_processor else "[timing] and [measured]"
    why = ", and is a processor" if is_processor else ""
    return (f"model {model} instead of {DEFAULT_MODEL}: {device.name} has no {missing}{why}",)


def only_time(model: str | None, device: Device, *, ranged: bool = True) -> dict[str, Any]:
    """Options with which a model, by default that of the device, does not explain its time.

    Unless it is `ranged` it does not simulate, either, between which times it may lie.
    """
    known = model_options(default_model(device) if model is None else model)
    wanted = {"explained": "no"} if ranged else {"explained": "no", "ranged": "no"}
    return {name: value for name, value in wanted.items() if name in known}
