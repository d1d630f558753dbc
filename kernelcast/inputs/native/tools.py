"""The assembler and the disassembler of the CUDA toolkit: the user's own installation.

They come with `pip install 'kernelcast[native]'`, with a CUDA toolkit on the path, or as older
releases that `kernelcast tools` unpacks, because those of CUDA 13 begin at sm_75.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kernelcast.errors import InputError
from kernelcast.simcore.host.disk_cache import cache_folder

__all__ = ["NATIVE_EXTRA", "Toolset", "older_tools_folder", "required", "toolset"]

NATIVE_EXTRA = "pip install 'kernelcast[native]'"
_NEWEST_FROM = 75
"""The first architecture that the tools of CUDA 13 know."""
_ASSEMBLER, _DISASSEMBLER = "ptxas", "nvdisasm"
_OLDER_FOLDER = "KERNELCAST_CUDA12_TOOLS"


@dataclass(frozen=True, slots=True)
class Toolset:
    """Paths of the two programs, which must be of one generation."""

    assembler: Path | None
    disassembler: Path


def older_tools_folder() -> Path:
    """Where the tools of CUDA 12 are unpacked."""
    given = os.environ.get(_OLDER_FOLDER)
    return Path(given) if given else cache_folder() / "cuda12"


def toolset(architecture: int) -> Toolset | None:
    """The tools for an architecture (80 for sm_80); None where they are not installed."""
    if architecture < _NEWEST_FROM:
        return _in_folder(older_tools_folder())
    return _newest()


def required(architecture: int, purpose: str) -> Toolset:
    """The tools; InputError that says how to get them."""
    found = toolset(architecture)
    if found is None:
        how = NATIVE_EXTRA if architecture >= _NEWEST_FROM else "kernelcast tools"
        raise InputError(f"{purpose} needs the disassembler of CUDA for sm_{architecture}: {how}")
    return found


def _in_folder(folder: Path) -> Toolset | None:
    assembler, disassembler = folder / _ASSEMBLER, folder / _DISASSEMBLER
    if not disassembler.is_file():
        return None
    return Toolset(assembler if assembler.is_file() else None, disassembler)


@cache
def _newest() -> Toolset | None:
    """The tools of Python packages go first: they are installed for this."""
    for folder in _package_folders():
        found = _in_folder(folder)
        if found is not None and found.assembler is not None:
            return found
    disassembler = shutil.which(_DISASSEMBLER)
    if disassembler is None:
        return None
    assembler = shutil.which(_ASSEMBLER)
    return Toolset(Path(assembler) if assembler else None, Path(disassembler))


def _package_folders() -> list[Path]:
    spec = importlib.util.find_spec("nvidia")
    if spec is None:
        return []
    roots = [Path(place) for place in spec.submodule_search_locations or ()]
    return sorted((f for root in roots for f in root.glob("*/bin")), reverse=True)
