"""Functions that a workload names as `file.py:function`: inputs too special for a generator, and
the references that results are compared with."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernelcast.errors import WorkloadError, nearest

__all__ = ["load_function"]


def load_function(folder: Path, reference: str, where: str) -> Callable[..., Any]:
    """The function `name` of `folder/file.py` for "file.py:name".

    The file runs as a module of its own; an exception of its own code keeps its traceback.
    """
    file, separator, name = reference.rpartition(":")
    if not separator or not file.endswith(".py") or not name.isidentifier():
        raise WorkloadError(f"{where}: {reference!r} is not of the form 'file.py:function'")
    path = folder / file
    if not path.is_file():
        raise WorkloadError(f"{where}: no file {path}")
    spec = importlib.util.spec_from_file_location(f"kernelcast_workload_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise WorkloadError(f"{where}: {path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, name, None)
    if not callable(function):
        functions = [item for item, value in vars(module).items() if callable(value)]
        raise WorkloadError(f"{where}: {path} has no function {name!r}{nearest(name, functions)}")
    return function  # type: ignore[no-any-return]  # what a user's file holds is not known
