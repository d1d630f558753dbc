"""printf (OpenCL 1.2, 6.12.13): its arguments go through memory of the thread's own.

Every argument stands there at a multiple of its size, as `vprintf` of the runtime library reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.ptx_frontend.llvm.text.types import PointerType, ScalarIrType, VectorType
from kernelcast.simcore.isa.ir.kernel import (
    HostFunction,
    Immediate,
    Operand,
    Register,
    SymbolAddress,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["Allocate", "lower_printf"]

Allocate: TypeAlias = Callable[[str, int, int], SymbolAddress]
"""(name, size, alignment in bytes) -> a new variable in the local memory of each thread."""


def lower_printf(call: BuiltinCall, allocate: Allocate) -> Value:
    """The result is 0: printing does not fail."""
    if not call.site.arguments:
        raise call.refused("it has no format")
    template, *others = call.site.arguments
    sources = [passed for argument in others for passed in _passed(call, argument)]
    end, offsets = 0, []
    for type_, _ in sources:
        offsets.append(-(-end // type_.bytes) * type_.bytes)
        end = offsets[-1] + type_.bytes
    arguments: Operand = Immediate(0)
    if sources:
        place = allocate("printf", end, 8)
        for (type_, source), offset in zip(sources, offsets, strict=True):
            address = call.code.address(AddressSpace.LOCAL, place, offset)
            call.code.store(type_, address, (source,))
        first = call.code.in_register(place, 64)
        arguments = call.compute("cvta.local.u64", 64, first)
    pointers = (_generic(call, template), arguments)
    call.code.host_call(HostFunction.PRINT, None, pointers, (ScalarType.U64, ScalarType.U64))
    return call.value(Immediate(0))


def _passed(call: BuiltinCall, argument: Value) -> list[tuple[ScalarType, Operand]]:
    """The values that `printf` passes: a scalar, a pointer, or the elements of a vector."""
    kind = argument.type
    if isinstance(kind, PointerType):
        return [(ScalarType.B64, _generic(call, argument))]
    element = kind.element if isinstance(kind, VectorType) else kind
    if not isinstance(element, ScalarIrType):
        raise call.refused(f"of an argument of type {kind}")
    return [_promoted(call, element, part) for part in argument.parts]


def _promoted(call: BuiltinCall, kind: ScalarIrType, value: Operand) -> tuple[ScalarType, Operand]:
    """Promotes an argument as C does where their number is open: at least int, and double."""
    if kind is ScalarIrType.DOUBLE or kind.bits == 64:
        return ScalarType.B64, value
    if kind.is_float:
        return ScalarType.B64, call.compute(f"cvt.f64.{kind.float_name}", 64, value)
    if kind is ScalarIrType.I1:
        return ScalarType.B32, call.select(32, value, Immediate(1), Immediate(0))
    if kind.bits < 32:
        return ScalarType.B32, call.compute(f"cvt.s32.s{kind.bits}", 32, value)
    return ScalarType.B32, value


def _generic(call: BuiltinCall, pointer: Value) -> Register:
    """The address among all memories."""
    space = pointer.type.address_space if isinstance(pointer.type, PointerType) else None
    if space is None:
        raise call.refused(f"of an argument of type {pointer.type}")
    address = call.code.in_register(pointer.parts[0], 64)
    if space in (AddressSpace.GLOBAL, AddressSpace.GENERIC):
        return address
    return call.code.compute(f"cvta.{space.value}.u64", 64, address)
