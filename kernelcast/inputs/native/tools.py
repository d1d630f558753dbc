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
from kernelcast.simcore.host.private_folder import FolderRefused, PrivateFolder

__all__ = [
    "ASSEMBLER",
    "DISASSEMBLER",
    "NATIVE_EXTRA",
    "NEWEST_FROM",
    "OLDER_FROM",
    "Toolset",
    "fingerprint",
    "is_in_cache",
    "older_tools_folder",
    "required",
    "toolset",
]

NATIVE_EXTRA = "pip install 'kernelcast[native]'"
OLDER_FROM = 50
"""The first architecture that the tools of CUDA 12 know: that of Maxwell."""
NEWEST_FROM = 75
"""The first architecture that the tools of CUDA 13 know."""
ASSEMBLER, DISASSEMBLER = "ptxas", "nvdisasm"
_OLDER_FOLDER, _OLDER_NAME = "KERNELCAST_CUDA12_TOOLS", "cuda12"


@dataclass(frozen=True, slots=True)
class Toolset:
    """Paths of the two programs, which must be of one generation."""

    assembler: Path | None
    disassembler: Path


def older_tools_folder() -> Path:
    """Where the tools of CUDA 12 are unpacked."""
    given = os.environ.get(_OLDER_FOLDER)
    return Path(given) if given else cache_folder() / _OLDER_NAME


def is_in_cache(folder: Path) -> bool:
    """Whether a folder of tools is the cache's; one that the user names is theirs to judge."""
    return folder == cache_folder() / _OLDER_NAME


def toolset(architecture: int) -> Toolset | None:
    """The tools for an architecture (80 for sm_80); None where they are not installed.

    Older ones that lie in the cache are taken only where nobody else can have put them there.
    """
    if architecture >= NEWEST_FROM:
        return _newest()
    folder = older_tools_folder()
    return None if is_in_cache(folder) and not _is_private(folder) else _in_folder(folder)


def fingerprint(tool: Path) -> tuple[str, int, int]:
    """What changes when another release of a program takes its place; InputError if it is gone."""
    try:
        status = tool.stat()
    except OSError as error:
        raise InputError(f"cannot run {tool}: {error.strerror or error}") from None
    return str(tool), status.st_size, status.st_mtime_ns


def _is_private(folder: Path) -> bool:
    try:
        with PrivateFolder(folder).opened():
            return True
    except (FolderRefused, OSError):
        return False


def required(architecture: int, purpose: str) -> Toolset:
    """The tools; InputError that says how to get them."""
    found = toolset(architecture)
    if found is None:
        how = NATIVE_EXTRA if architecture >= NEWEST_FROM else "kernelcast tools --fetch-cuda12"
        raise InputError(f"{purpose} needs the disassembler of CUDA for sm_{architecture}: {how}")
    return found


def _in_folder(folder: Path) -> Toolset | None:
    assembler, disassembler = folder / ASSEMBLER, folder / DISASSEMBLER
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
    disassembler = shutil.which(DISASSEMBLER)
    if disassembler is None:
        return None
    assembler = shutil.which(ASSEMBLER)
    return Toolset(Path(assembler) if assembler else None, Path(disassembler))


def _package_folders() -> list[Path]:
    spec = importlib.util.find_spec("nvidia")
    if spec is None:
        return []
    roots = [Path(place) for place in spec.submodule_search_locations or ()]
    return sorted((f for root in roots for f in root.glob("*/bin")), reverse=True)
