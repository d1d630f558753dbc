"""Arithmetic, comparison and selection, element by element."""

from __future__ import annotations

from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.ptx_frontend.llvm.lowering.constant_parts import note_addition
from kernelcast.ptx_frontend.llvm.lowering.scope import Site
from kernelcast.ptx_frontend.llvm.lowering.wide_integers import combined_words, compared_words
from kernelcast.ptx_frontend.llvm.text.cursor import IrProblem
from kernelcast.ptx_frontend.llvm.text.types import (
    IntegerIrType,
    IrType,
    PointerType,
    ScalarIrType,
    VectorType,
    parts_of,
)
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = [
    "ARITHMETIC",
    "FAST_MATH",
    "compare",
    "element_of",
    "masked",
    "minimum",
    "signed_operand",
]

FAST_MATH = ("nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast")
_FLAGS = ("nuw", "nsw", "exact", "disjoint", "samesign", *FAST_MATH)

_PLAIN = {"add": "add.u", "sub": "sub.u", "mul": "mul.lo.u", "udiv": "div.u", "urem": "rem.u"}
_SIGNED = {"sdiv": "div.s", "srem": "rem.s"}
_LOGIC = ("and", "or", "xor")
_SHIFTS = {"shl": "shl.b", "lshr": "shr.u", "ashr": "shr.s"}
_FLOATS = {"fadd": "add", "fsub": "sub", "fmul": "mul", "fdiv": "div.rn", "frem": "opencl.fmod"}
_QUIET_NAN = 0x7FF8 << 48
_ON_BITS = {"add": "xor", "sub": "xor", "mul": "and", "and": "and", "or": "or", "xor": "xor"}
"""What the operations on one bit amount to."""

_INTEGER_PREDICATES = {
    "eq": "eq.u",
    "ne": "ne.u",
    **{f"u{name}": f"{name}.u" for name in ("lt", "le", "gt", "ge")},
    **{f"s{name}": f"{name}.s" for name in ("lt", "le", "gt", "ge")},
}
_FLOAT_PREDICATES = {
    **{f"o{name}": name for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    **{f"u{name}": f"{name}u" for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "ord": "num",
    "uno": "nan",
}
_BIT_PREDICATES = {
    "ult": (True, "and"),
    "ugt": (False, "and"),
    "ule": (True, "or"),
    "uge": (False, "or"),
    "slt": (False, "and"),
    "sgt": (True, "and"),
    "sle": (False, "or"),
    "sge": (True, "or"),
}
"""Comparisons of single bits: which operand is inverted (the first?), and what joins them."""


def element_of(type_: IrType) -> ScalarIrType | PointerType:
    """The type of the elements of a vector, or the type itself."""
    if isinstance(type_, VectorType):
        return type_.element
    if isinstance(type_, ScalarIrType | PointerType):
        return type_
    raise IrProblem(f"arithmetic on {type_} is not supported")


def masked(code: Code, part: Register, type_: ScalarIrType | PointerType) -> Register:
    """A register for a value of few bits, its upper half cleared if it holds a byte."""
    if type_ is not ScalarIrType.I8:
        return part
    return code.compute("and.b16", 16, part, Immediate(0xFF))


def signed_operand(code: Code, part: Operand, type_: ScalarIrType) -> Operand:
    """A byte with its sign in the upper half of its register; anything else as it is."""
    if type_ is not ScalarIrType.I8:
        return part
    if isinstance(part, Immediate):
        return Immediate(part.bits | (0xFF00 if part.bits & 0x80 else 0))
    return code.compute("cvt.s16.s8", 16, part)


def _binary(site: Site) -> None:
    flags = site.cursor.skip_words(*_FLAGS)
    type_ = site.cursor.type()
    first = site.value(type_)
    site.cursor.expect(",")
    second = site.value(type_)
    if isinstance(type_, IntegerIrType):
        parts = combined_words(site.code, site.opcode, type_, first.parts, second.parts)
        site.result(type_, parts)
        return
    element = element_of(type_)
    if isinstance(element, PointerType):
        raise IrProblem("arithmetic on pointers is not supported", False)
    compute = _float if element.is_float else _bit if element is ScalarIrType.I1 else _integer
    pairs = zip(first.parts, second.parts, strict=True)
    site.result(type_, tuple(compute(site.code, site.opcode, element, *pair) for pair in pairs))
    if site.opcode == "add" and isinstance(type_, ScalarIrType):
        note_addition(site, flags, type_, (first.parts[0], second.parts[0]))


def _integer(
    code: Code, opcode: str, type_: ScalarIrType, first: Operand, second: Operand
) -> Register:
    bits = type_.register_bits
    if opcode in _PLAIN:
        made = code.compute(f"{_PLAIN[opcode]}{bits}", bits, first, second)
    elif opcode in _LOGIC:
        return code.compute(f"{opcode}.b{bits}", bits, first, second)
    elif opcode in _SIGNED:
        signed = [signed_operand(code, part, type_) for part in (first, second)]
        made = code.compute(f"{_SIGNED[opcode]}{bits}", bits, *signed)
    elif opcode in _SHIFTS:
        if opcode == "ashr":
            first = signed_operand(code, first, type_)
        made = code.compute(f"{_SHIFTS[opcode]}{bits}", bits, first, _amount(code, second, type_))
    else:
        raise IrProblem(f"{opcode} of type {type_} is not supported")
    return masked(code, made, type_)


def _amount(code: Code, amount: Operand, type_: ScalarIrType) -> Operand:
    """The shift amount in 32 bits; too large an amount has no meaning in LLVM."""
    if isinstance(amount, Immediate):
        return Immediate(min(amount.bits, type_.bits))
    if type_.register_bits == 32:
        return amount
    return code.compute(f"cvt.u32.u{type_.register_bits}", 32, amount)


def _bit(code: Code, opcode: str, type_: ScalarIrType, first: Operand, second: Operand) -> Register:
    if opcode not in _ON_BITS:
        raise IrProblem(f"{opcode} of type {type_} is not supported")
    return code.compute(f"{_ON_BITS[opcode]}.pred", 1, first, second)


def _float(
    code: Code, opcode: str, type_: ScalarIrType, first: Operand, second: Operand
) -> Register:
    if opcode not in _FLOATS:
        raise IrProblem(f"{opcode} of type {type_} is not supported")
    mnemonic = _FLOATS[opcode]
    if type_.bits == 16 and opcode in ("fdiv", "frem"):
        # the single-precision quotient has more than twice the bits: rounding it again is exact
        wide = [code.compute(f"cvt.f32.{type_.float_name}", 32, part) for part in (first, second)]
        found = code.compute(f"{mnemonic}.f32", 32, *wide)
        return code.compute(f"cvt.rn.{type_.float_name}.f32", 16, found)
    return code.compute(f"{mnemonic}.{type_.float_name}", type_.bits, first, second)


def minimum(code: Code, name: str, type_: ScalarIrType, *operands: Operand) -> Register:
    """`min` or `max` of two floats that gives NaN where one of them is."""
    bits = type_.bits
    if type_ is not ScalarIrType.DOUBLE:
        return code.compute(f"{name}.NaN.{type_.float_name}", bits, *operands)
    found = code.compute(f"{name}.f64", bits, *operands)
    is_nan = code.compute("setp.nan.f64", 1, *operands)
    return code.compute("selp.b64", bits, Immediate(_QUIET_NAN), found, is_nan)


def _negation(site: Site) -> None:
    site.cursor.skip_words(*FAST_MATH)
    value = site.operand()
    element = element_of(value.type)
    if not isinstance(element, ScalarIrType) or not element.is_float:
        raise IrProblem(f"fneg of type {value.type} is not supported")
    bits = element.bits
    sign = Immediate(1 << (bits - 1))
    site.result(
        value.type, tuple(site.code.compute(f"xor.b{bits}", bits, x, sign) for x in value.parts)
    )


def _comparison(site: Site) -> None:
    site.cursor.skip_words(*_FLAGS)
    predicate = site.cursor.take().text
    type_ = site.cursor.type()
    first = site.value(type_)
    site.cursor.expect(",")
    second = site.value(type_)
    if isinstance(type_, IntegerIrType):
        truth = compared_words(site.code, predicate, type_, first.parts, second.parts)
        site.result(ScalarIrType.I1, (truth,))
        return
    element = element_of(type_)
    pairs = zip(first.parts, second.parts, strict=True)
    parts = tuple(compare(site.code, predicate, element, *pair) for pair in pairs)
    is_vector = isinstance(type_, VectorType)
    result: IrType = VectorType(ScalarIrType.I1, len(parts)) if is_vector else ScalarIrType.I1
    site.result(result, parts)


def compare(
    code: Code,
    predicate: str,
    type_: ScalarIrType | PointerType,
    first: Operand,
    second: Operand,
) -> Register:
    """The truth of a predicate of `icmp` or `fcmp`."""
    if isinstance(type_, PointerType):
        return code.compute(f"setp.{_integer_predicate(predicate)}64", 1, first, second)
    if type_.is_float:
        if predicate in ("true", "false"):
            return code.compute("mov.pred", 1, Immediate(int(predicate == "true")))
        if predicate not in _FLOAT_PREDICATES:
            raise IrProblem(f"no comparison fcmp {predicate}", False)
        mnemonic = f"setp.{_FLOAT_PREDICATES[predicate]}.{type_.float_name}"
        return code.compute(mnemonic, 1, first, second)
    if type_ is ScalarIrType.I1:
        return _compare_bits(code, predicate, first, second)
    mnemonic = _integer_predicate(predicate)
    if mnemonic.endswith("s"):
        first = signed_operand(code, first, type_)
        second = signed_operand(code, second, type_)
    return code.compute(f"setp.{mnemonic}{type_.register_bits}", 1, first, second)


def _integer_predicate(predicate: str) -> str:
    if predicate not in _INTEGER_PREDICATES:
        raise IrProblem(f"no comparison icmp {predicate}", False)
    return _INTEGER_PREDICATES[predicate]


def _compare_bits(code: Code, predicate: str, first: Operand, second: Operand) -> Register:
    if predicate in ("eq", "ne"):
        differ = code.compute("xor.pred", 1, first, second)
        return differ if predicate == "ne" else code.compute("not.pred", 1, differ)
    if predicate not in _BIT_PREDICATES:
        raise IrProblem(f"no comparison icmp {predicate}", False)
    inverts_first, joined = _BIT_PREDICATES[predicate]
    inverted = code.compute("not.pred", 1, first if inverts_first else second)
    return code.compute(f"{joined}.pred", 1, inverted, second if inverts_first else first)


def _selection(site: Site) -> None:
    site.cursor.skip_words(*FAST_MATH)
    condition = site.operand()
    first, second = site.next_operand(), site.next_operand()
    chooses = condition.parts
    if len(chooses) != len(first.parts):
        chooses = chooses * len(first.parts)
    parts = []
    for part, a, b, predicate in zip(
        parts_of(first.type), first.parts, second.parts, chooses, strict=True
    ):
        bits = 64 if isinstance(part, PointerType) else part.register_bits
        kind = "pred" if bits == 1 else f"b{bits}"
        parts.append(site.code.compute(f"selp.{kind}", bits, a, b, predicate))
    site.result(first.type, tuple(parts))


def _freeze(site: Site) -> None:
    """What is undefined is zero already."""
    value = site.operand()
    site.result(value.type, value.parts)


ARITHMETIC = {
    **dict.fromkeys((*_PLAIN, *_SIGNED, *_LOGIC, *_SHIFTS, *_FLOATS), _binary),
    "fneg": _negation,
    "icmp": _comparison,
    "fcmp": _comparison,
    "select": _selection,
    "freeze": _freeze,
}
"""How each of these instructions is lowered, by opcode."""
