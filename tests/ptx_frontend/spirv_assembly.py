"""An assembler of SPIR-V for tests, and a kernel around a few instructions.

Its text is that of the specification, with numbers instead of the names of enumerants.
"""

from __future__ import annotations

import csv
import re
import struct
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kernelcast.ptx_frontend.llvm import read_llvm
from kernelcast.ptx_frontend.spirv import read_spirv
from kernelcast.simcore.engine import execute
from kernelcast.simcore.launch.launch import Launch

__all__ = ["MAGIC", "THREADS", "X", "assemble", "kernel_text", "refusal", "results", "text_of"]

THREADS = 32
X = np.array([-(2**31), -1000, -300, -129, -8, -7, -3, -1, 0, 1, 2, 3, 5, 7, 8, 100], np.int32)
X = np.concatenate([X, np.arange(127, 127 + THREADS - len(X), dtype=np.int32) * 7919])

MAGIC = 0x07230203
_TABLE = Path(__file__).parents[2] / "ptx_frontend" / "spirv" / "module" / "opcodes.csv"
_TOKEN = re.compile(r'"[^"]*"|[^\s"]+')

_PRELUDE = """
%i8 = OpTypeInt 8 0
%i16 = OpTypeInt 16 0
%i32 = OpTypeInt 32 0
%i64 = OpTypeInt 64 0
%f32 = OpTypeFloat 32
%v2 = OpTypeVector %i32 2
%v3 = OpTypeVector %i32 3
%v4 = OpTypeVector %i32 4
%v4f = OpTypeVector %f32 4
%v4b = OpTypeVector %bool 4
%m1 = OpConstant %i32 4294967295
%c0 = OpConstant %i32 0
%c1 = OpConstant %i32 1
%c2 = OpConstant %i32 2
%c3 = OpConstant %i32 3
%c7 = OpConstant %i32 7
%c1000 = OpConstant %i32 1000
"""


@cache
def _opcodes() -> dict[str, tuple[int, str]]:
    rows = csv.DictReader(_TABLE.read_text("utf-8").splitlines())
    return {row["name"]: (int(row["number"]), row["result"]) for row in rows}


def assemble(text: str, version: int = 0x10000, bound: int | None = None) -> bytes:
    """The words of a module; a line that begins with ; is left out."""
    identifiers: dict[str, int] = {}
    words: list[int] = []
    for line in filter(None, (line.strip() for line in text.splitlines())):
        if line[0] != ";":
            words += _instruction(line, identifiers)
    header = [MAGIC, version, 0, bound or len(identifiers) + 1, 0]
    return struct.pack(f"<{len(header) + len(words)}I", *header, *words)


def _instruction(line: str, identifiers: dict[str, int]) -> list[int]:
    left, _, right = line.rpartition(" = ")
    name, *operands = _TOKEN.findall(right)
    opcode, form = _opcodes()[name]
    words = [word for operand in operands for word in _operand(operand, identifiers)]
    if left:
        words[int(form == "typed") : int(form == "typed")] = _operand(left, identifiers)
    return [(len(words) + 1) << 16 | opcode, *words]


def _operand(text: str, identifiers: dict[str, int]) -> list[int]:
    if text[0] == "%":
        return [identifiers.setdefault(text, len(identifiers) + 1)]
    if text[0] == '"':
        raw = text[1:-1].encode() + b"\0"
        raw += b"\0" * (-len(raw) % 4)
        return list(struct.unpack(f"<{len(raw) // 4}I", raw))
    return [int(text, 0) & 0xFFFFFFFF]


_KERNEL = """
        OpCapability 4
        OpCapability 5
        OpCapability 6
        OpCapability 11
        OpCapability 22
        OpCapability 39
        {settings}
        %std = OpExtInstImport "OpenCL.std"
        OpMemoryModel 2 2
        OpEntryPoint 6 %k "k" %gid
        OpName %in "in"
        OpDecorate %gid 11 28
        {decorations}
        %void = OpTypeVoid
        %bool = OpTypeBool
        {_PRELUDE}
        %v3l = OpTypeVector %i64 3
        %pgid = OpTypePointer 1 %v3l
        %gid = OpVariable %pgid 1
        %pi32 = OpTypePointer 5 %i32
        %fn = OpTypeFunction %void %pi32 %pi32
        {before}
        %k = OpFunction %void 0 %fn
        %in = OpFunctionParameter %pi32
        %out = OpFunctionParameter %pi32
        %entry = OpLabel
        %g = OpLoad %v3l %gid
        %n = OpCompositeExtract %i64 %g 0
        %pin = OpInBoundsPtrAccessChain %pi32 %in %n
        %x = OpLoad %i32 %pin 2 4
        %p = OpInBoundsPtrAccessChain %pi32 %out %n
        {body}
        OpStore %p %r 2 4
        OpReturn
        OpFunctionEnd
        {after}
    """


def kernel_text(
    body: str, before: str = "", decorations: str = "", after: str = "", settings: str = ""
) -> str:
    """A kernel `k` that reads `%x` from its first buffer and writes `%r` to its second one.

    `before` are more types and constants, `after` more functions.
    """
    parts = {"body": body, "before": before, "decorations": decorations, "after": after}
    return _KERNEL.format(_PRELUDE=_PRELUDE, settings=settings, **parts)


def text_of(body: str, **parts: str) -> str:
    """The LLVM IR of the kernel."""
    return read_spirv(assemble(kernel_text(body, **parts)), "test.spv")


def refusal(body: str, **parts: str) -> str:
    """Why the kernel cannot be executed."""
    made = read_llvm(text_of(body, **parts).encode(), "test.ll", is_text=True)
    (reason,) = made.rejected["k"]
    return str(reason)


def results(body: str, **parts: str) -> npt.NDArray[np.int32]:
    """What the kernel writes for every element of X."""
    made = read_llvm(text_of(body, **parts).encode(), "test.ll", is_text=True)
    assert not made.rejected, made.rejected["k"][0]
    out = np.zeros(THREADS, np.int32)
    launch = Launch((1, 1, 1), (THREADS, 1, 1), (X.copy(), out))
    execute(made.kernels["k"], launch, engine="reference")
    return out
