"""LLVM's functions whose result is not made element by element.

These are reductions of vectors, arithmetic that tells of an overflow, three-way comparison.
"""

from __future__ import annotations

from collections.abc import Callable

from kernelcast.ptx_frontend.llvm.lowering.arithmetic import element_of, masked, signed_operand
from kernelcast.ptx_frontend.llvm.lowering.call_site import CallSite, Value
from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.ptx_frontend.llvm.text.types import ScalarIrType, StructType
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = ["lower_aggregate"]

_INTEGER_REDUCTIONS = {
    "add": "add.u",
    "mul": "mul.lo.u",
    "and": "and.b",
    "or": "or.b",
    "xor": "xor.b",
    "umin": "min.u",
    "umax": "max.u",
    "smin": "min.s",
    "smax": "max.s",
}
_BIT_REDUCTIONS = {
    "add": "xor",
    "mul": "and",
    "and": "and",
    "or": "or",
    "xor": "xor",
    "umin": "and",
    "umax": "or",
    "smin": "or",
    "smax": "and",
}
_FLOAT_REDUCTIONS = {
    "fadd": "add",
    "fmul": "mul",
    "fmin": "min",
    "fmax": "max",
    "fminimum": "min.NaN",
    "fmaximum": "max.NaN",
}
_STARTED = ("fadd", "fmul")
"""Reductions with a start value as their first argument."""


def lower_aggregate(site: CallSite, root: str) -> Value | None:
    """The value of `llvm.<root>`; None when it is none of these functions."""
    kind, _, name = root.rpartition(".")
    if kind == "vector.reduce":
        return _reduced(site, name)
    if root.endswith(".with.overflow"):
        return _with_overflow(site, root.removesuffix(".with.overflow"))
    if root == "is.fpclass":
        return _classified(site)
    if root in ("ucmp", "scmp"):
        return _ordered(site, root[0])
    return None


def _reduced(site: CallSite, name: str) -> Value:
    """Reduces from the first element on, which is the order that LLVM demands of floats."""
    result = site.result
    if not isinstance(result, ScalarIrType):
        raise site.unsupported(f"function {site.name} is not supported")
    parts = list(site.arguments[-1].parts)
    if name in _STARTED:
        parts.insert(0, site.arguments[0].parts[0])
    bits = result.register_bits
    if result.is_float and name in _FLOAT_REDUCTIONS:
        mnemonic = f"{_FLOAT_REDUCTIONS[name]}.{result.float_name}"
    elif result is ScalarIrType.I1 and name in _BIT_REDUCTIONS:
        mnemonic = f"{_BIT_REDUCTIONS[name]}.pred"
    elif not result.is_float and name in _INTEGER_REDUCTIONS:
        mnemonic = f"{_INTEGER_REDUCTIONS[name]}{bits}"
    else:
        raise site.unsupported(f"function {site.name} is not supported")
    if mnemonic[:5] in ("min.s", "max.s"):
        parts = [signed_operand(site.code, part, result) for part in parts]
    total = site.code.in_register(parts[0], bits)
    for part in parts[1:]:
        total = site.code.compute(mnemonic, bits, total, part)
    return Value(result, (masked(site.code, total, result),))


_Overflow = Callable[[Code, ScalarIrType, Operand, Operand], tuple[Register, Register]]


def _with_overflow(site: CallSite, name: str) -> Value:
    type_, lower = site.arguments[0].type, _OVERFLOWS.get(name)
    if lower is None or not isinstance(type_, ScalarIrType) or type_ is ScalarIrType.I1:
        raise site.unsupported(f"function {site.name} is not supported")
    (first,), (second,) = site.arguments[0].parts, site.arguments[1].parts
    made, overflows = lower(site.code, type_, first, second)
    return Value(StructType((type_, ScalarIrType.I1)), (made, overflows))


def _unsigned_sum(
    code: Code, type_: ScalarIrType, first: Operand, second: Operand
) -> tuple[Register, Register]:
    bits = type_.register_bits
    made = masked(code, code.compute(f"add.u{bits}", bits, first, second), type_)
    return made, code.compute(f"setp.lt.u{bits}", 1, made, first)


def _unsigned_difference(
    code: Code, type_: ScalarIrType, first: Operand, second: Operand
) -> tuple[Register, Register]:
    bits = type_.register_bits
    made = masked(code, code.compute(f"sub.u{bits}", bits, first, second), type_)
    return made, code.compute(f"setp.lt.u{bits}", 1, first, second)


def _signed_by(mnemonic: str) -> _Overflow:
    """A sum that is wrong has another sign than both operands; a difference alike."""

    def lower(
        code: Code, type_: ScalarIrType, first: Operand, second: Operand
    ) -> tuple[Register, Register]:
        bits = type_.register_bits
        a, b = (signed_operand(code, part, type_) for part in (first, second))
        made = code.compute(f"{mnemonic}.s{bits}", bits, a, b)
        cut = signed_operand(code, masked(code, made, type_), type_)
        differs = code.compute(f"xor.b{bits}", bits, a, cut)
        other = code.compute(f"xor.b{bits}", bits, b, cut if mnemonic == "add" else a)
        both = code.compute(f"and.b{bits}", bits, differs, other)
        return masked(code, made, type_), code.compute(f"setp.lt.s{bits}", 1, both, Immediate(0))

    return lower


def _product(kind: str) -> _Overflow:
    """The upper half of the whole product tells; that of bytes fits a register."""

    def lower(
        code: Code, type_: ScalarIrType, first: Operand, second: Operand
    ) -> tuple[Register, Register]:
        bits = type_.register_bits
        a, b = first, second
        if kind == "s":
            a, b = (signed_operand(code, part, type_) for part in (first, second))
        low = code.compute(f"mul.lo.{kind}{bits}", bits, a, b)
        made = masked(code, low, type_)
        if type_ is ScalarIrType.I8:
            exact = signed_operand(code, made, type_) if kind == "s" else made
            return made, code.compute("setp.ne.u16", 1, low, exact)
        high = code.compute(f"mul.hi.{kind}{bits}", bits, a, b)
        sign: Operand = Immediate(0)
        if kind == "s":
            sign = code.compute(f"shr.s{bits}", bits, low, Immediate(bits - 1))
        return made, code.compute(f"setp.ne.u{bits}", 1, high, sign)

    return lower


_OVERFLOWS: dict[str, _Overflow] = {
    "uadd": _unsigned_sum,
    "usub": _unsigned_difference,
    "sadd": _signed_by("add"),
    "ssub": _signed_by("sub"),
    "umul": _product("u"),
    "smul": _product("s"),
}


def _classified(site: CallSite) -> Value:
    """`is.fpclass`: whether a number is of one of the classes whose bits a mask has."""
    number, mask = site.arguments
    kind, wanted = element_of(number.type), mask.parts[0]
    if not isinstance(kind, ScalarIrType) or not isinstance(wanted, Immediate) or not site.result:
        raise site.unsupported(f"function {site.name} of {number.type} is not supported")
    parts = tuple(_in_classes(site.code, kind, part, wanted.bits) for part in number.parts)
    return Value(site.result, parts)


def _in_classes(code: Code, kind: ScalarIrType, number: Operand, mask: int) -> Operand:
    """The classes are ranges of the bits of magnitudes, each once for either sign."""
    bits = kind.bits
    infinity = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF << 52}[bits]
    least_normal = infinity & -infinity
    quiet = infinity | least_normal >> 1
    end = 1 << (bits - 1)
    ranges = {
        0x001: (infinity + 1, quiet, None),
        0x002: (quiet, end, None),
        0x004: (infinity, infinity + 1, True),
        0x008: (least_normal, infinity, True),
        0x010: (1, least_normal, True),
        0x020: (0, 1, True),
        0x040: (0, 1, False),
        0x080: (1, least_normal, False),
        0x100: (least_normal, infinity, False),
        0x200: (infinity, infinity + 1, False),
    }
    magnitude = code.compute(f"and.b{bits}", bits, number, Immediate(end - 1))
    is_negative = code.compute(f"setp.ge.u{bits}", 1, number, Immediate(end))
    found: Operand = Immediate(0)
    for bit, (first, past, sign) in ranges.items():
        if not mask & bit:
            continue
        inside = code.compute(f"setp.ge.u{bits}", 1, magnitude, Immediate(first))
        below = code.compute(f"setp.lt.u{bits}", 1, magnitude, Immediate(past))
        inside = code.compute("and.pred", 1, inside, below)
        if sign is not None:
            signed = is_negative if sign else code.compute("not.pred", 1, is_negative)
            inside = code.compute("and.pred", 1, inside, signed)
        found = code.compute("or.pred", 1, found, inside)
    return found


def _ordered(site: CallSite, kind: str) -> Value:
    """-1, 0 or 1, by element."""
    assert site.result is not None
    source, target = element_of(site.arguments[0].type), element_of(site.result)
    if not isinstance(source, ScalarIrType) or not isinstance(target, ScalarIrType):
        raise site.unsupported(f"function {site.name} is not supported")
    code, bits, wide = site.code, source.register_bits, target.register_bits
    if ScalarIrType.I1 in (source, target):
        raise site.unsupported(f"function {site.name} is not supported")
    parts = []
    for first, second in zip(site.arguments[0].parts, site.arguments[1].parts, strict=True):
        a, b = first, second
        if kind == "s":
            a, b = (signed_operand(code, part, source) for part in (first, second))
        above = code.compute(f"setp.gt.{kind}{bits}", 1, a, b)
        below = code.compute(f"setp.lt.{kind}{bits}", 1, a, b)
        least = Immediate((1 << target.bits) - 1)
        found = code.compute(f"selp.b{wide}", wide, Immediate(1), Immediate(0), above)
        parts.append(code.compute(f"selp.b{wide}", wide, least, found, below))
    return Value(site.result, tuple(parts))
