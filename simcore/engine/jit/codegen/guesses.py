"""Scalars beside vectors whose lanes follow a pattern unless an index wraps around, as LLVM IR.

Such a vector is a scalar plus fixed offsets if no lane wraps, which is a comparison of scalars. An
access that asks for no more never looks at the vector, and LLVM leaves it out.
"""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.simcore.engine.jit.analysis.lane_variance import LaneVariance
from kernelcast.simcore.engine.jit.codegen.registers import Guess, Registers
from kernelcast.simcore.engine.jit.codegen.warp_code import WarpCode
from kernelcast.simcore.isa.ir.kernel import Compute, Operand, Register
from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.opcodes.columns import Algebra
from kernelcast.simcore.isa.opcodes.table import Context
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["GuessCode"]

_LINEAR = (
    Algebra.SUM,
    Algebra.DIFFERENCE,
    Algebra.PRODUCT,
    Algebra.PRODUCT_SUM,
    Algebra.SHIFT_LEFT,
    Algebra.COPY,
)
_WIDENING = (Algebra.WIDE_PRODUCT, Algebra.WIDE_PRODUCT_SUM, Algebra.CONVERSION)
_LEAST_BITS = 32
_FACTORS = 2
"""The operands of a wide product that are widened."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A scalar base, and whether the offsets hold: "true" where they always do."""

    base: str
    offsets: tuple[int, ...]
    holds: str


class GuessCode:
    """Writes the scalars of what `Compute` instructions give."""

    def __init__(self, warp: WarpCode, registers: Registers) -> None:
        self._warp = warp
        self._registers = registers

    def of_result(self, instruction: Compute, variance: LaneVariance, bits: int) -> Guess | None:
        """The scalar of a result of so many bits that has a pattern unless a lane wraps.

        None where none is known.
        """
        algebra, type_ = instruction.opcode.algebra, instruction.type
        if bits < _LEAST_BITS:
            return None
        if not variance.is_guess or variance.offsets is None or instruction.modifiers:
            return None
        if algebra not in (*_LINEAR, *_WIDENING) or not type_.is_integer:
            return None
        context = Context(type_, instruction.source_type, instruction.modifiers)
        types = instruction.opcode.operand_types(context)
        sources: list[_Source] = []
        for operand, read_as in zip(instruction.sources, types, strict=True):
            source = self._source(operand, read_as)
            if source is None:
                return None
            sources.append(source)
        holds = [source.holds for source in sources]
        if algebra in _WIDENING:
            narrow = instruction.source_type if algebra is Algebra.CONVERSION else type_
            widened = sources if algebra is Algebra.CONVERSION else sources[:_FACTORS]
            holds += [_stays_in_range(self._warp.scalar, s, narrow) for s in widened]
        assert instruction.opcode.emit is not None
        base = instruction.opcode.emit(
            self._warp.scalar, context, *(source.base for source in sources)
        )
        assert isinstance(base, str)
        return Guess(base, self._all(holds), variance.offsets)

    def _source(self, operand: Operand, read_as: ScalarType) -> _Source | None:
        if not read_as.is_integer:
            return None
        if isinstance(operand, Register):
            if operand.bits != read_as.bits:
                return None
            known = self._registers.guess(operand)
            if known is not None:
                return _Source(known.base, known.offsets, known.holds)
        variance = self._registers.variance(operand, read_as)
        if variance.is_varying or variance.offsets is None:
            return None
        return _Source(self._registers.base(operand, read_as), variance.offsets, "true")

    def _all(self, conditions: list[str]) -> str:
        found = "true"
        for condition in dict.fromkeys(conditions):
            if condition != "true":
                found = (
                    condition
                    if found == "true"
                    else self._warp.scalar.op(f"and i1 {found}, {condition}")
                )
        return found


def _stays_in_range(code: LaneCode, source: _Source, type_: ScalarType) -> str:
    """Whether no lane of a source, read as a type, is on the other side of where that wraps."""
    kind, sign = f"i{type_.bits}", "s" if type_.is_signed else "u"
    found = "true"
    for offset, relation in ((min(source.offsets), "le"), (max(source.offsets), "ge")):
        if offset == 0 or (offset > 0) != (relation == "ge"):
            continue
        there = code.op(f"add {kind} {source.base}, {offset}")
        inside = code.op(f"icmp {sign}{relation} {kind} {there}, {source.base}")
        found = inside if found == "true" else code.op(f"and i1 {found}, {inside}")
    return found
