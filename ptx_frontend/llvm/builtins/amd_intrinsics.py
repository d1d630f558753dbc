"""LLVM's functions for AMD's GPUs, `llvm.amdgcn.*` (LLVM's AMDGPU usage guide).

A wavefront is a warp of the run, whatever width it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
_BYTE, _NIBBLE = 8, 4
_TICK_NS = 10
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


def _real_time(call: BuiltinCall) -> Value:
    """Ticks of a clock of 100 MHz."""
    now = special(call, Special.GLOBALTIMER)
    return call.value(call.compute("div.u64", 64, now, Immediate(_TICK_NS)))


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


def _clamp_is_off(call: BuiltinCall, control: Value) -> None:
    if control.parts != (Immediate(0),):
        raise call.refused("results that are clamped")


def _word_sum(
    call: BuiltinCall, kinds: tuple[str, str], width: int, factors: Sequence[Operand]
) -> Value:
    """The products of parts of two words, `width` bits each, added to the third of `factors`."""
    first, second, total = factors
    if width == _BYTE:
        return call.value(call.compute(f"dp4a.{kinds[0]}.{kinds[1]}", 32, first, second, total))
    for place in range(0, 32, width):
        field = Immediate(place), Immediate(width)
        x = call.compute(f"bfe.{kinds[0]}", 32, first, *field)
        y = call.compute(f"bfe.{kinds[1]}", 32, second, *field)
        total = call.compute("mad.lo.s32", 32, x, y, total)
    return call.value(total)


def _word_dot(kind: str, width: int) -> Handler:
    """`sdot4` and its kin: both factors have signs, or neither."""

    def lower(call: BuiltinCall) -> Value:
        *factors, clamp = call.site.arguments
        _clamp_is_off(call, clamp)
        return _word_sum(call, (kind, kind), width, [factor.parts[0] for factor in factors])

    return lower


def _packed(form: str) -> Handler:
    """`cvt.pkrtz` and its kin: two numbers as the halves of a register."""

    def lower(call: BuiltinCall) -> Value:
        parts = [argument.parts[0] for argument in call.site.arguments]
        return call.value(*(call.compute(form, 16, part) for part in parts))

    return lower


def _packed_integers(kind: str) -> Handler:
    """`cvt.pk.i16` and `cvt.pk.u16`: what 16 bits do not hold becomes the nearest that they do."""
    low, high = (-0x8000 & 0xFFFFFFFF, 0x7FFF) if kind == "s" else (0, 0xFFFF)

    def lower(call: BuiltinCall) -> Value:
        found = []
        for argument in call.site.arguments:
            above = call.compute(f"max.{kind}32", 32, argument.parts[0], Immediate(low))
            kept = call.compute(f"min.{kind}32", 32, above, Immediate(high))
            found.append(call.compute("cvt.u16.u32", 16, kept))
        return call.value(*found)

    return lower


def _differences(bits: int, shift: int = 0, *, is_masked: bool = False) -> Handler:
    """`sad` and `msad`: differences of the parts of two words, added to a third one."""

    def lower(call: BuiltinCall) -> Value:
        first, second, addend = (argument.parts[0] for argument in call.site.arguments)
        total: Operand = Immediate(0)
        for place in range(0, 32, bits):
            field = Immediate(place), Immediate(bits)
            x, y = (call.compute("bfe.u32", 32, word, *field) for word in (first, second))
            larger, smaller = (call.compute(f"{name}.u32", 32, x, y) for name in ("max", "min"))
            found = call.compute("sub.u32", 32, larger, smaller)
            if is_masked:
                counts = call.compute("setp.ne.u32", 1, y, Immediate(0))
                found = call.select(32, counts, found, Immediate(0))
            total = call.compute("add.u32", 32, total, found)
        if shift:
            total = call.compute("shl.b32", 32, total, Immediate(shift))
        return call.value(call.compute("add.u32", 32, total, addend))

    return lower


def _aligned_bytes(call: BuiltinCall) -> Value:
    """`alignbyte`: four bytes of two words, from a number of bytes on."""
    high, low, count = (argument.parts[0] for argument in call.site.arguments)
    bits = call.compute("shl.b32", 32, count, Immediate(3))
    return call.value(call.compute("shf.r.wrap.b32", 32, low, high, bits))


def _kind(has_sign: Operand) -> str:
    return "u32" if has_sign == Immediate(0) else "s32"


def _mixed_dot(width: int) -> Handler:
    """`sudot4` and `sudot8`: each factor follows whether it has signs."""

    def lower(call: BuiltinCall) -> Value:
        *factors, clamp = call.site.arguments
        _clamp_is_off(call, clamp)
        first_sign, first, second_sign, second, total = (factor.parts[0] for factor in factors)
        kinds = _kind(first_sign), _kind(second_sign)
        return _word_sum(call, kinds, width, (first, second, total))

    return lower


def _pair_dot(extension: str, product: str) -> Handler:
    """`sdot2`, `udot2`, `fdot2`: two numbers of 16 bits of each factor, the lower ones first."""

    def lower(call: BuiltinCall) -> Value:
        first, second, total, clamp = call.site.arguments
        _clamp_is_off(call, clamp)
        sum_ = total.parts[0]
        for x, y in zip(first.parts, second.parts, strict=True):
            wide = (call.compute(extension, 32, part) for part in (x, y))
            sum_ = call.compute(product, 32, *wide, sum_)
        return call.value(sum_)

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
    "sdot4": _word_dot("s32", _BYTE),
    "udot4": _word_dot("u32", _BYTE),
    "sdot8": _word_dot("s32", _NIBBLE),
    "udot8": _word_dot("u32", _NIBBLE),
    "sudot4": _mixed_dot(_BYTE),
    "sudot8": _mixed_dot(_NIBBLE),
    "sdot2": _pair_dot("cvt.s32.s16", "mad.lo.s32"),
    "udot2": _pair_dot("cvt.u32.u16", "mad.lo.u32"),
    "fdot2": _pair_dot("cvt.f32.f16", "fma.rn.f32"),
    "cvt.pkrtz": _packed("cvt.rz.f16.f32"),
    "cvt.pk.i16": _packed_integers("s"),
    "cvt.pk.u16": _packed_integers("u"),
    "sad.u8": _differences(_BYTE),
    "sad.hi.u8": _differences(_BYTE, 16),
    "sad.u16": _differences(16),
    "msad.u8": _differences(_BYTE, is_masked=True),
    "alignbyte": _aligned_bytes,
    "s.memtime": _special(Special.CLOCK64),
    "s.memrealtime": _real_time,
    "ubfe": _field("u"),
    "sbfe": _field("s"),
}
