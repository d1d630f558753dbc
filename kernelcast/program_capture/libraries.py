"""The libraries that take the place of CUDA's: those of a wheel, or built when they are needed.

What is built is kept in the cache folder, by its sources.
"""

from __future__ import annotations

from pathlib import Path

from kernelcast.errors import InputError
from kernelcast.program_capture.client_build import CLIENT_SOURCES, BuildFailed, build, key
from kernelcast.simcore.host.disk_cache import cache_folder

__all__ = ["libraries"]

_BUILT = CLIENT_SOURCES / "built"
"""What a wheel brings."""


def libraries() -> Path:
    """The folder with the libraries, which are built if need be.

    InputError without a C compiler, or with its message when it fails.
    """
    made_of = key()
    own = cache_folder() / "capture" / made_of
    for folder in (_BUILT, own):
        if (folder / made_of).exists():
            return folder
    try:
        return build(own)
    except BuildFailed as error:
        raise InputError(str(error)) from None
