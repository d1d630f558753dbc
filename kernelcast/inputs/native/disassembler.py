"""The text of machine code, by the disassembler that the user has installed."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from kernelcast.errors import InputError
from kernelcast.input_files import MOST_BYTES
from kernelcast.inputs.compile_cache import CompileCache
from kernelcast.inputs.native.tool_process import run_tool
from kernelcast.inputs.native.tools import fingerprint, required
from kernelcast.simcore.host.disk_cache import scratch_folder

__all__ = ["disassemble"]

_FILE = "kernel.cubin"
_LONGEST_SAID = 500
_SECONDS, _SECONDS_PER_BYTE = 60.0, 60.0 / (1 << 20)
"""Many times what it needs; of some damaged files it makes no end."""


def disassemble(
    cubin: bytes,
    architecture: int,
    path: str,
    functions: Sequence[int] | None = None,
    *,
    of_ptx: bool = False,
) -> str:
    """What `nvdisasm -c` prints of a cubin, or of `functions`; kept on disk.

    Functions are numbers of symbols. Places stand in it where the cubin has them: lines of CUDA
    C++, or `of_ptx` of the PTX. InputError when it refuses or is missing; LimitExceeded when
    it takes too long.
    """
    tools = required(architecture, f"{path}: machine code")
    chosen = [] if functions is None else ["-fun", ",".join(map(str, functions))]
    arguments = ("-c", "-gp" if of_ptx else "-gi", *chosen, _FILE)
    cache = CompileCache((cubin, arguments, fingerprint(tools.disassembler)), "sass.z")
    stored = cache.read()
    if stored is not None:
        return _text(stored)
    with scratch_folder() as folder:
        (folder / _FILE).write_bytes(cubin)
        seconds = _SECONDS + _SECONDS_PER_BYTE * len(cubin)
        what = f"disassembling {path}"
        done = run_tool(tools.disassembler, arguments, folder, what, seconds)
    if done.status < 0:
        raise InputError(f"{path}: the disassembler was ended by signal {-done.status}")
    if done.status:
        said = (done.said or done.output.decode("utf-8", "replace")).strip()
        said = " ".join(said.split())[:_LONGEST_SAID] or "it was refused"
        raise InputError(f"{path}: the disassembler says: {said}")
    cache.write(zlib.compress(done.output, 1))
    return done.output.decode("utf-8", "replace")


def _text(stored: bytes) -> str:
    unpacker = zlib.decompressobj()
    return unpacker.decompress(stored, MOST_BYTES).decode("utf-8", "replace")
