"""What nvcc makes of small kernels: right forms are clean, planted bugs are found."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.execution.runnable import LoadedModule
from tests.drawn_cases import drawn

_FOLDER = Path(__file__).parent / "cuda"
_KERNEL = re.compile(r"^K\((\w+), (\d), (\w+)\)", re.MULTILINE)
_WORDS, _COUNT, _BLOCKS, _THREADS = 4096, 500, 4, 128
_TILE_BYTES = 16 * 17 * 4
CASES = [
    (file.stem, f"{name}_{bug}", kind.replace("_", "-"))
    for file in sorted(_FOLDER.glob("*.cu"))
    for name, bug, kind in _KERNEL.findall(file.read_text())
]


@cache
def module(name: str) -> LoadedModule:
    return kc.load_ptx((_FOLDER / f"{name}.ptx").read_text())


def test_every_kernel_of_the_source_was_compiled() -> None:
    assert len(CASES) >= 100
    for file, name, _ in CASES:
        assert name in module(file)


@pytest.mark.parametrize(("file", "name", "kind"), drawn(CASES, 30), ids=lambda value: str(value))
def test_bugs_are_found_and_right_kernels_are_clean(file: str, name: str, kind: str) -> None:
    args = [np.arange(_WORDS, dtype=np.uint32), *(np.zeros(_WORDS, np.uint32) for _ in "bc")]
    report = kc.check(
        module(file)[name],
        args=[*args, _COUNT],
        grid=_BLOCKS,
        block=_THREADS,
        shared_bytes=_TILE_BYTES if name.startswith("transpose") else 0,
        limits=kc.Limits(seconds=None, instructions_per_warp=1 << 16),
    )
    found = {item.kind.value for item in report.errors}
    if kind == "right":
        assert not found, report.errors
    else:
        assert kind in found
