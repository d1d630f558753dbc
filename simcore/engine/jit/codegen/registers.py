"""Registers and operands of the warp function: one scalar or one vector each, by variance."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kernelcast.simcore.engine.jit.analysis.lane_variance import LaneVariance, resized
from kernelcast.simcore.engine.jit.analysis.warp_analysis import (
    Analysis,
    Facts,
    across_lanes_variance,
    operand_variance,
)
from kernelcast.simcore.isa.ir.kernel import (
    Immediate,
    Operand,
    Register,
    Special,
    SpecialRegister,
    WarpOperation,
)
from kernelcast.simcore.isa.numerics.lane_code import LLVM_TYPES, LaneCode
from kernelcast.simcore.isa.types import Kind, ScalarType

__all__ = ["Guess", "Path", "Registers", "lane_vector", "storage_type"]

Path = tuple[Mapping[int, str], str]
"""The values at hand at the end of a path, and its last label."""


@dataclass(frozen=True, slots=True)
class Guess:
    """A vector is the scalar `base` plus `offsets` by lane where the i1 `holds`."""

    base: str
    holds: str
    offsets: tuple[int, ...]


def storage_type(bits: int) -> str:
    """The LLVM type of a register of that many bits."""
    return f"i{bits}"


def lane_vector(lane_type: str, values: tuple[int, ...]) -> str:
    """A constant vector."""
    bits = int(lane_type[1:])
    items = ", ".join(f"{lane_type} {value & ((1 << bits) - 1)}" for value in values)
    return f"<{items}>"


class Registers:
    """Reads and writes registers; values stay in `_local` while their basic block runs.

    `specials`: the scalar base of each special register, i32 or i64.
    """

    def __init__(
        self,
        analysis: Analysis,
        facts: Facts,
        scalar: LaneCode,
        vector: LaneCode,
        specials: Mapping[Special, str],
        symbols: Mapping[str, int],
    ) -> None:
        self._analysis = analysis
        self._facts = facts
        self._scalar = scalar
        self._vector = vector
        self._specials = specials
        self._symbols = symbols
        self._local: dict[int, str] = {}
        self._guesses: dict[str, Guess] = {}

    def begin(self) -> None:
        """A new basic block: nothing is at hand."""
        self._local = {}

    def at_hand(self) -> dict[int, str]:
        """The values that need not be loaded, by register index."""
        return dict(self._local)

    def restore(self, values: Mapping[int, str]) -> None:
        """Another path begins, with these values at hand."""
        self._local = dict(values)

    def rejoin(self, one: Path, other: Path, written: Iterable[Register]) -> None:
        """Two paths meet; `written`: registers that both wrote and that only `_local` holds."""
        (mine, here), (theirs, there) = one, other
        self._local = {index: v for index, v in mine.items() if theirs.get(index) == v}
        for register in written:
            index, kind = register.index, self.slot_type(register)
            self._local[index] = self._scalar.op(
                f"phi {kind} [ {mine[index]}, %{here} ], [ {theirs[index]}, %{there} ]"
            )

    def slot_type(self, register: Register) -> str:
        """The LLVM type of the register's stack slot: a vector where lanes vary."""
        variance = self._analysis.variance(register)
        lane = storage_type(register.bits)
        return f"<{self._facts.width} x {lane}>" if variance.is_varying else lane

    def variance(self, operand: Operand, read_as: ScalarType) -> LaneVariance:
        """The operand's variance, as known before the kernel runs."""
        found = operand_variance(operand, read_as, self._analysis.variances, self._facts)
        assert found is not None
        return found

    def exchange_variance(self, operation: WarpOperation) -> LaneVariance:
        """What the results of an operation across lanes look like."""
        found = across_lanes_variance(operation, self._analysis.variances, self._facts)
        assert found is not None
        return found

    def bits_of(self, register: Register) -> str:
        """The stored scalar base or vector."""
        value = self._local.get(register.index)
        if value is None:
            value = self._scalar.op(f"load {self.slot_type(register)}, ptr %R{register.index}")
            self._local[register.index] = value
        return value

    def guess(self, register: Register) -> Guess | None:
        """What the register's vector is made of, where that is known."""
        value = self._local.get(register.index)
        return None if value is None else self._guesses.get(value)

    def note_guess(self, register: Register, guess: Guess) -> None:
        """Notes what the vector is made of that the register now holds."""
        self._guesses[self._local[register.index]] = guess

    def base(self, operand: Operand, read_as: ScalarType) -> str:
        """The scalar base of an operand whose variance is known."""
        variance = self.variance(operand, read_as)
        if variance.constant is not None and variance.is_uniform and not read_as.is_float:
            return self._immediate(variance.constant, read_as)
        if isinstance(operand, Register):
            return self._as_type(self._scalar, self.bits_of(operand), operand.bits, read_as)
        if isinstance(operand, SpecialRegister):
            bits = 64 if operand.which in _WIDE else 32
            return self._as_type(self._scalar, self._specials[operand.which], bits, read_as)
        if isinstance(operand, Immediate):
            return self._immediate(operand.bits, read_as)
        return self._immediate(self._symbols[operand.symbol] + operand.offset, read_as)

    def vector(self, operand: Operand, read_as: ScalarType) -> str:
        """The operand in every lane."""
        if isinstance(operand, Register):
            variance = self._analysis.variance(operand)
            stored = self.bits_of(operand)
            if not variance.is_varying:
                stored = self.spread(stored, variance, operand.bits)
            return self._as_type(self._vector, stored, operand.bits, read_as)
        if isinstance(operand, SpecialRegister):
            bits = 64 if operand.which in _WIDE else 32
            variance, full = self._facts.special[operand.which], self._specials[operand.which]
            if not variance.is_varying:
                full = self.spread(full, variance, bits)
            return self._as_type(self._vector, full, bits, read_as)
        return self._vector.splat(read_as, self.base(operand, read_as))

    def spread(self, base: str, variance: LaneVariance, bits: int) -> str:
        """A known variance as a vector."""
        assert variance.offsets is not None
        lane = storage_type(bits)
        splat = self.broadcast(base, lane)
        if variance.is_uniform:
            return splat
        return self._vector.binary("add", lane, splat, lane_vector(lane, variance.offsets))

    def broadcast(self, value: str, lane: str) -> str:
        """Emits a vector with the scalar in every lane."""
        width = self._facts.width
        single = self._scalar.op(f"insertelement <{width} x {lane}> poison, {lane} {value}, i32 0")
        return self._scalar.op(
            f"shufflevector <{width} x {lane}> {single}, <{width} x {lane}> poison, "
            f"<{width} x i32> zeroinitializer"
        )

    def write(
        self,
        register: Register,
        value: str,
        written_as: ScalarType,
        value_variance: LaneVariance,
        keep: str | None,
    ) -> None:
        """`value` is the scalar base of `value_variance`, or a vector when that varies.

        Where `keep` (a vector of i1) is false, lanes keep what the register holds; for scalars it
        is an i1.
        """
        target = self._analysis.variance(register)
        wide = resized(value_variance, written_as.bits, register.bits, written_as.is_signed)
        code = self._vector if value_variance.is_varying else self._scalar
        if wide.is_varying and not value_variance.is_varying:
            bits = self._bits(self._scalar, value, written_as)
            value = self.spread(bits, value_variance, written_as.bits)
            value = self._extended(self._vector, value, written_as, register.bits)
        else:
            value = self._bits(code, value, written_as)
            value = self._extended(code, value, written_as, register.bits)
        if target.is_varying and not wide.is_varying:
            value = self.spread(value, wide, register.bits)
        # a register that nobody reads later has no old value to keep
        is_known = register.index in self._local or register.index in self._analysis.crossing
        if keep is not None and is_known:
            code = self._vector if target.is_varying else self._scalar
            value = code.select(storage_type(register.bits), keep, value, self.bits_of(register))
        self._local[register.index] = value
        if register.index in self._analysis.crossing:
            kind = self.slot_type(register)
            self._scalar.do(f"store {kind} {value}, ptr %R{register.index}")

    def _immediate(self, bits: int, read_as: ScalarType) -> str:
        bits &= (1 << read_as.bits) - 1
        if read_as.kind is Kind.PREDICATE:
            return "true" if bits else "false"
        if not read_as.is_float:
            return str(bits)
        if read_as.bits == 16:
            return f"0xH{bits:04X}"
        if read_as.bits == 64:
            return f"0x{bits:016X}"
        return f"0x{_as_double(bits):016X}"

    @staticmethod
    def _bits(code: LaneCode, value: str, written_as: ScalarType) -> str:
        return code.cast("bitcast", written_as, value, storage_type(written_as.bits))

    @staticmethod
    def _extended(code: LaneCode, value: str, written_as: ScalarType, bits: int) -> str:
        if bits == written_as.bits:
            return value
        name = "trunc" if bits < written_as.bits else "sext" if written_as.is_signed else "zext"
        return code.cast(name, storage_type(written_as.bits), value, storage_type(bits))

    @staticmethod
    def _as_type(code: LaneCode, value: str, bits: int, read_as: ScalarType) -> str:
        if bits != read_as.bits:
            name = "trunc" if bits > read_as.bits else "zext"
            value = code.cast(name, storage_type(bits), value, storage_type(read_as.bits))
        return code.cast("bitcast", storage_type(read_as.bits), value, LLVM_TYPES[read_as])


def _as_double(bits: int) -> int:
    """A float's bits as those of the double that LLVM writes it as; NaNs keep their payload."""
    if (bits >> 23) & 0xFF == 0xFF:
        return (bits >> 31) << 63 | 0x7FF << 52 | (bits & 0x7FFFFF) << 29
    value = struct.unpack("<f", struct.pack("<I", bits))[0]
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])


_WIDE = (Special.CLOCK64, Special.GLOBALTIMER, Special.GRIDID)
