"""Address space qualifier functions (OpenCL 2.0, 6.13.9): what a generic pointer points to."""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.ptx_frontend.llvm.text.types import PointerType
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["ADDRESS_SPACES"]

_LOCAL_FENCE, _GLOBAL_FENCE = 1, 2
"""CLK_LOCAL_MEM_FENCE and CLK_GLOBAL_MEM_FENCE."""


def _generic(call: BuiltinCall) -> Operand:
    """The argument as a generic address."""
    (argument,) = call.site.arguments
    space = argument.type.address_space if isinstance(argument.type, PointerType) else None
    address = argument.parts[0]
    if space in (AddressSpace.GENERIC, AddressSpace.GLOBAL):
        return address
    if space is None:
        raise call.refused(f"of an argument of type {argument.type}")
    register = call.code.in_register(address, 64)
    return call.compute(f"cvta.{space.value}.u64", 64, register)


def _cast(space: AddressSpace) -> Handler:
    """The pointer into that memory, or null where it points elsewhere."""

    def lower(call: BuiltinCall) -> Value:
        generic = call.code.in_register(_generic(call), 64)
        is_inside = call.compute(f"isspacep.{space.value}", 1, generic)
        own = call.compute(f"cvta.to.{space.value}.u64", 64, generic)
        return call.value(call.select(64, is_inside, own, Immediate(0)))

    return lower


def _fence(call: BuiltinCall) -> Value:
    """The flags of the fence that orders accesses through the pointer."""
    generic = call.code.in_register(_generic(call), 64)
    is_local = call.compute("isspacep.shared", 1, generic)
    return call.value(call.select(32, is_local, Immediate(_LOCAL_FENCE), Immediate(_GLOBAL_FENCE)))


ADDRESS_SPACES: Mapping[str, Handler] = {
    "__to_global": _cast(AddressSpace.GLOBAL),
    "__to_local": _cast(AddressSpace.SHARED),
    "__to_private": _cast(AddressSpace.LOCAL),
    "get_fence": _fence,
}
