"""Values that come from a lane near by: `update.dpp`, `mov.dpp8`, `permlane16` and its kin.

Which lane a number stands for: LLVM's AMDGPU usage guide ("update.dpp") with AMD Instinct MI200
ISA, 6.3, and RDNA 3 ISA, 7.4. A row is 16 lanes. A lane whose source is outside of what the pattern
covers, or takes no part, gets what there was before, or zero where the call says so.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler
from kernelcast.ptx_frontend.llvm.builtins.lane_exchange import (
    ballot,
    bit_of,
    lane_number,
    read_lane,
    read_value,
    special,
)
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value, register_bits
from kernelcast.ptx_frontend.llvm.text.types import parts_of
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register, Special

__all__ = ["AMD_DPP"]

_LAST, _HALF_ROW = 15, 8
_ALL = 0xF
_QUADS = range(0x100)
_TO_THE_LEFT, _TO_THE_RIGHT = range(0x101, 0x110), range(0x111, 0x120)
_ROTATED = range(0x121, 0x130)
_OF_WAVEFRONT = {0x130: (1, False), 0x134: (1, True), 0x138: (-1, False), 0x13C: (-1, True)}
"""How far the lane is that is read, and whether the last one is beside the first."""
_MIRRORED = {0x140: 15, 0x141: 7}
_LAST_OF_ROW, _LAST_OF_HALF = 0x142, 0x143
_SHARED, _TURNED = range(0x150, 0x160), range(0x160, 0x170)
_Found = tuple[Operand, Operand | None]
"""The lane that is read, and whether there is one; None for all lanes."""


def _constant(call: BuiltinCall, index: int) -> int:
    (part,) = call.site.arguments[index].parts
    if not isinstance(part, Immediate):
        raise call.refused(f"its argument {index + 1} is no constant")
    return part.bits


def _updated(call: BuiltinCall) -> Value:
    """`update.dpp(old, value, pattern, rows, banks, is_zero)`."""
    old, value = call.site.arguments[:2]
    pattern, rows, banks, is_zero = (_constant(call, index) for index in range(2, 6))
    return _exchanged(call, old, value, pattern, (rows, banks, bool(is_zero)))


def _moved(call: BuiltinCall) -> Value:
    """`mov.dpp`: lanes that nothing comes to have nothing that is defined; here their own value."""
    (value,) = call.site.arguments[:1]
    pattern, rows, banks, is_zero = (_constant(call, index) for index in range(1, 5))
    return _exchanged(call, value, value, pattern, (rows, banks, bool(is_zero)))


def _exchanged(
    call: BuiltinCall, old: Value, value: Value, pattern: int, who: tuple[int, int, bool]
) -> Value:
    """`who`: the rows and the banks whose lanes are written, and whether nothing is zero."""
    rows, banks, is_zero = who
    lane, is_there = _lane_of(call, pattern)
    there = bit_of(call, ballot(call, Immediate(1)), lane)
    is_there = there if is_there is None else call.compute("and.pred", 1, there, is_there)
    writes = [
        _is_chosen(call, chosen, shift)
        for chosen, shift in ((rows, 4), (banks, 2))
        if chosen != _ALL
    ]
    results = []
    for part, before, kind in zip(value.parts, old.parts, parts_of(value.type), strict=True):
        bits = register_bits(kind)
        otherwise = Immediate(0) if is_zero else before
        read = call.select(bits, is_there, read_lane(call, part, bits, lane), otherwise)
        for write in writes:
            read = call.select(bits, write, read, before)
        results.append(read)
    return call.value(*results)


def _is_chosen(call: BuiltinCall, chosen: int, shift: int) -> Operand:
    """Whether the row or bank of the own lane is one of those that a mask has."""
    number = call.compute("shr.u32", 32, lane_number(call), Immediate(shift))
    number = call.compute("and.b32", 32, number, Immediate(3))
    bit = call.compute("shr.u32", 32, call.code.in_register(Immediate(chosen), 32), number)
    bit = call.compute("and.b32", 32, bit, Immediate(1))
    return call.compute("setp.ne.u32", 1, bit, Immediate(0))


def _in_row(call: BuiltinCall, place: Operand) -> Operand:
    first = call.compute("and.b32", 32, lane_number(call), Immediate(0xFFFFFFFF - _LAST))
    kept = call.compute("and.b32", 32, place, Immediate(_LAST))
    return call.compute("or.b32", 32, first, kept)


def _lane_of(call: BuiltinCall, pattern: int) -> _Found:
    own = lane_number(call)
    if pattern in _QUADS:
        return _permuted(call, pattern, 4), None
    if pattern in _TO_THE_LEFT or pattern in _TO_THE_RIGHT:
        distance = pattern & _LAST if pattern in _TO_THE_LEFT else -(pattern & _LAST)
        place = call.compute("and.b32", 32, own, Immediate(_LAST))
        place = call.compute("add.u32", 32, place, Immediate(distance & 0xFFFFFFFF))
        return _in_row(call, place), call.compute("setp.le.u32", 1, place, Immediate(_LAST))
    if pattern in _ROTATED:
        back = Immediate(-(pattern & _LAST) & 0xFFFFFFFF)
        return _in_row(call, call.compute("add.u32", 32, own, back)), None
    if pattern in _OF_WAVEFRONT:
        return _of_wavefront(call, own, *_OF_WAVEFRONT[pattern])
    if pattern in _MIRRORED:
        return call.compute("xor.b32", 32, own, Immediate(_MIRRORED[pattern])), None
    if pattern == _LAST_OF_HALF:
        return Immediate(31), call.compute("setp.gt.u32", 1, own, Immediate(31))
    if pattern == _LAST_OF_ROW:
        first = call.compute("and.b32", 32, own, Immediate(0xFFFFFFFF - _LAST))
        before = call.compute("sub.u32", 32, first, Immediate(1))
        before = call.compute("and.b32", 32, before, Immediate(63))
        return before, call.compute("setp.ne.u32", 1, first, Immediate(0))
    if pattern in _SHARED:
        return _in_row(call, Immediate(pattern & _LAST)), None
    if pattern in _TURNED:
        return call.compute("xor.b32", 32, own, Immediate(pattern & _LAST)), None
    raise call.refused(f"the pattern {pattern:#x}")


def _of_wavefront(call: BuiltinCall, own: Register, step: int, is_rotated: bool) -> _Found:
    width = special(call, Special.WARP_WIDTH)
    other = call.compute("add.u32", 32, own, Immediate(step & 0xFFFFFFFF))
    last = call.compute("sub.u32", 32, width, Immediate(1))
    kept = call.compute("and.b32", 32, other, last)
    return kept, None if is_rotated else call.compute("setp.lt.u32", 1, other, width)


def _permuted(call: BuiltinCall, packed: int, group: int) -> Operand:
    """The lane of each four or eight that each of them reads, numbers of so many bits."""
    own, bits = lane_number(call), group.bit_length() - 1
    place = call.compute("and.b32", 32, own, Immediate(group - 1))
    place = call.compute("mul.lo.u32", 32, place, Immediate(bits))
    chosen = call.compute("shr.u32", 32, call.code.in_register(Immediate(packed), 32), place)
    chosen = call.compute("and.b32", 32, chosen, Immediate(group - 1))
    first = call.compute("and.b32", 32, own, Immediate(-group & 0xFFFFFFFF))
    return call.compute("or.b32", 32, first, chosen)


def _of_eight(call: BuiltinCall) -> Value:
    """`mov.dpp8`: three bits for each of eight lanes; a lane without part keeps its value."""
    value = call.site.arguments[0]
    return read_value(call, value, _permuted(call, _constant(call, 1), _HALF_ROW))


def _by_scalars(turned: int) -> Handler:
    """`permlane16`: scalars hold the place in the row that each lane reads; or in the other row."""

    def lower(call: BuiltinCall) -> Value:
        old, value, low, high = call.site.arguments[:4]
        reads_all, is_zero = (_constant(call, index) for index in (4, 5))
        own = lane_number(call)
        place = call.compute("and.b32", 32, own, Immediate(_LAST))
        is_upper = call.compute("setp.ge.u32", 1, place, Immediate(_HALF_ROW))
        word = call.select(32, is_upper, high.parts[0], low.parts[0])
        shift = call.compute("and.b32", 32, place, Immediate(_HALF_ROW - 1))
        shift = call.compute("shl.b32", 32, shift, Immediate(2))
        chosen = call.compute("shr.u32", 32, word, shift)
        other = call.compute("xor.b32", 32, own, Immediate(turned))
        first = call.compute("and.b32", 32, other, Immediate(0xFFFFFFFF - _LAST))
        chosen = call.compute("and.b32", 32, chosen, Immediate(_LAST))
        lane = call.compute("or.b32", 32, first, chosen)
        read: Operand = read_lane(call, value.parts[0], 32, lane)
        if not reads_all:
            is_there = bit_of(call, ballot(call, Immediate(1)), lane)
            read = call.select(32, is_there, read, Immediate(0) if is_zero else old.parts[0])
        return call.value(read)

    return lower


def _of_halves(call: BuiltinCall) -> Value:
    """`permlane64`: the lane of the other 32; nothing moves where there are no more."""
    turned = call.compute("and.b32", 32, special(call, Special.WARP_WIDTH), Immediate(64))
    turned = call.compute("shr.u32", 32, turned, Immediate(1))
    lane = call.compute("xor.b32", 32, lane_number(call), turned)
    return read_value(call, call.site.arguments[0], lane)


AMD_DPP: Mapping[str, Handler] = {
    "update.dpp": _updated,
    "mov.dpp": _moved,
    "mov.dpp8": _of_eight,
    "permlane16": _by_scalars(0),
    "permlanex16": _by_scalars(16),
    "permlane64": _of_halves,
}
