"""Comparisons of 64 bits that the assembler makes of comparisons of their halves."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.passes.values import Values
from kernelcast.ptx_frontend.sass.passes.wholes import Emit, Wholes, number_of
from kernelcast.simcore.isa.ir.kernel import Compute, Immediate, Operand, Register

__all__ = ["WholeComparisons"]

_WORD, _TWO = 32, 2
_ORDERS = ("setp.lt", "setp.le", "setp.gt", "setp.ge")
_ZERO = Immediate(0)


class WholeComparisons:
    """Finds them. `emit` writes a part that gives a new value: mnemonic, bits, sources."""

    def __init__(self, values: Values, emit: Emit, wholes: Wholes) -> None:
        self._values = values
        self._emit = emit
        self._wholes = wholes

    def comparison(self, name: str, one: Operand, other: Operand) -> Register | None:
        """A comparison of 64 bits that combines those of halves by `name`, `and` or `or`."""
        compares = {"or": "setp.ne", "and": "setp.eq"}[name]
        for high, low in ((one, other), (other, one)):
            found = self._equality(compares, high, low)
            if found is None and name == "or":
                found = self._order(high, low)
            if found is not None:
                return found
        return None

    def bit_test(self, instruction: Compute) -> Register | None:
        """A comparison of bits of a lower half, on the 64 bits that it would be cut from first."""
        name, values = instruction.opcode.name, self._values
        if name not in ("setp.eq", "setp.ne") or len(instruction.sources) != _TWO:
            return None
        if instruction.type.bits != _WORD or instruction.type.is_float:
            return None
        bits, expected = (values.first(operand) for operand in instruction.sources)
        masked = values.writer(bits)
        if masked is None or masked.opcode.name != "and" or not isinstance(expected, Immediate):
            return None
        half, mask = (values.first(operand) for operand in masked.sources)
        source = self._wholes.lower(half)
        if source is None or not isinstance(mask, Immediate):
            return None
        kept = self._emit("and.b64", 64, (source, number_of(mask, _ZERO)))
        return self._emit(f"{name}.b64", 1, (kept, number_of(expected, _ZERO)))

    def _compared(self, operand: Operand) -> tuple[Compute, bool] | None:
        """The comparison of words that a predicate is, and whether it is negated."""
        predicate, negated = self._values.condition(operand)
        writer = self._values.writer(predicate)
        if writer is None or not writer.opcode.name.startswith("setp."):
            return None
        if len(writer.destinations) > 1:
            return None
        if writer.type.bits != _WORD or writer.type.is_float or len(writer.sources) != _TWO:
            return None
        return writer, negated

    def _equality(self, name: str, high: Operand, low: Operand) -> Register | None:
        """Both halves are equal, or one of them differs."""
        pairs = [self._compared(high), self._compared(low)]
        opposite = {"setp.ne": "setp.eq", "setp.eq": "setp.ne"}
        sources = []
        for pair in pairs:
            if pair is None:
                return None
            writer, negated = pair
            if writer.opcode.name != (opposite[name] if negated else name):
                return None
            sources.append(writer.sources)
        return self._comparison(f"{name}.b64", sources[0], sources[1])

    def _order(self, strict: Operand, equal_and_low: Operand) -> Register | None:
        """The upper halves are in order, or equal and the lower ones are in order."""
        above = self._compared(strict)
        both = self._values.writer(equal_and_low)
        if above is None or both is None or both.opcode.name != "and":
            return None
        for equal, lower in (both.sources, both.sources[::-1]):
            same, below = self._compared(equal), self._compared(lower)
            if same is None or below is None or above[1] or same[1] or below[1]:
                continue
            if same[0].opcode.name != "setp.eq" or same[0].sources != above[0].sources:
                continue
            name = below[0].opcode.name
            if name not in _ORDERS or above[0].opcode.name != f"{name[:-1]}t":
                continue
            if below[0].type.is_signed:
                continue
            kind = "s64" if above[0].type.is_signed else "u64"
            found = self._comparison(f"{name}.{kind}", above[0].sources, below[0].sources)
            if found is not None:
                return found
        return None

    def _comparison(
        self, mnemonic: str, high: tuple[Operand, ...], low: tuple[Operand, ...]
    ) -> Register | None:
        first = self._wholes.whole(low[0], high[0])
        second = None if first is None else self._wholes.whole(low[1], high[1])
        if first is None or second is None:
            return None
        return self._emit(mnemonic, 1, (first, second))
