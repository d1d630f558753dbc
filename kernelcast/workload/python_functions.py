"""Functions that a workload names as `file.py:function`.

These are inputs too special for a generator, and the references that results are compared with.
"""

from __future__ import annotations

import importlib.util
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from kernelcast.errors import WorkloadError, nearest

__all__ = ["call", "load_function", "load_module"]

_MODULE_PREFIX = "kernelcast_workload_"


def load_function(folder: Path, reference: str, where: str) -> Callable[..., Any]:
    """The function `name` of `folder/file.py` for "file.py:name".

    The file runs as a module of its own; WorkloadError names the line where its code fails.
    """
    file, separator, name = reference.rpartition(":")
    if not separator or not file.endswith(".py") or not name.isidentifier():
        raise WorkloadError(f"{where}: {reference!r} is not of the form 'file.py:function'")
    path = folder / file
    if not path.is_file():
        raise WorkloadError(f"{where}: no file {path}")
    module = load_module(path, where)
    function = getattr(module, name, None)
    if not callable(function):
        functions = [item for item, value in vars(module).items() if callable(value)]
        raise WorkloadError(f"{where}: {path} has no function {name!r}{nearest(name, functions)}")
    return function  # type: ignore[no-any-return]  # what a user's file holds is not known


def call(function: Callable[..., Any], where: str, *arguments: object) -> Any:
    """What a user's function returns; WorkloadError, with the innermost line, when it raises."""
    try:
        return function(*arguments)
    except Exception as error:
        raise _failed(where, error) from error


def load_module(path: Path, where: str) -> ModuleType:
    """A file, run as a module of its own; WorkloadError names the line where its code fails."""
    spec = importlib.util.spec_from_file_location(f"{_MODULE_PREFIX}{path.stem}", path)
    if spec is None or spec.loader is None:
        raise WorkloadError(f"{where}: {path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise _failed(where, error) from error
    return module


def _failed(where: str, error: Exception) -> WorkloadError:
    """One line: the kind of error, its message, and the last line of Python that ran."""
    if isinstance(error, SyntaxError):
        place, message = f"{error.filename}:{error.lineno}: ", error.msg
    else:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        # A call with the wrong number of arguments fails here, not in the user's file.
        place = "" if frame.filename == __file__ else f"{frame.filename}:{frame.lineno}: "
        message = " ".join(str(error).split())
    return WorkloadError(f"{where}: {place}{type(error).__name__}: {message}")
