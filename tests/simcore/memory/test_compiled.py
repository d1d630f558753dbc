"""Machine code of the simulators: where it is kept, and what of it is believed."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelcast.simcore.host import compiled


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def half(number: Any) -> Any:
    return number / 2


def hits(function: Any) -> int:
    return sum(function.stats.cache_hits.values())


def test_machine_code_is_there_after_the_first_call_only(folder: Path) -> None:
    here = Path(__file__).parent
    assert not compiled.is_compiled(here)
    assert compiled.compiled(half)(21) == 10.5
    assert list(folder.glob("compiled-*.nbc"))
    assert compiled.is_compiled(here)
    assert not compiled.is_compiled()


def test_each_signature_is_kept_and_found_again() -> None:
    first, later = compiled.compiled(half), compiled.compiled(half)
    assert first(3) == 1.5
    assert first(np.float32(5.5)) == 2.75
    assert later(np.float32(7.5)) == 3.75
    assert later(5) == 2.5
    assert hits(first) == 0
    assert hits(later) == 2


def test_a_changed_source_is_compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled.compiled(half)(3) == 1.5
    monkeypatch.setattr(compiled, "_sources", lambda package: "compiled-other-")
    other: Any = compiled.compiled(half)
    assert other(3) == 1.5
    assert hits(other) == 0


@pytest.mark.parametrize("place", [0, 40, -1])
def test_damaged_machine_code_is_never_loaded(
    folder: Path, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    """Neither run nor unpickled: numba's own cache would do both."""
    compiled.compiled(half)(3)
    (file,) = folder.glob("*.nbc")
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    with monkeypatch.context() as patched:
        patched.setattr(pickle, "loads", lambda data: pytest.fail("decoded"))
        again: Any = compiled.compiled(half)
        assert again(3) == 1.5
    assert hits(again) == 0
    later: Any = compiled.compiled(half)
    assert later(3) == 1.5
    assert hits(later) == 1


def test_a_ufunc_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba import float64

    signatures = [float64(float64)]
    assert compiled.compiled_ufunc(half, signatures)(np.full(3, 5.0)).tolist() == [2.5] * 3
    monkeypatch.setattr(compiled, "write_checked", lambda name, data: pytest.fail("compiled"))
    assert compiled.compiled_ufunc(half, signatures)(np.full(2, 7.0)).tolist() == [3.5] * 2
