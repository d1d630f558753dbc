"""Plans that take seconds, and a store of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"
SAXPY = EXAMPLES / "saxpy" / "saxpy.toml"


@pytest.fixture
def plan(tmp_path: Path) -> Callable[..., Path]:
    """(text of the plan behind its first kernel, top) -> a plan file with saxpy in size small."""

    def write(behind: str = "", top: str = 'devices = ["a100-40gb", "gtx-480"]') -> Path:
        file = tmp_path / "plan.toml"
        file.write_text(
            f'{top}\ncode = "source"\n[[kernels]]\nworkload = "{SAXPY}"\nsize = "small"\n{behind}\n'
        )
        return file

    return write


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for processes that a test starts, with a store."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("KERNELCAST_CACHE", str(folder))
    monkeypatch.delenv("KERNELCAST_STORE")
    return folder
