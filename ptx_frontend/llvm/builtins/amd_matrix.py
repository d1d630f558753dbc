"""Products of small matrices that a wavefront makes: `llvm.amdgcn.mfma.*` and `wmma`.

Which element of A, B and C lies in which lane: AMD Instinct MI200 ISA, section 7.1.4, "Matrix
Arithmetic Instructions". With `b` blocks side by side, lane l holds of A (i, k) with
i = l mod m, and of B (k, j) with j = l mod n; C and D lie in groups of four rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kernelcast.ptx_frontend.amd_matrix_shape import MatrixShape
from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler
from kernelcast.ptx_frontend.llvm.builtins.lane_exchange import lane_number, read_lane
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = ["AMD_MATRIX"]

_SIDE = 16
"""Rows and columns of the matrices of RDNA 3, and what is added up."""
_NAME = re.compile(r"mfma\.f32\.(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)(?P<type>f16|f32)")
_KNOWN = (
    *("mfma.f32.32x32x2f32", "mfma.f32.16x16x4f32"),
    *("mfma.f32.32x32x8f16", "mfma.f32.16x16x16f16"),
)


def _product(name: str) -> Handler:
    match = _NAME.fullmatch(name)
    assert match is not None
    shape, is_half = MatrixShape(int(match["m"]), int(match["k"])), match["type"] == "f16"

    def lower(call: BuiltinCall) -> Value:
        a, b, c, *controls = call.site.arguments
        if any(control.parts != (Immediate(0),) for control in controls):
            raise call.refused("broadcasts of blocks (cbsz, abid, blgp)")
        lane = lane_number(call)
        call.code.begin_parts()
        column = call.code.compute("and.b32", 32, lane, Immediate(shape.m - 1))
        of_b = [_from_lane(call, shape, is_half, b, k, column) for k in range(shape.k)]
        group = call.compute("shr.u32", 32, lane, Immediate(shape.m.bit_length() - 1))
        first = call.compute("shl.b32", 32, group, Immediate(2))
        parts = []
        for number in range(shape.results):
            row = call.code.compute("add.u32", 32, first, Immediate(shape.row(number)))
            sum_: Operand = c.parts[number]
            for k in range(shape.k):
                sum_ = call.compute(
                    "fma.rn.f32", 32, _from_lane(call, shape, is_half, a, k, row), of_b[k], sum_
                )
            parts.append(sum_)
        return call.value(*parts)

    return lower


def _from_lane(
    call: BuiltinCall, shape: MatrixShape, is_half: bool, matrix: Value, k: int, place: Register
) -> Operand:
    """Element (place, k) of A, or (k, place) of B, in single precision."""
    block, within = divmod(k, shape.per_lane)
    lane = call.compute("add.u32", 32, place, Immediate(block * shape.m))
    value = read_lane(call, matrix.parts[within], 16 if is_half else 32, lane)
    return call.compute("cvt.f32.f16", 32, value) if is_half else value


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
    "f32.16x16x16": _of_shorts("f16", is_narrow=False),
    "f32.16x16x16.bf16": _of_shorts("bf16", is_narrow=False),
    "f16.16x16x16": _of_shorts("f16", is_narrow=True),
    "bf16.16x16x16.bf16": _of_shorts("bf16", is_narrow=True),
    **{f"i32.16x16x16.iu{bits}": _of_integers(bits) for bits in (4, 8)},
}
"""Names are without the types of vectors at their ends, among which `f16` is."""
AMD_MATRIX: Mapping[str, Handler] = {
    **{name: _product(name) for name in _KNOWN},
    **{f"wmma.{name}": lower for name, lower in _WMMA.items()},
}
