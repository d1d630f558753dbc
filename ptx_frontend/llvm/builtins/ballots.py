"""Ballots of sub-groups (`cl_khr_subgroup_ballot`): masks of lanes as uint4, two words used."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler
from kernelcast.ptx_frontend.llvm.builtins.lane_exchange import (
    ballot,
    bit_of,
    highest_bit,
    lane_number,
    lowest_bit,
    special,
)
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value, register_bits
from kernelcast.ptx_frontend.llvm.text.types import parts_of
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Special

__all__ = ["BALLOTS", "lanes_below"]

Words = tuple[Operand, Operand]
_ZERO = Immediate(0)


def _mask(call: BuiltinCall, words: Words) -> Value:
    return call.value(*words, _ZERO, _ZERO)


def _vote(call: BuiltinCall) -> Value:
    argument = call.site.arguments[0]
    predicate, bits = argument.parts[0], register_bits(parts_of(argument.type)[0])
    if bits > 1:
        predicate = call.compute(f"setp.ne.u{bits}", 1, predicate, _ZERO)
    return _mask(call, ballot(call, predicate))


def _argument(call: BuiltinCall) -> Words:
    """The two words of a mask; bits that are no lanes do not count."""
    parts = call.site.arguments[0].parts
    if len(parts) != 4:
        raise call.refused("its mask is no uint4")
    low, high = _lanes(call)
    return call.compute("and.b32", 32, parts[0], low), call.compute("and.b32", 32, parts[1], high)


def _lanes(call: BuiltinCall) -> Words:
    """All lanes of the warp."""
    width = special(call, Special.WARP_WIDTH)
    return lanes_below(call, width)


def lanes_below(call: BuiltinCall, count: Operand) -> Words:
    """The lowest `count` bits, 0 to 64."""
    wide = call.compute("shl.b64", 64, Immediate(1), count)
    is_all = call.compute("setp.ge.u32", 1, count, Immediate(64))
    ones = Immediate((1 << 64) - 1)
    less = call.compute("sub.u64", 64, wide, Immediate(1))
    return _split(call, call.select(64, is_all, ones, less))


def _split(call: BuiltinCall, wide: Operand) -> Words:
    low = call.compute("cvt.u32.u64", 32, wide)
    upper = call.compute("shr.u64", 64, wide, Immediate(32))
    return low, call.compute("cvt.u32.u64", 32, upper)


def _truth(call: BuiltinCall, predicate: Operand) -> Value:
    bits = call.result_element.bits
    if bits == 1:
        return call.value(predicate)
    return call.value(call.select(max(16, bits), predicate, Immediate(1), _ZERO))


def _inverse(call: BuiltinCall) -> Value:
    parts = call.site.arguments[0].parts
    return _truth(call, bit_of(call, (parts[0], parts[1]), lane_number(call)))


def _extract(call: BuiltinCall) -> Value:
    call.expect(2)
    parts = call.site.arguments[0].parts
    return _truth(call, bit_of(call, (parts[0], parts[1]), call.site.arguments[1].parts[0]))


def _count(call: BuiltinCall, words: Words) -> Value:
    counts = [call.compute("popc.b32", 32, word) for word in words]
    return call.value(call.compute("add.u32", 32, *counts))


def _counted(chosen: Callable[[BuiltinCall], Operand] | None) -> Handler:
    """How many bits are set, of the lowest that `chosen` says."""

    def lower(call: BuiltinCall) -> Value:
        call.expect(1)
        words = _argument(call)
        if chosen is not None:
            limits = lanes_below(call, chosen(call))
            words = (
                call.compute("and.b32", 32, words[0], limits[0]),
                call.compute("and.b32", 32, words[1], limits[1]),
            )
        return _count(call, words)

    return lower


def _up_to(call: BuiltinCall) -> Operand:
    return call.compute("add.u32", 32, lane_number(call), Immediate(1))


def _find(which: Callable[[BuiltinCall, Words], Operand]) -> Handler:
    def lower(call: BuiltinCall) -> Value:
        call.expect(1)
        return call.value(which(call, _argument(call)))

    return lower


def _relation(name: str) -> Handler:
    """The lanes equal to the own one, below or above it."""

    def lower(call: BuiltinCall) -> Value:
        lane = lane_number(call)
        if name == "eq":
            return _mask(call, _split(call, call.compute("shl.b64", 64, Immediate(1), lane)))
        count = lane if name in ("lt", "ge") else _up_to(call)
        words = lanes_below(call, count)
        if name in ("lt", "le"):
            return _mask(call, words)
        every = _lanes(call)
        above = [call.compute("not.b32", 32, word) for word in words]
        return _mask(
            call,
            (
                call.compute("and.b32", 32, above[0], every[0]),
                call.compute("and.b32", 32, above[1], every[1]),
            ),
        )

    return lower


BALLOTS: Mapping[str, Handler] = {
    "sub_group_ballot": _vote,
    "sub_group_inverse_ballot": _inverse,
    "sub_group_ballot_bit_extract": _extract,
    "sub_group_ballot_bit_count": _counted(None),
    "sub_group_ballot_inclusive_scan": _counted(_up_to),
    "sub_group_ballot_exclusive_scan": _counted(lane_number),
    "sub_group_ballot_find_lsb": _find(lowest_bit),
    "sub_group_ballot_find_msb": _find(highest_bit),
    **{f"get_sub_group_{name}_mask": _relation(name) for name in ("eq", "ge", "gt", "le", "lt")},
}
