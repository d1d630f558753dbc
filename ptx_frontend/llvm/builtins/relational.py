"""Relational functions (OpenCL 1.2, 6.12.6): 1 for true, and -1 in vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler
from kernelcast.ptx_frontend.llvm.builtins.math_functions import widened
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.ptx_frontend.llvm.text.types import VectorType
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["RELATIONAL"]

_COMPARISONS = {
    "isequal": "setp.eq",
    "isnotequal": "setp.neu",
    "isgreater": "setp.gt",
    "isgreaterequal": "setp.ge",
    "isless": "setp.lt",
    "islessequal": "setp.le",
    "islessgreater": "setp.ne",
    "isordered": "setp.num",
    "isunordered": "setp.nan",
}
_CLASSES = {
    "isfinite": "testp.finite",
    "isinf": "testp.infinite",
    "isnan": "testp.notanumber",
}
_NORMALS = {
    16: (0x0400, 0x7C00),
    32: (0x0080_0000, 0x7F80_0000),
    64: (0x0010 << 48, 0x7FF0 << 48),
}
"""Bits of the smallest normal number and of infinity, by the width of the type."""


def _truth(call: BuiltinCall, predicate: Operand) -> Operand:
    """The truth in the width of the result, which elements of floating-point vectors have."""
    bits = call.result_element.bits
    yes = (1 << bits) - 1 if isinstance(call.result, VectorType) else 1
    return call.select(max(bits, 16), predicate, Immediate(yes), Immediate(0))


def _test(mnemonic: str, count: int) -> Handler:
    def lane(call: BuiltinCall, type_: ScalarType, *operands: Operand) -> Operand:
        if type_ is ScalarType.F16:
            operands, type_ = tuple(widened(call, x) for x in operands), ScalarType.F32
        return _truth(call, call.compute(f"{mnemonic}.{type_.ptx_name}", 1, *operands))

    return _of_floats(lane, count)


def _of_floats(lane: Callable[..., Operand], count: int) -> Handler:
    def lower(call: BuiltinCall) -> Value:
        call.expect(count)
        if not call.element().is_float:
            raise call.refused(f"of {call.element().ptx_name}")
        return call.each(lane)

    return lower


def _is_normal(call: BuiltinCall, type_: ScalarType, x: Operand) -> Operand:
    """Whether a number is normal in OpenCL: zeros are not, though they are to `testp.normal`."""
    bits = type_.bits
    smallest, infinity = _NORMALS[bits]
    magnitude = call.compute(f"and.b{bits}", bits, x, Immediate((1 << (bits - 1)) - 1))
    above = call.compute(f"sub.u{bits}", bits, magnitude, Immediate(smallest))
    truth = call.compute(f"setp.lt.u{bits}", 1, above, Immediate(infinity - smallest))
    return _truth(call, truth)


def _top_bit(call: BuiltinCall, bits: int, x: Operand) -> Operand:
    """Whether the top bit of a value is set, as a predicate."""
    if bits == 8:
        bit = call.compute("and.b16", 16, x, Immediate(0x80))
        return call.compute("setp.ne.u16", 1, bit, Immediate(0))
    return call.compute(f"setp.lt.s{bits}", 1, x, Immediate(0))


def _signbit(call: BuiltinCall) -> Value:
    call.expect(1)
    return call.each(lambda call, type_, x: _truth(call, _top_bit(call, type_.bits, x)))


def _reduced(operation: str) -> Handler:
    """The top bits of all elements together."""

    def lower(call: BuiltinCall) -> Value:
        call.expect(1)
        bits = call.element().bits
        found, *others = call.site.arguments[0].parts
        for part in others:
            found = call.compute(f"{operation}.b{max(bits, 16)}", max(bits, 16), found, part)
        is_set = _top_bit(call, bits, found)
        return call.value(call.select(32, is_set, Immediate(1), Immediate(0)))

    return lower


def _bitselect(call: BuiltinCall) -> Value:
    """Bits of b where c has ones, else bits of a."""
    call.expect(3)

    def lane(call: BuiltinCall, type_: ScalarType, a: Operand, b: Operand, c: Operand) -> Operand:
        bits = max(type_.bits, 16)
        differing = call.compute(f"xor.b{bits}", bits, a, b)
        chosen = call.compute(f"and.b{bits}", bits, differing, c)
        return call.compute(f"xor.b{bits}", bits, a, chosen)

    return call.each(lane)


def _select(call: BuiltinCall) -> Value:
    """b where c is true: not zero as a scalar, negative as an element of a vector."""
    call.expect(3)
    condition = call.element(2)
    is_vector = isinstance(call.result, VectorType)

    def lane(call: BuiltinCall, type_: ScalarType, a: Operand, b: Operand, c: Operand) -> Operand:
        width = max(condition.bits, 16)
        if is_vector:
            chooses = _top_bit(call, condition.bits, c)
        else:
            chooses = call.compute(f"setp.ne.u{width}", 1, c, Immediate(0))
        return call.select(max(type_.bits, 16), chooses, b, a)

    return call.each(lane)


def _indices(mask: Sequence[Operand], entries: int) -> list[Operand]:
    """Constant indices, taken modulo the number of entries; others as they are."""
    return [Immediate(x.bits % entries) if isinstance(x, Immediate) else x for x in mask]


def _shuffle(call: BuiltinCall) -> Value:
    """Elements of one vector or of two, by the low bits of the mask's elements."""
    call.expect(2 if call.name == "shuffle" else 3)
    *sources, mask = call.site.arguments
    kind = call.element(len(sources))
    entries = [part for source in sources for part in source.parts]
    bits = max(call.element().bits, 16)
    chosen = [
        _entry(call, entries, index, max(kind.bits, 16), bits)
        for index in _indices(mask.parts, len(entries))
    ]
    return call.value(*chosen)


def _entry(
    call: BuiltinCall, entries: Sequence[Operand], index: Operand, index_bits: int, bits: int
) -> Operand:
    if isinstance(index, Immediate):
        return entries[index.bits]
    low = call.compute(f"and.b{index_bits}", index_bits, index, Immediate(len(entries) - 1))
    found = entries[0]
    for number, entry in enumerate(entries[1:], start=1):
        is_it = call.compute(f"setp.eq.u{index_bits}", 1, low, Immediate(number))
        found = call.select(bits, is_it, entry, found)
    return found


RELATIONAL: Mapping[str, Handler] = {
    **{name: _test(form, 2) for name, form in _COMPARISONS.items()},
    **{name: _test(form, 1) for name, form in _CLASSES.items()},
    "isnormal": _of_floats(_is_normal, 1),
    "signbit": _signbit,
    "any": _reduced("or"),
    "all": _reduced("and"),
    "bitselect": _bitselect,
    "select": _select,
    "shuffle": _shuffle,
    "shuffle2": _shuffle,
}
