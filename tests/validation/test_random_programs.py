"""`validation/random_programs.py`, without a GPU: an engine's memory stands for that of one."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import random_programs

from tests.simcore.random_kernels import random_buffers

_COUNT = 3


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory, assembler: None) -> Path:
    path = tmp_path_factory.mktemp("programs") / "pack.zip"
    assert random_programs.main(["make", str(path), "--count", str(_COUNT), "--first", "32"]) == 0
    return path


def _executed(pack: Path) -> list[np.ndarray]:
    with zipfile.ZipFile(pack) as content:
        cubin = content.read("32.cubin")
    found = random_programs._executed((32, _COUNT), cubin, "reference")
    assert not any(isinstance(memory, str) for memory in found)
    return [memory for memory in found if isinstance(memory, np.ndarray)]


def test_pack_has_code_launches_and_buffers(pack: Path) -> None:
    with zipfile.ZipFile(pack) as content:
        assert content.read("32.cubin")[:4] == b"\x7fELF"
        about = json.loads(content.read("about.json"))
        with content.open("buffers.npz") as file:
            sizes = [buffer.nbytes for buffer in np.load(file).values()]
    assert len(about["launches"]) == _COUNT
    assert sizes == [buffer.nbytes for buffer in random_buffers()]


def test_a_byte_that_differs_is_named(
    pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memories = np.stack(_executed(pack))
    assert (memories != np.concatenate(random_buffers())).any(axis=1).all()
    arguments = ["compare", str(pack), str(tmp_path / "found.npz"), "--engine", "reference"]
    np.savez(tmp_path / "found.npz", results=memories)
    assert random_programs.main(arguments) == 0
    capsys.readouterr()
    memories[1, 5] ^= 1
    np.savez(tmp_path / "found.npz", results=memories)
    assert random_programs.main(arguments) == 1
    assert "33 on reference: byte 5 and 0 others" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "threads", "reason"),
    [
        ("ld.local.v2.u64 {%d3, %a3}, [depot+16];", 32, "reads an address as a number"),
        ("shfl.sync.bfly.b32 %r1, %r1, 1, 31, %full;", 33, "exchanges with lanes"),
        ("shfl.sync.bfly.b32 %r1, %r1, 1, 31, %full;", 64, ""),
        ("ld.local.v2.u32 {%r1, %t1}, [depot+8];", 33, ""),
    ],
)
def test_what_is_a_machine_s_own_is_left_out(text: str, threads: int, reason: str) -> None:
    found = random_programs._left_open(text, threads)
    assert found.startswith(reason)
    assert bool(found) == bool(reason)
