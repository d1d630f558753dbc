"""Zstandard frames, as newer fat binaries hold them, through whichever decoder is installed."""

from __future__ import annotations

import importlib
from typing import Any

from kernelcast.errors import InputError

__all__ = ["decompress_zstd_frame"]


def decompress_zstd_frame(data: bytes, size: int) -> bytes:
    """The `size` bytes of one frame; ValueError when it is damaged, InputError without decoder."""
    try:
        found = _decompress(data, size)
    except InputError:
        raise
    except Exception as error:  # the decoders' own errors share no base
        raise ValueError(str(error)) from None
    if len(found) != size:
        raise ValueError(f"{len(found)} bytes instead of {size}")
    return found


def _decompress(data: bytes, size: int) -> bytes:
    if (zstandard := _module("zstandard")) is not None:
        return bytes(zstandard.ZstdDecompressor().decompress(data, max_output_size=size))
    if (standard := _module("compression.zstd")) is not None:  # Python 3.14
        return bytes(standard.decompress(data))
    raise InputError(
        "this fat binary is compressed with zstd: pip install 'kernelcast[cuda]' brings the decoder"
    )


def _module(name: str) -> Any | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
