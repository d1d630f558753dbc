"""A source that clang compiles: the text, the headers that it includes, and a cache on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelcast.errors import InputError
from kernelcast.input_files import read_input
from kernelcast.inputs.clang import Clang, run_clang
from kernelcast.inputs.compile_cache import CompileCache
from kernelcast.inputs.compiler_options import CompilerOptions, check_options, folders_in
from kernelcast.inputs.included_files import check_confined, included_files
from kernelcast.simcore.host.disk_cache import scratch_folder

__all__ = ["ClangSource", "ClangTarget", "check_source", "compiled_source", "read_clang_source"]

_NAMING_FILES = ("-include", "-imacros", "-include-pch", "@")
"""Options that make a compiler read files which no text includes."""


@dataclass(frozen=True, slots=True)
class ClangSource:
    """A text, and what messages call it: the `path` of the `file`, when it has one.

    `added`: lines that are compiled behind it.
    """

    path: str
    text: bytes
    file: Path | None = None
    added: bytes = b""

    @property
    def standard_input(self) -> bytes | None:
        """The text, whose lines count as those of `path`; None where the compiler reads a file."""
        if self.file is not None and not self.added:
            return None
        name = self.path.replace("\\", "\\\\").replace('"', '\\"')
        return f'# 1 "{name}"\n'.encode() + self.text + self.added

    @property
    def argument(self) -> str:
        """What the compiler is told to read."""
        return "-" if self.file is None or self.added else str(self.file)


@dataclass(frozen=True, slots=True)
class ClangTarget:
    """What a source is compiled for: by default to LLVM bitcode.

    What is needed of the `libraries`, bitcode too, is linked.
    """

    triple: str
    output: tuple[str, ...] = ("-emit-llvm", "-c")
    libraries: tuple[bytes, ...] = ()


def read_clang_source(file: Path) -> ClangSource:
    """Reads a source; InputError when the file cannot be read."""
    try:
        return ClangSource(str(file), read_input(file), file)
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from None


def check_source(source: ClangSource, options: CompilerOptions) -> None:
    """Raises InputError for options that write files, and for what a foreign source may not do."""
    check_options(options)
    if options.confined_to is not None and source.file is not None:
        check_confined(source.file, source.text, _folders(options), options.confined_to)


def compiled_source(
    clang: Clang,
    source: ClangSource,
    options: CompilerOptions,
    arguments: Sequence[str],
    libraries: Sequence[bytes] = (),
) -> bytes:
    """What `arguments` make of a source, from the cache when nothing that it depends on changed.

    CompilationError with the first error's place.
    """
    cache = _cache(source, options, (tuple(arguments), tuple(libraries)), clang)
    if cache is not None and (stored := cache.read()) is not None:
        return stored
    with scratch_folder() as folder:
        linked = _written(folder, libraries)
        made = run_clang(clang, (*linked, *arguments), source.path, source.standard_input)
    if cache is not None:
        cache.write(made)
    return made


def _cache(
    source: ClangSource, options: CompilerOptions, ingredients: tuple[object, ...], clang: Clang
) -> CompileCache | None:
    """None when nobody can tell which files the source includes."""
    if any(option.startswith(_NAMING_FILES) for option in options.options):
        return None
    file = source.file or Path.cwd() / "program.cl"
    included = included_files(file, source.text, _folders(options))
    if included is None:
        return None
    headers = [(str(header), read_input(header)) for header in included]
    texts = (source.path, source.text, source.added, headers, clang.program, clang.identity)
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
