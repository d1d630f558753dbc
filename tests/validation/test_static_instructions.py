"""The native counting rules against the vendor's assembler: instructions of loopless kernels."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.timing.kernel.instruction_sequences import native_sequences
from kernelcast.validation.workload_suite import SUITE
from tests.drawn_cases import drawn

disassembler: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parent.parent / "simcore" / "disassembler.py"))
)
_LONGEST = 40_000
"""Characters of a file; what is longer has loops, and takes the assembler a second each."""
FILES = drawn(
    [file for file in sorted(SUITE.glob("*/*.ptx")) if len(file.read_text()) <= _LONGEST], 30
)


def has_loops_or_calls(code: list[Any]) -> bool:
    return any(
        item.kind == "CALL" or (item.kind == "BRA" and item.target < item.place) for item in code
    )


def counted(kernel: Kernel) -> int:
    known = native_sequences()
    rows = [row for row in instruction_rows(kernel) if row.is_counted_natively]
    return sum(len(known.get(row.sequence, (row,))) for row in rows)


def ratios(folder: Path) -> Iterator[float]:
    """What we count over what the assembler makes, which ends all code with an idle branch."""
    for file in FILES:
        text = file.read_text()
        kernels = read_ptx(text, file.name).kernels
        for name, code in disassembler.disassembled(text, folder).items():
            if name in kernels and not has_loops_or_calls(code):
                yield counted(kernels[name]) / (sum(item.kind != "NOP" for item in code) - 1)


def test_kernels_without_loops_have_as_many_instructions_as_the_assembler_makes(
    tmp_path: Path,
) -> None:
    """The assembler unrolls loops, which the rules do not (T8)."""
    found = list(ratios(tmp_path))
    assert len(found) > 0.45 * len(FILES)
    assert 0.95 < median(found) < 1.1
    near = [ratio for ratio in found if 0.8 < ratio < 1.25]
    assert len(near) > 0.85 * len(found)
    assert min(found) > 0.7
    assert max(found) < 1.6
