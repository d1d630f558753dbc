"""Loads and stores of vectors and of half (OpenCL 1.2, 6.12.7).

Only the alignment of an element is promised, so that elements move one by one.
"""

from __future__ import annotations

import re

from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Pointer
from kernelcast.ptx_frontend.llvm.builtins.integer_functions import register_width
from kernelcast.ptx_frontend.llvm.builtins.math_functions import store_elements
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["is_vector_memory", "lower_vector_memory"]

_NAME = re.compile(
    r"v(?P<verb>load|store)(?P<aligned>a)?(?P<half>_half)?(?P<count>2|3|4|8|16)?"
    r"(?:_(?P<rounding>rt[ezpn]))?"
)
_ROUNDINGS = {"rte": "rn", "rtz": "rz", "rtp": "rp", "rtn": "rm"}


def is_vector_memory(name: str) -> bool:
    """Whether the name is that of a `vload`, `vstore` or half function."""
    parts = _NAME.fullmatch(name)
    return parts is not None and (parts["half"] is not None or parts["count"] is not None)


def lower_vector_memory(call: BuiltinCall) -> Value | None:
    """`vload4`, `vstorea_half3_rte`, ...: (offset, pointer), stores with the data first."""
    parts = _NAME.fullmatch(call.name)
    assert parts is not None
    count = int(parts["count"] or 1)
    # three aligned halves take the place of four
    stride = 4 if count == 3 and parts["aligned"] else count
    is_store = parts["verb"] == "store"
    call.expect(3 if is_store else 2)
    place = call.pointer(2 if is_store else 1)
    element = ScalarType.F16 if parts["half"] else place.pointee.element
    if element is None:
        raise call.refused("its pointer does not point to numbers")
    place = _moved(call, place, 1 if is_store else 0, stride * element.bytes)
    if not is_store:
        return _load(call, place, element, count)
    values = call.site.arguments[0].parts
    if parts["half"]:
        source, mode = call.element(0), _ROUNDINGS[parts["rounding"] or "rte"]
        form = f"cvt.{mode}.f16.{source.ptx_name}"
        values = tuple(call.compute(form, 16, value) for value in values)
    store_elements(call, place, ScalarType.named(f"b{element.bits}"), values)
    return None


def _moved(call: BuiltinCall, place: Pointer, index: int, stride: int) -> Pointer:
    """The pointer plus argument `index` times the stride, bytes."""
    offset = call.site.arguments[index].parts[0]
    if isinstance(offset, Immediate) and offset.bits == 0:
        return place
    base = call.code.in_register(place.address, 64)
    return Pointer(
        place.pointee, place.space, call.compute("mad.lo.u64", 64, offset, Immediate(stride), base)
    )


def _load(call: BuiltinCall, place: Pointer, element: ScalarType, count: int) -> Value:
    loaded: list[Operand] = []
    is_half = element is ScalarType.F16 and call.result_element.bits != element.bits
    type_ = ScalarType.named(f"b{element.bits}")
    for number in range(count):
        register = call.code.register(register_width(element))
        address = call.code.address(place.space, place.address, number * element.bytes)
        call.code.load(type_, address, (register,))
        loaded.append(call.compute("cvt.f32.f16", 32, register) if is_half else register)
    return call.value(*loaded)
