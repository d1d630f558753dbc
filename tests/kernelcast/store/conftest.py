"""A store of its own for each test, empty at first."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelcast.execution import kept_run
from kernelcast.store import results

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of entries; launches are kept however short they are."""
    folder = tmp_path / "results"
    monkeypatch.delenv(results.STORE_VARIABLE, raising=False)
    monkeypatch.setattr(results, "_ROOM", str(folder))
    monkeypatch.setattr(results, "_written", results._Written())
    monkeypatch.setattr(kept_run, "_LEAST_SECONDS", 0.0)
    return folder


@pytest.fixture
def sgemm(tmp_path: Path) -> Path:
    """A workload of 24 thread blocks, which a test may change."""
    text = (EXAMPLES / "sgemm/sgemm16.toml").read_text().partition("[check]")[0]
    (tmp_path / "sgemm.ptx").write_text((EXAMPLES / "sgemm/sgemm.ptx").read_text())
    file = tmp_path / "sgemm.toml"
    file.write_text(text.replace("[sizes.full]", "[sizes.large]").replace("1280", "960"))
    return file
