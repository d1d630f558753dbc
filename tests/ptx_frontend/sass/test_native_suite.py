"""Workloads do as machine code what NumPy says; `make test-all` runs all of them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.ptx_frontend.sass import native_suite
from tests.ptx_frontend.sass.native_programs import needs_tools

DRAWN = random.Random(23).sample(
    [(f, a) for f in native_suite.files() for a in native_suite.ARCHITECTURES], 4
)


@pytest.mark.parametrize(("file", "architecture"), DRAWN, ids=[f"{f.stem} {a}" for f, a in DRAWN])
def test_a_workload_is_right_as_machine_code(file: Path, architecture: str) -> None:
    needs_tools(architecture)
    result = native_suite.native_results(file, architecture)
    assert not result.failure
    assert not result.inexact
