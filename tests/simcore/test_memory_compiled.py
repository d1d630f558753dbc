"""Where machine code of the memory simulator is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelcast.simcore.memory import compiled


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
    monkeypatch.setattr(compiled, "_HOME", Path(__file__).parent)
    assert compiled.is_compiled()


def test_each_package_has_machine_code_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "_cache_folder", lambda package: tmp_path / package.name)
    (tmp_path / "timing").mkdir()
    (tmp_path / "timing" / "walk.nbc").touch()
    assert compiled.is_compiled(Path("simcore/timing"))
    assert not compiled.is_compiled(Path("simcore/memory"))
