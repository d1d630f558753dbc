"""`kernelcast doctor`: what is there is found, and what is not has the command that brings it."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from kernelcast.installation import components

Output = Callable[..., str]


def found(output: Output) -> dict[str, Any]:
    record = json.loads(output("doctor", "--json"))
    return {item["name"]: item for item in record["components"]}


def test_what_is_there_is_found(output: Output) -> None:
    parts = found(output)
    assert parts["Python"]["found"] == platform.python_version()
    assert parts["pandas"]["found"] == metadata.version("pandas")
    assert all(item["adds"] for item in parts.values())
    assert Path(parts["examples"]["place"]).is_dir()
    assert output("doctor", "-v").split()[:4] == ["there", "is", "at", "for"]
    text = output("doctor")
    assert "there is" in text
    assert platform.python_version() in text


def test_what_is_missing_has_its_command(
    output: Output, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("KERNELCAST_CLANG", "no-such-clang")
    monkeypatch.setenv("KERNELCAST_STORE", "off")
    parts = found(output)
    for name in ("C compiler", "OpenCL C", "store"):
        assert parts[name]["found"] is None
        assert parts[name]["how"]
    assert "apt install gcc" in output("doctor")


def test_a_cache_that_cannot_be_written_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KERNELCAST_STORE", "1GB")
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    (store,) = (item for item in components() if item.name == "store")
    assert not store.is_found
    assert str(tmp_path) in store.how
