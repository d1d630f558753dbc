"""Atomic functions of OpenCL 1.x (6.12.11 and the extensions for 64 bits) and of 2.0 (6.13.11).

Those of floats are of `cl_ext_float_atomics`.

The memory of the engines is sequentially consistent, whatever order and scope a call names.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler, Pointer
from kernelcast.ptx_frontend.llvm.lowering.atomics import retried
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.ptx_frontend.llvm.text.types import ScalarIrType
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["ATOMICS"]

_PREFIXES = ("atomic_", "atom_")
_OPERATIONS = {
    "add": "add",
    "and": "and",
    "max": "max",
    "min": "min",
    "or": "or",
    "sub": "add",
    "xchg": "exch",
    "xor": "xor",
}
_FETCHES = ("add", "and", "max", "min", "or", "sub", "xor")
_NAMED = {
    "atomic_int": ScalarType.S32,
    "atomic_uint": ScalarType.U32,
    "atomic_long": ScalarType.S64,
    "atomic_ulong": ScalarType.U64,
    "atomic_float": ScalarType.F32,
    "atomic_double": ScalarType.F64,
    "atomic_half": ScalarType.F16,
    "atomic_size_t": ScalarType.U64,
    "atomic_ptrdiff_t": ScalarType.S64,
    "atomic_intptr_t": ScalarType.S64,
    "atomic_uintptr_t": ScalarType.U64,
    "atomic_flag": ScalarType.S32,
}
"""The types of OpenCL 2.0 by name."""
_FLOATS = {
    ScalarType.F16: ScalarIrType.HALF,
    ScalarType.F32: ScalarIrType.FLOAT,
    ScalarType.F64: ScalarIrType.DOUBLE,
}
_BITWISE = ("and", "or", "xor", "exch", "cas")


def _target(call: BuiltinCall) -> tuple[Pointer, ScalarType]:
    place = call.pointer(0)
    element = place.pointee.element
    if element is None:
        element = _NAMED.get(place.pointee.name)
    is_known = element is not None and (element.bits >= 32 or element is ScalarType.F16)
    if element is None or not is_known or place.pointee.count != 1:
        raise call.refused("its pointer does not point to 32 or 64 bits or to half")
    return place, element


def _written(
    call: BuiltinCall, place: Pointer, operation: str, element: ScalarType, *sources: Operand
) -> Operand:
    """The atomic instruction; gives the old value."""
    type_ = element
    if operation in _BITWISE:
        type_ = ScalarType.named(f"b{element.bits}")
    elif operation == "add" and element.is_integer:
        type_ = ScalarType.named(f"u{element.bits}")
    address = call.code.address(place.space, place.address)
    if element.is_float and operation in ("min", "max"):
        (value,) = sources
        form = f"{operation}.{element.ptx_name}"
        return retried(
            call.code,
            address,
            _FLOATS[element],
            lambda old: call.compute(form, element.bits, old, value),
        )
    old = call.code.register(element.bits)
    call.code.atomic(operation, type_, address, *sources, destination=old)
    return old


def _update(name: str) -> Handler:
    """(pointer, value), then perhaps order and scope; gives the old value."""

    def lower(call: BuiltinCall) -> Value:
        place, element = _target(call)
        value = call.site.arguments[1].parts[0]
        if name == "sub":
            if element.is_float:
                value = call.compute(f"neg.{element.ptx_name}", element.bits, value)
            else:
                value = call.compute(f"neg.s{element.bits}", element.bits, value)
        return call.value(_written(call, place, _OPERATIONS[name], element, value))

    return lower


def _step(amount: int) -> Handler:
    def lower(call: BuiltinCall) -> Value:
        call.expect(1)
        place, element = _target(call)
        value = Immediate(amount % (1 << element.bits))
        return call.value(_written(call, place, "add", element, value))

    return lower


def _compare_and_exchange(call: BuiltinCall) -> Value:
    call.expect(3)
    place, element = _target(call)
    sources = [argument.parts[0] for argument in call.site.arguments[1:]]
    return call.value(_written(call, place, "cas", element, *sources))


def _load(call: BuiltinCall) -> Value:
    place, element = _target(call)
    loaded = call.code.register(element.bits)
    address = call.code.address(place.space, place.address)
    type_ = ScalarType.named(f"b{element.bits}")
    call.code.load(type_, address, (loaded,), volatile=True)
    return call.value(loaded)


def _store(call: BuiltinCall) -> None:
    place, element = _target(call)
    address = call.code.address(place.space, place.address)
    type_ = ScalarType.named(f"b{element.bits}")
    call.code.store(type_, address, (call.site.arguments[1].parts[0],), volatile=True)


def _flag_set(call: BuiltinCall) -> Value:
    """Sets a flag; the value is whether it was set before."""
    place, element = _target(call)
    old = _written(call, place, "exch", element, Immediate(1))
    was_set = call.compute("setp.ne.u32", 1, old, Immediate(0))
    return call.value(_boolean(call, was_set))


def _flag_clear(call: BuiltinCall) -> None:
    place, _element = _target(call)
    address = call.code.address(place.space, place.address)
    call.code.store(ScalarType.B32, address, (Immediate(0),), volatile=True)


def _boolean(call: BuiltinCall, predicate: Operand) -> Operand:
    bits = call.result_element.bits
    if bits == 1:
        return predicate
    return call.select(max(bits, 16), predicate, Immediate(1), Immediate(0))


def _compare_exchange(call: BuiltinCall) -> Value:
    """Lowers a compare-exchange: (object, pointer to what is expected, desired, ...).

    The result is whether they were equal; what was found goes to the pointer.
    """
    place, element = _target(call)
    expected_at = call.pointer(1)
    bits, type_ = element.bits, ScalarType.named(f"b{element.bits}")
    expected = call.code.register(bits)
    address = call.code.address(expected_at.space, expected_at.address)
    call.code.load(type_, address, (expected,))
    desired = call.site.arguments[2].parts[0]
    old = _written(call, place, "cas", element, expected, desired)
    is_equal = call.compute(f"setp.eq.u{bits}", 1, old, expected)
    call.code.store(type_, address, (old,))
    return call.value(_boolean(call, is_equal))


ATOMICS: Mapping[str, Handler] = {
    **{f"{prefix}{name}": _update(name) for prefix in _PREFIXES for name in _OPERATIONS},
    **{f"{prefix}inc": _step(1) for prefix in _PREFIXES},
    **{f"{prefix}dec": _step(-1) for prefix in _PREFIXES},
    **{f"{prefix}cmpxchg": _compare_and_exchange for prefix in _PREFIXES},
    **{f"atomic_fetch_{name}{e}": _update(name) for name in _FETCHES for e in ("", "_explicit")},
    "atomic_init": _store,
    **{f"atomic_load{ending}": _load for ending in ("", "_explicit")},
    **{f"atomic_store{ending}": _store for ending in ("", "_explicit")},
    **{f"atomic_exchange{ending}": _update("xchg") for ending in ("", "_explicit")},
    **{
        f"atomic_compare_exchange_{strength}{ending}": _compare_exchange
        for strength in ("strong", "weak")
        for ending in ("", "_explicit")
    },
    **{f"atomic_flag_test_and_set{ending}": _flag_set for ending in ("", "_explicit")},
    **{f"atomic_flag_clear{ending}": _flag_clear for ending in ("", "_explicit")},
}
