"""Where NVRTC, the CUDA headers and libdevice are: pip's wheels first, then a CUDA toolkit."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from kernelcast.errors import InputError

__all__ = ["cuda_header_folders", "find_libdevice", "load_nvrtc"]

_INSTALL = "pip install 'kernelcast[cuda]' brings it, no GPU or driver is needed"
_LIBRARY_NAMES = ("libnvrtc.so*", "libnvrtc*.dylib", "nvrtc64*.dll")
_LIBRARY = re.compile(r"(libnvrtc\.so[.\d]*|libnvrtc[.\d]*\.dylib|nvrtc64_[\d_]+\.dll)$")
_LIBRARY_FOLDERS = ("lib", "lib64", "bin", "bin/x86_64", "lib/x64")
_TOOLKIT_VARIABLES = ("CUDA_HOME", "CUDA_PATH")
_USUAL_TOOLKIT = Path("/usr/local/cuda")
_KNOWN_HEADER = "cuda_fp16.h"
_LIBDEVICE = "libdevice.10.bc"
_LIBRARIES_OF_CPP = "cccl"
"""The folder of <cuda/std/...>, <cub/...> and <thrust/...> below that of the CUDA headers."""


@cache
def load_nvrtc() -> ctypes.CDLL:
    """NVRTC as a loaded library; InputError, saying what to install, when there is none."""
    for file in _library_files():
        try:
            return ctypes.CDLL(str(file))
        except OSError:
            continue
    found = ctypes.util.find_library("nvrtc")
    if found is None:
        raise InputError(f"CUDA C++ is compiled by NVRTC, which is not installed: {_INSTALL}")
    return ctypes.CDLL(found)


@cache
def cuda_header_folders() -> tuple[Path, ...]:
    """The folders of `cuda_fp16.h` and its like, and of CUDA's C++ libraries; may be empty."""
    for root in _roots():
        folder = root / "include"
        if (folder / _KNOWN_HEADER).is_file():
            libraries = folder / _LIBRARIES_OF_CPP
            return (folder, libraries) if libraries.is_dir() else (folder,)
    return ()


@cache
def find_libdevice() -> Path | None:
    """NVIDIA's mathematical functions as bitcode, of a toolkit or of Triton."""
    triton = importlib.util.find_spec("triton")
    homes = [Path(home) for home in (triton and triton.submodule_search_locations) or ()]
    folders = [root / "nvvm" / "libdevice" for root in _roots()]
    folders += [home / "backends" / "nvidia" / "lib" for home in homes]
    files = (folder / _LIBDEVICE for folder in folders)
    return next((file for file in files if file.is_file()), None)


def _newest_first(wheel: Path) -> int:
    """`cu13` before `cu12`; the wheels of CUDA 12 and before have folders without a number."""
    return -int(wheel.name[2:]) if re.fullmatch(r"cu\d+", wheel.name) else 0


def _library_files() -> Iterator[Path]:
    for root in _roots():
        for folder in _LIBRARY_FOLDERS:
            for pattern in _LIBRARY_NAMES:
                files = sorted((root / folder).glob(pattern), reverse=True)
                yield from (file for file in files if _LIBRARY.match(file.name))


def _roots() -> Iterator[Path]:
    """Folders with `lib` and `include`: `nvidia/cu13`, `nvidia/cuda_nvrtc`, ..., toolkits."""
    wheels = importlib.util.find_spec("nvidia")
    for location in (wheels and wheels.submodule_search_locations) or ():
        yield from sorted(Path(location).iterdir(), key=_newest_first)
    yield from (Path(os.environ[name]) for name in _TOOLKIT_VARIABLES if os.environ.get(name))
    yield _USUAL_TOOLKIT
