"""convert_ and as_ functions (OpenCL 1.2, 6.2.3 and 6.2.4), which their own names describe."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall
from kernelcast.ptx_frontend.llvm.builtins.integer_functions import register_width
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["is_conversion", "lower_conversion"]

_TYPES = {
    "char": ScalarType.S8,
    "uchar": ScalarType.U8,
    "short": ScalarType.S16,
    "ushort": ScalarType.U16,
    "int": ScalarType.S32,
    "uint": ScalarType.U32,
    "long": ScalarType.S64,
    "ulong": ScalarType.U64,
    "half": ScalarType.F16,
    "float": ScalarType.F32,
    "double": ScalarType.F64,
}
_NAME = re.compile(
    r"(?P<verb>convert|as)_(?P<type>u?char|u?short|u?int|u?long|half|float|double)"
    r"(?P<count>2|3|4|8|16)?(?P<saturated>_sat)?(?:_(?P<rounding>rt[ezpn]))?"
)
_TO_FLOAT = {"rte": "rn", "rtz": "rz", "rtp": "rp", "rtn": "rm"}
_TO_INTEGER = {"rte": "rni", "rtz": "rzi", "rtp": "rpi", "rtn": "rmi"}


def is_conversion(name: str) -> bool:
    """Whether the name is that of a `convert_` or `as_` function."""
    return _NAME.fullmatch(name) is not None


def lower_conversion(call: BuiltinCall) -> Value:
    """`convert_char4_sat_rte`, `as_float2`, ... of a value of any type."""
    call.expect(1)
    parts = _NAME.fullmatch(call.name)
    assert parts is not None
    target = _TYPES[parts["type"]]
    if parts["verb"] == "as":
        return _reinterpreted(call, target)
    rounding, is_saturated = parts["rounding"] or "", parts["saturated"] is not None
    return call.each(
        lambda call, type_, x: _converted(call, type_, target, x, rounding, is_saturated)
    )


def _converted(
    call: BuiltinCall,
    source: ScalarType,
    target: ScalarType,
    x: Operand,
    rounding: str,
    is_saturated: bool,
) -> Operand:
    if source is target:
        return x
    if target.is_float:
        return _to_float(call, source, target, x, rounding)
    if source.is_float:
        return _float_to_integer(call, source, target, x, rounding, is_saturated)
    saturation = ".sat" if is_saturated and not _holds(target, source) else ""
    return _cut(call, target, f"cvt{saturation}.{target.ptx_name}.{source.ptx_name}", x)


def _holds(target: ScalarType, source: ScalarType) -> bool:
    """Whether every value of the one integer type is one of the other."""
    if source.is_signed:
        return target.is_signed and source.bits <= target.bits
    return source.bits + target.is_signed <= target.bits


def _cut(call: BuiltinCall, target: ScalarType, form: str, x: Operand) -> Operand:
    """A byte lies in a register of 16 bits with zeros above."""
    found = call.compute(form, register_width(target), x)
    return call.compute("and.b16", 16, found, Immediate(0xFF)) if target.bits == 8 else found


def _to_float(
    call: BuiltinCall, source: ScalarType, target: ScalarType, x: Operand, rounding: str
) -> Operand:
    is_exact = source.is_float and source.bits < target.bits
    mode = "" if is_exact else f".{_TO_FLOAT[rounding or 'rte']}"
    return call.compute(f"cvt{mode}.{target.ptx_name}.{source.ptx_name}", target.bits, x)


def _float_to_integer(
    call: BuiltinCall,
    source: ScalarType,
    target: ScalarType,
    x: Operand,
    rounding: str,
    is_saturated: bool,
) -> Operand:
    """The instruction clamps; what it makes of NaN is 0 only where that is asked for."""
    form = f"cvt.{_TO_INTEGER[rounding or 'rtz']}.{target.ptx_name}.{source.ptx_name}"
    found = _cut(call, target, form, x)
    if not is_saturated:
        return found
    is_nan = call.compute(f"setp.nan.{source.ptx_name}", 1, x, x)
    return call.select(register_width(target), is_nan, Immediate(0), found)


def _reinterpreted(call: BuiltinCall, target: ScalarType) -> Value:
    """Reinterprets the bits of a value; three elements have the room of four."""
    source, parts = call.element(), list(call.site.arguments[0].parts)
    if source.bits != target.bits:
        parts = _repacked(call, source.bits, target.bits, parts)
    missing = call.width - len(parts)
    return call.value(*parts[: call.width], *[Immediate(0)] * missing)


def _repacked(call: BuiltinCall, bits: int, wanted: int, parts: Sequence[Operand]) -> list[Operand]:
    """Neighbouring elements joined, or each taken apart; the first is in the lowest bits."""
    if bits > wanted:
        return [
            _piece(call, bits, wanted, part, number)
            for part in parts
            for number in range(bits // wanted)
        ]
    step = wanted // bits
    filled = [*parts, *[Immediate(0)] * (-len(parts) % step)]
    return [_joined(call, bits, wanted, filled[i : i + step]) for i in range(0, len(filled), step)]


def _piece(call: BuiltinCall, bits: int, wanted: int, part: Operand, number: int) -> Operand:
    moved = call.compute(f"shr.u{bits}", bits, part, Immediate(number * wanted))
    form = f"cvt.u{max(wanted, 16)}.u{bits}"
    low = moved if bits == 16 else call.compute(form, max(wanted, 16), moved)
    return call.compute("and.b16", 16, low, Immediate(0xFF)) if wanted == 8 else low


def _joined(call: BuiltinCall, bits: int, wanted: int, parts: Sequence[Operand]) -> Operand:
    total: Operand = Immediate(0)
    for number, part in enumerate(parts):
        wide = part
        if wanted > 16:
            wide = call.compute(f"cvt.u{wanted}.u{max(bits, 16)}", wanted, part)
        moved = call.compute(f"shl.b{wanted}", wanted, wide, Immediate(number * bits))
        total = call.compute(f"or.b{wanted}", wanted, total, moved)
    return total
