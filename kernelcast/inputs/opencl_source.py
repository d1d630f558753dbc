"""OpenCL C through clang: options, include paths, errors, and a cache on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelcast.errors import InputError
from kernelcast.input_files import read_input
from kernelcast.inputs.clang import Clang, find_clang, run_clang
from kernelcast.inputs.compile_cache import CompileCache
from kernelcast.inputs.compiler_options import CompilerOptions, check_options, folders_in
from kernelcast.inputs.included_files import check_confined, included_files
from kernelcast.simcore.host.disk_cache import scratch_folder

__all__ = ["ClangTarget", "OpenclSource", "compile_opencl", "read_opencl_source"]

_DEFAULTS = (
    *("-cl-std=CL1.2", "-O2", "-fno-discard-value-names"),
    *("-gline-tables-only", "-ffile-compilation-dir=."),
)
"""An option of the user stands behind them and wins. Lines are kept, so that what goes wrong in a
run is told in terms of the source, with files called as the caller calls them, and names, so that
arguments are called as there."""
_NO_PACKING, _PACKING = "-fno-slp-vectorize", "-fslp-vectorize"
"""GPUs have no vectors to pack unrelated sums into. An `-O` behind it would undo the first one."""
_NAMING_FILES = ("-include", "-imacros", "-include-pch", "@")
"""Options that make a compiler read files which no text includes."""


@dataclass(frozen=True, slots=True)
class OpenclSource:
    """A text, and what messages call it: the `path` of the `file`, when it has one."""

    path: str
    text: bytes
    file: Path | None = None

    @property
    def standard_input(self) -> bytes | None:
        """The text, whose lines count as those of `path`; None where the compiler reads a file."""
        if self.file is not None:
            return None
        name = self.path.replace("\\", "\\\\").replace('"', '\\"')
        return f'# 1 "{name}"\n'.encode() + self.text


@dataclass(frozen=True, slots=True)
class ClangTarget:
    """What a source is compiled for: by default to LLVM bitcode.

    What is needed of the `libraries`, bitcode too, is linked.
    """

    triple: str
    output: tuple[str, ...] = ("-emit-llvm", "-c")
    libraries: tuple[bytes, ...] = ()


_SPIR = ClangTarget("spir64-unknown-unknown")


def read_opencl_source(file: Path) -> OpenclSource:
    """Reads an OpenCL source; InputError when the file cannot be read."""
    try:
        return OpenclSource(str(file), read_input(file), file)
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from None


def compile_opencl(
    source: OpenclSource, options: CompilerOptions, target: ClangTarget = _SPIR
) -> bytes:
    """What a source is compiled to, from the cache when nothing that it depends on has changed.

    CompilationError with the first error's place; InputError when there is no clang.
    """
    if options.names:
        raise InputError(f"{source.path}: OpenCL C has no templates to name instances of")
    check_options(options)
    if options.confined_to is not None and source.file is not None:
        check_confined(source.file, source.text, _folders(options), options.confined_to)
    clang = find_clang()
    arguments = _arguments(source, options, target, clang)
    cache = _cache(source, options, (arguments, target.libraries), clang)
    if cache is not None and (stored := cache.read()) is not None:
        return stored
    with scratch_folder() as folder:
        linked = _written(folder, target.libraries)
        made = run_clang(clang, (*linked, *arguments), source.path, source.standard_input)
    if cache is not None:
        cache.write(made)
    return made


def _arguments(
    source: OpenclSource, options: CompilerOptions, target: ClangTarget, clang: Clang
) -> tuple[str, ...]:
    return (
        f"--target={target.triple}",
        *_DEFAULTS,
        *clang.declaring_options,
        *(f"-I{folder}" for folder in options.include),
        *options.options,
        *(() if _PACKING in options.options else (_NO_PACKING,)),
        *target.output,
        *("-x", "cl"),
        "-" if source.file is None else str(source.file),
    )


def _cache(
    source: OpenclSource, options: CompilerOptions, ingredients: tuple[object, ...], clang: Clang
) -> CompileCache | None:
    """None when nobody can tell which files the source includes."""
    if any(option.startswith(_NAMING_FILES) for option in options.options):
        return None
    file = source.file or Path.cwd() / "program.cl"
    included = included_files(file, source.text, _folders(options))
    if included is None:
        return None
    headers = [(str(header), read_input(header)) for header in included]
    texts = (source.path, source.text, headers, clang.program, clang.identity)
    return CompileCache((*texts, *ingredients), "clang")


def _folders(options: CompilerOptions) -> tuple[Path, ...]:
    return (*options.include, *folders_in(options.options))


def _written(folder: Path, libraries: Sequence[bytes]) -> list[str]:
    """Options that link libraries, which lie in files for so long."""
    found: list[str] = []
    for number, library in enumerate(libraries):
        file = folder / f"library{number}.bc"
        file.write_bytes(library)
        found += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(file)]
    return found
