"""Probes of numbers that are not finite and are computed of finite ones: NaN and infinity born."""

from __future__ import annotations

from collections.abc import Iterator

from kernelcast.simcore.checking.records import BORN
from kernelcast.simcore.checking.rewriting import Probed, Rewriter
from kernelcast.simcore.isa.ir.kernel import (
    Compute,
    Guard,
    Immediate,
    Instruction,
    Operand,
    Register,
    Straight,
)
from kernelcast.simcore.isa.opcodes.columns import Algebra
from kernelcast.simcore.isa.opcodes.table import Context
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["with_births"]

_EXPONENTS = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}
_COPIES = (Algebra.COPY, Algebra.CHOICE)
_TYPES = {ScalarType.F16, ScalarType.F32, ScalarType.F64}


def with_births(probed: Probed) -> Probed:
    """The kernel with probes behind what computes numbers of finite ones; itself without any."""
    births = _Births(probed)
    if not any(births.is_watched(i) for i in probed.kernel.instructions):
        return probed
    return births.rewritten()


class _Births:
    def __init__(self, probed: Probed) -> None:
        self._rewriter = Rewriter(probed)
        self._odd: dict[int, Register] = {}

    def rewritten(self) -> Probed:
        return self._rewriter.rewritten(self._before, self._after)

    def is_watched(self, instruction: Instruction) -> bool:
        """Whether an instruction computes numbers, which may be none."""
        if not isinstance(instruction, Compute) or instruction.opcode.algebra in _COPIES:
            return False
        return any(type_ in _TYPES for _, type_ in _results(instruction))

    def _before(self, instruction: Instruction) -> Iterator[Straight]:
        """Whether a source is no number, before it may be overwritten."""
        if not self.is_watched(instruction):
            return
        assert isinstance(instruction, Compute)
        found: Register | None = None
        types = instruction.opcode.operand_types(_context(instruction))
        for source, type_ in zip(instruction.sources, types, strict=False):
            if type_ not in _TYPES:
                continue
            odd = self._rewriter.register(1)
            yield from self._is_odd(instruction, source, type_, odd)
            if found is not None:
                both = self._rewriter.register(1)
                yield self._rewriter.compute(instruction, "or", ScalarType.PRED, both, [found, odd])
                odd = both
            found = odd
        if found is not None:
            self._odd[instruction.pc] = found

    def _after(self, instruction: Instruction) -> Iterator[Straight]:
        if not self.is_watched(instruction):
            return
        assert isinstance(instruction, Compute)
        before = self._odd.get(instruction.pc)
        for result, type_ in _results(instruction):
            if type_ not in _TYPES:
                continue
            odd = self._rewriter.register(1)
            yield from self._is_odd(instruction, result, type_, odd)
            if before is not None:
                fine, born = self._rewriter.register(1), self._rewriter.register(1)
                pred = ScalarType.PRED
                yield self._rewriter.compute(instruction, "not", pred, fine, [before])
                yield self._rewriter.compute(instruction, "and", pred, born, [odd, fine])
                odd = born
            if instruction.guard is None:
                yield self._rewriter.probe(instruction, BORN, Guard(odd, negated=False))
            else:
                yield from self._rewriter.probe_where(instruction, BORN, odd)

    def _is_odd(
        self, about: Instruction, operand: Operand, type_: ScalarType, result: Register
    ) -> Iterator[Straight]:
        """Whether all bits of the exponent are set."""
        exponent = Immediate(_EXPONENTS[type_.bits])
        bits = self._rewriter.register(type_.bits)
        untyped = ScalarType.named(f"b{type_.bits}")
        unsigned = ScalarType.named(f"u{type_.bits}")
        yield self._rewriter.compute(about, "and", untyped, bits, [operand, exponent])
        yield self._rewriter.compute(about, "setp.eq", unsigned, result, [bits, exponent])


def _context(instruction: Compute) -> Context:
    return Context(instruction.type, instruction.source_type, instruction.modifiers)


def _results(instruction: Compute) -> list[tuple[Register, ScalarType]]:
    types = instruction.opcode.result_types(_context(instruction))
    pairs = zip(instruction.destinations, types, strict=False)
    return [(register, type_) for register, type_ in pairs if register is not None]
