"""Libraries of a program that cannot be captured: those with a CUDA runtime of their own inside."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kernelcast.errors import InputError
from kernelcast.ptx_frontend.sass.container.elf import DAMAGED, is_elf, open_elf

__all__ = ["check_libraries"]

_CODE = ".nv_fatbin"
_RUNTIME = "libcudart.so"
_KNOWN = re.compile(
    r"lib(cufft|cufftw|cusparse|cusparseLt|cusolver|cusolverMg|cudnn|npp|nvjpeg|nvgraph|nccl"
    r"|cutensor|nvblas|cufile)[^/]*\.so"
)
"""Libraries of NVIDIA that have kernels, or lead to others that have some."""
_PATIENCE_S = 20.0
_TELLS = "LD_TRACE_LOADED_OBJECTS"
"""A variable that makes loaders tell what they would load, and start nothing."""
_FOUND = re.compile(r"^\s*(\S+) => (.+?)(?: \(0x[0-9a-f]+\))?$", re.MULTILINE)
_MISSING = "not found"


def check_libraries(program: Path, ours: Path, environment: Mapping[str, str]) -> None:
    """Refuses a program that is linked to a library whose kernels cannot be captured.

    The libraries are those that the system's loader finds for it. InputError names the first one.
    """
    for name, place in _loaded(program, environment).items():
        if place is not None and place.parent.resolve() == ours.resolve():
            continue
        if place is None and not _KNOWN.match(name):
            continue  # the loader says what is missing
        if place is None or _has_own_runtime(place):
            raise InputError(f"{program.name} is linked to {name}, {_reason(name, place, ours)}")


def _reason(name: str, place: Path | None, ours: Path) -> str:
    if (ours / name).exists():
        return (
            f"and finds it at {place} before kernelcast's: build it without that folder in its "
            "RPATH, or with -Wl,--enable-new-dtags"
        )
    return (
        "which has a CUDA runtime of its own inside: its kernels cannot be captured, and "
        "kernelcast has none in their place"
    )


def _loaded(program: Path, environment: Mapping[str, str]) -> dict[str, Path | None]:
    """Names of all libraries that the loader would load, and where it finds them."""
    loader = _loader_of(program)
    if loader is None:
        return {}
    try:
        said = subprocess.run(
            [loader, str(program)],
            env={**environment, _TELLS: "1"},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_PATIENCE_S,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return {}
    found = _FOUND.findall(said)
    return {name: None if place == _MISSING else Path(place) for name, place in found}


def _loader_of(program: Path) -> str | None:
    """The loader that a program names; None for scripts, and programs that need none."""
    try:
        with program.open("rb") as stream:
            if not is_elf(stream.read(4)):
                return None
            segments: Iterable[Any] = open_elf(stream).iter_segments()
            for segment in segments:
                if segment["p_type"] == "PT_INTERP":
                    return str(segment.get_interp_name())
    except (OSError, *DAMAGED):
        pass
    return None


def _has_own_runtime(library: Path) -> bool:
    """Whether a library holds code of GPUs and needs no shared CUDA runtime."""
    try:
        with library.open("rb") as stream:
            elf = open_elf(stream)
            if elf.get_section_by_name(_CODE) is None:
                return False
            dynamic: Any = elf.get_section_by_name(".dynamic")
            tags = [] if dynamic is None else list(dynamic.iter_tags("DT_NEEDED"))
            return not any(tag.needed.startswith(_RUNTIME) for tag in tags)
    except (OSError, *DAMAGED):
        return False
