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
from kernelcast.errors import InputError, LimitExceeded
from kernelcast.inputs.clang import Clang, run_clang
from kernelcast.inputs.included_files import included_files
from kernelcast.simcore.host.deadline import time_limit

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


@pytest.mark.parametrize("directive", ['"a.h"', '"{folder}/a.h"', "<{folder}/a.h>", "<a.h>"])
@pytest.mark.parametrize("kind", ["FIFO", "device"])
def test_included_files_that_are_none(tmp_path: Path, directive: str, kind: str) -> None:
    """A compiler would wait for ever."""
    if kind == "FIFO":
        os.mkfifo(tmp_path / "a.h")
    else:
        (tmp_path / "a.h").symlink_to("/dev/zero")
    source = tmp_path / "k.cl"
    text = f"#include {directive.format(folder=tmp_path)}\n".encode()
    with pytest.raises(InputError, match=f"a.h: not a regular file but a {kind}"):
        included_files(source, text, [tmp_path] if directive == "<a.h>" else [])


def test_a_compiler_that_does_not_end(tmp_path: Path) -> None:
    program = tmp_path / "clang"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    with time_limit(0.1), pytest.raises(LimitExceeded, match=r"still compiling k\.cl after 0\.1 s"):
        run_clang(Clang(str(program), 18, ""), [], "k.cl")


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
        timeout=600,
        check=False,
    )
    return found.returncode, found.stderr


@pytest.mark.parametrize("form", ["devices", "devices --csv", "--help"])
def test_a_full_disk_is_told_in_a_line(form: str) -> None:
    found, message = status(f"KC {form} > /dev/full")
    assert found == 2
    assert message == "error: cannot write standard output: No space left on device\n"


@pytest.mark.parametrize("form", ["devices", "devices --csv", "--help", f"run {SAXPY}"])
def test_a_closed_output_is_told_in_a_line(form: str) -> None:
    message = "error: cannot write standard output: Bad file descriptor\n"
    assert status(f"KC {form} >&-") == (2, message)
    assert status(f"KC {form} >&- 2>&-") == (2, "")


@pytest.mark.parametrize("form", ["devices | true", "devices --json | true", "--help | true"])
def test_output_that_nobody_wants_is_no_error(form: str) -> None:
    assert status(f"KC {form}") == (0, "")
