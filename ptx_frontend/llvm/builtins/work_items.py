"""Work-item functions (OpenCL 1.2, 6.12.1): where a thread is, and how large everything is."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register, Special, SpecialRegister

__all__ = ["WORK_ITEM_FUNCTIONS"]

_THREAD = (Special.TID_X, Special.TID_Y, Special.TID_Z)
_THREADS = (Special.NTID_X, Special.NTID_Y, Special.NTID_Z)
_GROUP = (Special.CTAID_X, Special.CTAID_Y, Special.CTAID_Z)
_GROUPS = (Special.NCTAID_X, Special.NCTAID_Y, Special.NCTAID_Z)
_DIMENSIONS = 3

_ByDimension = Callable[[BuiltinCall, int], Operand]
"""The value of a dimension, 32 bits."""


def _special(which: tuple[Special, Special, Special]) -> _ByDimension:
    def read(call: BuiltinCall, dimension: int) -> Operand:
        destination = call.code.register(32)
        call.code.move(destination, SpecialRegister(which[dimension]))
        return destination

    return read


_thread, _threads = _special(_THREAD), _special(_THREADS)
_group, _groups = _special(_GROUP), _special(_GROUPS)


def _global_id(call: BuiltinCall, dimension: int) -> Operand:
    operands = [read(call, dimension) for read in (_group, _threads, _thread)]
    return call.compute("mad.lo.u32", 32, *operands)


def _global_size(call: BuiltinCall, dimension: int) -> Operand:
    return call.compute("mul.lo.u32", 32, _groups(call, dimension), _threads(call, dimension))


def _zero(_call: BuiltinCall, _dimension: int) -> Operand:
    return Immediate(0)


def _by_dimension(read: _ByDimension, outside: int) -> Handler:
    """Chooses a value by dimension; `outside` is that of dimensions that do not exist."""

    def lower(call: BuiltinCall) -> Value:
        call.expect(1)
        dimension = call.site.arguments[0].parts[0]
        if isinstance(dimension, Register):
            return _sized(call, _of_any(call, dimension))
        if isinstance(dimension, Immediate) and dimension.bits < _DIMENSIONS:
            return _sized(call, read(call, dimension.bits))
        return _sized(call, Immediate(outside))

    def _of_any(call: BuiltinCall, dimension: Register) -> Operand:
        found: Operand = Immediate(outside)
        for number in range(_DIMENSIONS):
            is_it = call.compute("setp.eq.u32", 1, dimension, Immediate(number))
            found = call.select(32, is_it, read(call, number), found)
        return found

    return lower


def _sized(call: BuiltinCall, value: Operand) -> Value:
    """The value converted to the width of the result."""
    bits = call.result_element.bits
    if bits == 64 and isinstance(value, Register):
        value = call.compute("mul.wide.u32", 64, value, Immediate(1))  # as zext is written
    return call.value(value)


def _linear(read: _ByDimension, extent: _ByDimension) -> Handler:
    def lower(call: BuiltinCall) -> Value:
        number = read(call, _DIMENSIONS - 1)
        for dimension in reversed(range(_DIMENSIONS - 1)):
            number = call.compute(
                "mad.lo.u32", 32, number, extent(call, dimension), read(call, dimension)
            )
        return _sized(call, number)

    return lower


def _dimensions(call: BuiltinCall) -> Value:
    """The number of dimensions is not kept by a launch: those beyond the last one have size 1."""
    sizes = [_global_size(call, dimension) for dimension in range(1, _DIMENSIONS)]
    found: Operand = Immediate(1)
    for number, size in enumerate(sizes, start=2):
        is_used = call.compute("setp.gt.u32", 1, size, Immediate(1))
        found = call.select(32, is_used, Immediate(number), found)
    return _sized(call, found)


WORK_ITEM_FUNCTIONS: Mapping[str, Handler] = {
    "get_work_dim": _dimensions,
    "get_global_id": _by_dimension(_global_id, 0),
    "get_global_size": _by_dimension(_global_size, 1),
    "get_global_offset": _by_dimension(_zero, 0),
    "get_local_id": _by_dimension(_thread, 0),
    "get_local_size": _by_dimension(_threads, 1),
    "get_enqueued_local_size": _by_dimension(_threads, 1),
    "get_group_id": _by_dimension(_group, 0),
    "get_num_groups": _by_dimension(_groups, 1),
    "get_global_linear_id": _linear(_global_id, _global_size),
    "get_local_linear_id": _linear(_thread, _threads),
}
