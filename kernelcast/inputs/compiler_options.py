"""How a source text is compiled, whichever compiler does it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelcast.errors import InputError

__all__ = ["CompilerOptions", "architecture_number", "folders_in"]

_FOLDER_OPTION = "-I"
_ARCHITECTURE = re.compile(r"(?:sm|compute)_(?P<number>\d+[af]?)$")


@dataclass(frozen=True, slots=True)
class CompilerOptions:
    """`options` go to the compiler as they are, `include` are its folders of headers.

    `architecture` empty: the oldest that NVRTC knows for CUDA C++; LLVM IR instead of PTX of
    OpenCL C. `names` are C++ names of instances of templates that nothing in the source makes,
    `scale<float>`.
    """

    architecture: str = ""
    options: tuple[str, ...] = ()
    include: tuple[Path, ...] = ()
    names: tuple[str, ...] = ()


def architecture_number(name: str) -> str:
    """`80` of `sm_80` and `compute_80`, `90a` of `sm_90a`; InputError for anything else."""
    match = _ARCHITECTURE.match(name)
    if match is None:
        raise InputError(f"{name!r} is no architecture such as 'sm_75' or 'sm_90a'")
    return match["number"]


def folders_in(options: Sequence[str]) -> Iterator[Path]:
    """The folders of headers among options: `-Ifolder`, or `-I` and the folder."""
    for option, following in zip(options, (*options[1:], ""), strict=False):
        name = following if option == _FOLDER_OPTION else option.removeprefix(_FOLDER_OPTION)
        if option.startswith(_FOLDER_OPTION) and name:
            yield Path(name)
