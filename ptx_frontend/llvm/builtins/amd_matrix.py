"""Products of small matrices that a wavefront of 64 lanes makes: `llvm.amdgcn.mfma.*`.

Which element of A, B and C lies in which lane: AMD Instinct MI200 ISA, section 7.1.4, "Matrix
Arithmetic Instructions". With `b` blocks side by side, lane l holds of A (i, k) with
i = l mod m, and of B (k, j) with j = l mod n; C and D lie in groups of four rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler
from kernelcast.ptx_frontend.llvm.builtins.lane_exchange import lane_number, read_lane
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = ["AMD_MATRIX"]

_LANES, _ROWS = 64, 4
_NAME = re.compile(r"mfma\.f32\.(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)(?P<type>f16|f32)")
_KNOWN = (
    *("mfma.f32.32x32x2f32", "mfma.f32.16x16x4f32"),
    *("mfma.f32.32x32x8f16", "mfma.f32.16x16x16f16"),
)


@dataclass(frozen=True, slots=True)
class _Shape:
    """m x n results of products over k; a lane holds `per_lane` neighbouring k of A and of B."""

    m: int
    k: int
    is_half: bool

    @property
    def per_lane(self) -> int:
        return self.k * self.m // _LANES

    @property
    def results(self) -> int:
        return self.m * self.m // _LANES


def _product(name: str) -> Handler:
    match = _NAME.fullmatch(name)
    assert match is not None
    shape = _Shape(int(match["m"]), int(match["k"]), match["type"] == "f16")

    def lower(call: BuiltinCall) -> Value:
        a, b, c, *controls = call.site.arguments
        if any(control.parts != (Immediate(0),) for control in controls):
            raise call.refused("broadcasts of blocks (cbsz, abid, blgp)")
        lane = lane_number(call)
        call.code.begin_parts()
        column = call.code.compute("and.b32", 32, lane, Immediate(shape.m - 1))
        of_b = [_from_lane(call, shape, b, k, column) for k in range(shape.k)]
        group = call.compute("shr.u32", 32, lane, Immediate(shape.m.bit_length() - 1))
        first = call.compute("shl.b32", 32, group, Immediate(2))
        parts = []
        for number in range(shape.results):
            rows = number // _ROWS * (_LANES // shape.m) * _ROWS + number % _ROWS
            row = call.code.compute("add.u32", 32, first, Immediate(rows))
            sum_: Operand = c.parts[number]
            for k in range(shape.k):
                sum_ = call.compute(
                    "fma.rn.f32", 32, _from_lane(call, shape, a, k, row), of_b[k], sum_
                )
            parts.append(sum_)
        return call.value(*parts)

    return lower


def _from_lane(call: BuiltinCall, shape: _Shape, matrix: Value, k: int, place: Register) -> Operand:
    """Element (place, k) of A, or (k, place) of B, in single precision."""
    block, within = divmod(k, shape.per_lane)
    lane = call.compute("add.u32", 32, place, Immediate(block * shape.m))
    bits = 16 if shape.is_half else 32
    value = read_lane(call, matrix.parts[within], bits, lane)
    return call.compute("cvt.f32.f16", 32, value) if shape.is_half else value


AMD_MATRIX: Mapping[str, Handler] = {name: _product(name) for name in _KNOWN}
