"""Video instructions: arithmetic on the bytes and halves of words (PTX ISA, 9.7.17 and 9.7.18).

All operands and results are words of 32 bits; how they are read stands in the modifiers:

- `d.s32`, `a.u32`, `b.s32`: the types of the result and of the operands;
- `a.b2`, `b.h1`, `d.h0`: of the scalar instructions, the part that is read, or written into c;
- `a.h20`, `b.b7654`, `d.b31`: of the packed ones, the parts of the pair (a, b) that are read, the
  uppermost first, and which parts of the result are written;
- the others as the instruction has them: `sat`, `add`, `shr7`, `eq`, `clamp`, ...

A formula is written once, for NumPy and for LLVM (`integer_algebra`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kernelcast.simcore.isa.numerics.integer_algebra import (
    Algebra,
    LlvmIntegers,
    NumpyIntegers,
    Value,
)
from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.numerics.packed import Array
from kernelcast.simcore.isa.opcodes.table import Context, opcode
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["COMPARISONS", "PACKED_VIDEO", "SCALAR_VIDEO", "SECOND_OPERATIONS"]

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
SECOND_OPERATIONS = ("add", "min", "max")
SCALAR_VIDEO = ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset", "vshl", "vshr", "vmad")
PACKED_VIDEO = ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset")
"""Packed video instructions; their names go on with the number of parts, 2 or 4."""
_WORD_BITS = 32
_PART_BITS = {"b": 8, "h": 16}
_TYPES = tuple(f"{x}.{sign}32" for x in "dab" for sign in "us")
_SELECTORS = tuple(f"{x}.{part}" for x in "dab" for part in ("b0", "b1", "b2", "b3", "h0", "h1"))
_NEGATIONS = ("-a", "-b", "-c")
_SCALES = {"shr7": 7, "shr15": 15}


def _named(context: Context, of: str) -> str:
    """What a modifier says about an operand besides its type: `b2`, `h10`, or nothing."""
    for modifier in context.modifiers:
        if modifier.startswith(of) and modifier[len(of) :] not in ("u32", "s32"):
            return modifier[len(of) :]
    return ""


def _is_signed(context: Context, of: str) -> bool:
    return f"{of}.s32" in context.modifiers


def _part(x: Algebra, word: Value, start: int, bits: int, is_signed: bool) -> Value:
    """Some bits of a widened word, with or without sign."""
    value = x.do("and", x.do("shr", word, start), (1 << bits) - 1) if bits < _WORD_BITS else word
    if not is_signed:
        return value
    return x.select(x.do("ge", value, 1 << (bits - 1)), x.do("sub", value, 1 << bits), value)


def _read(x: Algebra, context: Context, of: str, word: Value) -> Value:
    """The part of a scalar operand that its selector names."""
    selector = _named(context, f"{of}.")
    bits = _PART_BITS[selector[0]] if selector else _WORD_BITS
    return _part(x, word, bits * int(selector[1:] or 0), bits, _is_signed(context, of))


def _clamped(x: Algebra, value: Value, bits: int, is_signed: bool) -> Value:
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
    return x.do("min", x.do("max", value, low), high)


def _result(x: Algebra, context: Context, value: Value, c: Value) -> Value:
    """Saturated, and then combined with c or put into a part of it."""
    target = _named(context, "d.")
    bits = _PART_BITS[target[0]] if target else _WORD_BITS
    is_signed = _is_signed(context, "d")
    if "sat" in context.modifiers:
        value = _clamped(x, value, bits, is_signed)
    for name in SECOND_OPERATIONS:
        if name in context.modifiers:
            value = x.do(name, value, _part(x, c, 0, _WORD_BITS, is_signed))
    if not target:
        return value
    start, mask = bits * int(target[1:]), (1 << bits) - 1
    kept = x.do("and", c, ((1 << _WORD_BITS) - 1) & ~(mask << start))
    return x.do("or", kept, x.do("shl", x.do("and", value, mask), start))


def _difference(x: Algebra, a: Value, b: Value) -> Value:
    return x.do("sub", x.do("max", a, b), x.do("min", a, b))


def _average(x: Algebra, a: Value, b: Value) -> Value:
    """Halves go up when the sum is not negative."""
    total = x.do("add", a, b)
    rounded = x.do("add", total, x.select(x.do("ge", total, 0), 1, x.do("and", total, 0)))
    return x.do("shr", rounded, 1)


def _compared(x: Algebra, context: Context, a: Value, b: Value) -> Value:
    name = next(name for name in COMPARISONS if name in context.modifiers)
    one = x.do("or", x.do("and", a, 0), 1)
    return x.select(x.do(name, a, b), one, 0)


def _combined(root: str, x: Algebra, context: Context, a: Value, b: Value) -> Value:
    match root:
        case "vabsdiff":
            return _difference(x, a, b)
        case "vavrg":
            return _average(x, a, b)
        case "vset":
            return _compared(x, context, a, b)
    return x.do(root.removeprefix("v"), a, b)


def _shifted(root: str, x: Algebra, context: Context, a: Value, b: Value) -> Value:
    if "wrap" in context.modifiers:
        b = x.do("and", b, _WORD_BITS - 1)
    amount = x.do("min", b, _WORD_BITS)
    if root == "vshr":
        return x.do("shr", a, amount)
    near = x.do("shl", a, x.do("min", amount, _WORD_BITS - 1))
    # by 32 nothing but the sign, and that it is large, is left
    far = x.do("shl", _clamped(x, a, _WORD_BITS, True), _WORD_BITS)
    return x.select(x.do("eq", amount, _WORD_BITS), far, near)


def _scalar(root: str, x: Algebra, context: Context, *words: Value) -> Value:
    a, b, c = (x.widened(word) for word in words)
    a, b = _read(x, context, "a", a), _read(x, context, "b", b)
    combine = _shifted if root in ("vshl", "vshr") else _combined
    return x.narrowed(_result(x, context, combine(root, x, context, a, b), c))


def _multiplied(x: Algebra, context: Context, *words: Value) -> Value:
    """a * b + c, exactly, then scaled and saturated."""
    modifiers = context.modifiers
    a, b, c = (x.widened(word) for word in words)
    a, b = _read(x, context, "a", a), _read(x, context, "b", b)
    is_negative = ("-a" in modifiers) != ("-b" in modifiers)
    is_signed = is_negative or "-c" in modifiers
    is_signed = is_signed or _is_signed(context, "a") or _is_signed(context, "b")
    c = _part(x, c, 0, _WORD_BITS, is_signed)
    product = x.do("mul", a, b)
    if is_negative:
        total = x.do("sub", c, product)
    else:
        total = x.do("sub" if "-c" in modifiers else "add", product, c)
    if "po" in modifiers:
        total = x.do("add", total, 1)
    for name, amount in _SCALES.items():
        if name in modifiers:
            total = x.do("shr", total, amount)
    if "sat" in modifiers:
        total = _clamped(x, total, _WORD_BITS, is_signed)
    return x.narrowed(total)


def _lanes(context: Context, of: str, default: str) -> list[int]:
    """The numbers of a selector of parts, the lowest part first."""
    return [int(digit) for digit in reversed((_named(context, of) or default)[1:])]


def _packed(root: str, count: int, x: Algebra, context: Context, *words: Value) -> Value:
    a, b, c = (x.widened(word) for word in words)
    bits, letter = _WORD_BITS // count, "h" if count == 2 else "b"
    low, high = "3210"[-count:], "7654" if count == 4 else "32"

    def read(of: str, default: str) -> list[Value]:
        places = _lanes(context, f"{of}.", letter + default)
        sources = [(a if place < count else b, place % count * bits) for place in places]
        return [_part(x, word, at, bits, _is_signed(context, of)) for word, at in sources]

    written = _lanes(context, "d.", letter + low)
    word = c if "add" in context.modifiers else x.do("and", c, _unwritten(written, bits))
    for lane, pair in enumerate(zip(read("a", low), read("b", high), strict=True)):
        if lane not in written:
            continue
        value = _combined(root, x, context, *pair)
        if "sat" in context.modifiers:
            value = _clamped(x, value, bits, _is_signed(context, "d"))
        if "add" in context.modifiers:
            word = x.do("add", word, value)
        else:
            placed = x.do("shl", x.do("and", value, (1 << bits) - 1), lane * bits)
            word = x.do("or", word, placed)
    return x.narrowed(word)


def _unwritten(lanes: list[int], bits: int) -> int:
    mask = (1 << _WORD_BITS) - 1
    for lane in lanes:
        mask &= ~(((1 << bits) - 1) << (lane * bits))
    return mask


def _register(
    name: str, formula: Callable[..., Value], modifiers: tuple[str, ...], *, is_wide: bool = False
) -> None:
    def emit(code: LaneCode, context: Context, *words: str) -> str:
        return str(formula(LlvmIntegers(code, is_wide=is_wide), context, *words))

    @opcode(name, "t=ttt", (ScalarType.U32,), modifiers=modifiers, llvm=emit)
    def _video(context: Context, *words: Array) -> Array:
        result: Array = formula(NumpyIntegers(is_wide=is_wide), context, *words)
        return result


def _register_all() -> None:
    common = (*_TYPES, "sat")
    for root in SCALAR_VIDEO[:-1]:
        own = COMPARISONS if root == "vset" else ("clamp", "wrap") if "vsh" in root else ()
        modifiers = (*common, *_SELECTORS, *SECOND_OPERATIONS, *own)
        _register(root, partial(_scalar, root), modifiers)
    scaled = (*common, *_SELECTORS, *_NEGATIONS, "po", *_SCALES)
    _register("vmad", _multiplied, scaled, is_wide=True)
    for root in PACKED_VIDEO:
        for count in (2, 4):
            own = COMPARISONS if root == "vset" else ()
            _register(f"{root}{count}", partial(_packed, root, count), (*common, "add", *own))


_register_all()
