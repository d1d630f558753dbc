"""Traces that are forged with valid checksums: each is a result or one clear error."""

from __future__ import annotations

import importlib
from pathlib import Path

from kernelcast.simcore.isa.types import AddressSpace, Unit
from kernelcast.traces.trace_checks import SPACES, UNITS
from tests.drawn_cases import ALL_CASES

FORGERIES = 120 if ALL_CASES else 36


def test_forged_traces_are_used_or_refused(tmp_path: Path) -> None:
    fuzzer = importlib.import_module("tests.traces.fuzz_traces")
    found = fuzzer.fuzz(fuzzer.record_sources(tmp_path), tmp_path, range(FORGERIES))
    assert found.escapes == []
    assert found.outcomes["refused"] > FORGERIES // 4
    assert found.outcomes["used"] > FORGERIES // 10


def test_the_names_that_are_known_are_those_of_the_opcodes() -> None:
    assert set(UNITS) == {unit.value for unit in Unit}
    assert set(SPACES) == {"", *(space.value for space in AddressSpace)}
