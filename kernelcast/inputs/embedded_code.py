"""Kernels of fat binaries, objects, libraries and executables: of the PTX or machine code in them.

Each container is a translation unit. PTX is taken where there is any, as it says more of a kernel
than machine code; machine code of kernels that no PTX has, or for an architecture that was asked
for and that there is no PTX for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from kernelcast.errors import InputError
from kernelcast.input_files import open_input
from kernelcast.inputs.fat_binary import CodeEntry, CodeKind, code_entries, payload
from kernelcast.inputs.kernel_names import called_by
from kernelcast.inputs.native.cubins import kernels_of
from kernelcast.ptx_frontend import read_ptx
from kernelcast.ptx_frontend.sass.container.cubin import read_cubin
from kernelcast.simcore.isa.ir.kernel import Kernel, Module

__all__ = ["Units", "chosen_entries", "load_embedded", "merged", "open_units", "ptx_text"]

_PTX_ENTRY = re.compile(r"\.entry\s+([\w$%]+)")


def load_embedded(file: Path, architecture: str, names: Collection[str] = ()) -> Module:
    """The kernels for the newest architecture of each translation unit, or the given one.

    `names`: those that are wanted, as symbols or in C++, of a large library; by default all.
    InputError when there are none.
    """
    with open_units(file, architecture, names) as units:
        found = merged(str(file), map(units.module, units.entries))
    if names and not (found.kernels or found.rejected):
        raise InputError(f"{file}: no kernel in it is called {' or '.join(names)}")
    return found


def merged(path: str, modules: Iterable[Module]) -> Module:
    """One module; of kernels of one name the first that runs: templates stand in several units."""
    kernels: dict[str, Kernel] = {}
    rejected: dict[str, tuple[Exception, ...]] = {}
    for part in modules:
        kernels |= {name: it for name, it in part.kernels.items() if name not in kernels}
        rejected |= {name: why for name, why in part.rejected.items() if name not in rejected}
    return Module(path, kernels, {n: why for n, why in rejected.items() if n not in kernels})


@contextmanager
def open_units(
    file: Path,
    architecture: str,
    names: Collection[str] = (),
    kinds: Sequence[CodeKind] = (CodeKind.PTX, CodeKind.CUBIN),
    *,
    each: bool = False,
) -> Iterator[Units]:
    """The translation units of a file, of any size; InputError when there are none.

    `kinds`: what is taken, the one that is liked best first. `each`: all entries of each unit.
    """
    try:
        with open_input(file) as stream:
            found = list(code_entries(stream, str(file)))
            chosen = found if each else chosen_entries(found, architecture, kinds)
            if not chosen:
                raise InputError(f"{file}: {_missing(found, architecture)}")
            yield Units(stream, file, frozenset(names), chosen)
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from None


def chosen_entries(
    found: Iterable[CodeEntry],
    architecture: str,
    kinds: Sequence[CodeKind] = (CodeKind.PTX, CodeKind.CUBIN),
) -> list[CodeEntry]:
    """One a container, those of the first kind first; `sm_90` stands for code of sm_90a, too."""
    chosen: dict[int, CodeEntry] = {}

    def rank(entry: CodeEntry) -> tuple[int, int, str]:
        return -kinds.index(entry.kind), entry.number, entry.variant

    for entry in found:
        if architecture and architecture not in (entry.architecture, f"sm_{entry.number}"):
            continue
        best = chosen.get(entry.container)
        if entry.kind in kinds and (best is None or rank(entry) > rank(best)):
            chosen[entry.container] = entry
    return sorted(chosen.values(), key=lambda entry: (-rank(entry)[0], entry.container))


def _missing(found: Collection[CodeEntry], architecture: str) -> str:
    if not found:
        return "no PTX and no machine code in it"
    have = dict.fromkeys(entry.architecture for entry in sorted(found, key=_by_number))
    return f"no code for {architecture} in it, but for {', '.join(have)}"


def _by_number(entry: CodeEntry) -> tuple[int, str]:
    return entry.number, entry.variant


def ptx_text(content: bytes, where: str) -> str:
    """The text of a payload; InputError when it is none."""
    try:
        return content.rstrip(b"\0").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{where} is damaged: {error}") from None


@dataclass(slots=True)
class Units:
    """The units of a file that is open, one chosen entry of each; those with PTX come first.

    `names`: the kernels that are wanted, all where it is empty. `done`: those that were found to
    run.
    """

    stream: BinaryIO
    file: Path
    names: frozenset[str]
    entries: Sequence[CodeEntry]
    done: set[str] = field(default_factory=set)

    def module(self, entry: CodeEntry) -> Module:
        """The wanted kernels of a unit; InputError when it is damaged or tools are missing."""
        content = payload(self.stream, entry, str(self.file))
        where = f"{self.file}[{entry.architecture} #{entry.container + 1}]"
        if entry.kind is CodeKind.PTX:
            module = self._ptx(content, where)
        else:
            module = self._machine_code(content, where)
        self.done.update(module.kernels)
        return module

    def _ptx(self, content: bytes, where: str) -> Module:
        text = ptx_text(content, where)
        if self.names and not called_by(self.names, _PTX_ENTRY.findall(text)):
            return Module(where, {}, {})
        return read_ptx(text, where)

    def _machine_code(self, content: bytes, where: str) -> Module:
        """What PTX has already is not disassembled: linked programs have both."""
        cubin = read_cubin(content, where)
        entries = [function.name for function in cubin.functions.values() if function.is_entry]
        wanted = called_by(self.names, entries) if self.names else entries
        missing = [name for name in wanted if name not in self.done]
        if not missing:
            return Module(where, {}, {})
        try:
            return kernels_of(cubin, content, names=missing if len(missing) < len(entries) else ())
        except InputError as error:
            if not self.done:
                raise
            return Module(where, {}, dict.fromkeys(missing, (error,)))
