"""The result of a TopDown analysis: IPC_MAX of an SM, in parts that were used or lost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kernelcast.simcore.isa.ir.source_names import source_name

__all__ = ["LEVELS", "Part", "TopDown"]

LEVELS = (1, 2, 3)
_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Part:
    """`ipc` of an SM and its `percent` of IPC_MAX; `parts`, where there are any, add up to it."""

    name: str
    ipc: float
    percent: float
    parts: tuple[Part, ...] = ()

    def to_level(self, level: int) -> Part:
        """The part without what lies below `level` levels, of which its own is the first."""
        below = tuple(part.to_level(level - 1) for part in self.parts) if level > 1 else ()
        return replace(self, parts=below)


@dataclass(frozen=True)
class TopDown:
    """One kernel on one GPU; ValueError unless the parts add up to `ipc_max` on every level.

    `device` is a device's name, or a compute capability where only that is known.
    """

    kernel: str
    device: str
    ipc_max: float
    parts: tuple[Part, ...]
    assumptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_sum("IPC_MAX", self.ipc_max, self.parts)

    def __getitem__(self, name: str) -> Part:
        """The part of that name on any level; KeyError when there is none."""
        for path, part in self.walk():
            if path[-1] == name:
                return part
        raise KeyError(name)

    def __str__(self) -> str:
        """A line for each part, but on the last level only where it has a share."""
        lines = [f"{source_name(self.kernel)} on {self.device}: IPC_MAX {self.ipc_max:g}"]
        for path, part in self.walk():
            if len(path) == LEVELS[-1] and not part.ipc:
                continue
            name = "  " * len(path) + part.name
            lines.append(f"{name:<34}{part.ipc:7.3f}{part.percent:7.1f} %")
        return "\n".join(lines)

    def walk(self) -> Iterator[tuple[tuple[str, ...], Part]]:
        """Every part below the names on the way to it, parents before their parts."""
        for part in self.parts:
            yield from _walk((), part)

    def to_level(self, level: int) -> TopDown:
        """The analysis without what lies below `level`, 1 to 3."""
        return replace(self, parts=tuple(part.to_level(level) for part in self.parts))


def _walk(above: tuple[str, ...], part: Part) -> Iterator[tuple[tuple[str, ...], Part]]:
    path = (*above, part.name)
    yield path, part
    for below in part.parts:
        yield from _walk(path, below)


def _check_sum(name: str, whole: float, parts: tuple[Part, ...]) -> None:
    total = math.fsum(part.ipc for part in parts)
    if not abs(total - whole) <= _SUM_TOLERANCE:
        raise ValueError(f"the parts of {name} add up to {total:.12g}, not to {whole:.12g}")
    for part in parts:
        if part.parts:
            _check_sum(part.name, part.ipc, part.parts)
