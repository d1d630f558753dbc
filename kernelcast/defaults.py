"""What the Python API and the command line choose when nobody says otherwise."""

from __future__ import annotations

from kernelcast.simcore.device import Device

__all__ = ["DEFAULT_MODEL", "default_model", "why_not_default"]

DEFAULT_MODEL = "interval"
_WITHOUT_TIMING = "quantitative-roofline"
_WITHOUT_MEASUREMENTS = "roofline"


def default_model(device: Device) -> str:
    """The model of an estimate for `device`: the first of which its file has the facts."""
    if device.timing is not None:
        return DEFAULT_MODEL
    return _WITHOUT_TIMING if device.measured is not None else _WITHOUT_MEASUREMENTS


def why_not_default(device: Device) -> tuple[str, ...]:
    """A line of an estimate when `default_model` is another one than usual."""
    model = default_model(device)
    if model == DEFAULT_MODEL:
        return ()
    missing = "[timing]" if model == _WITHOUT_TIMING else "[timing] and [measured]"
    return (f"model {model} instead of {DEFAULT_MODEL}: {device.name} has no {missing}",)
