"""Trust in workload files: whose one is, and so what it may do; docs/trust.md has the table.

A workload can name Python functions, compiler options and files anywhere. One that the user names,
on the command line or in a call, may do all that, as a script of theirs may. One that another file
names, such as a table of measurements, is foreign until the user says otherwise: it cannot run
code, nor read files outside of its own folder.
"""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from kernelcast.errors import WorkloadError

__all__ = ["TO_ALLOW", "Trust", "file_of", "is_within", "refuse_python"]

TO_ALLOW = "; --trust (trust=Trust.OWN) allows it, for files whose author you trust"


class Trust(Enum):
    """OWN: the user named the file or vouches for it. FOREIGN: something else named it."""

    OWN = "own"
    FOREIGN = "foreign"


def refuse_python(trust: Trust, where: str) -> None:
    """Raises WorkloadError for a function of Python's in a foreign file."""
    if trust is Trust.FOREIGN:
        raise WorkloadError(f"{where}: a foreign workload may not run Python{TO_ALLOW}")


def file_of(trust: Trust, folder: Path, name: str, where: str) -> Path:
    """`folder/name`; WorkloadError where a foreign file leaves its folder, through links too."""
    path = folder / name
    if trust is Trust.FOREIGN and not is_within(path, folder):
        raise WorkloadError(
            f"{where}: {name} is outside of the foreign workload's folder{TO_ALLOW}"
        )
    return path


def is_within(path: Path, folder: Path) -> bool:
    """Whether `path`, links followed, is `folder` or lies in it."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # a loop of links, a zero byte
        return False
