"""PTX in the images of a program: that of units that were compiled apart, linked to one text."""

from __future__ import annotations

import io
from collections.abc import Sequence

from kernelcast.inputs.fat_binary import CodeKind, code_entries, payload
from kernelcast.ptx_frontend.ptx.text.linker import linked

__all__ = ["DEVICE_RUNTIME", "linked_units", "newest_ptx"]

DEVICE_RUNTIME = "__cudaCDP2"
"""How functions begin by which kernels launch kernels (cudadevrt)."""
_UNIT = "a unit of the program"
_ANY = 1 << 30


def linked_units(units: Sequence[bytes], newest: int) -> str:
    """The text of fat binaries together; empty where one has no PTX for the architecture.

    NVIDIA's own unit, which programs of several units are linked to, counts for nothing: kernels
    that need it are refused for what they call. KernelcastError for damaged images.
    """
    texts = []
    for unit in units:
        text = newest_ptx(unit, newest)
        if not text and DEVICE_RUNTIME in newest_ptx(unit):
            continue
        texts.append(text)
    return linked(texts) if texts and all(texts) else ""


def newest_ptx(image: bytes, newest: int = _ANY) -> str:
    """The PTX of a fat binary for the newest architecture up to one, 80 say; empty without any."""
    stream = io.BytesIO(image)
    entries = [
        entry
        for entry in code_entries(stream, _UNIT)
        if entry.kind is CodeKind.PTX and entry.number <= newest
    ]
    if not entries:
        return ""
    found = payload(stream, max(entries, key=lambda entry: entry.number), _UNIT)
    return found.rstrip(b"\0").decode("utf-8", "replace")
