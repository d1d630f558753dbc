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

_SIDE, _ROWS = 16, 8
"""Rows and columns of RDNA's matrices, and how many rows of a column a lane holds."""


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


# ---- RDNA ----


class _Layout:
    """Where the elements are that the own lane's results are made of, and those results.

    Lanes 0 to 15 of RDNA 3 hold rows of A and columns of B, and the upper ones the same; lane l
    has, of column l mod 16 of C, every second row (RDNA 3 ISA, 7.9). The upper lanes of RDNA 4 hold
    the upper half of the k, and eight rows follow each other in a lane.
    """

    def __init__(self, call: BuiltinCall, in_a_lane: int) -> None:
        self._call, self.in_a_lane = call, in_a_lane
        is_split = in_a_lane < _SIDE
        lane = lane_number(call)
        call.code.begin_parts()
        self._column = call.compute("and.b32", 32, lane, Immediate(_SIDE - 1))
        upper = call.compute("shr.u32", 32, lane, Immediate(4))
        first = call.compute("shl.b32", 32, upper, Immediate(3)) if is_split else upper
        steps = (number if is_split else 2 * number for number in range(_ROWS))
        self._rows = [call.compute("add.u32", 32, first, Immediate(step)) for step in steps]

    def column(self, k: int) -> Operand:
        """The lane that has element (k, own column) of B."""
        return self._above(self._column, k)

    def row(self, number: int, k: int) -> Operand:
        """The lane that has element (row of a result, k) of A."""
        return self._above(self._rows[number], k)

    def _above(self, place: Operand, k: int) -> Operand:
        if k < self.in_a_lane:
            return place
        return self._call.compute("add.u32", 32, place, Immediate(_SIDE))


def _single(call: BuiltinCall, type_: str, value: Operand, lane: Operand) -> Operand:
    """A number of 16 bits of a lane, in single precision."""
    return call.compute(f"cvt.f32.{type_}", 32, read_lane(call, value, 16, lane))


def _of_shorts(type_: str, *, is_narrow: bool) -> Handler:
    """`wmma` of halves or of `bf16`; narrow results of RDNA 3 are half of each register."""

    def lower(call: BuiltinCall) -> Value:
        a, b, c = call.site.arguments[:3]
        layout, parts = _Layout(call, len(a.parts)), list(c.parts)
        places = list(range(_ROWS))
        if len(parts) > _ROWS:
            upper = call.site.arguments[3].parts[0] == Immediate(1)
            places = [2 * number + upper for number in places]
        columns = [
            _single(call, type_, b.parts[k % layout.in_a_lane], layout.column(k))
            for k in range(_SIDE)
        ]
        for number, place in enumerate(places):
            sum_: Operand = parts[place]
            if is_narrow:
                sum_ = call.compute(f"cvt.f32.{type_}", 32, sum_)
            for k, of_b in enumerate(columns):
                lane = layout.row(number, k)
                element = _single(call, type_, a.parts[k % layout.in_a_lane], lane)
                sum_ = call.compute("fma.rn.f32", 32, element, of_b, sum_)
            parts[place] = call.compute(f"cvt.rn.{type_}.f32", 16, sum_) if is_narrow else sum_
        return call.value(*parts)

    return lower


def _of_integers(bits: int) -> Handler:
    """`wmma.i32`: whether A and B have signs stands before them."""

    def lower(call: BuiltinCall) -> Value:
        of_a, a, of_b, b, c, stops = call.site.arguments
        if stops.parts[0] != Immediate(0):
            raise call.refused("sums that stop at the largest number")
        layout = _Layout(call, 32 * len(a.parts) // bits)

        def element(signs: Value, matrix: Value, k: int, lane: Operand) -> Operand:
            word, place = divmod(k % layout.in_a_lane * bits, 32)
            kind = "u" if signs.parts[0] == Immediate(0) else "s"
            read = read_lane(call, matrix.parts[word], 32, lane)
            return call.compute(f"bfe.{kind}32", 32, read, Immediate(place), Immediate(bits))

        columns = [element(of_b, b, k, layout.column(k)) for k in range(_SIDE)]
        parts = []
        for number, first in enumerate(c.parts):
            sum_: Operand = first
            for k, column in enumerate(columns):
                row = element(of_a, a, k, layout.row(number, k))
                sum_ = call.compute("mad.lo.u32", 32, row, column, sum_)
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
