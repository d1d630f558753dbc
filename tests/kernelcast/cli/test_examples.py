"""`kernelcast examples` copies what an installation brings; what it does not bring is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelcast import shipped_files

Output = Callable[..., str]


def test_examples_are_copied_and_run(
    output: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "kernelcast estimate examples/saxpy/saxpy.toml" in output("examples")
    assert not list(tmp_path.rglob("__pycache__"))
    assert (tmp_path / "examples" / "triton" / "matmul.py").is_file()
    assert "passed" in output("run", "examples/saxpy/saxpy.toml", "--size", "small", "--check")


def test_a_folder_that_is_there_is_left_alone(error: Output, tmp_path: Path) -> None:
    assert error("examples", str(tmp_path)) == (
        f"error: {tmp_path} exists: name another folder for the examples\n"
    )
    file = tmp_path / "file"
    file.touch()
    assert "cannot write" in error("examples", str(file / "inner"))


def test_examples_within_the_package_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped_files, "_PACKAGE", tmp_path)
    assert shipped_files.examples_folder() == tmp_path.parent / "examples"
    (tmp_path / "examples").mkdir()
    assert shipped_files.examples_folder() == tmp_path / "examples"


def test_an_installation_without_validation_data_says_where_it_is(
    error: Output, output: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped_files, "_PACKAGE", tmp_path / "kernelcast")
    assert "work in a clone of the repository, or in the unpacked" in error("validate", "thesis")
    parts = {item["name"]: item for item in json.loads(output("doctor", "--json"))["components"]}
    assert parts["validation data"]["found"] is None
    assert "clone" in parts["validation data"]["how"]
    assert parts["examples"]["found"] is None
