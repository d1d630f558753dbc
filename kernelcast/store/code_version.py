"""Which kernelcast made an entry: another one never finds it."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["code_version"]

_SOURCES = (".py", ".csv", ".toml", ".cl", ".json")
_DECIDING_PACKAGES = ("numpy", "numba", "llvmlite")
"""Another version of one may change a number: random contents of buffers, compiled arithmetic."""


@cache
def code_version() -> str:
    """A hash of all sources of the installed kernelcast and of what computes for it.

    By contents: a development installation changes without a new version. It takes 15 ms.
    """
    found = hashlib.sha256(f"{sys.version} {platform.machine()}".encode())
    for package in _DECIDING_PACKAGES:
        found.update(f"{package} {_version(package)}\n".encode())
    root = Path(__file__).parents[1]
    for folder, folders, files in os.walk(root, followlinks=True):  # a checkout has links in it
        folders.sort()
        for name in sorted(files):
            if name.endswith(_SOURCES):
                path = Path(folder, name)
                content = path.read_bytes()
                found.update(f"{path.relative_to(root)} {len(content)}\n".encode())
                found.update(content)
    return found.hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
