"""Integers of widths that registers have not, up to 128 bits: words of 64 bits, the lowest first.

The bits above the width are zero. Optimisers make such types of short vectors and of sums in closed
form: `i24`, `i33`, `i96`, `i128`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.ptx_frontend.llvm.text.cursor import IrProblem
from kernelcast.ptx_frontend.llvm.text.types import IntegerIrType
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = [
    "Words",
    "combined_words",
    "compared_words",
    "extended_words",
    "masked_words",
    "sign_extended",
]

_WORD = 64
Words = Sequence[Operand]
_LOGIC = ("and", "or", "xor")
_ONE_WORD = {
    "add": "add.u64",
    "sub": "sub.u64",
    "mul": "mul.lo.u64",
    "udiv": "div.u64",
    "urem": "rem.u64",
    "sdiv": "div.s64",
    "srem": "rem.s64",
    "shl": "shl.b64",
    "lshr": "shr.u64",
    "ashr": "shr.s64",
}
_SHIFTS = ("shl", "lshr", "ashr")
_SIGNED = ("sdiv", "srem", "ashr")


def masked_words(code: Code, words: Words, type_: IntegerIrType) -> tuple[Operand, ...]:
    """The words that the type has, without bits above its width."""
    *lower, top = words[: type_.words]
    if type_.top_bits < _WORD:
        mask = (1 << type_.top_bits) - 1
        if isinstance(top, Immediate):
            top = Immediate(top.bits & mask)
        else:
            top = code.compute("and.b64", _WORD, top, Immediate(mask))
    return (*lower, top)


def sign_extended(code: Code, words: Words, type_: IntegerIrType) -> tuple[Operand, ...]:
    """The words with the sign in the bits above the width."""
    *lower, top = words
    if type_.top_bits < _WORD:
        shift = Immediate(_WORD - type_.top_bits)
        top = code.compute("shr.s64", _WORD, code.compute("shl.b64", _WORD, top, shift), shift)
    return (*lower, top)


def extended_words(code: Code, words: Words, count: int, is_signed: bool) -> tuple[Operand, ...]:
    """`count` words of a number whose last word has its sign already."""
    fill: Operand = Immediate(0)
    if is_signed and len(words) < count:
        fill = code.compute("shr.s64", _WORD, words[-1], Immediate(_WORD - 1))
    return (*words, *(fill,) * (count - len(words)))


def combined_words(
    code: Code, opcode: str, type_: IntegerIrType, first: Words, second: Words
) -> tuple[Operand, ...]:
    """The value of an instruction on two integers; IrProblem for quotients of two words."""
    if opcode in _LOGIC:
        pairs = zip(first, second, strict=True)
        return tuple(code.compute(f"{opcode}.b64", _WORD, *pair) for pair in pairs)
    if opcode in _SIGNED:
        first = sign_extended(code, first, type_)
        if opcode != "ashr":
            second = sign_extended(code, second, type_)
    if type_.words == 1:
        other = _amount(code, second[0]) if opcode in _SHIFTS else second[0]
        made: Words = (code.compute(_ONE_WORD[opcode], _WORD, first[0], other),)
    elif opcode in _SHIFTS:
        made = _shifted(code, opcode, first, _amount(code, second[0]))
    elif opcode in _TWO_WORDS:
        made = _TWO_WORDS[opcode](code, first, second)
    else:
        raise IrProblem(f"{opcode} of type {type_} is not supported")
    return masked_words(code, made, type_)


def _amount(code: Code, word: Operand) -> Operand:
    """The shift amount in 32 bits; too large an amount has no meaning."""
    if isinstance(word, Immediate):
        return Immediate(min(word.bits, 2 * _WORD))
    return code.compute("cvt.u32.u64", 32, word)


def _sum(code: Code, first: Words, second: Words) -> Words:
    low = code.compute("add.u64", _WORD, first[0], second[0])
    carry = _as_number(code, code.compute("setp.lt.u64", 1, low, first[0]))
    high = code.compute("add.u64", _WORD, first[1], second[1])
    return low, code.compute("add.u64", _WORD, high, carry)


def _difference(code: Code, first: Words, second: Words) -> Words:
    low = code.compute("sub.u64", _WORD, first[0], second[0])
    borrow = _as_number(code, code.compute("setp.lt.u64", 1, first[0], second[0]))
    high = code.compute("sub.u64", _WORD, first[1], second[1])
    return low, code.compute("sub.u64", _WORD, high, borrow)


def _product(code: Code, first: Words, second: Words) -> Words:
    low = code.compute("mul.lo.u64", _WORD, first[0], second[0])
    high = code.compute("mul.hi.u64", _WORD, first[0], second[0])
    high = code.compute("mad.lo.u64", _WORD, first[0], second[1], high)
    return low, code.compute("mad.lo.u64", _WORD, first[1], second[0], high)


_TWO_WORDS: dict[str, Callable[[Code, Words, Words], Words]] = {
    "add": _sum,
    "sub": _difference,
    "mul": _product,
}


def _as_number(code: Code, predicate: Register) -> Register:
    return code.compute("selp.b64", _WORD, Immediate(1), Immediate(0), predicate)


def _shifted(code: Code, opcode: str, words: Words, amount: Operand) -> Words:
    """Shifts by 64 bits and more, negative amounts among them, leave nothing of a word."""
    low, high = words
    rest = code.compute("sub.u32", 32, Immediate(_WORD), amount)
    beyond = code.compute("sub.u32", 32, amount, Immediate(_WORD))
    if opcode == "shl":
        crossing = code.compute("shr.u64", _WORD, low, rest)
        far = code.compute("shl.b64", _WORD, low, beyond)
        near = code.compute("shl.b64", _WORD, high, amount)
        joined = code.compute("or.b64", _WORD, code.compute("or.b64", _WORD, near, crossing), far)
        return code.compute("shl.b64", _WORD, low, amount), joined
    crossing = code.compute("shl.b64", _WORD, high, rest)
    near = code.compute("shr.u64", _WORD, low, amount)
    joined = code.compute("or.b64", _WORD, near, crossing)
    form = "shr.s64" if opcode == "ashr" else "shr.u64"
    far = code.compute(form, _WORD, high, beyond)
    is_near = code.compute("setp.lt.u32", 1, amount, Immediate(_WORD))
    chosen = code.compute("selp.b64", _WORD, joined, far, is_near)
    return chosen, code.compute(form, _WORD, high, amount)


def compared_words(
    code: Code, predicate: str, type_: IntegerIrType, first: Words, second: Words
) -> Register:
    """The truth of a predicate of `icmp`."""
    kind, relation = "u", predicate
    if predicate not in ("eq", "ne"):
        kind, relation = predicate[0], predicate[1:]
    if kind not in "us" or relation not in ("eq", "ne", "lt", "le", "gt", "ge"):
        raise IrProblem(f"no comparison icmp {predicate}", False)
    if kind == "s":
        first, second = (sign_extended(code, words, type_) for words in (first, second))
    top = code.compute(f"setp.{relation}.{kind}64", 1, first[-1], second[-1])
    if type_.words == 1:
        return top
    low = code.compute(f"setp.{relation}.u64", 1, first[0], second[0])
    if relation in ("eq", "ne"):
        return code.compute("and.pred" if relation == "eq" else "or.pred", 1, top, low)
    differ = code.compute("setp.ne.u64", 1, first[1], second[1])
    return code.compute("selp.pred", 1, top, low, differ)
