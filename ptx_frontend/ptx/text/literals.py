"""Numbers and constant expressions, PTX ISA sections 4.5 (constants, constant expressions)."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

from kernelcast.ptx_frontend.ptx.text.lexer import Tokens
from kernelcast.ptx_frontend.ptx.text.syntax import Float, Integer, Number

__all__ = ["address_offset", "constant_expression", "number", "packed_float"]

_WARP_SIZE = 32
_CONSTANT_BITS = 64
_MOST_BITS = 2 * _CONSTANT_BITS
"""The widest intermediate result of an expression: more would only take time."""
_INTEGER = re.compile(r"(0[xX][\da-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\d*)U?")
_HEXADECIMAL = re.compile(r"[\da-fA-F]+", re.ASCII)
_DECIMAL_FLOAT = re.compile(r"\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+")
_FLOAT_FORMATS = {
    "0f": ("<f", "<I", 32),
    "0F": ("<f", "<I", 32),
    "0d": ("<d", "<Q", 64),
    "0D": ("<d", "<Q", 64),
}

# By precedence, loosest first.
_BINARY: tuple[dict[str, Callable[[int, int], int]], ...] = (
    {"|": lambda a, b: a | b},
    {"^": lambda a, b: a ^ b},
    {"&": lambda a, b: a & b},
    {"<<": lambda a, b: a << b, ">>": lambda a, b: a >> b},
    {"+": lambda a, b: a + b, "-": lambda a, b: a - b},
    {
        "*": lambda a, b: a * b,
        "/": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
        "%": lambda a, b: abs(a) % abs(b) * (1 if a >= 0 else -1),
    },
)


def number(text: str) -> Number | None:
    """The value of a token; None when it is not a well-formed number."""
    if text == "WARP_SZ":
        return Integer(_WARP_SIZE)
    if text[:2] in _FLOAT_FORMATS:
        code, unsigned, bits = _FLOAT_FORMATS[text[:2]]
        if len(text) != 2 + bits // 4 or not _HEXADECIMAL.fullmatch(text, 2):
            return None
        raw = int(text[2:], 16)
        return Float(struct.unpack(code, struct.pack(unsigned, raw))[0], bits, raw)
    if match := _INTEGER.fullmatch(text):
        digits = match[1]
        is_octal = len(digits) > 1 and digits.isdecimal() and digits[0] == "0"
        return Integer(int(digits, 8 if is_octal else 0))
    return Float(float(text), 0) if _DECIMAL_FLOAT.fullmatch(text) else None


def packed_float(code: str, value: float) -> bytes:
    """The bytes of a number, rounded to the format of `struct`; beyond its range infinity."""
    try:
        return struct.pack(code, float(value))
    except OverflowError:
        return struct.pack(code, float("-inf") if value < 0 else float("inf"))


def address_offset(tokens: Tokens) -> int:
    """A constant of at most 64 bits that is added to an address."""
    at = tokens.offset
    value = constant_expression(tokens)
    if not isinstance(value, Integer):
        raise tokens.source.error("an address offset must be an integer", at)
    if not -(1 << _CONSTANT_BITS - 1) <= value.value < 1 << _CONSTANT_BITS:
        raise tokens.source.error(f"the address offset {value.value} does not fit 64 bits", at)
    return value.value


def constant_expression(tokens: Tokens) -> Number:
    """A number, or integers joined by operators and parentheses."""
    return _binary(tokens, 0)


def _binary(tokens: Tokens, level: int) -> Number:
    if level == len(_BINARY):
        return _unary(tokens)
    left = _binary(tokens, level + 1)
    while (operator := _operator(tokens)) in _BINARY[level]:
        at = tokens.offset
        tokens.index += len(operator)
        right = _binary(tokens, level + 1)
        if not isinstance(left, Integer) or not isinstance(right, Integer):
            raise tokens.source.error(f"{operator!r} needs integer constants", at)
        if operator in "/%" and right.value == 0:
            raise tokens.source.error("division by zero", at)
        if operator in ("<<", ">>") and not 0 <= right.value < _CONSTANT_BITS:
            raise tokens.source.error(f"shift by {right.value}", at)
        left = Integer(_BINARY[level][operator](left.value, right.value))
        if left.value.bit_length() > _MOST_BITS:
            raise tokens.source.error("the constant does not fit 64 bits", at)
    return left


def _operator(tokens: Tokens) -> str:
    """The operator that is next; the two characters of a shift are two tokens."""
    text = tokens.next
    if text and text in "<>":
        return text * 2 if tokens.texts[tokens.index + 1] == text else text
    return text


def _unary(tokens: Tokens) -> Number:
    if tokens.accept("("):
        value = _binary(tokens, 0)
        tokens.expect(")", "to close the constant expression")
        return value
    if tokens.next in ("-", "+", "~"):
        at = tokens.offset
        operator = tokens.take()
        value = _unary(tokens)
        if operator == "+":
            return value
        if isinstance(value, Float):
            if operator == "~":
                raise tokens.source.error("'~' needs an integer constant", at)
            sign = 1 << (value.bits - 1) if value.bits else 0
            return Float(-value.value, value.bits, value.raw ^ sign)
        return Integer(-value.value if operator == "-" else ~value.value)
    value_or_none = number(tokens.next)
    if value_or_none is None:
        raise tokens.unexpected("expected a number")
    tokens.index += 1
    return value_or_none
