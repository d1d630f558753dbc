"""HIP through clang, without ROCm: options, template names, errors, and what host code becomes.

Kernels become LLVM IR of AMD's target. Our own headers (`headers`) declare what device code
uses; functions of the runtime are declared only, so that host code is read, and skipped.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from kernelcast.errors import CompilationError, InputError
from kernelcast.inputs.clang import Clang, find_newest_clang
from kernelcast.inputs.clang_source import ClangSource, check_source, compiled_source
from kernelcast.inputs.compiler_options import CompilerOptions

__all__ = ["CompiledHip", "compile_hip", "has_host_code", "includes_hip"]

_HEADERS = Path(__file__).parent / "headers"
_DEFAULT_ARCHITECTURE = "gfx90a"
_ARCHITECTURE = re.compile(r"gfx[0-9a-f]{3,4}")
_STANDS_IN = {
    "gfx942": (17, "gfx90a"),
    "gfx1100": (15, "gfx1030"),
    "gfx1101": (15, "gfx1030"),
    "gfx1102": (15, "gfx1030"),
    "gfx1200": (18, "gfx1030"),
    "gfx1201": (18, "gfx1030"),
    "gfx950": (20, "gfx90a"),
}
"""Architectures that older clangs lack: the first that knows them (LLVM's release notes), and one
whose IR is theirs too."""
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]hip/hip_\w+\.h[>"]', re.MULTILINE)
_HOST_CODE = re.compile(rb"<<<|\bhipLaunchKernelGGL\b|\bint\s+main\s*\(")
_NAMES_FILE = "names"
_NAME = re.compile(r"^@__kernelcast_name_(\d+) = .*@([\w.$]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CompiledHip:
    """`ir`: text. `names`: the symbols of the C++ names that were asked for."""

    ir: bytes
    names: Mapping[str, str]


def includes_hip(source: bytes) -> bool:
    """Whether a C++ or CUDA source is one of HIP: whether it includes a header of its."""
    return _INCLUDE.search(source) is not None


def has_host_code(source: bytes) -> bool:
    """Whether a source launches kernels, or is a program."""
    return _HOST_CODE.search(source) is not None


def compile_hip(source: ClangSource, options: CompilerOptions) -> CompiledHip:
    """The LLVM IR of a source's kernels, from the cache when nothing has changed.

    CompilationError with the first error's place; InputError when there is no clang, or the
    architecture is none of AMD's.
    """
    check_source(source, options)
    clang = find_newest_clang("HIP")
    whole = replace(source, added=_uses(options.names))
    try:
        made = compiled_source(clang, whole, options, _arguments(whole, options, clang))
    except CompilationError as error:
        raise _about_name(error, source.path, options.names) from None
    found = _NAME.finditer(made.decode("utf-8", "surrogateescape"))
    names = {options.names[int(match[1])]: match[2] for match in found}
    return CompiledHip(made, names)


def _arguments(source: ClangSource, options: CompilerOptions, clang: Clang) -> tuple[str, ...]:
    architecture, defined = _known(options.architecture or _DEFAULT_ARCHITECTURE, clang)
    folder = source.file.absolute().parent if source.file else Path.cwd()
    return (
        *("-x", "hip", "-std=c++17", "-O3", "-ffp-contract=on", "-fno-discard-value-names"),
        *("--cuda-device-only", f"--offload-arch={architecture}", "-nogpuinc", "-nogpulib"),
        *("-gline-tables-only", "-ffile-compilation-dir=."),
        *("-isystem", str(_HEADERS), "-include", "hip/hip_runtime.h", f"-iquote{folder}"),
        *("-Xclang", "-fcuda-allow-variadic-functions", *defined),
        f"-DKERNELCAST_HIP_HEADERS=0x{_digest_of_headers()}",
        *(f"-I{folder}" for folder in options.include),
        *options.options,
        *(() if "-fslp-vectorize" in options.options else ("-fno-slp-vectorize",)),
        *("-emit-llvm", "-S", source.argument),
    )


@cache
def _digest_of_headers() -> str:
    """What our own headers say: what is compiled depends on it."""
    texts = (file.read_bytes() for file in sorted(_HEADERS.rglob("*.h")))
    return hashlib.sha256(b"".join(texts)).hexdigest()[:16]


def _known(architecture: str, clang: Clang) -> tuple[str, tuple[str, ...]]:
    """The architecture that a clang compiles for, and what tells the source of the other one."""
    if not _ARCHITECTURE.fullmatch(architecture):
        raise InputError(f"{architecture!r} is no architecture of AMD such as 'gfx90a'")
    first, other = _STANDS_IN.get(architecture, (0, ""))
    if clang.version >= first:
        return architecture, ()
    return other, (f"-U__{other}__", f"-D__{architecture}__=1")


def _uses(names: tuple[str, ...]) -> bytes:
    """Lines that instantiate templates; the contents of each variable tell the symbol."""
    if not names:
        return b""
    lines = [
        f"__device__ __attribute__((used)) const void *__kernelcast_name_{number} = "
        f"(const void *)&{name};"
        for number, name in enumerate(names)
    ]
    return "\n".join(("", f'# 1 "{_NAMES_FILE}"', *lines, "")).encode()


def _about_name(error: CompilationError, path: str, names: tuple[str, ...]) -> CompilationError:
    """An error in the added lines as one about a name."""
    if error.span is None or error.span.file != _NAMES_FILE:
        return error
    name = names[min(error.span.line, len(names)) - 1]
    return CompilationError(f"{path}: there is no {name!r}: {error.message}")
