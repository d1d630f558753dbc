"""Functions of AMD's device libraries (ROCm Device Libs) that HIP's headers call.

`__ocml_sin_f32` is mathematics, named with the type; `__ockl_get_local_size` and its kin say how
large everything is; `__kernelcast_` are those of our own headers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler
from kernelcast.ptx_frontend.llvm.builtins.lane_exchange import special
from kernelcast.ptx_frontend.llvm.builtins.mangling import ParameterType
from kernelcast.ptx_frontend.llvm.builtins.work_items import WORK_ITEM_FUNCTIONS
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.ptx_frontend.llvm.text.types import PointerType, ScalarIrType
from kernelcast.simcore.isa.ir.kernel import Special
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["AMD_FUNCTIONS", "amd_mathematics"]

_MATHEMATICS = re.compile(r"__ocml_(?P<name>\w+?)_f(?P<bits>16|32|64)")
_POINTEES = {"frexp": ScalarType.S32, "lgamma_r": ScalarType.S32, "remquo": ScalarType.S32}


def amd_mathematics(symbol: str, handlers: Mapping[str, Handler]) -> Handler | None:
    """How `__ocml_name_f32` is lowered: as OpenCL's function of that name is; None for no such."""
    match = _MATHEMATICS.fullmatch(symbol)
    handler = handlers.get(match["name"]) if match else None
    if match is None or handler is None:
        return None
    name, element = match["name"], ScalarType.named(f"f{match['bits']}")

    def lower(call: BuiltinCall) -> Value | None:
        kinds = [_parameter(argument, name, element) for argument in call.site.arguments]
        return handler(BuiltinCall(call.site, name, tuple(kinds)))

    return lower


def _parameter(argument: Value, name: str, element: ScalarType) -> ParameterType:
    if isinstance(argument.type, PointerType):
        return ParameterType(pointee=ParameterType(_POINTEES.get(name, element)))
    if isinstance(argument.type, ScalarIrType) and not argument.type.is_float:
        return ParameterType(argument.type.as_scalar("s"))
    return ParameterType(element)


def _wavefront_size(call: BuiltinCall) -> Value:
    return call.value(special(call, Special.WARP_WIDTH))


AMD_FUNCTIONS: Mapping[str, Handler] = {
    **{f"__ockl_{name}": handler for name, handler in WORK_ITEM_FUNCTIONS.items()},
    "__kernelcast_wavefront_size": _wavefront_size,
}
