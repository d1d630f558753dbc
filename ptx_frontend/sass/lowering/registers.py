"""What the registers of SASS become in the intermediate representation.

R and UR are registers of 32 bits, P and UP of one. Two neighbours that an instruction reads or
writes as 64 bits are a third register, of 64 bits, which is brought up to date from its halves
before it is read, and they from it after it is written; `passes.register_pairs` then deletes what
nobody needs.
"""

from __future__ import annotations

from kernelcast.ptx_frontend.ptx.lowering.scopes import RegisterFile
from kernelcast.simcore.isa.ir.kernel import Register

__all__ = ["PREDICATE_FILES", "SassRegisters"]

PREDICATE_FILES = ("P", "UP")
_WORD_BITS, _PAIR_BITS = 32, 64


class SassRegisters:
    """The registers of one kernel, made when they are first named."""

    def __init__(self) -> None:
        self.file = RegisterFile()
        self._known: dict[tuple[str, int], Register] = {}
        self.pairs: dict[tuple[str, int], Register] = {}
        """By file and number of the lower half."""
        self.numbers: dict[tuple[str, int], int] = {}
        """Numbers of registers in the facts of instructions, in the order of first use."""

    def word(self, file: str, number: int) -> Register:
        """The register itself: 32 bits, or one of a predicate."""
        key = (file, number)
        if key not in self._known:
            bits = 1 if file in PREDICATE_FILES else _WORD_BITS
            self._known[key] = self.file.new(f"{file}{number}", bits)
        return self._known[key]

    def pair(self, file: str, number: int) -> Register:
        """The 64 bits of a register and its upper neighbour."""
        key = (file, number)
        if key not in self.pairs:
            self.pairs[key] = self.file.new(f"{file}{number}:{number + 1}", _PAIR_BITS)
        return self.pairs[key]

    def halves(self, pair: Register) -> tuple[Register, Register] | None:
        """The two halves of a pair; None for a register that is no pair."""
        for (file, number), known in self.pairs.items():
            if known == pair:
                return self.word(file, number), self.word(file, number + 1)
        return None

    def number(self, file: str, number: int) -> int:
        """The number of a register in the facts of instructions."""
        return self.numbers.setdefault((file, number), len(self.numbers))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of registers by their number in the facts."""
        return tuple(f"{file}{number}" for file, number in self.numbers)
