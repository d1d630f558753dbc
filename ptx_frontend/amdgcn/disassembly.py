"""Disassembled code of AMD's GPUs as assembly text: labels, names of variables, directives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kernelcast.errors import InputError
from kernelcast.ptx_frontend.amdgcn.code_image import CodeImage, KernelCode, Variable
from kernelcast.simcore.host.amd_disassembly import Disassembled

__all__ = ["LABEL", "assembly_text"]

LABEL = "code"
"""What the text calls the kernel, whatever its name."""
_BRANCH = re.compile(r"(?P<opcode>s_c?branch\w*) (?P<distance>-?\d+)")
_PC = re.compile(r"s_getpc_b64 s\[(?P<low>\d+):(?P<high>\d+)\]")
_SUM = re.compile(
    r"s_(?P<name>add(?:c|_co|_co_ci)?)_u32 s(?P<to>\d+), s(?P<of>\d+), (?P<literal>-?\w+)"
)
_LOWER_SUMS = ("add", "add_co")
_WORD = 4
_OF_LITERAL = 4
"""Where the constant lies that a word is added for."""


def assembly_text(
    code: KernelCode, lines: Sequence[Disassembled], image: CodeImage
) -> tuple[str, dict[str, Variable]]:
    """The text of a kernel, and the variables that it names.

    InputError for branches to what is no instruction of it, and for addresses of nothing known.
    """
    starts = {line.address for line in lines}
    names = _Names(code, image)
    told = list(_lines(lines, starts, names))
    targets = {target for _, _, target in told if target is not None}
    text = [f"{LABEL}:"]
    for address, line, _ in told:
        if address in targets:
            text.append(f"{names.label(address)}:")
        text.append(f"\t{line}")
    text += [".Lfunc_end0:", f"\t.amdhsa_kernel {LABEL}"]
    text += [f"\t\t.amdhsa_{name} {value}" for name, value in code.settings.items()]
    text.append("\t.end_amdhsa_kernel")
    return "\n".join(text), names.found


def _lines(
    lines: Sequence[Disassembled], starts: set[int], names: _Names
) -> Iterator[tuple[int, str, int | None]]:
    """Address and text of each instruction, and where it may branch to."""
    for line in lines:
        match = _BRANCH.fullmatch(line.text)
        if match is None:
            named = names.named(line) if line.text else f"unknown {line.size}"
            yield line.address, named, None
            continue
        distance = int(match["distance"]) & 0xFFFF
        words = distance - 0x10000 if distance & 0x8000 else distance
        target = line.address + line.size + _WORD * words
        if target not in starts:
            raise InputError(f"the code is damaged: a branch leads to {target:#x}")
        yield line.address, f"{match['opcode']} {names.label(target)}", target


class _Names:
    """Gives sums of the program counter and a constant the name of the variable that they are."""

    def __init__(self, code: KernelCode, image: CodeImage) -> None:
        self._code, self._image = code, image
        self.found: dict[str, Variable] = {}
        self._counters: dict[int, int] = {}
        """What lower registers of a pair hold: the program counter."""
        self._halves: dict[int, tuple[str, int]] = {}
        """Upper registers that still lack their half, its variable, and the program counter."""

    def label(self, address: int) -> str:
        """The label of an instruction: how far it is behind the first one."""
        return f".L{address - self._code.address:x}"

    def named(self, line: Disassembled) -> str:
        """The text, with a name where it adds to a program counter."""
        if match := _PC.fullmatch(line.text):
            self._counters[int(match["low"])] = line.address + line.size
            return line.text
        match = _SUM.fullmatch(line.text)
        if match is None:
            return line.text
        register, of = int(match["to"]), int(match["of"])
        start = f"s_{match['name']}_u32 s{register}, s{of}, "
        if match["name"] in _LOWER_SUMS and of in self._counters:
            counter = self._counters.pop(of)
            name = self._variable(line, counter, int(match["literal"], 0)).name
            self._halves[of + 1] = name, counter
            return f"{start}{name}@rel32@lo+{line.address + _OF_LITERAL - counter}"
        if match["name"] not in _LOWER_SUMS and of in self._halves:
            name, counter = self._halves.pop(of)
            return f"{start}{name}@rel32@hi+{line.address + _OF_LITERAL - counter}"
        return line.text

    def _variable(self, line: Disassembled, counter: int, literal: int) -> Variable:
        word = line.address + _OF_LITERAL
        if word in self._code.targets:
            counted_to = self._code.targets[word]
            target = None if counted_to is None else counted_to - (word - counter)
        else:
            low = literal & 0xFFFFFFFF
            target = counter + (low - (1 << 32) if low >> 31 else low)
        found = None if target is None else self._image.variable_at(target)
        if found is None:
            raise InputError(f"{line.text} at {line.address:#x}: an address of nothing known")
        self.found[found.name] = found
        return found
