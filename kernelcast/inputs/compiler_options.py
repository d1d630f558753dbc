"""How a source text is compiled, whichever compiler does it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelcast.errors import InputError
from kernelcast.trust import TO_ALLOW, is_within

__all__ = ["CompilerOptions", "architecture_number", "check_options", "folders_in"]

_FOLDER_OPTION = "-I"
_ARCHITECTURE = re.compile(r"(?:sm|compute)_(?P<number>\d+[af]?)$")


_WRITING = re.compile(
    # output, dependencies, intermediate and precompiled files
    r"-o(?!pt-info)|--output|-M|--(user-|write-|write-user-)?dependencies|--?save-|--?create-pch"
    r"|--?pch|-emit-pch|-dependency-|-fmodule-output|-fmodules-cache-path|--?optix-ir|-working-dir"
    # reports
    r"|-ftime-trace|--?fdevice-time-trace|--?time=|-fproc-stat-report|-fsave-optimization-record"
    r"|-foptimization-record-file|--?serialize-diag|-diagnostic-log-file|-dump|-stats-file|-stats-"
    r"|-opt-record-file|-info-output-file|-pass-remarks-output|-pass-remarks-with|-header-include-f"
    r"|-fcrash-diagnostics|-gen-reproducer|-gsplit-dwarf|-split-dwarf|-fprofile-(instr-)?gen"
    r"|-fcs-profile-gen|--?ptxas-options=.*-o"
)
"""Beginnings of options that write: those of clang, of its part behind `-Xclang` or `-mllvm`, and
of NVRTC (clang 19's and NVRTC 13.0's documentation)."""
_HANDED_ON = re.compile(r"-W[alp],|-X[\w-]+=|-mllvm=")
"""Beginnings of options that carry others to parts of a compiler, separated by commas."""
_HARMLESS = re.compile(
    r"-[DU][A-Za-z_].*|-O[0-3sg]?|--?std=[\w+]+|-cl-[a-z][\w.,+=-]*|-W(no-)?[a-z][a-z0-9+-]*|-w|-g"
    r"|-f(no-)?(fast-math|finite-math-only|math-errno|associative-math|reciprocal-math"
    r"|signed-zeros|trapping-math|unroll-loops|vectorize|slp-vectorize|inline-functions|inline)"
    r"|-ffp-contract=(fast|on|off)|--?use_fast_math|--?(ftz|prec-div|prec-sqrt|fmad)=(true|false)"
    r"|--?maxrregcount=\d+|--?(gpu-architecture|arch)=(sm|compute)_\d+[af]?|--?device-debug|-G"
    r"|--?generate-line-info|-lineinfo|--?extra-device-vectorization|--?default-device"
)
"""Whole options that can neither read files, write them, nor load code."""


@dataclass(frozen=True, slots=True)
class CompilerOptions:
    """`options` go to the compiler as they are, `include` are its folders of headers.

    `architecture` empty: for CUDA C++ the oldest that NVRTC knows, and for machine code that of
    each device; LLVM IR instead of PTX of OpenCL C. `names` are C++ names of instances of templates
    that nothing in the source makes, `scale<float>`. `confined_to`: the folder that a foreign
    source may include files of.
    """

    architecture: str = ""
    options: tuple[str, ...] = ()
    include: tuple[Path, ...] = ()
    names: tuple[str, ...] = ()
    confined_to: Path | None = None


def architecture_number(name: str) -> str:
    """`80` of `sm_80` and `compute_80`, `90a` of `sm_90a`; InputError for anything else."""
    match = _ARCHITECTURE.match(name)
    if match is None:
        raise InputError(f"{name!r} is no architecture such as 'sm_75' or 'sm_90a'")
    return match["number"]


def check_options(options: CompilerOptions) -> None:
    """Raises InputError for what writes files besides the output, whoever asks for it.

    Also refused is all that a foreign file may not ask for: it may define names, include folders of
    its own, choose standard, architecture, optimisation and warnings.
    """
    for option in options.options:
        if any(_WRITING.match(part) for part in _handed_on(option)):
            raise InputError(f"{option!r} writes a file: only what is compiled is taken")
    if options.confined_to is None:
        return
    rest = iter(options.options)
    for option in rest:
        if option.startswith(_FOLDER_OPTION):
            folder = option.removeprefix(_FOLDER_OPTION) or next(rest, "")
            if is_within(Path(folder), options.confined_to):
                continue
        if not _HARMLESS.fullmatch(option):
            raise InputError(f"{option!r} is no option of a foreign workload{TO_ALLOW}")


def _handed_on(option: str) -> list[str]:
    """The options that one carries, `-Wp,-MD,file` or `-Xclang=-MD`; else itself."""
    carrier = _HANDED_ON.match(option)
    return option[carrier.end() :].split(",") if carrier else [option]


def folders_in(options: Sequence[str]) -> Iterator[Path]:
    """The folders of headers among options: `-Ifolder`, or `-I` and the folder."""
    for option, following in zip(options, (*options[1:], ""), strict=False):
        name = following if option == _FOLDER_OPTION else option.removeprefix(_FOLDER_OPTION)
        if option.startswith(_FOLDER_OPTION) and name:
            yield Path(name)
