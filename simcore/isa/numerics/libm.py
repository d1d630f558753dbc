"""The C library's `double` functions, over the lanes of a warp and over arrays, with the same bits.

Both ways call the very same function, once a lane: NumPy's own versions differ in last places.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.numerics.lane_code import LaneCode

__all__ = ["call_libm", "emit_libm"]

_LIBRARIES = ("libm.so.6", "libSystem.dylib", "msvcrt.dll", "libm.so")
_PURE = "nounwind willreturn memory(none)"


@cache
def _library() -> Any:
    """The C library's mathematics, its names visible to the linker of compiled code."""
    for name in _LIBRARIES:
        try:
            return ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
    return ctypes.CDLL(None)


@cache
def _address(name: str) -> int:
    return ctypes.cast(getattr(_library(), name), ctypes.c_void_p).value or 0


def call_libm(name: str, *operands: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The function of every element of the broadcast float64 operands."""
    arrays = [np.ascontiguousarray(x) for x in np.broadcast_arrays(*operands)]
    result = np.empty(arrays[0].shape, np.float64)
    pointers = [array.ctypes.data for array in (*arrays, result)]
    _module, loop = _compiled_loop(len(arrays))
    loop(_address(name), *pointers, result.size)
    return result.reshape(np.broadcast_shapes(*(np.shape(x) for x in operands)))


@cache
def _compiled_loop(count: int) -> tuple[Any, Any]:
    """A compiled loop that calls a function of `count` operands for each element.

    Returns the module, whose code lives as long as it does, and the loop: (address of the function,
    operands, result, length).
    """
    # llvmlite takes long to import: only kernels that call such a function pay for it
    from kernelcast.simcore.host.llvm import compile_module

    module = compile_module(_loop_text(count))
    prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (count + 2), ctypes.c_int64)
    return module, prototype(module.address("apply"))


def _loop_text(count: int) -> str:
    pointers = ", ".join(f"ptr %operand{i}" for i in range(count))
    arguments = ", ".join(f"double %x{i}" for i in range(count))
    lines = [f"define void @apply(ptr %function, {pointers}, ptr %result, i64 %count) {{"]
    lines += ["entry:", "  %none = icmp eq i64 %count, 0"]
    lines += ["  br i1 %none, label %done, label %loop", "loop:"]
    lines += ["  %i = phi i64 [ 0, %entry ], [ %next, %loop ]"]
    for i in range(count):
        lines.append(f"  %p{i} = getelementptr double, ptr %operand{i}, i64 %i")
        lines.append(f"  %x{i} = load double, ptr %p{i}")
    lines += [f"  %y = call double %function({arguments})"]
    lines += ["  %place = getelementptr double, ptr %result, i64 %i"]
    lines += ["  store double %y, ptr %place", "  %next = add i64 %i, 1"]
    lines += ["  %more = icmp ult i64 %next, %count"]
    lines += ["  br i1 %more, label %loop, label %done", "done:", "  ret void", "}"]
    return "\n".join(lines)


def emit_libm(code: LaneCode, name: str, *operands: str) -> str:
    """The function of `double` operands, lane by lane.

    `nobuiltin` keeps LLVM from putting another function with other last places in its stead.
    """
    _library()
    kinds = ", ".join(["double"] * len(operands))
    code.declarations[f"@{name}"] = f"declare double @{name}({kinds}) {_PURE}"
    kind = code.type("double")
    arguments = ", ".join(f"{kind} {operand}" for operand in operands)
    if code.lanes == 1:
        return code.op(f"call double @{name}({arguments}) nobuiltin")
    wide = f"@libm.{name}.{code.mangle('double')}"
    if wide not in code.declarations:
        code.declarations[wide] = _lane_by_lane(wide, name, kind, code.lanes, len(operands))
    return code.op(f"call {kind} {wide}({arguments})")


def _lane_by_lane(wide: str, name: str, kind: str, lanes: int, count: int) -> str:
    parameters = ", ".join(f"{kind} %operand{i}" for i in range(count))
    arguments = ", ".join(f"double %x{i}" for i in range(count))
    lines = [f"define internal {kind} {wide}({parameters}) noinline {_PURE} {{", "entry:"]
    lines.append(f"  %result = alloca {kind}")
    for i in range(count):
        lines.append(f"  %memory{i} = alloca {kind}")
        lines.append(f"  store {kind} %operand{i}, ptr %memory{i}")
    lines += ["  br label %loop", "loop:", "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]"]
    for i in range(count):
        lines.append(f"  %p{i} = getelementptr double, ptr %memory{i}, i64 %i")
        lines.append(f"  %x{i} = load double, ptr %p{i}")
    lines.append(f"  %y = call double @{name}({arguments}) nobuiltin")
    lines.append("  %place = getelementptr double, ptr %result, i64 %i")
    lines += ["  store double %y, ptr %place", "  %next = add i64 %i, 1"]
    lines += [f"  %more = icmp ult i64 %next, {lanes}", "  br i1 %more, label %loop, label %done"]
    lines += ["done:", f"  %all = load {kind}, ptr %result", f"  ret {kind} %all", "}"]
    return "\n".join(lines)
