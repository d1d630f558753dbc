"""LLVM's own functions, `llvm.*`, as far as OpenCL compilers make them."""

from __future__ import annotations

from collections.abc import Callable

from kernelcast.ptx_frontend.llvm.lowering.aggregate_intrinsics import lower_aggregate
from kernelcast.ptx_frontend.llvm.lowering.arithmetic import masked, minimum, signed_operand
from kernelcast.ptx_frontend.llvm.lowering.bit_intrinsics import BITS
from kernelcast.ptx_frontend.llvm.lowering.call_site import CallSite, Value
from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.ptx_frontend.llvm.lowering.memory_intrinsics import copy_memory, set_memory
from kernelcast.ptx_frontend.llvm.text.names import intrinsic_root
from kernelcast.ptx_frontend.llvm.text.types import PointerType, ScalarIrType, VectorType
from kernelcast.simcore.isa.ir.kernel import (
    Immediate,
    Operand,
    Register,
    Special,
    SpecialRegister,
)

__all__ = ["is_uncounted", "lower_intrinsic"]

_UNCOUNTED = ("llvm.dbg.", "llvm.experimental.noalias.scope.decl")
_NOTHING = (
    *("lifetime.start", "lifetime.end", "assume", "invariant.start", "invariant.end"),
    *("donothing", "var.annotation", "sideeffect", "prefetch"),
)
_FLOAT_BINARY = {
    "minnum": "min",
    "maxnum": "max",
    "minimumnum": "min",
    "maximumnum": "max",
    "minimum": "min.NaN",
    "maximum": "max.NaN",
}
_NAN = ".NaN"
_INTEGER_BINARY = {
    "umin": ("min", "u"),
    "umax": ("max", "u"),
    "smin": ("min", "s"),
    "smax": ("max", "s"),
}
_ROUNDINGS = {
    "floor": "rmi",
    "ceil": "rpi",
    "trunc": "rzi",
    "rint": "rni",
    "nearbyint": "rni",
    "roundeven": "rni",
}
_CLOCKS = ("readcyclecounter", "readsteadycounter")
_FIRST_ARGUMENT = ("expect", "ssa.copy", "expect.with.probability")

_Part = Callable[[Code, ScalarIrType, tuple[Operand, ...]], Operand]


def is_uncounted(name: str) -> bool:
    """Whether a call only informs debuggers and optimisers, and is no instruction."""
    return name.startswith(_UNCOUNTED)


def lower_intrinsic(site: CallSite) -> Value | None:
    """The value of a call of `llvm.*`; UnsupportedInstruction for one that is unknown."""
    name = site.name.removeprefix("llvm.")
    if name.startswith(_NOTHING):
        return None
    if name.startswith(("memcpy.", "memmove.")):
        copy_memory(site)
        return None
    if name.startswith("memset."):
        set_memory(site)
        return None
    if name == "trap" or name == "debugtrap":
        following = site.code.new_block()
        site.code.trap("the kernel executed llvm.trap")
        site.code.place(following)
        return None
    if name in _CLOCKS:
        now = site.code.register(64)
        site.code.move(now, SpecialRegister(Special.CLOCK64))
        return Value(ScalarIrType.I64, (now,))
    root = intrinsic_root(name)
    if root in _FIRST_ARGUMENT:
        return site.arguments[0]
    if (aggregate := lower_aggregate(site, root)) is not None:
        return aggregate
    lower = _PARTS.get(root)
    if lower is None or site.result is None:
        raise site.unsupported(f"function {site.name} is not supported")
    return _by_elements(site, lower)


def _by_elements(site: CallSite, lower: _Part) -> Value:
    """Scalar arguments of a vector function go to every element."""
    assert site.result is not None
    type_ = site.result
    element = type_.element if isinstance(type_, VectorType) else type_
    if not isinstance(element, ScalarIrType) or isinstance(element, PointerType):
        raise site.unsupported(f"function {site.name} of type {type_} is not supported")
    count = type_.count if isinstance(type_, VectorType) else 1
    parts = []
    for index in range(count):
        operands = tuple(
            value.parts[index] if len(value.parts) == count else value.parts[0]
            for value in site.arguments
        )
        made = lower(site.code, element, operands)
        parts.append(made)
    return Value(type_, tuple(parts))


def _fused(code: Code, type_: ScalarIrType, operands: tuple[Operand, ...]) -> Register:
    return code.compute(f"fma.rn.{type_.float_name}", type_.bits, *operands)


def _float_binary(mnemonic: str) -> _Part:
    def lower(code: Code, type_: ScalarIrType, operands: tuple[Operand, ...]) -> Register:
        if mnemonic.endswith(_NAN):
            return minimum(code, mnemonic.removesuffix(_NAN), type_, *operands)
        return code.compute(f"{mnemonic}.{type_.float_name}", type_.bits, *operands)

    return lower


def _integer_binary(mnemonic: str, kind: str) -> _Part:
    def lower(code: Code, type_: ScalarIrType, operands: tuple[Operand, ...]) -> Register:
        bits = type_.register_bits
        if kind == "s":
            operands = tuple(signed_operand(code, x, type_) for x in operands)
        made = code.compute(f"{mnemonic}.{kind}{bits}", bits, *operands)
        return masked(code, made, type_)

    return lower


def _rounding(modifier: str) -> _Part:
    def lower(code: Code, type_: ScalarIrType, operands: tuple[Operand, ...]) -> Register:
        spelt = type_.float_name
        return code.compute(f"cvt.{modifier}.{spelt}.{spelt}", type_.bits, operands[0])

    return lower


def _magnitude(code: Code, type_: ScalarIrType, operands: tuple[Operand, ...]) -> Register:
    bits = type_.bits
    mask = Immediate((1 << (bits - 1)) - 1)
    return code.compute(f"and.b{bits}", bits, operands[0], mask)


def _with_sign(code: Code, type_: ScalarIrType, operands: tuple[Operand, ...]) -> Register:
    bits = type_.bits
    sign = Immediate(1 << (bits - 1))
    number = _magnitude(code, type_, operands)
    signs = code.compute(f"and.b{bits}", bits, operands[1], sign)
    return code.compute(f"or.b{bits}", bits, number, signs)


def _root_of(code: Code, type_: ScalarIrType, operands: tuple[Operand, ...]) -> Register:
    if type_.bits == 16:
        wide = code.compute(f"cvt.f32.{type_.float_name}", 32, operands[0])
        root = code.compute("sqrt.rn.f32", 32, wide)
        return code.compute(f"cvt.rn.{type_.float_name}.f32", 16, root)
    return code.compute(f"sqrt.rn.f{type_.bits}", type_.bits, operands[0])


def _absolute(code: Code, type_: ScalarIrType, operands: tuple[Operand, ...]) -> Register:
    bits = type_.register_bits
    made = code.compute(f"abs.s{bits}", bits, signed_operand(code, operands[0], type_))
    return masked(code, made, type_)


def _library(name: str, of_float: str = "") -> _Part:
    """A function of the table of OpenCL's mathematics, or of `float` its own instruction."""

    def lower(code: Code, type_: ScalarIrType, operands: tuple[Operand, ...]) -> Operand:
        if type_.bits == 16:
            wide = [
                code.compute(f"cvt.f32.{type_.float_name}", 32, operand) for operand in operands
            ]
            found = code.compute(of_float or f"opencl.{name}.f32", 32, *wide)
            return code.compute(f"cvt.rn.{type_.float_name}.f32", 16, found)
        own = of_float if type_.bits == 32 else ""
        return code.compute(own or f"opencl.{name}.f{type_.bits}", type_.bits, *operands)

    return lower


_MATHEMATICS = {
    "cos": "cos.approx.f32",
    "exp2": "ex2.approx.f32",
    "log2": "lg2.approx.f32",
    "sin": "sin.approx.f32",
    **dict.fromkeys(("exp", "exp10", "ldexp", "log", "log10", "pow", "round", "tan"), ""),
}
"""Functions, and for `float` an instruction of its own, which is rounded correctly."""


_PARTS: dict[str, _Part] = {
    **{name: _library(name, own) for name, own in _MATHEMATICS.items()},
    **{name: _float_binary(mnemonic) for name, mnemonic in _FLOAT_BINARY.items()},
    **{name: _integer_binary(*how) for name, how in _INTEGER_BINARY.items()},
    **{name: _rounding(modifier) for name, modifier in _ROUNDINGS.items()},
    **BITS,
    "fma": _fused,
    "fmuladd": _fused,
    "fabs": _magnitude,
    "copysign": _with_sign,
    "sqrt": _root_of,
    "abs": _absolute,
}
