"""Where machine code of the memory simulator is kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelcast.simcore.host import compiled


def test_machine_code_is_there_after_the_first_call_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "_cache_folder", lambda package: tmp_path / package.name)

    @compiled.compiled
    def twice(number: int) -> int:
        return 2 * number

    assert not compiled.is_compiled()
    assert twice(21) == 42
    folder = tmp_path / Path(__file__).parent.name
    assert list(folder.rglob("*.nbc"))
    assert compiled.is_compiled()


def test_processes_that_compile_at_once_keep_their_signatures_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both know of no machine code when they begin, and the other one is faster."""
    monkeypatch.setattr(compiled, "_cache_folder", lambda package: tmp_path / package.name)

    def half(number: Any) -> Any:
        return number / 2

    def in_process(number: int) -> Any:
        with monkeypatch.context() as patched:
            patched.setattr(os, "getpid", lambda: number)
            return compiled.compiled(half)

    ours, theirs, later = (in_process(number) for number in (1, 2, 3))
    ours_file = ours._cache._cache_file
    save = ours_file._save_data

    def save_late(*arguments: Any) -> None:
        monkeypatch.setattr(theirs._cache._cache_file, "_load_index", dict)
        theirs(np.float32(1))
        save(*arguments)

    monkeypatch.setattr(ours_file, "_save_data", save_late)
    assert ours(3) == 1.5
    assert later(np.float32(5.5)) == 2.75
    assert sum(later.stats.cache_hits.values()) == 1


def test_each_package_has_machine_code_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "_cache_folder", lambda package: tmp_path / package.name)
    (tmp_path / "timing").mkdir()
    (tmp_path / "timing" / "walk.nbc").touch()
    assert compiled.is_compiled("timing")
    assert not compiled.is_compiled("memory")
