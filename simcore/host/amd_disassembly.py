"""Machine code of AMD's GPUs to text, by LLVM's disassembler in a process of its own.

The library is LLVM 17 or newer, which comes with clang. Code that makes it stop ends that process,
not ours. One process serves one request: JSON on its standard input, JSON on its standard output.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kernelcast.errors import InputError, LimitExceeded
from kernelcast.simcore.host.deadline import check_time, deadline_in

__all__ = ["LLVM_VARIABLE", "Disassembled", "disassembled", "llvm_library", "reads", "serve"]

LLVM_VARIABLE = "KERNELCAST_LLVM"
_NEWEST, _OLDEST = 26, 17
_USUAL = 19
"""The version that most systems offer."""
_TRIPLE = b"amdgcn-amd-amdhsa"
_SECONDS = 300
_LONGEST_LINE = 512
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    "from kernelcast.simcore.host.amd_disassembly import serve; serve()"
)
_FIRST = {"gfx950": 20, "gfx1200": 18, "gfx1201": 18}
"""The LLVM that first knew an architecture, where that is newer than the oldest that serves
(release notes of LLVM)."""


@dataclass(frozen=True, slots=True)
class Disassembled:
    """One instruction at `address`, `size` bytes long; the text is empty where there is none."""

    address: int
    size: int
    text: str


def disassembled(parts: Sequence[tuple[int, bytes]], architecture: str) -> list[list[Disassembled]]:
    """The instructions of each part, an address and the bytes there.

    A word that is no instruction is one without text. InputError where no LLVM is here that knows
    the architecture, or where it stops.
    """
    request = {
        "cpu": architecture,
        "parts": [[address, content.hex()] for address, content in parts],
    }
    command = [sys.executable, "-c", _START, json.dumps(sys.path)]
    deadline = deadline_in(_SECONDS)
    assert deadline is not None
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            found, _ = process.communicate(
                json.dumps(request).encode(), timeout=deadline.remaining_s
            )
        except subprocess.TimeoutExpired:
            check_time("disassembling")
            raise LimitExceeded(f"LLVM took longer than {_SECONDS} s to disassemble") from None
        finally:
            process.kill()
    if process.returncode:
        raise InputError(f"LLVM's disassembler stopped at code of {architecture}")
    answer = json.loads(found)
    if "missing" in answer:
        needed = _oldest(architecture)
        raise InputError(
            f"machine code of {architecture} is read by LLVM {needed} or newer, which is not here: "
            f"apt install clang-{max(needed, _USUAL)} (its library libLLVM), or name the library "
            f"in {LLVM_VARIABLE}"
        )
    return [[Disassembled(*item) for item in part] for part in answer["parts"]]


def llvm_library() -> str:
    """The name of the library that is there; empty where none is."""
    return _loaded()[0]


def _candidates() -> Iterator[str]:
    chosen = os.environ.get(LLVM_VARIABLE)
    if chosen:
        yield chosen
        return
    for version in range(_NEWEST, _OLDEST - 1, -1):
        yield f"libLLVM.so.{version}.1"
        yield f"libLLVM-{version}.so.1"
        yield f"libLLVM-{version}.so"
        yield f"/usr/lib/llvm-{version}/lib/libLLVM.so"


def _loaded() -> tuple[str, Any]:
    """Name and library; neither where there is none that knows AMD's GPUs."""
    for name in _candidates():
        try:
            library = ctypes.CDLL(name)
            for part in ("TargetInfo", "TargetMC", "Disassembler"):
                getattr(library, f"LLVMInitializeAMDGPU{part}")()
        except (OSError, AttributeError):
            continue
        return name, library
    return "", None


def reads(architecture: str) -> bool:
    """Whether the library that is there reads code of an architecture."""
    return _reads(_loaded()[1], architecture)


def _reads(library: Any, architecture: str) -> bool:
    if library is None:
        return False
    parts = [ctypes.c_uint() for _ in range(3)]
    library.LLVMGetVersion(*map(ctypes.byref, parts))
    return parts[0].value >= _oldest(architecture)


def _oldest(architecture: str) -> int:
    return _FIRST.get(architecture, _OLDEST)


def serve() -> None:
    """The other process: answers one request."""
    request = json.load(sys.stdin)
    _, library = _loaded()
    if not _reads(library, request["cpu"]):
        json.dump({"missing": True}, sys.stdout)
        return
    create, step = library.LLVMCreateDisasmCPUFeatures, library.LLVMDisasmInstruction
    create.restype, step.restype = ctypes.c_void_p, ctypes.c_size_t
    create.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_void_p, ctypes.c_int]
    create.argtypes += [ctypes.c_void_p] * 2
    step.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64]
    step.argtypes += [ctypes.c_char_p, ctypes.c_size_t]
    context = create(_TRIPLE, request["cpu"].encode(), b"", None, 0, None, None)
    if not context:
        json.dump({"missing": True}, sys.stdout)
        return
    parts = [
        list(_instructions(step, context, address, bytes.fromhex(content)))
        for address, content in request["parts"]
    ]
    json.dump({"parts": parts}, sys.stdout)


def _instructions(
    step: Any, context: int, start: int, content: bytes
) -> Iterator[tuple[int, int, str]]:
    position, text = 0, ctypes.create_string_buffer(_LONGEST_LINE)
    while position < len(content):
        rest = content[position : position + 32]
        address = start + position
        size = step(context, rest, len(rest), address, text, _LONGEST_LINE)
        line = text.value.decode("utf-8", "replace").strip() if size else ""
        size = size or min(4, len(rest))
        yield address, size, line
        position += size
