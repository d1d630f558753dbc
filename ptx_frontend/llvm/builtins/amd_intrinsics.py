"""LLVM's functions for AMD's GPUs, `llvm.amdgcn.*` (LLVM's AMDGPU usage guide).

A wavefront is a warp of the run, whatever width it has.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.ptx_frontend.llvm.builtins.amd_dpp import AMD_DPP
from kernelcast.ptx_frontend.llvm.builtins.amd_lanes import AMD_LANES
from kernelcast.ptx_frontend.llvm.builtins.amd_matrix import AMD_MATRIX
from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler
from kernelcast.ptx_frontend.llvm.builtins.lane_exchange import special
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value, register_bits
from kernelcast.ptx_frontend.llvm.text.types import parts_of
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Special

__all__ = ["AMD_INTRINSICS", "AMD_PREFIX"]

AMD_PREFIX = "llvm.amdgcn."
_AXES = ("x", "y", "z")
_THREAD = (Special.TID_X, Special.TID_Y, Special.TID_Z)
_GROUP = (Special.CTAID_X, Special.CTAID_Y, Special.CTAID_Z)
_HINTS = (
    *("s.sleep", "s.setprio", "sched.barrier", "sched.group.barrier", "iglp.opt", "s.waitcnt"),
    *("s.nop", "s.prefetch.data"),
)
_ORDERS = ("wave.barrier", "s.dcache.inv", "buffer.wbinvl1")
_OF_FLOAT = {"rcp": "rcp.approx", "rsq": "rsqrt.approx", "sqrt": "sqrt.approx"}
_OF_FLOAT_ONLY = {"exp2": "ex2.approx", "log": "lg2.approx"}
"""What the hardware approximates within 1 ulp: here it is rounded correctly."""


def _special(which: Special) -> Handler:
    return lambda call: call.value(special(call, which))


def _barrier(call: BuiltinCall) -> None:
    call.code.barrier()


def _fence(call: BuiltinCall) -> None:
    call.code.fence()


def _nothing(_call: BuiltinCall) -> None:
    """A hint for scheduling."""


def _approximated(mnemonic: str, *, is_float_only: bool = False) -> Handler:
    def lower(call: BuiltinCall) -> Value:
        kind = call.result_element
        if kind.bits != 32 and (is_float_only or kind.bits != 64):
            raise call.refused(f"of {kind}")
        form = "rcp.rn" if kind.bits == 64 and mnemonic.startswith("rcp") else mnemonic
        form = "sqrt.rn" if kind.bits == 64 and mnemonic.startswith("sqrt") else form
        return call.value(
            call.compute(f"{form}.f{kind.bits}", kind.bits, call.site.arguments[0].parts[0])
        )

    return lower


def _of_turns(mnemonic: str) -> Handler:
    """The sine or cosine of an angle in turns, of single precision."""

    def lower(call: BuiltinCall) -> Value:
        if call.result_element.bits != 32:
            raise call.refused(f"of {call.result_element}")
        double = call.compute("add.f32", 32, *(2 * (call.site.arguments[0].parts[0],)))
        return call.value(call.compute(f"opencl.{mnemonic}.f32", 32, double))

    return lower


def _exponent(call: BuiltinCall) -> Value:
    """`frexp.exp`: the exponent of the fraction between 0.5 and 1; 0 for 0, infinity and NaN."""
    argument = call.site.arguments[0]
    bits = register_bits(parts_of(argument.type)[0])
    return call.value(_split(call, argument.parts[0], bits)[1])


def _fraction(call: BuiltinCall) -> Value:
    return call.value(_split(call, call.site.arguments[0].parts[0], call.result_element.bits)[0])


def _split(call: BuiltinCall, number: Operand, bits: int) -> tuple[Operand, Operand]:
    results = call.code.register(bits), call.code.register(32)
    call.code.assign_all(f"opencl.frexp.f{bits}", results, number)
    return results


def _median(call: BuiltinCall) -> Value:
    """The middle one of three numbers."""
    x, y, z = (argument.parts[0] for argument in call.site.arguments)
    bits = call.result_element.bits
    least = call.compute(f"min.f{bits}", bits, x, y)
    most = call.compute(f"max.f{bits}", bits, x, y)
    upper = call.compute(f"min.f{bits}", bits, most, z)
    return call.value(call.compute(f"max.f{bits}", bits, least, upper))


def _product_of_24_bits(call: BuiltinCall) -> Value:
    x, y = (argument.parts[0] for argument in call.site.arguments)
    kind = "s" if "i24" in call.name else "u"
    return call.value(call.compute(f"mul24.lo.{kind}32", 32, x, y))


def _field(kind: str) -> Handler:
    """`ubfe` and `sbfe`: a field of bits; offset and width count modulo 32."""

    def lower(call: BuiltinCall) -> Value:
        x, offset, width = (argument.parts[0] for argument in call.site.arguments)
        offset = call.compute("and.b32", 32, offset, Immediate(31))
        width = call.compute("and.b32", 32, width, Immediate(31))
        return call.value(call.compute(f"bfe.{kind}32", 32, x, offset, width))

    return lower


AMD_INTRINSICS: Mapping[str, Handler] = {
    **{f"workitem.id.{axis}": _special(w) for axis, w in zip(_AXES, _THREAD, strict=True)},
    **{f"workgroup.id.{axis}": _special(w) for axis, w in zip(_AXES, _GROUP, strict=True)},
    **dict.fromkeys(_HINTS, _nothing),
    **dict.fromkeys(_ORDERS, _fence),
    **{name: _approximated(mnemonic) for name, mnemonic in _OF_FLOAT.items()},
    **{name: _approximated(m, is_float_only=True) for name, m in _OF_FLOAT_ONLY.items()},
    **AMD_LANES,
    **AMD_DPP,
    **AMD_MATRIX,
    "wavefrontsize": _special(Special.WARP_WIDTH),
    "s.barrier": _barrier,
    "fmed3": _median,
    "frexp.exp": _exponent,
    "frexp.mant": _fraction,
    "sin": _of_turns("sinpi"),
    "cos": _of_turns("cospi"),
    "mul.u24": _product_of_24_bits,
    "mul": _product_of_24_bits,  # mul.i24, whose end is the name of a type
    "ubfe": _field("u"),
    "sbfe": _field("s"),
}
