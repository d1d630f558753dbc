"""The 64-bit values that two halves of 32 bits are made of.

The assembler computes 64 bits in two words: it chooses, shifts and multiplies each for itself. What
both halves do is found again as one computation, so that engines do it once.
"""

from __future__ import annotations

from collections.abc import Callable

from kernelcast.ptx_frontend.sass.passes.values import Condition, Values
from kernelcast.simcore.isa.ir.kernel import Compute, Immediate, Operand, Register

__all__ = ["Emit", "Wholes", "number_of"]

Emit = Callable[[str, int, tuple[Operand, ...]], Register]
_Half = tuple[Operand, Compute]
"""A half of 64 bits, and what computes it."""
_WORD, _SIGN = 32, 31
_DEPTH = 6
_BITWISE = ("and", "or", "xor")
_ZERO = Immediate(0)


class Wholes:
    """Finds wholes of halves. `emit` writes a part that gives a new value: mnemonic, bits, sources.

    `known` tells the value that is packed from two halves already.
    """

    def __init__(
        self,
        values: Values,
        emit: Emit,
        known: Callable[[Operand, Operand], Register | None],
    ) -> None:
        self._values = values
        self._emit = emit
        self._known = known

    def whole(self, low: Operand, high: Operand) -> Operand | None:
        """The 64 bits whose halves the operands are, if they are not only packed of them."""
        return self._whole(low, high, None, _DEPTH)

    def _whole(
        self, low: Operand, high: Operand, under: Condition | None, depth: int
    ) -> Operand | None:
        values = self._values
        low, high = values.first(low), values.first(high)
        if isinstance(low, Immediate):
            return number_of(low, high) if isinstance(high, Immediate) else None
        if high == _ZERO and values.is_value(low):
            return self._emit("cvt.u64.u32", 64, (low,))
        known = self._known(low, high)
        if known is not None:
            return known
        below, above = values.writer(low, under), values.writer(high, under)
        if above is None or depth == 0:
            return None
        if self._is_sign(above, low) and values.is_value(low):
            return self._emit("cvt.s64.s32", 64, (low,))
        if below is None:
            return None
        source = self.lower(low)
        if source is not None and source == self._upper(high):
            return source
        found = self._shift((low, below), (high, above))
        if found is not None:
            return found
        for rule in (self._choice, self._bitwise):
            found = rule(below, above, under, depth - 1)
            if found is not None:
                return found
        return self._product(low, above, under, depth - 1)

    def _is_sign(self, above: Compute, low: Operand) -> bool:
        if above.opcode.name != "shr" or not above.type.is_signed or above.type.bits != _WORD:
            return False
        value, amount = above.sources
        return self._values.first(value) == low and self._values.number(amount) == _SIGN

    def lower(self, operand: Operand) -> Operand | None:
        """The 64 bits whose lower half an operand is."""
        writer = self._values.writer(operand)
        if writer is None or len(writer.sources) != 1:
            return None
        name, types = writer.opcode.name, (writer.type.bits, writer.source_type.bits)
        is_cut = name == "cvt" and types == (_WORD, 2 * _WORD) and not writer.modifiers
        if is_cut or (name == "mov.unpack2" and self._is_at(writer, 0, operand)):
            source = self._values.first(writer.sources[0])
            return source if self._values.is_value(source) else None
        return None

    def _upper(self, operand: Operand) -> Operand | None:
        """The 64 bits whose upper half an operand is."""
        writer = self._values.writer(operand)
        if writer is None or writer.opcode.name != "mov.unpack2":
            return None
        source = self._values.first(writer.sources[0])
        is_whole = self._is_at(writer, 1, operand) and self._values.is_value(source)
        return source if is_whole else None

    def _is_at(self, writer: Compute, place: int, operand: Operand) -> bool:
        target = writer.destinations[place]
        return target is not None and target == self._values.first(operand)

    def _is_upper_of(self, operand: Operand, source: Operand) -> bool:
        """Whether an operand is the upper half of a value."""
        if self._upper(operand) == source:
            return True
        writer = self._values.writer(source)
        if writer is None or writer.opcode.name != "mov.pack2":
            return False
        return self._values.first(writer.sources[1]) == self._values.first(operand)

    def _is_lower_of(self, operand: Operand, source: Operand) -> bool:
        if self.lower(operand) == source:
            return True
        writer = self._values.writer(source)
        if writer is None or writer.opcode.name != "mov.pack2":
            return False
        return self._values.first(writer.sources[0]) == self._values.first(operand)

    def _choice(
        self, below: Compute, above: Compute, _under: Condition | None, depth: int
    ) -> Operand | None:
        """Both halves chosen by one predicate."""
        if below.opcode.name != "selp" or above.opcode.name != "selp":
            return None
        if below.type.bits != _WORD or above.type.bits != _WORD:
            return None
        one, other, predicate = below.sources
        one_high, other_high, predicate_high = above.sources
        condition, again = (self._values.condition(p) for p in (predicate, predicate_high))
        if condition[0] != again[0] or not self._values.is_value(condition[0]):
            return None
        if condition[1]:
            one, other = other, one
        if again[1]:
            one_high, other_high = other_high, one_high
        holds = condition[0]
        first = self._whole(one, one_high, (holds, False), depth)
        second = None if first is None else self._whole(other, other_high, (holds, True), depth)
        if first is None or second is None:
            return None
        return self._emit("selp.b64", 64, (first, second, holds))

    def _bitwise(
        self, below: Compute, above: Compute, under: Condition | None, depth: int
    ) -> Operand | None:
        name = below.opcode.name
        if name not in _BITWISE or above.opcode.name != name or below.type.bits != _WORD:
            return None
        a, b = below.sources
        for c, d in (above.sources, above.sources[::-1]):
            first = self._whole(a, c, under, depth)
            second = None if first is None else self._whole(b, d, under, depth)
            if first is not None and second is not None:
                return self._emit(f"{name}.b64", 64, (first, second))
        return None

    def _shift(self, lower: _Half, upper: _Half) -> Operand | None:
        """One half shifted as 64 bits, the other as a word, which needs nothing of the first."""
        (low, below), (high, above) = lower, upper
        if above.opcode.name == "shr":
            name, half, shifted = "shr", above, self.lower(low)
            is_half_of = self._is_upper_of
        elif below.opcode.name == "shl":
            name, half, shifted = "shl", below, self._upper(high)
            is_half_of = self._is_lower_of
        else:
            return None
        shift = None if shifted is None else self._values.writer(shifted)
        if shift is None or shift.opcode.name != name or half.type.bits != _WORD:
            return None
        amount = self._values.number(half.sources[1])
        if amount is None or amount >= _WORD or amount != self._values.number(shift.sources[1]):
            return None
        source = self._values.first(shift.sources[0])
        if not self._values.is_value(source) or not is_half_of(half.sources[0], source):
            return None
        kind = "b64" if name == "shl" else f"{'s' if half.type.is_signed else 'u'}64"
        return self._emit(f"{name}.{kind}", 64, (source, Immediate(amount)))

    def _product(
        self, low: Operand, above: Compute, under: Condition | None, depth: int
    ) -> Operand | None:
        """The lower words' whole product, to whose upper half products with upper words come."""
        source = self.lower(low)
        wide = None if source is None else self._values.writer(source)
        if source is None or wide is None or wide.opcode.name not in ("mul.wide", "mad.wide"):
            return None
        if (
            wide.type.is_signed
            or wide.type.bits != _WORD
            or not self._values.are_values(wide.sources)
        ):
            return None
        products = self._products(above, source)
        if products is None:
            return None
        a, b = (self._values.first(operand) for operand in wide.sources[:2])
        uppers = _uppers(a, b, products)
        if uppers is None:
            return None
        factors = [
            self._whole(low, high, under, depth) for low, high in zip((a, b), uppers, strict=True)
        ]
        one, other = factors
        if one is None or other is None:
            return None
        if len(wide.sources) == len(factors):
            return self._emit("mul.lo.u64", 64, (one, other))
        return self._emit("mad.lo.u64", 64, (one, other, wide.sources[2]))

    def _products(self, total: Compute, wide: Operand) -> list[tuple[Operand, Operand]] | None:
        """The products that are added to the upper half of `wide`; None for other sums."""
        found: list[tuple[Operand, Operand]] = []
        has_upper = False
        pending: list[Compute | Operand] = [total]
        while pending:
            term = pending.pop()
            if not isinstance(term, Compute) and self._upper(term) == wide and not has_upper:
                has_upper = True
                continue
            writer = term if isinstance(term, Compute) else self._values.writer(term)
            if writer is None or writer.type.bits != _WORD or not writer.type.is_integer:
                return None
            if writer.opcode.name == "add" and not writer.modifiers:
                pending.extend(writer.sources)
            elif writer.opcode.name in ("mul.lo", "mad.lo"):
                a, b, *added = writer.sources
                found.append((self._values.first(a), self._values.first(b)))
                pending.extend(added)
            else:
                return None
        return found if has_upper and found else None


def number_of(low: Immediate, high: Immediate) -> Immediate:
    """The 64 bits of two numbers of 32."""
    word = (1 << _WORD) - 1
    return Immediate((high.bits & word) << _WORD | low.bits & word)


def _uppers(
    a: Operand, b: Operand, products: list[tuple[Operand, Operand]]
) -> tuple[Operand, Operand] | None:
    """The upper halves of two factors, told from products of one's upper and the other's lower."""
    of_a: Operand = _ZERO
    of_b: Operand = _ZERO
    for one, other in products:
        if b in (one, other) and of_a == _ZERO:
            of_a = one if other == b else other
        elif a in (one, other) and of_b == _ZERO:
            of_b = one if other == a else other
        else:
            return None
    return of_a, of_b
