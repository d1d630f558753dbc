"""PTX to machine code, by the assembler that the user has installed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kernelcast.errors import CompilationError, InputError, SourceSpan
from kernelcast.inputs.compile_cache import CompileCache
from kernelcast.inputs.compiler_options import architecture_number
from kernelcast.inputs.native.entries import entry_at_line
from kernelcast.inputs.native.tool_process import ToolResult, run_tool
from kernelcast.inputs.native.tools import fingerprint, required
from kernelcast.simcore.host.disk_cache import scratch_folder

__all__ = ["assemble"]

_SOURCE, _RESULT = "kernel.ptx", "kernel.cubin"
_ERROR = re.compile(
    r"^ptxas \S*?, line (?P<line>\d+); (?:error|fatal) *: (?P<message>[^\n]*)", re.MULTILINE
)
_TARGET = re.compile(r"^(\s*\.target\s+)sm_(\d+)[af]?", re.MULTILINE)
_VERSION = re.compile(r"^(\s*\.version\s+)\d+\.\d+", re.MULTILINE)
_NEWEST_VERSION = re.compile(r"Unsupported \.version [\d.]+; current version is '([\d.]+)'")
_FATAL = re.compile(r"^ptxas (?:error|fatal) *: (?P<message>[^\n]*)", re.MULTILINE)


def assemble(ptx: str, architecture: str, path: str, options: Sequence[str] = ()) -> bytes:
    """The cubin that the assembler makes of a PTX text for `sm_80`, `sm_90a`, ...; kept on disk.

    A text for a newer architecture is assembled as it is for an older one, and one of a newer
    version of PTX in the newest that the assembler knows: it refuses what they do not have.
    CompilationError with its first error and the place when it refuses; InputError when it is not
    installed; LimitExceeded when it takes too long.
    """
    number = int(architecture_number(architecture).rstrip("af"))
    tools = required(number, f"machine code for {architecture}")
    if tools.assembler is None:
        raise InputError(f"machine code for {architecture} needs the assembler of CUDA, ptxas")
    command = (f"-arch={architecture}", "-lineinfo", *options)
    cache = CompileCache((ptx, command, fingerprint(tools.assembler)), "cubin")
    stored = cache.read()
    if stored is not None:
        return stored
    # without an end of its last line, ptxas with -lineinfo writes past its own memory
    text = _for_architecture(ptx, architecture, number).rstrip("\n") + "\n"
    arguments = (*command, _SOURCE, "-o", _RESULT)
    with scratch_folder() as folder:
        source = folder / _SOURCE
        source.write_text(text, encoding="utf-8", errors="surrogatepass")
        done = run_tool(tools.assembler, arguments, folder, f"assembling {path}")
        newest = _NEWEST_VERSION.search(done.said) if done.status else None
        if newest is not None:
            text = _VERSION.sub(rf"\g<1>{newest[1]}", text, count=1)
            source.write_text(text, encoding="utf-8", errors="surrogatepass")
            done = run_tool(tools.assembler, arguments, folder, f"assembling {path}")
        if done.status or not (folder / _RESULT).exists():
            raise _refusal(done, ptx, architecture, path)
        made = (folder / _RESULT).read_bytes()
    cache.write(made)
    return made


def _for_architecture(ptx: str, architecture: str, number: int) -> str:
    """The text, for no newer architecture than that."""
    target = _TARGET.search(ptx)
    if target is None or int(target[2]) <= number:
        return ptx
    return _TARGET.sub(rf"\g<1>{architecture}", ptx, count=1)


def _refusal(done: ToolResult, ptx: str, architecture: str, path: str) -> CompilationError:
    said = done.said + done.output.decode("utf-8", "replace")
    errors = list(_ERROR.finditer(said))
    if errors:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        line = int(errors[0]["line"])
        lines = ptx.split("\n")
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        kernel = entry_at_line(ptx, line)
        whose = f", kernel {kernel!r}" if kernel else ""
        message = f"ptxas for {architecture}{whose}: {errors[0]['message']}{more}"
        return CompilationError(message, SourceSpan(path, line, 1, 1, text))
    fatal = _FATAL.search(said)
    lines = [line for line in said.splitlines() if line.strip()]
    why = fatal["message"] if fatal else lines[0] if lines else _ending(done.status)
    return CompilationError(f"{path} for {architecture}: ptxas: {why}")


def _ending(status: int) -> str:
    return f"it was ended by signal {-status}" if status < 0 else f"it ended with status {status}"
