"""Every instruction that a census of real PTX found is one that kernels may have.

The census: 907 files with 5,310 different kernels of Rodinia, PolyBench, SHOC, Altis, Parboil,
HeCBench, the CUDA samples, llm.c, ggml, fast.cu, CUTLASS, Triton, Numba, clang and NVRTC, compiled
by their newest compilers. `census_variants.csv` has every mnemonic with the number of kernels that
use it, `census_cover.csv` their first parts, and functions that are called without being there, in
the order in which supporting one more covers most kernels.
"""

from __future__ import annotations

import csv
import re
import runpy
import subprocess
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kernelcast.ptx_frontend import read_ptx

HERE = Path(__file__).parent
assembler: Any = SimpleNamespace(**runpy.run_path(str(HERE / "assembler.py")))
forms: Any = SimpleNamespace(**runpy.run_path(str(HERE / "census_statements.py")))
TARGETS = ("sm_90a", "sm_100a")
UNDEFINED = re.compile(r"_Z\w+|cdp|cudaGraphSetConditional")
"""Functions of other files, and kernels that start kernels: nobody can execute these alone."""


def rows(name: str) -> list[dict[str, str]]:
    with (HERE / "data" / name).open(newline="") as file:
        return list(csv.DictReader(file))


VARIANTS = [row["variant"] for row in rows("census_variants.csv")]
COVER = rows("census_cover.csv")


@cache
def refusals() -> dict[str, str]:
    """Why an instruction is refused, by mnemonic; one that is not, is not there."""
    found: dict[str, str] = {}
    for target in TARGETS:
        statements = {v: forms.statement_for(v) for v in VARIANTS if forms.target_of(v) == target}
        for variant, statement in statements.items():
            module = read_ptx(forms.kernel_with([statement], target), "census.ptx")
            if module.rejected:
                found[variant] = str(module.rejected["k"][0])
    return found


def test_every_instruction_of_the_census_is_supported() -> None:
    assert len(VARIANTS) == 861
    assert refusals() == {}


@pytest.mark.parametrize("name", ["vprintf", "malloc", "free", "__assertfail", "indirect"])
def test_functions_that_the_driver_provides_are_called(name: str) -> None:
    text = forms.kernel_with([forms.call_of(name)], "sm_100a")
    assert read_ptx(text, "census.ptx").rejected == {}


def test_the_kernels_of_the_census_are_covered() -> None:
    """Enough are covered; a kernel that lacks two things is counted twice here."""
    wanting = {variant.split(".")[0] for variant in refusals()}
    kernels = int(COVER[-1]["kernels_covered"])
    roots = {row["root"] for row in COVER if ":" not in row["root"]}
    assert roots <= {variant.split(".")[0] for variant in VARIANTS}
    uncovered = [
        int(row["kernels_using"])
        for row in COVER
        if row["root"] in wanting or UNDEFINED.fullmatch(row["root"].removeprefix("call:"))
    ]
    assert kernels == 5310
    assert 1 - sum(uncovered) / kernels > 0.99


@pytest.mark.parametrize("target", TARGETS)
def test_the_statements_are_right(target: str, tmp_path: Path) -> None:
    """The vendor's assembler takes each of them."""
    statements = [forms.statement_for(v) for v in VARIANTS if forms.target_of(v) == target]
    file = tmp_path / "census.ptx"
    file.write_text(forms.kernel_with(statements, target))
    command = [
        assembler.ptxas(),
        "-arch",
        target,
        "-O0",
        "-o",
        str(tmp_path / "census.cubin"),
        str(file),
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[:2000]
