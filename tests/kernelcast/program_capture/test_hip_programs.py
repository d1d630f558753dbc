"""HIP programs that nvcc builds with headers of ours find their results right without a GPU."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from kernelcast.cli import main
from kernelcast.cli.programs.build import HIP_HEADERS
from kernelcast.simcore.host.disk_cache import cache_folder
from tests.kernelcast.program_capture.building import PROGRAMS, nvcc, runtime_folder
from tests.kernelcast.program_capture.running import captured

DEVICES = ("a100-40gb", "mi210", "h100-sxm")


def built(name: str) -> Path:
    """A program, built as the documentation says."""
    source = PROGRAMS / f"{name}.hip"
    texts = [file.read_bytes() for file in (source, *sorted(HIP_HEADERS.rglob("*.h")))]
    folder = cache_folder() / "capture-programs" / hashlib.sha256(b"".join(texts)).hexdigest()[:20]
    program = folder / name
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f"{name}.{os.getpid()}"
        words = [
            "-x",
            "cu",
            "-std=c++17",
            str(source),
            "-o",
            str(partial),
            "-L",
            str(runtime_folder(folder)),
        ]
        assert main(["build", "--ptx", "80", "--", nvcc(), *words]) == 0
        partial.rename(program)
    return program


@pytest.mark.parametrize(
    ("name", "launches"), [("hip_vectors", 2), ("hip_reduction", 3), ("hip_solver", 600)]
)
def test_results_are_right(name: str, launches: int, capfd: pytest.CaptureFixture[str]) -> None:
    found = captured(capfd, built(name), devices=DEVICES)
    assert found.status == 0, found.told
    assert "all right" in found.told
    assert not found.record["refused"]
    assert len(found.record["launches"]) == launches
    for launch in found.record["launches"]:
        assert [item["device"] for item in launch["estimates"]] == list(DEVICES)
