"""What lanes of AMD's wavefronts see of each other: `ds.bpermute`, ballots, `readfirstlane`.

A lane that does not take part gives nothing that is defined: here its reader keeps its own value.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.ptx_frontend.llvm.builtins.ballots import lanes_below
from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler
from kernelcast.ptx_frontend.llvm.builtins.lane_exchange import (
    ballot,
    bit_of,
    lane_number,
    lowest_bit,
    read_value,
)
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value, register_bits
from kernelcast.ptx_frontend.llvm.text.types import parts_of
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["AMD_LANES"]

_INTEGER_RELATIONS = {
    32: ("eq", "u"),
    33: ("ne", "u"),
    34: ("gt", "u"),
    35: ("ge", "u"),
    36: ("lt", "u"),
    37: ("le", "u"),
    38: ("gt", "s"),
    39: ("ge", "s"),
    40: ("lt", "s"),
    41: ("le", "s"),
}
_FLOAT_RELATIONS = {
    1: "eq",
    2: "gt",
    3: "ge",
    4: "lt",
    5: "le",
    6: "ne",
    7: "num",
    8: "nan",
    9: "equ",
    10: "gtu",
    11: "geu",
    12: "ltu",
    13: "leu",
    14: "neu",
}
"""Numbers of llvm::CmpInst::Predicate."""
_QUAD_MODE, _ROTATION = 0x8000, 0xC000


def _mask(call: BuiltinCall, predicate: Operand) -> Value:
    """A ballot as one number of 32 or 64 bits."""
    low, high = ballot(call, predicate)
    if call.result_element.bits == 32:
        return call.value(low)
    wide = call.compute("cvt.u64.u32", 64, high)
    upper = call.compute("shl.b64", 64, wide, Immediate(32))
    return call.value(call.compute("or.b64", 64, upper, call.compute("cvt.u64.u32", 64, low)))


def _ballot(call: BuiltinCall) -> Value:
    return _mask(call, call.site.arguments[0].parts[0])


def _compared(call: BuiltinCall) -> Value:
    """`icmp` and `fcmp`: the lanes where a comparison holds."""
    first, second, relation = call.site.arguments
    number = relation.parts[0]
    assert isinstance(number, Immediate)
    bits = register_bits(parts_of(first.type)[0])
    if number.bits in _INTEGER_RELATIONS and bits > 1:
        name, kind = _INTEGER_RELATIONS[number.bits]
        form = f"setp.{name}.{kind}{bits}"
    elif number.bits in _FLOAT_RELATIONS and bits >= 32:
        form = f"setp.{_FLOAT_RELATIONS[number.bits]}.f{bits}"
    else:
        raise call.refused(f"relation {number.bits} of {bits} bits")
    return _mask(call, call.compute(form, 1, first.parts[0], second.parts[0]))


def _lower_lanes(which: int) -> Handler:
    """`mbcnt`: how many lanes of a mask are below the own one, of the lower or upper half."""

    def lower(call: BuiltinCall) -> Value:
        mask, base = (argument.parts[0] for argument in call.site.arguments)
        below = lanes_below(call, lane_number(call))[which]
        count = call.compute("popc.b32", 32, call.compute("and.b32", 32, mask, below))
        return call.value(call.compute("add.u32", 32, count, base))

    return lower


def _permuted(call: BuiltinCall) -> Value:
    """`ds.bpermute`: the value of the lane at a byte address, four bytes a lane."""
    address, value = call.site.arguments
    return read_value(call, value, call.compute("shr.u32", 32, address.parts[0], Immediate(2)))


def _first(call: BuiltinCall) -> Value:
    return read_value(call, call.site.arguments[0], lowest_bit(call, ballot(call, Immediate(1))))


def _of_lane(call: BuiltinCall) -> Value:
    value, lane = call.site.arguments
    return read_value(call, value, lane.parts[0])


def _swizzled(call: BuiltinCall) -> Value:
    """`ds.swizzle`: the lane is that of a pattern, in four lanes or 32 (ISA, DS_SWIZZLE_B32).

    Zero comes from a lane that takes no part.
    """
    value, pattern = call.site.arguments
    offset = pattern.parts[0]
    assert isinstance(offset, Immediate)
    own = lane_number(call)
    if offset.bits >= _ROTATION:
        raise call.refused("rotations")
    if offset.bits & _QUAD_MODE:
        place = call.compute("and.b32", 32, own, Immediate(3))
        shift = call.compute("shl.b32", 32, place, Immediate(1))
        chosen = call.compute("shr.u32", 32, call.code.in_register(offset, 32), shift)
        within = call.compute("and.b32", 32, chosen, Immediate(3))
        base = call.compute("and.b32", 32, own, Immediate(0xFFFFFFFC))
    else:
        kept, added, turned = (offset.bits >> shift & 31 for shift in (0, 5, 10))
        within = call.compute("and.b32", 32, own, Immediate(kept))
        within = call.compute("or.b32", 32, within, Immediate(added))
        within = call.compute("xor.b32", 32, within, Immediate(turned))
        base = call.compute("and.b32", 32, own, Immediate(0xFFFFFFE0))
    lane = call.compute("or.b32", 32, base, within)
    is_there = bit_of(call, ballot(call, Immediate(1)), lane)
    found = read_value(call, value, lane).parts[0]
    return call.value(call.select(32, is_there, found, Immediate(0)))


AMD_LANES: Mapping[str, Handler] = {
    "ballot": _ballot,
    "icmp": _compared,
    "fcmp": _compared,
    "mbcnt.lo": _lower_lanes(0),
    "mbcnt.hi": _lower_lanes(1),
    "ds.bpermute": _permuted,
    "ds.swizzle": _swizzled,
    "readfirstlane": _first,
    "readlane": _of_lane,
}
