"""The words of a module: its header and the stream of instructions."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.published_tables import ResultForm, instruction_form

__all__ = ["WORD_BYTES", "Instruction", "ModuleWords", "module_words"]

WORD_BYTES = 4
_MAGIC = 0x07230203
_HEADER_WORDS = 5
_NEWEST_MINOR_VERSION = 6
_MOST_IDENTIFIERS = 0x3FFFFF
"""The universal limit of the specification."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction; `operands` are the words after the result, `offset` counts bytes."""

    name: str
    offset: int
    type_id: int
    result: int
    operands: tuple[int, ...]

    def operand(self, index: int) -> int:
        """The word of an operand; SpirvProblem where there are too few."""
        if index >= len(self.operands):
            raise SpirvProblem(f"{self.name} has too few operands")
        return self.operands[index]

    def string(self, index: int) -> tuple[str, int]:
        """The text that begins at an operand, and the operand after it."""
        raw = bytearray()
        for position in range(index, len(self.operands)):
            raw += self.operands[position].to_bytes(WORD_BYTES, "little")
            if 0 in raw[-WORD_BYTES:]:
                return raw[: raw.index(0)].decode("utf-8", "replace"), position + 1
        raise SpirvProblem(f"{self.name} has a text without an end")


@dataclass(frozen=True, slots=True)
class ModuleWords:
    """`bound` is larger than every identifier."""

    bound: int
    words: tuple[int, ...]

    def instructions(self) -> Iterator[Instruction]:
        """Yields the instructions in order; SpirvProblem for one that ends outside the module."""
        at = _HEADER_WORDS
        while at < len(self.words):
            count, opcode = self.words[at] >> 16, self.words[at] & 0xFFFF
            if count == 0 or at + count > len(self.words):
                offset = at * WORD_BYTES
                raise SpirvProblem(f"the instruction at byte {offset} does not fit in the module")
            yield self._instruction(at, count, opcode)
            at += count

    def _instruction(self, at: int, count: int, opcode: int) -> Instruction:
        form = instruction_form(opcode)
        words = self.words[at + 1 : at + count]
        identifiers = {ResultForm.NONE: 0, ResultForm.RESULT: 1, ResultForm.TYPED: 2}[form.result]
        if len(words) < identifiers:
            raise SpirvProblem(f"{form.name} at byte {at * WORD_BYTES} has too few operands")
        result = words[identifiers - 1] if identifiers else 0
        if identifiers and not 0 < result < self.bound:
            raise SpirvProblem(
                f"{form.name} at byte {at * WORD_BYTES} defines %{result}, "
                f"outside of the bound {self.bound}"
            )
        type_id = words[0] if form.result is ResultForm.TYPED else 0
        return Instruction(form.name, at * WORD_BYTES, type_id, result, words[identifiers:])


def module_words(data: bytes) -> ModuleWords:
    """The words of either byte order; SpirvProblem for a header that is none."""
    if len(data) < _HEADER_WORDS * WORD_BYTES:
        raise SpirvProblem("the file is shorter than the header of a module")
    if len(data) % WORD_BYTES:
        raise SpirvProblem(f"the size of {len(data)} bytes is no multiple of {WORD_BYTES}")
    orders = [order for order in "<>" if struct.unpack_from(f"{order}I", data)[0] == _MAGIC]
    if not orders:
        raise SpirvProblem("the file does not begin with the magic number of SPIR-V")
    words = struct.unpack(f"{orders[0]}{len(data) // WORD_BYTES}I", data)
    version, bound = words[1], words[3]
    major, minor = version >> 16 & 0xFF, version >> 8 & 0xFF
    if major != 1 or minor > _NEWEST_MINOR_VERSION:
        raise SpirvProblem(f"version {major}.{minor} is not supported", is_unsupported=True)
    if bound > _MOST_IDENTIFIERS:
        raise SpirvProblem(f"the bound of {bound} identifiers is above {_MOST_IDENTIFIERS}")
    return ModuleWords(bound, words)
