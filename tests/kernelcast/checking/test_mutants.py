"""Each barrier, fence and atomic of the suite's workloads, taken away in turn, is reported.

Guards are mutants, too (`mutants.py`), but one that decides nothing in a launch is no defect of it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import kernelcast as kc
from tests.drawn_cases import drawn
from tests.kernelcast.checking.mutants import Mutant, mutants, report_of

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
    found = [mutant for name in names for mutant in mutants(workload(name), name)]
    return [mutant for mutant in found if mutant.what != "without the guard"]


def equivalent() -> dict[str, str]:
    lines = [line for line in _LISTED.read_text().splitlines() if not line.startswith("#")]
    return {name: reason for line in lines for name, _, reason in [line.partition(": ")]}


MUTANTS = all_mutants()


def test_there_are_mutants_and_those_listed_exist() -> None:
    names = {mutant.name for mutant in MUTANTS}
    assert len(names) >= 100
    assert set(equivalent()) <= names
    assert all(equivalent().values())


@pytest.mark.parametrize("mutant", drawn(MUTANTS, 8), ids=lambda mutant: mutant.name)
def test_a_mutant_is_reported_or_listed_as_equivalent(mutant: Mutant) -> None:
    found = places(report_of(mutant, workload(mutant.workload)))
    new = set(found) - errors_before(mutant.workload)
    there = [item for item in found if mutant.line in item[1:]]
    is_listed = mutant.name in equivalent()
    assert bool(new or there) is not is_listed, "listed, but reported" if is_listed else "missed"
