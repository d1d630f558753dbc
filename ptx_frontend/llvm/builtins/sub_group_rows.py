"""Reads and writes of whole rows by a sub-group (`cl_intel_subgroups`).

Neighbouring lanes move neighbouring elements, and rows of a vector follow each other at the width
of the warp.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler
from kernelcast.ptx_frontend.llvm.builtins.lane_exchange import lane_number, special
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Special
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["SUB_GROUP_ROWS"]

_BLOCK_COUNTS = ("", "2", "4", "8", "16")
_BLOCK_TYPES = ("", "_uc", "_us", "_ui", "_ul")


def _block_place(call: BuiltinCall, index: int) -> tuple[ScalarType, Operand]:
    """What the pointer points to, and where the own element of the first row lies."""
    place = call.pointer(index)
    element = place.pointee.element
    if element is None or place.pointee.count != 1:
        raise call.refused("its pointer does not point to numbers")
    base = call.code.in_register(place.address, 64)
    size = Immediate(element.bytes)
    return element, call.compute("mad.wide.u32", 64, lane_number(call), size, base)


def _rows(call: BuiltinCall, element: ScalarType, first: Operand, count: int) -> list[Operand]:
    """The addresses of the own elements: rows follow each other at the width of the warp."""
    places = [first]
    if count > 1:
        size = Immediate(element.bytes)
        step = call.compute("mul.wide.u32", 64, special(call, Special.WARP_WIDTH), size)
        for _ in range(count - 1):
            places.append(call.compute("add.u64", 64, places[-1], step))
    return places


def _block_read(call: BuiltinCall) -> Value:
    call.expect(1)
    element, first = _block_place(call, 0)
    space, parts = call.pointer(0).space, []
    for place in _rows(call, element, first, call.width):
        found = call.code.register(max(16, element.bits))
        type_ = ScalarType.named(f"b{element.bits}")
        call.code.load(type_, call.code.address(space, place), (found,))
        parts.append(found)
    return call.value(*parts)


def _block_write(call: BuiltinCall) -> None:
    call.expect(2)
    element, first = _block_place(call, 0)
    space, values = call.pointer(0).space, call.site.arguments[1].parts
    rows = _rows(call, element, first, len(values))
    for place, value in zip(rows, values, strict=True):
        type_ = ScalarType.named(f"b{element.bits}")
        call.code.store(type_, call.code.address(space, place), (value,))


SUB_GROUP_ROWS: Mapping[str, Handler] = {
    f"intel_sub_group_block_{verb}{type_}{count}": handler
    for verb, handler in (("read", _block_read), ("write", _block_write))
    for type_ in _BLOCK_TYPES
    for count in _BLOCK_COUNTS
}
