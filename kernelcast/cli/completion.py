"""What the shell offers while a command line is typed; `kernelcast --install-completion`."""

from __future__ import annotations

__all__ = ["device_names", "model_names"]


def device_names(incomplete: str) -> list[str]:
    """The known devices that begin so."""
    from kernelcast.simcore.device.file import known_devices

    return [name for name in known_devices() if name.startswith(incomplete)]


def model_names(incomplete: str) -> list[str]:
    """The known models that begin so, installed ones among them."""
    from kernelcast.models import MODELS

    return [name for name in MODELS if name.startswith(incomplete)]
