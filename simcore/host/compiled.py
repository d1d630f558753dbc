"""The one decorator that turns a Python function over typed arrays into native code."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

__all__ = ["compiled", "inlined", "is_compiled"]

Function = TypeVar("Function", bound=Callable[..., Any])


_HOST = Path(__file__).parent
_SIMCORE = _HOST.parent


def _room(source: Path) -> Path:
    """The folder of simcore that a source belongs to: what is called there may change its code."""
    file = source.resolve()
    if not file.is_relative_to(_SIMCORE.resolve()):
        return source.parent
    return _SIMCORE / file.relative_to(_SIMCORE.resolve()).parts[0]


@cache
def _cache_folder(package: Path) -> Path:
    """A folder for machine code that is named after all sources of `package` and of this one.

    numba notices a changed function but not a changed callee or constant in another file, so
    machine code made from other sources must never be found again.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for folder in dict.fromkeys((_HOST, package)):
        for source in sorted(folder.rglob("*.py")):
            digest.update(source.read_bytes())
    return package / "__pycache__" / f"compiled-{digest.hexdigest()[:16]}"


def is_compiled(room: str = "memory") -> bool:
    """Whether an earlier run left machine code of a folder of simcore, such as `timing`."""
    return any(_cache_folder(_SIMCORE / room).rglob("*.nbc"))


def compiled(function: Function) -> Function:
    """Native code at the first call, kept on disk; it runs without the GIL.

    Such a function cannot allocate: room is passed in. That makes reference counts needless
    (`_nrt`), and with calls inlined, which would else copy the descriptors of a dozen arrays, the
    simulator is four times as fast. Division by zero is not checked.
    """
    settings: Any = numba.config
    configured = settings.CACHE_DIR
    if not configured:
        settings.CACHE_DIR = str(_cache_folder(_room(Path(function.__code__.co_filename))))
    try:
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
        options |= {"forceinline": True, "_nrt": False}
        native = numba.njit(cache=True, **options)(function)
    finally:
        settings.CACHE_DIR = configured
    _name_by_process(native)
    return cast(Function, native)


def _name_by_process(native: Any) -> None:
    """Puts the process into the names of files of machine code.

    numba numbers them by signature: of two processes that compile for the first time at once, one
    would find under its number what the other made of another signature.
    """
    file = native._cache._cache_file
    file._data_name_pattern = file._data_name_pattern.replace("{", f"{os.getpid()}.{{", 1)


def inlined(function: Function) -> Function:
    """Marks a part of `compiled` functions, which Python code does not call.

    It has no entry of its own, which takes longer to compile than the part.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    options |= {"forceinline": True, "_nrt": False}
    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(Function, numba.njit(**options)(function))
