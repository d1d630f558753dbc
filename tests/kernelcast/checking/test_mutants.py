"""Each barrier, fence, atomic and bound guard of the suite's workloads, taken away, is reported.

A guard is tried in the launch as it is and with a thread block more in each direction. Where it
keeps no thread out, which a trap in its place shows, its mutant is equivalent.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import kernelcast as kc
from tests.drawn_cases import drawn
from tests.kernelcast.checking.mutants import GUARD, Mutant, mutants, report_of

_WORKLOADS = Path(__file__).resolve().parents[3] / "validation" / "workloads"
_LISTED = Path(__file__).parent / "equivalent_mutants.txt"


@cache
def workload(name: str) -> kc.Workload:
    return kc.load_workload(_WORKLOADS / f"{name}.toml")


@cache
def errors_before(name: str) -> frozenset[tuple[str, int, int]]:
    return frozenset(places(kc.check(workload(name))))


def places(report: kc.CheckReport) -> list[tuple[str, int, int]]:
    """The kind of each error and the lines of its two sides."""
    return [
        (
            item.kind.value,
            item.first.span.line if item.first and item.first.span else 0,
            item.second.span.line if item.second.span else 0,
        )
        for item in report.errors
    ]


def all_mutants() -> list[Mutant]:
    files = sorted(_WORKLOADS.glob("*/*.toml"))
    names = [file.relative_to(_WORKLOADS).with_suffix("").as_posix() for file in files]
    return [mutant for name in names for mutant in mutants(workload(name), name)]


def equivalent() -> dict[str, str]:
    lines = [line for line in _LISTED.read_text().splitlines() if not line.startswith("#")]
    return {name: reason for line in lines for name, _, reason in [line.partition(": ")]}


Grid = tuple[int, int, int]
MUTANTS = all_mutants()
GUARDS = [mutant for mutant in MUTANTS if mutant.what == GUARD]
OTHERS = [mutant for mutant in MUTANTS if mutant.what != GUARD]


def test_there_are_mutants_and_those_listed_exist() -> None:
    names = {mutant.name for mutant in MUTANTS}
    assert len(GUARDS) >= 300
    assert len(OTHERS) >= 250
    assert set(equivalent()) <= names
    assert all(equivalent().values())


@pytest.mark.parametrize("mutant", drawn(OTHERS, 8), ids=lambda mutant: mutant.name)
def test_a_mutant_is_reported_or_listed_as_equivalent(mutant: Mutant) -> None:
    found = places(report_of(mutant, workload(mutant.workload)))
    new = set(found) - errors_before(mutant.workload)
    there = [item for item in found if mutant.line in item[1:]]
    is_listed = mutant.name in equivalent()
    assert bool(new or there) is not is_listed, "listed, but reported" if is_listed else "missed"


@cache
def errors_at(name: str, kernel: str, more: Grid) -> frozenset[tuple[str, int, int]]:
    source = workload(name).kernel.source.read_text()
    return frozenset(places(report_of(Mutant(name, kernel, 0, "", source), workload(name), more)))


def grids(mutant: Mutant) -> list[Grid]:
    """No thread block more, or one in a direction in which the right kernel stays as it is."""
    launch = workload(mutant.workload).make_launch()
    found: list[Grid] = [(0, 0, 0), (1, 0, 0)]
    others: dict[Grid, int] = {(0, 1, 0): launch.grid[1], (0, 0, 1): launch.grid[2]}
    found += [more for more, count in others.items() if count > 1]
    before = errors_at(mutant.workload, mutant.kernel, (0, 0, 0))
    return [more for more in found if errors_at(mutant.workload, mutant.kernel, more) == before]


@pytest.mark.parametrize("mutant", drawn(GUARDS, 5), ids=lambda mutant: mutant.name)
def test_a_guard_that_keeps_a_thread_out_is_missed_by_the_check(mutant: Mutant) -> None:
    used = workload(mutant.workload)
    is_reported = keeps_out = False
    for more in grids(mutant):
        before = errors_at(mutant.workload, mutant.kernel, more)
        is_reported = bool(set(places(report_of(mutant, used, more))) - before)
        if is_reported:
            break
        trapped = report_of(replace(mutant, source=mutant.witness), used, more)
        keeps_out |= "trap" in {item.kind.value for item in trapped.errors}
    is_listed = mutant.name in equivalent()
    assert is_reported or not keeps_out or is_listed
    assert not (is_reported and is_listed)
