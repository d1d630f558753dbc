"""The tools of CUDA: which are found, how older ones are unpacked, and how their runs end."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from kernelcast.errors import CompilationError, InputError, LimitExceeded
from kernelcast.inputs.native import assembler, disassembler, older_tools, tools
from kernelcast.inputs.native.assembler import assemble
from kernelcast.inputs.native.disassembler import disassemble
from kernelcast.inputs.native.older_tools import fetch_older_tools, unpack_programs
from kernelcast.inputs.native.tools import Toolset, toolset
from kernelcast.simcore.host.deadline import time_limit
from kernelcast.simcore.host.private_folder import PrivateFolder
from tests.ptx_frontend.sass.native_programs import needs_tools

_FOLDER = "triton/backends/nvidia/bin"
_PTX = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"
needs_linux = pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine != "x86_64", reason="packaged for Linux only"
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KERNELCAST_CUDA12_TOOLS", raising=False)
    return tmp_path / "cache"


def program(version: str) -> bytes:
    return f"#!/bin/sh\necho 'release {version.rpartition('.')[0]}, V{version}'\n".encode()


def wheel(folder: Path, changed: Mapping[str, bytes] | None = None) -> Path:
    """A wheel with two programs; `changed` are contents that its RECORD knows nothing of."""
    files = {f"{_FOLDER}/{name}": program("12.8.93") for name in ("ptxas", "nvdisasm")}
    rows = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        rows.append(f"{name},sha256={digest},{len(content)}")
    path = folder / "triton-3.4.0-cp311-cp311-manylinux_2_28_x86_64.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**files, **(changed or {})}.items():
            archive.writestr(name, content)
        archive.writestr("triton-3.4.0.dist-info/RECORD", "\n".join(rows) + "\n")
    return path


@needs_linux
def test_older_tools_are_unpacked_where_only_the_user_writes(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: Callable[..., str]
) -> None:
    monkeypatch.setattr(older_tools, "_downloaded", lambda _scratch: wheel(tmp_path))
    assert toolset(70) is None
    monkeypatch.setattr(tools, "_newest", lambda: None)
    record = json.loads(output("tools", "--fetch-cuda12", "--json", status=1))
    older = record["tools"][:2]
    assert [tool["name"] for tool in older] == ["ptxas", "nvdisasm"]
    assert [tool["version"] for tool in older] == ["12.8.93"] * 2
    assert (older[0]["first_architecture"], older[0]["last_architecture"]) == (50, 72)
    assert toolset(70) == Toolset(cache / "cuda12" / "ptxas", cache / "cuda12" / "nvdisasm")
    for file in (cache, cache / "cuda12", cache / "cuda12" / "ptxas"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o700
    assert sorted(path.name for path in cache.iterdir()) == ["cuda12"]


def test_a_folder_that_others_write_gives_no_tools(cache: Path, tmp_path: Path) -> None:
    unpack_programs(wheel(tmp_path), PrivateFolder(cache / "cuda12"))
    assert toolset(70) is not None
    (cache / "cuda12").chmod(0o777)
    assert toolset(70) is None


@needs_linux
def test_a_folder_that_others_write_is_not_unpacked_into(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(older_tools, "_downloaded", lambda _scratch: wheel(tmp_path))
    (cache / "cuda12").mkdir(parents=True)
    (cache / "cuda12").chmod(0o777)
    with pytest.raises(InputError, match=r"cuda12 cannot hold the tools: others can write to"):
        fetch_older_tools()
    assert list((cache / "cuda12").iterdir()) == []


@pytest.mark.parametrize("name", ["ptxas", "nvdisasm"])
def test_a_program_that_its_record_does_not_know_is_refused(tmp_path: Path, name: str) -> None:
    target = PrivateFolder(tmp_path / "tools")
    changed = wheel(tmp_path, {f"{_FOLDER}/{name}": b"something else"})
    with pytest.raises(InputError, match=f"{name} is not what its RECORD says"):
        unpack_programs(changed, target)
    assert not (tmp_path / "tools").exists()


def test_damaged_wheels_are_refused(tmp_path: Path) -> None:
    file = wheel(tmp_path)
    content = file.read_bytes()
    for damaged in (content[:100], b"", content[: len(content) // 2], b"PK\x03\x04" + bytes(99)):
        file.write_bytes(damaged)
        with pytest.raises(InputError, match="is damaged"):
            unpack_programs(file, PrivateFolder(tmp_path / "tools"))
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{_FOLDER}/ptxas", b"")
    with pytest.raises(InputError, match="is damaged: it has no RECORD"):
        unpack_programs(file, PrivateFolder(tmp_path / "tools"))


@needs_linux
def test_without_network_there_is_one_line(
    cache: Path, monkeypatch: pytest.MonkeyPatch, error: Callable[..., str]
) -> None:
    assert not cache.exists()

    def without_network(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        assert {"--require-hashes", "--no-deps", "--only-binary=:all:"} <= set(command)
        said = "WARNING: retrying\nERROR: Could not find a version\nERROR: No matching\n"
        return subprocess.CompletedProcess(command, 1, "", said)

    monkeypatch.setattr(subprocess, "run", without_network)
    message = error("tools", "--fetch-cuda12")
    assert message == "error: pip cannot download triton==3.4.0: Could not find a version\n"


def test_missing_tools_say_how_to_get_them(
    cache: Path, monkeypatch: pytest.MonkeyPatch, output: Callable[..., str]
) -> None:
    assert not cache.exists()
    monkeypatch.setattr(tools, "_newest", lambda: None)
    found = output("tools", status=1)
    assert "sm_50 to sm_72" in found
    assert "kernelcast tools --fetch-cuda12" in found
    assert "pip install 'kernelcast[native]'" in found
    for architecture, how in ((70, "kernelcast tools --fetch-cuda12"), (80, r"kernelcast\[nat")):
        with pytest.raises(InputError, match=how):
            assemble(_PTX, f"sm_{architecture}", "k.ptx")


def test_the_assembler_tells_the_place(tmp_path: Path) -> None:
    needs_tools()
    broken = _PTX.replace("{ ret; }", "{\n.reg .b32 a;\n  add.s32 a, b, 3;\nret; }")
    with pytest.raises(
        CompilationError, match="for sm_80, kernel 'k': Arguments mismatch for instruction 'add'"
    ) as caught:
        assemble(broken, "sm_80", "k.ptx")
    assert caught.value.span is not None
    assert (caught.value.span.file, caught.value.span.line) == ("k.ptx", 6)
    assert caught.value.span.text == "  add.s32 a, b, 3;"
    with pytest.raises(CompilationError, match=r"^k.ptx for sm_80: ptxas: .*option"):
        assemble(_PTX, "sm_80", "k.ptx", ["--no-such-option"])


def fake(folder: Path, script: str) -> Toolset:
    file = folder / "tool"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o700)
    return Toolset(file, file)


@pytest.mark.skipif(sys.platform == "win32", reason="scripts of a shell")
def test_the_assembler_reads_whole_lines(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ptxas breaks down now and then where the end of the last line lacks."""
    assert not cache.exists()
    seen = tmp_path / "seen"
    found = fake(tmp_path, f"cat *.ptx > {seen}; exit 1")
    monkeypatch.setattr(assembler, "required", lambda *_: found)
    with pytest.raises(CompilationError):
        assemble(_PTX.rstrip("\n"), "sm_80", "k.ptx")
    assert seen.read_text() == _PTX


@pytest.mark.skipif(sys.platform == "win32", reason="scripts of a shell")
def test_runs_of_tools_are_limited(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not cache.exists()

    def use(script: str) -> None:
        found = fake(tmp_path, script)
        for module in (assembler, disassembler):
            monkeypatch.setattr(module, "required", lambda *_: found)

    use("exec sleep 60")
    with time_limit(0.3), pytest.raises(LimitExceeded, match=r"disassembling k after .*limit-sec"):
        disassemble(b"", 80, "k")
    with time_limit(0.3), pytest.raises(LimitExceeded, match=r"assembling k.ptx after"):
        assemble(_PTX, "sm_80", "k.ptx")
    use("kill -SEGV $$")
    with pytest.raises(InputError, match="k: the disassembler was ended by signal 11"):
        disassemble(b"", 80, "k")
    use("echo no such thing >&2; exit 3")
    with pytest.raises(InputError, match="k: the disassembler says: no such thing"):
        disassemble(b"", 80, "k")
    monkeypatch.setattr("kernelcast.inputs.native.tool_process.MOST_BYTES", 1000)
    use("exec yes")
    with pytest.raises(InputError, match="prints more than"):
        disassemble(b"", 80, "k")


@pytest.mark.skipif(sys.platform == "win32", reason="scripts of a shell")
def test_what_tools_make_is_kept_until_they_change(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not cache.exists()
    log = tmp_path / "log"
    found = fake(tmp_path, f'echo run >> {log}; echo text; [ "$4" = -o ] && echo code > "$5"; true')
    for module in (assembler, disassembler):
        monkeypatch.setattr(module, "required", lambda *_: found)
    for _ in range(2):
        assert assemble(_PTX, "sm_80", "k.ptx") == b"code\n"
        assert disassemble(b"cubin", 80, "k") == "text\n"
    assert log.read_text() == "run\n" * 2
    assemble(_PTX + "//", "sm_80", "k.ptx")
    assemble(_PTX, "sm_90", "k.ptx")
    disassemble(b"other", 80, "k")
    assert log.read_text() == "run\n" * 5
    os.utime(tmp_path / "tool", ns=(1, 1))
    assemble(_PTX, "sm_80", "k.ptx")
    disassemble(b"cubin", 80, "k")
    assert log.read_text() == "run\n" * 7
