"""Mechanical mutants of a workload's PTX: each barrier, atomic, fence and guard changed in turn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import kernelcast as kc
from kernelcast.execution.runnable import RunnableKernel
from tests.kernelcast.checking.bound_guards import unguarded

__all__ = ["GUARD", "Mutant", "mutants", "report_of"]

_ENTRY = re.compile(r"\.entry\s+(\w+)")
_BARRIER = re.compile(r"^\s*(?:bar|barrier)\.(?:cta\.)?(?:sync|warp)\b")
_FENCE = re.compile(r"^\s*(?:membar|fence)\b")
_ATOMIC = re.compile(r"^(\s*)(@!?%p\d+\s+)?(atom|red)((?:\.\w+)*)\s+(.*);")
_BRANCH = re.compile(r"^\s*@(!?)(%\w+)\s+bra")
GUARD = "without the guard"


@dataclass(frozen=True, slots=True)
class Mutant:
    """`line` of the source, from 1; `what` was done to it; `source`: the whole text.

    `witness`, of a guard: the text in which threads that it keeps out trap.
    """

    workload: str
    kernel: str
    line: int
    what: str
    source: str
    witness: str = ""

    @property
    def name(self) -> str:
        """What lists call it."""
        return f"{self.workload}:{self.line} {self.what}"


def mutants(workload: kc.Workload, name: str) -> Iterator[Mutant]:
    """All mutants of the kernel that a workload runs; none of sources that are not PTX."""
    if workload.kernel.source.suffix != ".ptx":
        return
    text = workload.kernel.source.read_text()
    entry = workload.kernel.entry or _ENTRY.findall(text)[0]
    lines = text.splitlines()
    first, end = _extent(lines, entry)
    guards = unguarded(lines[first:end])
    for at in range(first, end):
        changes = list(_changes(lines[at]))
        if at - first in guards:
            yield _without_guard(name, entry, lines, at, guards[at - first])
        for what, text in changes:
            yield Mutant(name, entry, at + 1, what, _with_line(lines, at, text))


def _without_guard(name: str, entry: str, lines: list[str], at: int, instead: str) -> Mutant:
    found = _BRANCH.match(lines[at])
    assert found
    negated = bool(found[1]) is not bool(instead)
    trap = f"@{'!' * negated}{found[2]} trap; {lines[at]}"
    removed, witness = (_with_line(lines, at, text) for text in (instead, trap))
    return Mutant(name, entry, at + 1, GUARD, removed, witness)


def _with_line(lines: list[str], at: int, text: str) -> str:
    return "\n".join([*lines[:at], text, *lines[at + 1 :]]) + "\n"


def _extent(lines: list[str], entry: str) -> tuple[int, int]:
    first = next(i for i, line in enumerate(lines) if entry in _ENTRY.findall(line))
    following = (i for i in range(first + 1, len(lines)) if _ENTRY.search(lines[i]))
    return first, next(following, len(lines))


def _changes(line: str) -> Iterator[tuple[str, str]]:
    if _BARRIER.match(line):
        yield "without the barrier", ""
    if _FENCE.match(line):
        yield "without the fence", ""
    found = _ATOMIC.match(line)
    if found:
        indent, guard, root, parts, operands = found.groups()
        yield "without atomicity", _plain(indent, guard or "", root, parts, operands)
        if ".global" in parts and not {"cta", "sys"} & set(parts.split(".")):
            weaker = f"{indent}{guard or ''}{root}.relaxed.cta{parts} {operands};"
            yield "with the scope of a thread block", weaker


def _plain(indent: str, guard: str, root: str, parts: str, operands: str) -> str:
    """A load and a store in place of an atomic; the value stored is one of its operands."""
    space = next((part for part in ("global", "shared") if part in parts.split(".")), "")
    kind = parts.split(".")[-1]
    items = [item.strip() for item in re.split(r",(?![^\[]*\])", operands)]
    space = f".{space}" if space else ""
    load = ""
    if root == "atom":
        load = f"{guard}ld{space}.{kind} {items[0]}, {items[1]}; "
        items = items[1:]
    return f"{indent}{load}{guard}st{space}.{kind} {items[0]}, {items[-1]};"


def report_of(
    mutant: Mutant, workload: kc.Workload, more: tuple[int, int, int] = (0, 0, 0)
) -> kc.CheckReport:
    """What a check says of a mutant, at the workload's smallest size.

    `more`: thread blocks by which the grid is larger than it need be.
    """
    module = kc.load_ptx(mutant.source, str(Path(mutant.workload).name))
    kernel: RunnableKernel = module[mutant.kernel]
    launch = workload.make_launch(kernel=kernel.kernel)
    limits = kc.Limits(seconds=None, instructions_per_warp=1 << 18)
    return kc.check(
        kernel,
        args=launch.arguments,
        grid=tuple(count + added for count, added in zip(launch.grid, more, strict=True)),
        block=launch.thread_block,
        shared_bytes=launch.dynamic_shared_bytes,
        limits=limits,
    )
