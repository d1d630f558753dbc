"""clang as a compiler of OpenCL C and HIP: where it is, and one call of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kernelcast.errors import CompilationError, InputError, SourceSpan
from kernelcast.input_files import read_input
from kernelcast.simcore.host.deadline import check_time, deadline_in

__all__ = ["Clang", "find_clang", "find_newest_clang", "run_clang"]

_VARIABLE = "KERNELCAST_CLANG"
_NEWEST, _OLDEST = 22, 14
_NAMES = ("clang", *(f"clang-{number}" for number in range(_NEWEST, _OLDEST - 1, -1)))
_INSTALL = (
    "{language} is compiled by clang, which is not installed: 'apt install clang' (Debian, "
    "Ubuntu), 'brew install llvm' (macOS) or 'conda install -c conda-forge clang' bring it, "
    "{variable} names one elsewhere; or give the kernels as {others}"
)
_OTHERS = {"OpenCL C": ".bc or .spv", "HIP": ".bc"}
_VERSION = re.compile(r"clang version (\d+)")
_DECLARES_BY_ITSELF = 13
"""The first version whose driver declares the built-in functions of OpenCL without being told."""
_PLAIN_MESSAGES = (
    *("-fno-color-diagnostics", "-fno-caret-diagnostics"),
    "-fno-crash-diagnostics",  # which would leave files in the folder for temporary ones
)
_ERROR = re.compile(
    r"^(?:(?P<file>[^\n]+?):(?P<line>\d+):(?P<column>\d+): |(?:clang[^\s:]*: )?)"
    r"(?:fatal )?error: (?P<message>[^\n]*)",
    re.MULTILINE,
)
_MOST_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Clang:
    """`identity` is what it says of itself: what its output depends on."""

    program: str
    version: int
    identity: str

    @property
    def declaring_options(self) -> tuple[str, ...]:
        """What makes it declare the built-in functions of OpenCL C."""
        if self.version >= _DECLARES_BY_ITSELF:
            return ()
        return ("-Xclang", "-finclude-default-header")


def find_clang(language: str) -> Clang:
    """The program that KERNELCAST_CLANG names, or the first one on the path, or beside Python.

    The `language` stands in messages.

    InputError, saying what to install, when there is none.
    """
    chosen = os.environ.get(_VARIABLE)
    if chosen:
        program = shutil.which(chosen)
        if program is None:
            raise InputError(f"{_VARIABLE} is {chosen!r}, which is no program")
        return _known(program, Path(program).stat().st_mtime_ns)
    found = next(_installed(), None)
    if found is None:
        raise InputError(
            _INSTALL.format(language=language, variable=_VARIABLE, others=_OTHERS[language])
        )
    return found


def find_newest_clang(language: str) -> Clang:
    """What `find_clang` finds, but of all that are installed the newest one."""
    if os.environ.get(_VARIABLE):
        return find_clang(language)
    return max(_installed(), key=lambda clang: clang.version, default=find_clang(language))


def _installed() -> Iterator[Clang]:
    beside_python = sysconfig.get_path("scripts")
    for folders in (None, beside_python):
        for name in _NAMES:
            program = shutil.which(name, path=folders)
            if program is not None:
                yield _known(program, Path(program).stat().st_mtime_ns)


@cache
def _known(program: str, _changed: int) -> Clang:
    try:
        done = subprocess.run([program, "--version"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise InputError(f"{program} does not run: {error}") from None
    identity = done.stdout.decode("utf-8", "replace")
    match = _VERSION.search(identity)
    if match is None:
        raise InputError(f"{program} is no clang: it says {identity.split(chr(10))[0]!r}")
    return Clang(program, int(match[1]), identity)


def run_clang(
    clang: Clang, arguments: Sequence[str], path: str, source: bytes | None = None
) -> bytes:
    """What one call writes to its standard output; `source` is its standard input.

    CompilationError with the place of the first error; `path` stands in errors that have none.
    """
    command = [clang.program, *_PLAIN_MESSAGES, *arguments, "-o", "-"]
    deadline = deadline_in(_MOST_SECONDS)
    try:
        done = subprocess.run(
            command,
            input=source or b"",
            capture_output=True,
            check=False,
            timeout=None if deadline is None else deadline.remaining_s,
        )
    except (OSError, ValueError) as error:  # the latter for a zero byte in an option
        raise InputError(f"{clang.program} does not run: {error}") from None
    except subprocess.TimeoutExpired:
        check_time(f"compiling {path}")
        raise CompilationError(f"{path}: clang took longer than {_MOST_SECONDS} s") from None
    if done.returncode:
        raise _compilation_error(done.stderr.decode("utf-8", "replace"), path, source)
    return done.stdout


def _compilation_error(log: str, path: str, source: bytes | None) -> CompilationError:
    errors = list(_ERROR.finditer(log))
    if not errors:
        lines = [line for line in log.splitlines() if line.strip()]
        return CompilationError(f"{path}: {lines[0] if lines else 'clang failed'}")
    first = errors[0]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    message = f"{first['message']}{more}"
    if first["file"] is None:
        return CompilationError(f"{path}: {message}")
    line, column = int(first["line"]), int(first["column"])
    text = _line_of(first["file"], line, source if first["file"] == path else None)
    return CompilationError(message, SourceSpan(first["file"], line, column, 1, text))


def _without_marker(source: bytes) -> bytes:
    """The text behind the line that says what the compiler is to call it."""
    return source.partition(b"\n")[2] if source.startswith(b"# 1 ") else source


def _line_of(file: str, line: int, source: bytes | None) -> str:
    """Empty where the text is not at hand."""
    try:
        content = read_input(file) if source is None else _without_marker(source)
    except OSError:
        return ""
    lines = content.decode("utf-8", "replace").split("\n")
    return lines[line - 1].rstrip("\r") if line <= len(lines) else ""
