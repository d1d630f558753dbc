"""Writes what one machine instruction becomes, and knows the registers of a wavefront."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence

from kernelcast.errors import SourceSpan, UnsupportedInstruction
from kernelcast.ptx_frontend.amdgcn.text import AsmInstruction
from kernelcast.ptx_frontend.instruction_writer import Counted, Fields, InstructionWriter
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.scopes import RegisterFile
from kernelcast.simcore.isa.ir.kernel import Guard, Immediate, Operand, Register
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES
from kernelcast.simcore.isa.types import WINDOWS, AddressSpace

__all__ = ["Writer", "register_names"]

_REGISTER = re.compile(r"(?P<file>[vsa]|ttmp)(?:(?P<one>\d+)|\[(?P<first>\d+):(?P<last>\d+)\])")
_PAIRS = {"vcc": ("vcc_lo", "vcc_hi"), "exec": ("exec_lo", "exec_hi")}
_SINGLES = (
    *("vcc_lo", "vcc_hi", "exec_lo", "exec_hi", "m0", "flat_scratch_lo", "flat_scratch_hi"),
)
_APERTURES = {
    "src_private_base": WINDOWS[AddressSpace.LOCAL],
    "src_shared_base": WINDOWS[AddressSpace.SHARED],
}
"""Where flat addresses have the memory of a work-item, and of a work-group."""
_LOWER, _UPPER = ".l", ".h"
"""What follows the name of a register of which an operand is a half."""
_NOTHING = "null"
"""The register that reads as zero, and that nothing is kept in."""
_LONG = re.compile(r"0x[0-9a-f]{9,16}")
"""A constant that is written with all of its 64 bits."""
_FLOAT = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")
_MASK = (1 << 32) - 1
_HALF = Immediate(16)
_WIDE_MASK = (1 << 64) - 1
_WORD_LANES = 32
_TURNS = {"0.15915494": 0.15915494309189532}


def register_names(operand: str) -> list[str]:
    """The names of the registers that an operand stands for; empty for constants."""
    if operand in _PAIRS:
        return list(_PAIRS[operand])
    if operand in _SINGLES:
        return [operand]
    match = _REGISTER.fullmatch(operand.removesuffix(_UPPER).removesuffix(_LOWER))
    if match is None:
        return []
    if match["one"]:
        return [f"{match['file']}{match['one']}"]
    return [f"{match['file']}{n}" for n in range(int(match["first"]), int(match["last"]) + 1)]


class Writer(InstructionWriter):
    """The instructions of a kernel; the first one with `is_main` counts for the machine's own."""

    def __init__(self, span: SourceSpan, lanes: int = 64) -> None:
        self.lanes = lanes
        """Lanes of a wavefront: a mask of them is a pair of scalar registers, or one."""
        self.keeps_halves = False
        """Whether results of 16 bits leave the upper half of their register as it is."""
        self.file = RegisterFile()
        self.builder = BasicBlockBuilder(span, self.file)
        self.exec = self.file.new("exec", 1)
        """Whether the lane takes part."""
        self.scc = self.file.new("scc", 1)
        self.guard: Guard | None = None
        self.own_memory: set[str] = set()
        """The first registers of descriptors of the memory of a work-item."""
        self.variables: frozenset[str] = frozenset()
        """The variables and constants that there are."""
        self.addressed: set[str] = set()
        """Those of them that instructions name."""
        self.argument_at: Callable[[str], int | None] = lambda _pair: None
        """Where among the arguments of the launch a pair of registers points to."""
        self.is_in_arguments: Callable[[str], bool] = lambda _registers: False
        """Whether registers hold a distance from the first argument."""
        self.behind_counter = 0
        """How far a constant of the instruction is behind what `s_getpc_b64` gave last, bytes."""
        self.last_vector = 0
        """The highest number of a vector register that an instruction names."""
        self.indexed: tuple[Operand, tuple[str, ...]] | None = None
        """The index that numbers of registers are raised by now, and of which operands."""
        self._words: dict[str, Register] = {}
        self._masks: dict[str, Register] = {"exec_lo": self.exec}
        self._instruction: AsmInstruction | None = None
        self._span = span
        self._pc = 0
        self._is_counted = True

    # ---- what an instruction counts as ----

    def begin(self, instruction: AsmInstruction) -> None:
        """What follows, up to `finish`, is one instruction of the machine."""
        self._instruction, self._is_counted = instruction, False

    def finish(self) -> None:
        """Writes a move that counts where nothing else did."""
        if not self._is_counted:
            self.assign("mov.b32", self.register(32), Immediate(0), is_main=True)

    def counted(self, mnemonic: str, *, is_main: bool = False) -> Counted:
        """What the next instruction counts as: one, if it is the main one, else nothing."""
        instruction = self._instruction
        is_own = is_main and not self._is_counted and instruction is not None
        self._is_counted |= is_own
        self._pc += is_own
        return Counted(
            pc=self._pc - 1 if is_own else self.builder.added_pc(),
            mnemonic=instruction.mnemonic if is_own and instruction is not None else mnemonic,
            span=self._span if instruction is None else instruction.span,
            origin=None if instruction is None else instruction.origin,
            is_added=False,
            is_part=not is_own,
        )

    def fields(self, mnemonic: str, *, is_main: bool = False) -> Fields:
        """What the next instruction has, under the guard of EXEC where there is one."""
        return Fields(**self.counted(mnemonic, is_main=is_main), guard=self.guard)

    def refused(self, why: str) -> UnsupportedInstruction:
        """The error for what is not executed."""
        assert self._instruction is not None
        return UnsupportedInstruction(
            f"instruction {self._instruction.mnemonic!r} of AMD's code: {why}",
            self._instruction.span,
        )

    # ---- registers ----

    def word(self, name: str) -> Register:
        """A register of 32 bits by name: `v3`, `s4`, `vcc_lo`, `m0`."""
        if name not in self._words:
            self._words[name] = self.file.new(name, 32)
        return self._words[name]

    def names(self, operand: str) -> list[str]:
        """The names of the registers that an operand stands for; empty for constants."""
        return register_names(operand)

    def source(self, operand: str, *, is_double: bool = False) -> list[Operand]:
        """The words of an operand; a constant has one, or two for a double."""
        if names := self.names(operand):
            words: list[Operand] = [self.word(name) for name in names]
            is_upper = operand.endswith(_UPPER)
            return [self.compute("shr.u32", 32, words[0], _HALF)] if is_upper else words
        if operand == _NOTHING:
            return [Immediate(0)]
        if operand in _APERTURES:
            return [Immediate(_APERTURES[operand] & _MASK), Immediate(_APERTURES[operand] >> 32)]
        if _FLOAT.fullmatch(operand):
            number = _TURNS.get(operand, float(operand))
            if is_double:
                (bits,) = struct.unpack("<Q", struct.pack("<d", number))
                return [Immediate(bits & _MASK), Immediate(bits >> 32)]
            return [Immediate(struct.unpack("<I", struct.pack("<f", number))[0])]
        try:
            return [Immediate(int(operand, 0) & _MASK)]
        except ValueError:
            raise self.refused(f"operand {operand!r}") from None

    def single(self, operand: str) -> Operand:
        """An operand of 32 bits."""
        (found,) = self.source(operand)[:1]
        return found

    def number(self, operand: str) -> Operand:
        """A number of single precision, with `-` and `| |` before and around it."""
        is_negative = operand.startswith("-") and not operand[1:2].isdigit()
        plain = operand.removeprefix("-") if is_negative else operand
        is_absolute = plain.startswith("|")
        value = self.single(plain.strip("|"))
        if is_absolute:
            value = self.compute("and.b32", 32, value, Immediate(0x7FFFFFFF))
        if is_negative:
            value = self.compute("xor.b32", 32, value, Immediate(0x80000000))
        return value

    def wide(self, operand: str, *, is_signed: bool = False) -> Operand:
        """An operand of 64 bits; constants of 32 bits are extended as the operation is signed."""
        parts = self.source(operand, is_double=True)
        low, high = parts[0], parts[-1]
        if len(parts) == 1:
            (part,) = parts
            if not isinstance(part, Immediate):
                raise self.refused(f"operand {operand!r} of 64 bits")
            if _LONG.fullmatch(operand):
                return Immediate(int(operand, 0) & _WIDE_MASK)
            is_negative = operand.startswith("-") or (is_signed and part.bits >> 31)
            return Immediate((part.bits | ~_MASK) & _WIDE_MASK if is_negative else part.bits)
        if isinstance(low, Immediate) and isinstance(high, Immediate):
            return Immediate(high.bits << 32 | low.bits)
        return self.joined(low, high)

    def joined(self, low: Operand, high: Operand) -> Register:
        """Two words as one of 64 bits."""
        upper = self.compute("cvt.u64.u32", 64, high)
        upper = self.compute("shl.b64", 64, upper, Immediate(32))
        return self.compute("or.b64", 64, upper, self.compute("cvt.u64.u32", 64, low))

    def halves(self, value: Operand) -> tuple[Operand, Operand]:
        """The lower and the upper word of 64 bits."""
        low = self.compute("cvt.u32.u64", 32, value)
        upper = self.compute("shr.u64", 64, value, Immediate(32))
        return low, self.compute("cvt.u32.u64", 32, upper)

    # ---- masks of lanes ----

    @property
    def is_wide(self) -> bool:
        """Whether masks of lanes are pairs of registers."""
        return self.lanes > _WORD_LANES

    def mask_words(self, name: str) -> tuple[Operand, Operand]:
        """The words of `exec`, `vcc` or `vcc_lo`; the upper one is zero where there is none."""
        lower = f"{name.removesuffix('_lo')}_lo"
        upper = self.word(f"{lower[:-2]}hi") if self.is_wide else Immediate(0)
        return self.word(lower), upper

    def mask(self, operand: str) -> Operand:
        """A pair of scalar registers, or -1 or 0, as the bit of the own lane."""
        if operand in ("0", "-1", _NOTHING):
            return Immediate(int(operand == "-1"))
        if names := self.names(operand):
            return self.mask_register(names[0])
        moved = self.compute("shr.u64", 64, self.wide(operand), self.lane())
        bit = self.compute("and.b64", 64, moved, Immediate(1))
        return self.compute("setp.ne.u64", 1, bit, Immediate(0))

    def mask_register(self, name: str) -> Register:
        """The bit of the own lane in a pair that is a mask, by the name of its lower register."""
        if name not in self._masks:
            self._masks[name] = self.file.new(f"{name}.mask", 1)
        return self._masks[name]

    def set_mask(self, operand: str, predicate: Operand) -> None:
        """Writes the registers of a mask: the lanes where the predicate holds."""
        if operand == _NOTHING:
            return
        low, *rest = self.names(operand)
        self.unguarded("mov.pred", self.mask_register(low), predicate)
        words = self.word(low), self.word(rest[0]) if self.is_wide else self.register(32)
        guard, self.guard = self.guard, None
        self.exchange(WARP_OPCODES["lane.ballot"], words, (self.mask_register(low),))
        self.guard = guard

    def unguarded(self, mnemonic: str, destination: Register, *sources: Operand) -> None:
        """Writes a register in all lanes, whether they take part or not."""
        guard, self.guard = self.guard, None
        self.assign(mnemonic, destination, *sources)
        self.guard = guard

    def set_scalar(self, operand: str, values: Sequence[Operand]) -> None:
        """Writes scalar registers, and the bit of the own lane in every pair that they may be."""
        if operand == _NOTHING:
            return
        names = self.names(operand)
        guard, self.guard = self.guard, None
        for name, value in zip(names, values, strict=True):
            self.assign("mov.b32", self.word(name), value)
        for first in self._pairs_with(names):
            self._mask_from_words(first)
        self.guard = guard

    def _pairs_with(self, names: Sequence[str]) -> list[str]:
        """The first registers of masks of which one is written."""
        if not self.is_wide:
            return [name for name in names if name in self.mask_names]
        found: dict[str, None] = {}
        for name in names:
            if name in ("vcc_hi", "exec_hi"):
                found[f"{name[:-2]}lo"] = None
            elif name in ("vcc_lo", "exec_lo"):
                found[name] = None
            elif name[0] == "s":
                number = int(name[1:])
                found[f"s{number - number % 2}"] = None
        return [name for name in found if name in self.mask_names]

    mask_names: frozenset[str] = frozenset()
    """The first registers of all that some instruction takes for a mask of lanes."""

    def _mask_from_words(self, low_name: str) -> None:
        if not self.is_wide:
            moved = self.compute("shr.u32", 32, self.word(low_name), self.lane())
            bit = self.compute("and.b32", 32, moved, Immediate(1))
            self.assign("setp.ne.u32", self.mask_register(low_name), bit, Immediate(0))
            return
        high_name = f"{low_name[:-2]}hi" if "_" in low_name else f"s{int(low_name[1:]) + 1}"
        value = self.joined(self.word(low_name), self.word(high_name))
        moved = self.compute("shr.u64", 64, value, self.lane())
        bit = self.compute("and.b64", 64, moved, Immediate(1))
        self.assign("setp.ne.u64", self.mask_register(low_name), bit, Immediate(0))

    def lane(self) -> Register:
        """The number of the lane."""
        return self.word("lane")

    # ---- vector registers ----

    def set_vector(self, operand: str, *values: Operand) -> None:
        """Writes vector registers where EXEC says so."""
        names = self.names(operand)
        for name, value in zip(names, values, strict=True):
            self.assign("mov.b32", self.word(name), value)

    def set_half(self, operand: str, value: Operand) -> None:
        """Writes the half of a vector register that 16 bits of a word are for.

        The other half is zero, or what it was where the generation keeps it.
        """
        kept = self.compute("and.b32", 32, value, Immediate(0xFFFF))
        (name,) = self.names(operand)
        if operand.endswith(_UPPER):
            kept = self.compute("shl.b32", 32, kept, _HALF)
            own = self.compute("and.b32", 32, self.word(name), Immediate(0xFFFF))
            kept = self.compute("or.b32", 32, kept, own)
        elif self.keeps_halves:
            own = self.compute("and.b32", 32, self.word(name), Immediate(0xFFFF0000))
            kept = self.compute("or.b32", 32, kept, own)
        self.assign("mov.b32", self.word(name), kept)

    def main(self, mnemonic: str, bits: int, *sources: Operand) -> Register:
        """What the machine's instruction computes; it counts."""
        destination = self.register(bits)
        guard, self.guard = self.guard, None
        self.assign(mnemonic, destination, *sources, is_main=True)
        self.guard = guard
        return destination

    def compute(self, mnemonic: str, bits: int, *sources: Operand) -> Register:
        """What the instruction gives, in a new register, in all lanes."""
        destination = self.register(bits)
        self.unguarded(mnemonic, destination, *sources)
        return destination
