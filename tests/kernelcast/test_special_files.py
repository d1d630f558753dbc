"""Files that are none, outputs that are full or closed: one line at once, never a wait."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelcast import __main__ as command

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SAXPY = str(EXAMPLES / "saxpy" / "saxpy.toml")
Output = Callable[..., str]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="FIFOs and devices")


@pytest.mark.parametrize("kind", ["FIFO", "device", "directory"])
@pytest.mark.parametrize("suffix", ["toml", "parquet", "traceg", "traceg.xz"])
def test_sources_that_are_no_files(tmp_path: Path, error: Output, kind: str, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    if kind == "FIFO":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    assert kind in error("estimate", str(path), "--device", "gtx-480")


def test_an_interrupt_while_modules_are_imported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupted(types.ModuleType):
        def __getattr__(self, name: str) -> object:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "kernelcast.cli", Interrupted("kernelcast.cli"))
    assert command.main() == 130
    assert capsys.readouterr().err == "interrupted\n"


def status(command: str) -> tuple[int, str]:
    program = f"{sys.executable} -m kernelcast"
    found = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command.replace("KC", program)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return found.returncode, found.stderr


@pytest.mark.parametrize("form", ["devices", "devices --csv", "--help"])
def test_a_full_disk_is_told_in_a_line(form: str) -> None:
    found, message = status(f"KC {form} > /dev/full")
    assert found == 2
    assert message == "error: cannot write standard output: No space left on device\n"


@pytest.mark.parametrize(
    "form", ["devices | true", "devices --json | true", "devices >&-", "--help | true"]
)
def test_output_that_nobody_wants_is_no_error(form: str) -> None:
    assert status(f"KC {form}") == (0, "")
