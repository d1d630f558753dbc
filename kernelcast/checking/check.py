"""Checks a launch of a workload or a kernel under one or more schedules."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from kernelcast.checking.suppressions import Suppression, read_suppressions
from kernelcast.errors import KernelcastError
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.progress import Progress
from kernelcast.simcore.checking.checked_launch import Settings, check_launch, schedules
from kernelcast.simcore.checking.findings import Finding
from kernelcast.simcore.engine import check_fits
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.simcore.launch.launch import Argument, Launch, Limits
from kernelcast.simcore.launch.tensor_maps import TensorMap
from kernelcast.workload.file import load_workload
from kernelcast.workload.launch_sizes import LaunchDescription, Size
from kernelcast.workload.workload import Workload

__all__ = [
    "CheckOptions",
    "CheckReport",
    "Found",
    "check",
    "chosen_options",
    "found_in",
    "reported",
]

_MOST_SCHEDULES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """How a launch is checked.

    `schedules`: how many orders of thread blocks and warps are tried: as they are, reversed, then
    random ones from `seed`. `suppressions`: a file, or what one says. `warp_width`: threads.
    `write` gets what the kernel prints. `unwritten`: names of buffers, or patterns of them, whose
    contents before the launch are garbage, which nobody may read. `not_finite`: NaN and infinity
    that are computed of finite numbers are found, too; `overflow`: indices of 32 bits that wrap
    around and become part of an address.
    """

    schedules: int = 1
    seed: int = 0
    suppressions: Path | str | Sequence[Suppression] = ()
    unwritten: Sequence[str] = ()
    not_finite: bool = False
    overflow: bool = False
    warp_width: int = 32
    limits: Limits = field(default_factory=Limits)
    progress: Progress | None = None
    write: Callable[[str], object] | None = None

    def accepted(self) -> tuple[Suppression, ...]:
        """The suppressions; KernelcastError for a file that cannot be used."""
        if isinstance(self.suppressions, (str, Path)):
            return read_suppressions(Path(self.suppressions))
        return tuple(self.suppressions)


@dataclass(frozen=True, repr=False)
class CheckReport:
    """What was found in `schedules` of `launches`, each place once.

    `suppressed`: findings that the suppressions accept; `shadow_bytes`: the memory that it took.
    """

    kernel: str
    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    schedules: tuple[str, ...]
    shadow_bytes: int
    launches: int = 1

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are defects; races of equal values are not."""
        return tuple(item for item in self.findings if not item.kind.is_benign)

    @property
    def is_clean(self) -> bool:
        """Whether there is no defect."""
        return not self.errors

    def __repr__(self) -> str:
        notes = len(self.findings) - len(self.errors)
        told = "clean" if self.is_clean else f"{len(self.errors)} findings"
        also = f", {notes} notes" if notes else ""
        count = len(self.schedules)
        return f"<CheckReport of {self.kernel}: {told}{also}, {count} schedule{'s' * (count != 1)}>"


def check(
    checked: str | Path | Workload | RunnableKernel,
    size: str | None = None,
    *,
    args: Sequence[Argument] = (),
    grid: Size | None = None,
    block: Size | None = None,
    shared_bytes: int = 0,
    options: CheckOptions | None = None,
    **keywords: Any,
) -> CheckReport:
    """Executes a launch and follows each access: races, uninitialised reads, barriers, bounds.

    `checked`: a workload or its file, at a `size`; or a kernel with `args`, `grid`, `block` and
    `shared_bytes` as `run` takes them. Buffers stay as they are. Other keywords are those of
    CheckOptions. KernelcastError for what cannot be executed at all.
    """
    chosen = chosen_options(options, keywords)
    if isinstance(checked, RunnableKernel):
        launch = LaunchDescription(grid, block, None, None, shared_bytes).launch(
            checked.kernel, args
        )
        return _checked(checked.kernel, lambda: _with_copies(launch), chosen)
    workload = checked if isinstance(checked, Workload) else load_workload(checked)
    kernel = workload.load_kernel().kernel
    return _checked(kernel, lambda: workload.make_launch(size, kernel=kernel), chosen)


def chosen_options(options: CheckOptions | None, keywords: dict[str, Any]) -> CheckOptions:
    """The options with keywords; KernelcastError for a keyword or a number that is none."""
    known = CheckOptions.__dataclass_fields__
    for name in keywords:
        if name not in known:
            raise KernelcastError(f"check takes no {name!r}; known: {', '.join(known)}")
    chosen = replace(options or CheckOptions(), **keywords)
    if not 1 <= chosen.schedules <= _MOST_SCHEDULES:
        raise KernelcastError(f"schedules must be 1 to {_MOST_SCHEDULES}, got {chosen.schedules}")
    return chosen


def _with_copies(launch: Launch) -> Launch:
    """The launch on copies of its arrays; one array passed twice is one copy."""
    copies: dict[int, Any] = {}
    arguments = []
    for value in launch.arguments:
        if isinstance(value, np.ndarray):
            value = copies.setdefault(id(value), value.copy())
        elif isinstance(value, TensorMap):
            array = copies.setdefault(id(value.array), value.array.copy())
            value = replace(value, array=array)
        arguments.append(value)
    return replace(launch, arguments=tuple(arguments))


@dataclass
class Found:
    """What launches of one kernel did wrong, in all schedules, not yet by place."""

    findings: list[Finding] = field(default_factory=list)
    schedules: tuple[str, ...] = ()
    shadow_bytes: int = 0
    launches: int = 0

    def add(self, other: Found) -> None:
        """More launches of the kernel."""
        self.findings += other.findings
        self.schedules = max(self.schedules, other.schedules, key=len)
        self.shadow_bytes = max(self.shadow_bytes, other.shadow_bytes)
        self.launches += other.launches


def _checked(kernel: Kernel, make: Callable[[], Launch], options: CheckOptions) -> CheckReport:
    accepted = options.accepted()
    return reported(kernel, found_in(kernel, make, options), accepted)


def found_in(kernel: Kernel, make: Callable[[], Launch], options: CheckOptions) -> Found:
    """What a launch does wrong; `make` makes it anew each time, with what it begins with."""
    launch = make()
    check_fits(kernel, launch, options.warp_width)
    warps = -(-launch.threads_per_thread_block // options.warp_width)
    tried = schedules(options.schedules, launch.thread_blocks, warps, options.seed)
    settings = Settings(
        options.warp_width,
        options.limits,
        options.write or sys.stdout.write,
        options.progress,
        tuple(options.unwritten),
        options.not_finite,
        options.overflow,
    )
    found = Found(schedules=tuple(schedule.name for schedule in tried), launches=1)
    for number, schedule in enumerate(tried):
        run = check_launch(kernel, make() if number else launch, settings, schedule, make)
        found.findings += run.findings
        found.shadow_bytes = max(found.shadow_bytes, run.shadow_bytes)
    return found


def reported(kernel: Kernel, found: Found, accepted: Sequence[Suppression]) -> CheckReport:
    """The report of a kernel: each place once, and what is accepted apart."""
    name = source_name(kernel.name)
    unique = list(_unique(found.findings))
    covered = [any(item.covers(f, name) for item in accepted) for f in unique]
    return CheckReport(
        name,
        tuple(f for f, is_covered in zip(unique, covered, strict=True) if not is_covered),
        tuple(f for f, is_covered in zip(unique, covered, strict=True) if is_covered),
        found.schedules,
        found.shadow_bytes,
        found.launches,
    )


def _unique(findings: Sequence[Finding]) -> Iterator[Finding]:
    """One finding for each kind and pair of places, in the order in which they were found.

    A race of the same two accesses is one whichever came first, and no note beside an error.
    """
    seen: dict[object, int] = {}
    kept: list[Finding] = []
    for item in sorted(findings, key=lambda item: item.kind.is_benign):
        sides = [item.second] if item.first is None else [item.first, item.second]
        places = frozenset((side.mnemonic, str(side.place and side.place.place)) for side in sides)
        family = "race" if "race" in item.kind.value else item.kind.value
        key = family, item.space, places, item.message if not any(places) else ""
        if key in seen:
            before = kept[seen[key]]
            kept[seen[key]] = replace(before, count=before.count + item.count)
            continue
        seen[key] = len(kept)
        kept.append(item)
    return iter(kept)
