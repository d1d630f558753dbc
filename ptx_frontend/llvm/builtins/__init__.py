"""The built-in functions of OpenCL C, by the names that they have in LLVM IR.

A family of functions is a module; `mangling` reads their names. Imports `simcore.isa` and what
lowers a call.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.errors import nearest
from kernelcast.ptx_frontend.llvm.builtins.address_spaces import ADDRESS_SPACES
from kernelcast.ptx_frontend.llvm.builtins.amd_intrinsics import AMD_INTRINSICS, AMD_PREFIX
from kernelcast.ptx_frontend.llvm.builtins.amd_library import AMD_FUNCTIONS, amd_mathematics
from kernelcast.ptx_frontend.llvm.builtins.atomics import ATOMICS
from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler
from kernelcast.ptx_frontend.llvm.builtins.common_functions import COMMON_FUNCTIONS
from kernelcast.ptx_frontend.llvm.builtins.conversions import is_conversion, lower_conversion
from kernelcast.ptx_frontend.llvm.builtins.image_functions import (
    IMAGE_FUNCTIONS,
    SAMPLER_INITIALIZER,
)
from kernelcast.ptx_frontend.llvm.builtins.integer_functions import INTEGER_FUNCTIONS
from kernelcast.ptx_frontend.llvm.builtins.mangling import MangledName, ParameterType, demangled
from kernelcast.ptx_frontend.llvm.builtins.math_functions import MATH_FUNCTIONS
from kernelcast.ptx_frontend.llvm.builtins.printing import Allocate, lower_printf
from kernelcast.ptx_frontend.llvm.builtins.relational import RELATIONAL
from kernelcast.ptx_frontend.llvm.builtins.sub_groups import SUB_GROUP_FUNCTIONS
from kernelcast.ptx_frontend.llvm.builtins.synchronisation import SYNCHRONISATION
from kernelcast.ptx_frontend.llvm.builtins.vector_memory import (
    is_vector_memory,
    lower_vector_memory,
)
from kernelcast.ptx_frontend.llvm.builtins.work_group_functions import WORK_GROUP_FUNCTIONS
from kernelcast.ptx_frontend.llvm.builtins.work_items import WORK_ITEM_FUNCTIONS
from kernelcast.ptx_frontend.llvm.lowering.call_site import CallSite, Value
from kernelcast.ptx_frontend.llvm.text.names import intrinsic_names

__all__ = ["Allocate", "is_builtin", "lower_builtin"]

_HANDLERS: Mapping[str, Handler] = {
    **WORK_ITEM_FUNCTIONS,
    **SYNCHRONISATION,
    **MATH_FUNCTIONS,
    **INTEGER_FUNCTIONS,
    **COMMON_FUNCTIONS,
    **RELATIONAL,
    **ATOMICS,
    **IMAGE_FUNCTIONS,
    **WORK_GROUP_FUNCTIONS,
    **SUB_GROUP_FUNCTIONS,
    **ADDRESS_SPACES,
}
_UNMANGLED: Mapping[str, Handler] = {
    **WORK_ITEM_FUNCTIONS,
    **ADDRESS_SPACES,
    **SYNCHRONISATION,
    SAMPLER_INITIALIZER: IMAGE_FUNCTIONS[SAMPLER_INITIALIZER],
}
"""What needs no types: some compilers write these names as they are."""
_PRINTF = ("printf", "__kernelcast_printf")
"""OpenCL's, and what that of HIP is called."""


def is_builtin(symbol: str) -> bool:
    """Whether a function of that name is one that `lower_builtin` knows."""
    mangled = demangled(symbol)
    if mangled is None:
        return symbol in _UNMANGLED or symbol in _PRINTF
    return _handler(mangled.name) is not None


def lower_builtin(site: CallSite, allocate: Allocate | None = None) -> Value | None:
    """Writes the instructions of a call; None for a function without a result.

    `allocate` makes a variable of each thread: printf is refused without it. Raises
    UnsupportedInstruction for a function that is not known or a form that is refused.
    """
    mangled = demangled(site.name)
    if site.name in _PRINTF and allocate is not None:
        return lower_printf(BuiltinCall(site, "printf", ()), allocate)
    if (amd := _amd_handler(site)) is not None:
        return amd(BuiltinCall(site, site.name, tuple(ParameterType() for _ in site.arguments)))
    if mangled is None and site.name in _UNMANGLED:
        parameters = tuple(ParameterType() for _ in site.arguments)
        mangled = MangledName(site.name, parameters)
    if mangled is None:
        raise site.unsupported(f"function {site.name!r} has no body and is no built-in function")
    handler = _handler(mangled.name)
    if handler is None:
        others = nearest(mangled.name, _HANDLERS)
        raise site.unsupported(f"built-in function {mangled.name!r} is not supported{others}")
    return handler(BuiltinCall(site, mangled.name, mangled.parameters))


def _amd_handler(site: CallSite) -> Handler | None:
    """How a function of AMD's device libraries or back end is lowered; None for any other."""
    if not site.name.startswith(AMD_PREFIX):
        return AMD_FUNCTIONS.get(site.name) or amd_mathematics(site.name, _HANDLERS)
    for name in intrinsic_names(site.name.removeprefix(AMD_PREFIX)):
        if handler := AMD_INTRINSICS.get(name):
            return handler
    raise site.unsupported(f"function {site.name} is not supported")


def _handler(name: str) -> Handler | None:
    if is_conversion(name):
        return lower_conversion
    return lower_vector_memory if is_vector_memory(name) else _HANDLERS.get(name)
