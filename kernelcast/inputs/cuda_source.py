"""CUDA C++ to PTX by NVRTC: options, include paths, template names, errors, and a cache on disk."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from kernelcast.errors import CompilationError, InputError, SourceSpan
from kernelcast.input_files import read_input
from kernelcast.inputs.compile_cache import CompileCache
from kernelcast.inputs.compiler_options import (
    CompilerOptions,
    architecture_number,
    check_options,
    folders_in,
)
from kernelcast.inputs.included_files import check_confined, included_files
from kernelcast.inputs.nvrtc import NvrtcFailure, NvrtcResult, nvrtc_compile, nvrtc_version
from kernelcast.inputs.nvrtc_library import cuda_header_folders

__all__ = ["DEFAULT_ARCHITECTURE", "compile_cuda"]

DEFAULT_ARCHITECTURE = "sm_75"
"""The oldest one that all versions of NVRTC in use know."""

_ERROR = re.compile(
    r"^(?P<file>[^\n]*?)\((?P<line>\d+)\): (?:catastrophic )?error: (?P<message>[^\n]*)"
    r"(?:\n  (?P<text>[^\n]*)\n  (?P<caret>[ \t]*)\^)?",
    re.MULTILINE,
)
_NAME_FILE = "__nv_name_map"
_FIXED_WIDTH = (
    "".join(
        f"typedef {kind} int{bits}_t; typedef unsigned {kind} uint{bits}_t;\n"
        for bits, kind in ((8, "char"), (16, "short"), (32, "int"), (64, "long long"))
    ).replace("typedef char", "typedef signed char")
    + "typedef unsigned long long uintptr_t;\n"
)
_STANDARD_HEADERS = {
    **dict.fromkeys(("stdint.h", "cstdint", "inttypes.h"), f"#pragma once\n{_FIXED_WIDTH}"),
    **dict.fromkeys(
        ("stdio.h", "cstdio", "stdlib.h", "cstdlib", "math.h", "cmath", "assert.h", "cassert"), ""
    ),
    **dict.fromkeys(("stddef.h", "cstddef", "string.h", "cstring"), ""),
}
"""NVRTC knows what kernels use of these by itself, but has no files to include."""


def compile_cuda(path: Path, options: CompilerOptions) -> NvrtcResult:
    """The PTX of a source, from the cache when source, headers and options are as they were.

    CompilationError with the first error's place; InputError when NVRTC is not installed.
    """
    try:
        source = read_input(path)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    check_options(options)
    if options.confined_to is not None:
        folders = (*options.include, *folders_in(options.options))
        check_confined(path, source, folders, options.confined_to)
    arguments = _arguments(path, options)
    cache = _cache(path, source, options, arguments)
    if cache is not None and (stored := _stored(cache)) is not None:
        return stored
    try:
        made = nvrtc_compile(source, str(path), arguments, options.names, _STANDARD_HEADERS)
    except NvrtcFailure as failure:
        raise _compilation_error(failure, path) from None
    if cache is not None:
        cache.write(json.dumps({"ptx": made.ptx, "names": dict(made.names)}).encode())
    return made


def _arguments(path: Path, options: CompilerOptions) -> tuple[str, ...]:
    """Line numbers are kept, so that what goes wrong in a run is told in terms of the source."""
    number = architecture_number(options.architecture or DEFAULT_ARCHITECTURE)
    folders = (path.absolute().parent, *options.include, *cuda_header_folders())
    return (
        f"--gpu-architecture=compute_{number}",
        "-lineinfo",
        *options.options,
        *(f"-I{folder}" for folder in folders),
    )


def _cache(
    path: Path, source: bytes, options: CompilerOptions, arguments: Sequence[str]
) -> CompileCache | None:
    """None when nobody can tell which files the source includes."""
    included = included_files(path, source, options.include)
    if included is None:
        return None
    ages = [folder.stat().st_mtime_ns for folder in cuda_header_folders()]
    headers = [(str(file), read_input(file)) for file in included]
    texts = (str(path), source, tuple(arguments), options.names)
    ingredients = (*texts, nvrtc_version(), ages, headers, _STANDARD_HEADERS)
    return CompileCache(ingredients, "ptx.json")


def _stored(cache: CompileCache) -> NvrtcResult | None:
    """None also for what is damaged: it is compiled again."""
    try:
        entry = json.loads(cache.read() or b"")
        return NvrtcResult(entry["ptx"], entry["names"])
    except (ValueError, KeyError, TypeError):
        return None


def _compilation_error(failure: NvrtcFailure, path: Path) -> CompilationError:
    errors = list(_ERROR.finditer(failure.log))
    if not errors:
        lines = [line for line in failure.log.splitlines() if line.strip()]
        return CompilationError(f"{path}: {lines[0] if lines else f'NVRTC: {failure}'}")
    first = errors[0]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    if first["file"] == _NAME_FILE:
        name = (first["text"] or "").removeprefix("#pragma nv_mangled_name ")
        return CompilationError(f"{path}: there is no {name!r}: {first['message']}")
    column = len(first["caret"] or "") + 1
    span = SourceSpan(first["file"], int(first["line"]), column, 1, first["text"] or "")
    return CompilationError(f"{first['message']}{more}", span)
