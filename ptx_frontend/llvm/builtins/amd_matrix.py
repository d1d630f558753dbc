"""Products of small matrices that a wavefront makes: `llvm.amdgcn.mfma.*` and `wmma`.

Which element of A, B and C lies in which lane says `amd_matrix`, and of RDNA its ISA.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from kernelcast.ptx_frontend.amd_matrix.product import MATRIX_NAMES, Broadcast, form_of, product
from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler
from kernelcast.ptx_frontend.llvm.builtins.lane_exchange import lane_number, read_lane
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value, register_bits
from kernelcast.ptx_frontend.llvm.text.types import parts_of
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = ["AMD_MATRIX"]

_SIDE = 16
"""Rows and columns of the matrices of RDNA 3, and what is added up."""


@dataclass(frozen=True, slots=True)
class _Lanes:
    """Writes the parts of a product."""

    call: BuiltinCall
    number: Register

    def compute(self, mnemonic: str, bits: int, *sources: Operand) -> Operand:
        return self.call.compute(mnemonic, bits, *sources)

    def from_lane(self, word: Operand, lane: Operand) -> Operand:
        return read_lane(self.call, word, 32, lane)

    def lane(self) -> Register:
        return self.number

    def refused(self, why: str) -> Exception:
        return self.call.refused(why)


def _product(name: str, call: BuiltinCall) -> Value:
    """`llvm.amdgcn.mfma.*`: a product of CDNA's."""
    a, b, c, *controls = call.site.arguments
    numbers = [
        part.bits
        for (part,) in (control.parts for control in controls)
        if isinstance(part, Immediate)
    ]
    lanes = _Lanes(call, lane_number(call))
    call.code.begin_parts()
    of_a, of_b = _words(call, a), _words(call, b)
    form = form_of(name, len(of_a))
    if form.sum == "f64" and numbers[2]:
        raise call.refused("signs")
    return call.value(*product(lanes, form, (of_a, of_b), c.parts, Broadcast(*numbers)))


def _words(call: BuiltinCall, matrix: Value) -> list[Operand]:
    """What a lane holds of a matrix in words of 32 bits."""
    (bits,) = {register_bits(part) for part in parts_of(matrix.type)}
    if bits == 32:
        return list(matrix.parts)
    if bits == 64:
        halves = [(part, call.compute("shr.u64", 64, part, Immediate(32))) for part in matrix.parts]
        return [call.compute("cvt.u32.u64", 32, half) for pair in halves for half in pair]
    wide = [call.compute("cvt.u32.u16", 32, part) for part in matrix.parts]
    return [
        call.compute("or.b32", 32, low, call.compute("shl.b32", 32, high, Immediate(16)))
        for low, high in zip(wide[::2], wide[1::2], strict=True)
    ]


# ---- RDNA 3 ----


def _places(call: BuiltinCall) -> tuple[Operand, list[Operand]]:
    """The lane of a column of B, and those of the rows of A, for the results of the own lane.

    Lanes 0 to 15 hold rows of A and columns of B, and the upper ones the same. Lane l has, of
    column l mod 16 of C, every second row (RDNA 3 ISA, 7.9).
    """
    lane = lane_number(call)
    call.code.begin_parts()
    column = call.compute("and.b32", 32, lane, Immediate(_SIDE - 1))
    upper = call.compute("shr.u32", 32, lane, Immediate(4))
    rows = [call.compute("add.u32", 32, upper, Immediate(2 * number)) for number in range(8)]
    return column, rows


def _single(call: BuiltinCall, type_: str, value: Operand, lane: Operand) -> Operand:
    """A number of 16 bits of a lane, in single precision."""
    return call.compute(f"cvt.f32.{type_}", 32, read_lane(call, value, 16, lane))


def _of_shorts(type_: str, *, is_narrow: bool) -> Handler:
    """`wmma` of halves or of `bf16`; where it is narrow results are half of each register."""

    def lower(call: BuiltinCall) -> Value:
        a, b, c = call.site.arguments[:3]
        column, rows = _places(call)
        of_b = [_single(call, type_, b.parts[k], column) for k in range(_SIDE)]
        parts = list(c.parts)
        upper = is_narrow and call.site.arguments[3].parts[0] == Immediate(1)
        for number, row in enumerate(rows):
            place = 2 * number + upper if is_narrow else number
            sum_: Operand = parts[place]
            if is_narrow:
                sum_ = call.compute(f"cvt.f32.{type_}", 32, sum_)
            for k in range(_SIDE):
                element = _single(call, type_, a.parts[k], row)
                sum_ = call.compute("fma.rn.f32", 32, element, of_b[k], sum_)
            parts[place] = call.compute(f"cvt.rn.{type_}.f32", 16, sum_) if is_narrow else sum_
        return call.value(*parts)

    return lower


def _of_integers(bits: int) -> Handler:
    """`wmma.i32`: whether A and B have signs stands before them."""

    def lower(call: BuiltinCall) -> Value:
        of_a, a, of_b, b, c, stops = call.site.arguments
        if stops.parts[0] != Immediate(0):
            raise call.refused("sums that stop at the largest number")
        column, rows = _places(call)

        def element(signs: Value, matrix: Value, k: int, lane: Operand) -> Operand:
            word, place = divmod(k * bits, 32)
            kind = "u" if signs.parts[0] == Immediate(0) else "s"
            read = read_lane(call, matrix.parts[word], 32, lane)
            return call.compute(f"bfe.{kind}32", 32, read, Immediate(place), Immediate(bits))

        columns = [element(of_b, b, k, column) for k in range(_SIDE)]
        parts = []
        for row, first in zip(rows, c.parts, strict=True):
            sum_: Operand = first
            for k in range(_SIDE):
                sum_ = call.compute("mad.lo.u32", 32, element(of_a, a, k, row), columns[k], sum_)
            parts.append(sum_)
        return call.value(*parts)

    return lower


_WMMA: Mapping[str, Handler] = {
    "f32.16x16x16.f16": _of_shorts("f16", is_narrow=False),
    "f32.16x16x16.bf16": _of_shorts("bf16", is_narrow=False),
    "f16.16x16x16.f16": _of_shorts("f16", is_narrow=True),
    "bf16.16x16x16.bf16": _of_shorts("bf16", is_narrow=True),
    **{f"i32.16x16x16.iu{bits}": _of_integers(bits) for bits in (4, 8)},
}
AMD_MATRIX: Mapping[str, Handler] = {
    **{f"mfma.{name.replace('_', '.')}": partial(_product, name) for name in MATRIX_NAMES},
    **{f"wmma.{name}": lower for name, lower in _WMMA.items()},
}
