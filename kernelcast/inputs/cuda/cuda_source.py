"""CUDA C++ to PTX by NVRTC: options, include paths, template names, errors, and a cache on disk."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from kernelcast.inputs.cuda.host_code import (
    launched_instances,
    names_of_headers,
    without_host_code,
)
from kernelcast.inputs.cuda.nvrtc import NvrtcFailure, NvrtcResult, nvrtc_compile, nvrtc_version
from kernelcast.inputs.cuda.nvrtc_library import cuda_header_folders
from kernelcast.inputs.included_files import check_confined, included_files

__all__ = [
    "DEFAULT_ARCHITECTURE",
    "NO_HOST_CODE",
    "CompiledCuda",
    "compile_cuda",
    "compile_cuda_text",
]

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
_STD_OF_CUDA = "namespace std { using namespace cuda::std; }\n"
_OF_CUDA = (
    "algorithm", "array", "bit", "cfloat", "climits", "complex", "concepts", "functional",
    "initializer_list", "iterator", "limits", "numbers", "numeric", "optional", "ratio", "span",
    "tuple", "type_traits", "utility", "variant",
)  # fmt: skip
"""Headers of C++ that libcu++ has for device code, as `cuda/std/limits`."""
_STANDARD_HEADERS |= {
    name: f"#pragma once\n#include <cuda/std/{name}>\n{_STD_OF_CUDA}" for name in _OF_CUDA
}
_HOST_HEADERS = frozenset((
    "atomic", "chrono", "cctype", "cerrno", "csignal", "ctime", "deque", "exception",
    "filesystem", "fstream", "future", "iomanip", "ios", "iosfwd", "iostream", "istream", "list",
    "locale", "map", "memory", "mutex", "new", "omp.h", "ostream", "queue", "random", "regex",
    "set", "sstream", "stack", "stdexcept", "streambuf", "string", "string_view", "sys/time.h",
    "system_error", "thread", "time.h", "typeindex", "typeinfo", "unistd.h", "unordered_map",
    "unordered_set", "valarray", "vector",
))  # fmt: skip
"""Headers that only host code needs."""
_OF_THE_HOST = "thrust/"
"""Headers that are there, and hold host code only."""
_NO_HEADER = "namespace std {}\n"
NO_HOST_CODE = (
    "host code is skipped, launches by <<<>>> among it: kernels are launched from Python, by "
    "workloads, or by the program under 'kernelcast capture'"
)


class UnknownName(CompilationError):
    """There is nothing of this `name` in the source."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


@dataclass(frozen=True, slots=True)
class CompiledCuda:
    """`names`: the symbols of the C++ names that were asked for. `note`: what was left out."""

    ptx: str
    names: Mapping[str, str]
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Text:
    """What NVRTC is given: `headers` are included by these names, before any file.

    `missing`: headers that are nowhere, and are left out.
    """

    source: bytes
    names: tuple[str, ...]
    headers: Mapping[str, str]
    note: str = ""
    missing: tuple[str, ...] = ()


def compile_cuda(path: Path, options: CompilerOptions) -> CompiledCuda:
    """The PTX of a source, from the cache when source, headers and options are as they were.

    A source that NVRTC refuses is compiled without its host code, as nvcc does for a device.
    CompilationError with the first error's place; InputError when NVRTC is not installed.
    """
    try:
        source = read_input(path)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    return compile_cuda_text(source, path, options)


def compile_cuda_text(source: bytes, path: Path, options: CompilerOptions) -> CompiledCuda:
    """Compiles a text as `compile_cuda` does a file; `path` is what messages call it."""
    check_options(options)
    if options.confined_to is not None:
        folders = (*options.include, *folders_in(options.options))
        check_confined(path, source, folders, options.confined_to)
    whole = _Text(source, options.names, _STANDARD_HEADERS)
    try:
        return _compiled(path, whole, options)
    except CompilationError:
        device_part = _device_part(path, source, options)
        if device_part is None:
            raise
    try:
        return _without_unknown_instances(path, device_part, options)
    except CompilationError as error:
        if not device_part.missing:
            raise
        missing = ", ".join(device_part.missing)
        raise CompilationError(f"{error.message}; not found: {missing}", error.span) from None


def _compiled(path: Path, text: _Text, options: CompilerOptions) -> CompiledCuda:
    arguments = _arguments(path, options)
    cache = _cache(path, text, options, arguments)
    if cache is not None and (stored := _stored(cache)) is not None:
        return CompiledCuda(stored.ptx, stored.names, text.note)
    try:
        made = nvrtc_compile(text.source, str(path), arguments, text.names, text.headers)
    except NvrtcFailure as failure:
        raise _compilation_error(failure, path) from None
    if cache is not None:
        cache.write(json.dumps({"ptx": made.ptx, "names": dict(made.names)}).encode())
    return CompiledCuda(made.ptx, made.names, text.note)


def _device_part(path: Path, source: bytes, options: CompilerOptions) -> _Text | None:
    """The source and its headers without host code; None where there is none of it.

    Headers that are nowhere are left out too: what kernels need of them is missed by the compiler.
    """
    text = _decoded(source)
    folders = (*options.include, *cuda_header_folders())
    files = included_files(path, source, options.include) or []
    texts = {file: _decoded(read_input(file)) for file in files}
    own: dict[str, Path] = {}
    given: dict[str, str] = {}
    missing: list[str] = []
    for including, content in ((path, text), *texts.items()):
        for name in names_of_headers(content):
            places = [folder / name for folder in (including.parent, *folders)]
            file = next((place for place in places if place in texts), None)
            if file is not None:
                own.setdefault(name, file)
            elif name.startswith(_OF_THE_HOST) or not _is_there(name, places):
                given[name] = _NO_HEADER
                is_known = name in _HOST_HEADERS or name.startswith(_OF_THE_HOST)
                missing += [] if is_known or name in missing else [name]
    reduced = {name: without_host_code(texts[file], texts.values()) for name, file in own.items()}
    if any(reduced[name] != texts[file] for name, file in own.items()):
        given |= reduced  # all of them: a text without a file finds none beside it
    device = without_host_code(text, texts.values())
    if device == text and len(given) == len(missing):
        return None  # the first header that is missing is what is wrong
    instances = options.names or tuple(launched_instances(text))
    note = f"{NO_HOST_CODE}; headers that were not found: {', '.join(missing)}"
    return _Text(
        device.encode("utf-8", "surrogateescape"),
        instances,
        _STANDARD_HEADERS | given,
        note if missing else NO_HOST_CODE,
        tuple(missing),
    )


def _is_there(name: str, places: Sequence[Path]) -> bool:
    return name in _STANDARD_HEADERS or any(map(os.path.isfile, places))


def _without_unknown_instances(path: Path, text: _Text, options: CompilerOptions) -> CompiledCuda:
    """Instances that launches name by parameters of host code are none for the compiler."""
    while True:
        try:
            return _compiled(path, text, options)
        except UnknownName as error:
            if options.names:
                raise
            text = replace(text, names=tuple(n for n in text.names if n != error.name))


def _decoded(source: bytes) -> str:
    return source.decode("utf-8", "surrogateescape")


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
    path: Path, text: _Text, options: CompilerOptions, arguments: Sequence[str]
) -> CompileCache | None:
    """None when nobody can tell which files the source includes."""
    included = included_files(path, text.source, options.include)
    if included is None:
        return None
    ages = [folder.stat().st_mtime_ns for folder in cuda_header_folders()]
    headers = [(str(file), read_input(file)) for file in included]
    texts = (str(path), text.source, tuple(arguments), text.names)
    ingredients = (*texts, nvrtc_version(), ages, headers, dict(text.headers))
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
        return UnknownName(f"{path}: there is no {name!r}: {first['message']}", name)
    column = len(first["caret"] or "") + 1
    span = SourceSpan(first["file"], int(first["line"]), column, 1, first["text"] or "")
    return CompilationError(f"{first['message']}{more}", span)
