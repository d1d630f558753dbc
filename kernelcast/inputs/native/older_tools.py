"""The assembler and the disassembler of CUDA 12, out of an older release of Triton.

Those of CUDA 13 begin at sm_75; the wheel of Triton 3.4.0 on PyPI has ptxas 12.8 and nvdisasm 12.8,
which know sm_50 to sm_90. pip downloads it and compares its hash with the one below; the programs'
own hashes are compared with those in the wheel's RECORD (PyPA specifications, "Recording installed
projects"). They are put into a folder that only the user can write.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

from kernelcast.errors import InputError
from kernelcast.inputs.native.tools import (
    ASSEMBLER,
    DISASSEMBLER,
    is_in_cache,
    older_tools_folder,
)
from kernelcast.simcore.host.disk_cache import kept_folder, scratch_folder
from kernelcast.simcore.host.private_folder import FolderRefused, PrivateFolder

__all__ = ["fetch_older_tools", "unpack_programs"]

_RELEASE = "triton==3.4.0"
_HASH = "sha256:7b70f5e6a41e52e48cfc087436c8a28c17ff98db369447bcaff3b887a3ab4467"
_PIP = (
    *("-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"),
    *("--no-deps", "--only-binary=:all:", "--implementation=cp", "--python-version=3.11"),
    *("--abi=cp311", "--platform=manylinux_2_28_x86_64", "--dest=."),
)
"""The wheel for this Python, whichever one runs: the programs in all of them are the same."""
_FOLDER = "triton/backends/nvidia/bin"
_RECORD = ".dist-info/RECORD"
_MOST_BYTES = 1 << 27
_MOST_SECONDS = 1800


def fetch_older_tools() -> Path:
    """Downloads the wheel, unpacks both programs, and returns their folder.

    InputError, one line, without network or pip, for another wheel, or where the folder is not the
    user's alone.
    """
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        raise InputError("the tools of CUDA 12 are packaged for Linux on x86-64 only")
    folder = older_tools_folder()
    try:
        private = kept_folder(folder.name) if is_in_cache(folder) else PrivateFolder(folder)
        with private.opened(create=True), scratch_folder() as scratch:
            unpack_programs(_downloaded(scratch), private)
    except (FolderRefused, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{folder} cannot hold the tools: {reason}") from None
    return folder


def _downloaded(scratch: Path) -> Path:
    requirement = scratch / "requirement.txt"
    requirement.write_text(f"{_RELEASE} --hash={_HASH}\n")
    command = [sys.executable, *_PIP, "--require-hashes", "-r", requirement.name]
    try:
        done = subprocess.run(
            command,
            cwd=scratch,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_MOST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"pip did not download {_RELEASE} in {_MOST_SECONDS} s") from None
    wheels = sorted(scratch.glob("*.whl"))
    if done.returncode or not wheels:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in said if line.startswith("ERROR")] or said or ["no wheel"]
        raise InputError(f"pip cannot download {_RELEASE}: {errors[0].removeprefix('ERROR: ')}")
    return wheels[0]


def unpack_programs(wheel: Path, folder: PrivateFolder) -> None:
    """Puts both programs of a wheel into a folder; InputError when the wheel is damaged."""
    found: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(wheel) as archive:
            hashes = _recorded_hashes(archive)
            for name in (ASSEMBLER, DISASSEMBLER):
                member = f"{_FOLDER}/{name}"
                found[name] = _content(archive, member)
                if hashes.get(member) != _hash_of(found[name]):
                    raise InputError(f"{wheel.name}: {name} is not what its RECORD says")
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, EOFError) as error:
        raise InputError(f"{wheel.name} is damaged: {error}") from None
    with folder.opened(create=True) as opened:
        for name, content in found.items():
            opened.write(name, content, is_program=True)


def _recorded_hashes(archive: zipfile.ZipFile) -> dict[str, str]:
    record = next((name for name in archive.namelist() if name.endswith(_RECORD)), None)
    if record is None:
        raise ValueError("it has no RECORD")
    rows = csv.reader(io.StringIO(_content(archive, record).decode()))
    return {row[0]: row[1] for row in rows if len(row) >= 2}


def _content(archive: zipfile.ZipFile, member: str) -> bytes:
    with archive.open(member) as stream:
        content = stream.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError(f"{member} is too large")
    return content


def _hash_of(content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    return f"sha256={digest.decode().rstrip('=')}"
