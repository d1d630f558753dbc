"""Files beside the code: examples, which every installation has, and validation data."""

from __future__ import annotations

import shutil
from pathlib import Path

from kernelcast.errors import KernelcastError

__all__ = ["copy_examples", "examples_folder", "validation_folder"]

_PACKAGE = Path(__file__).resolve().parent
_BUILT = ("__pycache__", "*.pyc", ".ipynb_checkpoints")
_WHERE_VALIDATION_IS = (
    "an installation has no validation data: work in a clone of the repository, or in the unpacked "
    "source distribution"
)


def examples_folder() -> Path:
    """The examples: in the package, or beside it in a source tree."""
    installed = _PACKAGE / "examples"
    return installed if installed.is_dir() else _PACKAGE.parent / "examples"


def copy_examples(folder: Path) -> tuple[Path, ...]:
    """Copies the examples into a new folder; the workload files in it.

    KernelcastError when the folder is there already, or cannot be written.
    """
    if folder.exists():
        raise KernelcastError(f"{folder} exists: name another folder for the examples")
    try:
        shutil.copytree(examples_folder(), folder, ignore=shutil.ignore_patterns(*_BUILT))
    except OSError as error:
        raise KernelcastError(f"cannot write {folder}: {error.strerror or error}") from None
    return tuple(sorted(folder.rglob("*.toml")))


def validation_folder() -> Path:
    """Workloads and tables that predictions are compared with; KernelcastError without them."""
    folder = _PACKAGE.parent / "validation"
    if not (folder / "workloads").is_dir():
        raise KernelcastError(_WHERE_VALIDATION_IS)
    return folder
