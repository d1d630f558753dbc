"""Products of fragments as LLVM IR: one function a kind of product, called with the registers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernelcast.simcore.isa.matrix.accumulation import Summation
from kernelcast.simcore.isa.matrix.block_scales import SCALE_SOURCES, BlockScales
from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.layouts import LANES, Fragment
from kernelcast.simcore.isa.matrix.llvm.elements import (
    Values,
    decoded,
    larger,
    powers_of,
    read_codes,
)
from kernelcast.simcore.isa.matrix.llvm.function import FunctionCode
from kernelcast.simcore.isa.matrix.llvm.quick_sums import has_quick_sums, quick_sums
from kernelcast.simcore.isa.matrix.llvm.registers import codes_of, is_shuffled, registers_of
from kernelcast.simcore.isa.matrix.llvm.rounding import cut_code, nearest_code, two_sum
from kernelcast.simcore.isa.matrix.llvm.scales import expanded, scaled
from kernelcast.simcore.isa.matrix.products import LEAST_EXPONENT, Combination, MatrixProduct
from kernelcast.simcore.isa.matrix.sparsity import Sparsity
from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.numerics.outlined import outlined
from kernelcast.simcore.isa.opcodes.llvm.warp import Operand, WarpEmission
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["product_emission", "store_sums"]

_BIAS, _MANTISSA_BITS = 1023, 52
"""Exponent bias and fraction bits of double precision."""
_WIDTHS = (32, 16, 8)
"""How many columns of the result are computed at a time, as many as divide them."""
_Fragments = tuple[Fragment, Fragment, Fragment, Fragment]


def product_emission(
    product: MatrixProduct,
    fragments: _Fragments,
    sparsity: Sparsity | None,
    scales: BlockScales | None = None,
) -> WarpEmission:
    """Each group of 32 lanes calls the function, which is written when it is first needed."""
    written_function: list[_Function] = []

    def emit(
        code: LaneCode, _type: ScalarType, _scratch: str, _participants: str, *operands: Operand
    ) -> tuple[str, ...]:
        if not written_function:
            written_function.append(_quickest(product, fragments, sparsity, scales))
        function = written_function[0]
        for name, text in function.globals.items():
            code.declarations.setdefault(name, text)
        kinds = _register_kinds(fragments, sparsity, scales)
        d = fragments[3]
        results = [f"i{d.format.register_bits}"] * d.registers

        def write(code: LaneCode, values: Sequence[str]) -> list[str]:
            return _in_groups(code, function, kinds, values, results)

        values = [operand[0] for operand in operands]
        if code.lanes == LANES:
            return tuple(write(code, values))
        given = list(zip(kinds, values, strict=True))
        return outlined(code, function.name, given, results, write)

    return emit


@dataclass(frozen=True, slots=True)
class _Function:
    name: str
    result: str
    globals: dict[str, str]


def _register_kinds(
    fragments: _Fragments, sparsity: Sparsity | None, scales: BlockScales | None
) -> list[str]:
    kinds = [f"i{f.format.register_bits}" for f in fragments[:3] for _ in range(f.registers)]
    if sparsity:
        kinds.append("i32")
    return [*kinds, *(f"i{type_.bits}" for type_ in SCALE_SOURCES)] if scales else kinds


def _in_groups(
    code: LaneCode,
    function: _Function,
    kinds: Sequence[str],
    values: Sequence[str],
    results: Sequence[str],
) -> list[str]:
    groups = []
    for first in range(0, code.lanes, LANES):
        passed = ", ".join(
            f"<{LANES} x {kind}> {_group(code, kind, value, first)}"
            for kind, value in zip(kinds, values, strict=True)
        )
        groups.append(code.op(f"call {function.result} @{function.name}({passed})"))
    return [
        _joined(code, kind, function.result, groups, index) for index, kind in enumerate(results)
    ]


def _group(code: LaneCode, kind: str, value: str, first: int) -> str:
    if code.lanes == LANES:
        return value
    chosen = ", ".join(f"i32 {first + lane}" for lane in range(LANES))
    vector = code.type(kind)
    return code.op(f"shufflevector {vector} {value}, {vector} poison, <{LANES} x i32> <{chosen}>")


def _joined(code: LaneCode, kind: str, result: str, groups: list[str], index: int) -> str:
    parts = [code.op(f"extractvalue {result} {group}, {index}") for group in groups]
    if len(parts) == 1:
        return parts[0]
    chosen = ", ".join(f"i32 {lane}" for lane in range(code.lanes))
    vector = f"<{LANES} x {kind}>"
    return code.op(
        f"shufflevector {vector} {parts[0]}, {vector} {parts[1]}, <{code.lanes} x i32> <{chosen}>"
    )


def _quickest(
    product: MatrixProduct,
    fragments: _Fragments,
    sparsity: Sparsity | None,
    scales: BlockScales | None,
) -> _Function:
    """The function for all operands, or one that looks first whether they are ordinary."""
    general = _function(product, fragments, sparsity, scales)
    if sparsity or scales or not has_quick_sums(product, fragments):
        return general
    kinds = _register_kinds(fragments, sparsity, scales)
    name, lines = quick_sums(general.name, general.result, kinds, product, fragments)
    return _Function(name, general.result, {**general.globals, **lines})


def _function(
    product: MatrixProduct,
    fragments: _Fragments,
    sparsity: Sparsity | None,
    scales: BlockScales | None,
) -> _Function:
    code = FunctionCode(f"product.{_digest(fragments, (product, sparsity, scales))}")
    a, b, c, d = fragments
    kinds = _register_kinds(fragments, sparsity, scales)
    names = [f"%r{number}" for number in range(len(kinds))]
    counts = [f.registers for f in (a, b, c)]
    codes, first = [], 0
    for fragment, count, name in zip((a, b, c), counts, "abc", strict=True):
        used = names[first : first + fragment.distinct_registers]
        if is_shuffled(fragment) and not fragment.is_scattered:
            codes.append(codes_of(code, fragment, used))
        else:
            codes.append(read_codes(code, fragment, _stored(code, kinds[first], used), name))
        first += count
    if sparsity:
        metadata = _stored(code, "i32", [names[first]])
        first += 1
        codes[0] = expanded(code, sparsity, product.a, codes[0], metadata)
    result = _multiplied(code, product, codes, scales, names[first:])
    kind = f"i{d.format.register_bits}"
    returned = "{ " + ", ".join([f"<{LANES} x {kind}>"] * d.registers) + " }"
    whole = "poison"
    for index, value in enumerate(registers_of(code, d, result)):
        whole = code.op(f"insertvalue {returned} {whole}, <{LANES} x {kind}> {value}, {index}")
    code.do(f"ret {returned} {whole}")
    parameters = [f"<{LANES} x {k}> {n}" for k, n in zip(kinds, names, strict=True)]
    text = code.definition(returned, parameters)
    return _Function(code.name, returned, {**code.globals, f"@{code.name}": text})


def _digest(fragments: _Fragments, meaning: tuple[object, ...]) -> str:
    """A digest of all that the function is made of, equal in every run."""
    parts = [repr(meaning).encode()]
    parts += [fragment.places.astype(np.int64).tobytes() for fragment in fragments]
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


def _stored(code: FunctionCode, kind: str, names: list[str]) -> str:
    """Registers in memory, one row of lanes after the other."""
    place = code.array(len(names) * LANES, kind)
    for index, name in enumerate(names):
        code.store_run(kind, LANES, name, place, str(index * LANES))
    return place


def _multiplied(
    code: FunctionCode,
    product: MatrixProduct,
    codes: list[str],
    scales: BlockScales | None,
    factors: list[str],
) -> str:
    """The codes of the result in matrix order; `factors`: registers of the scales."""
    p = product
    aligned = p.accumulation.summation is Summation.ALIGNED
    a = decoded(code, p.a, codes[0], p.batches * p.rows * p.depth, powers=aligned)
    b = decoded(code, p.b, codes[1], p.batches * p.depth * p.columns, powers=aligned)
    if scales:
        scaled(code, scales, p, a, b, factors)
    c = decoded(code, p.accumulator, codes[2], p.batches * p.rows * p.columns, powers=False)
    result = code.array(p.batches * p.rows * p.columns, f"i{p.result.bits}")
    store_sums(code, p, a, b, c, result)
    return result


def store_sums(
    code: FunctionCode, product: MatrixProduct, a: Values, b: Values, c: Values, result: str
) -> None:
    """The codes of the result, in matrix order, into the array `result`."""
    p, kind = product, f"i{product.result.bits}"
    width = next(count for count in _WIDTHS if p.columns % count == 0)
    parts = p.columns // width
    with code.loop(p.batches * p.rows * parts) as number:
        row = code.op(f"udiv i64 {number}, {parts}")
        column = code.op(f"mul i64 {code.op(f'urem i64 {number}, {parts}')}, {width}")
        line = _Line(code, p, a, b, row, column, width)
        start = code.op(f"add i64 {code.op(f'mul i64 {row}, {p.columns}')}, {column}")
        total = code.load_run(c.kind, width, c.values, start)
        found = {
            Summation.ALIGNED: line.aligned,
            Summation.FUSED: line.fused,
            Summation.INTEGER: line.integer,
            Summation.WIDE: line.wide,
        }[p.accumulation.summation](total)
        code.store_run(kind, width, found, result, start)


class _Line:
    """A part of a row of the result: vectors over `width` columns from `column` on."""

    def __init__(
        self,
        code: FunctionCode,
        product: MatrixProduct,
        a: Values,
        b: Values,
        row: str,
        column: str,
        width: int,
    ) -> None:
        self._code = code
        self._product = product
        self._a, self._b = a, b
        self._width = width
        self._vector = code.lanes(width)
        batch = code.op(f"udiv i64 {row}, {product.rows}")
        self._first_a = code.op(f"mul i64 {row}, {product.depth}")
        first = code.op(f"mul i64 {batch}, {product.depth * product.columns}")
        self._first_b = code.op(f"add i64 {first}, {column}")

    def _operands(self, k: int, a: str, b: str, kind: str) -> tuple[str, str]:
        code, width = self._code, self._width
        at_a = code.op(f"add i64 {self._first_a}, {k}")
        at_b = code.op(f"add i64 {self._first_b}, {k * self._product.columns}")
        left = code.load(kind, a, at_a, 8 if kind == "double" else 4)
        return code.splat(kind, width, left), code.load_run(kind, width, b, at_b)

    def _values(self, k: int) -> tuple[str, str]:
        return self._operands(k, self._a.values, self._b.values, self._a.kind)

    def _double(self, name: str, a: str, b: str) -> str:
        return self._vector.binary(name, "double", a, b)

    def _call(self, name: str, kind: str, *operands: str) -> str:
        return self._vector.intrinsic(
            name, kind, [(self._vector.type(kind), operand) for operand in operands]
        )

    def fused(self, total: str) -> str:
        for k in range(self._product.depth):
            total = self._call("fma", "double", *self._values(k), total)
        return self._vector.cast("bitcast", "double", total, "i64")

    def integer(self, total: str) -> str:
        """Sums of products do not wrap: only adding the accumulator may."""
        vector, found = self._vector, self._vector.splat("i32", 0)
        for k in range(self._product.depth):
            left, right = self._values(k)
            match self._product.combination:
                case Combination.PRODUCT:
                    term = vector.binary("mul", "i32", left, right)
                case Combination.XOR:
                    term = self._call("ctpop", "i32", vector.binary("xor", "i32", left, right))
                case Combination.AND:
                    term = self._call("ctpop", "i32", vector.binary("and", "i32", left, right))
            found = vector.binary("add", "i32", found, term)
        if self._product.saturates:
            return self._call("sadd.sat", "i32", found, total)
        return vector.binary("add", "i32", found, total)

    def wide(self, total: str) -> str:
        vector, columns = self._vector, self._width
        rest = vector.real("double", 0.0)
        for k in range(self._product.depth):
            term = self._double("fmul", *self._values(k))
            total, lost = two_sum(vector, total, term)
            rest = self._double("fadd", rest, lost)
        whole = self._double("fadd", total, rest)
        lost = self._double("fadd", self._double("fsub", total, whole), rest)
        whole = vector.select("double", self._is_finite(total), whole, total)
        lost = vector.select("double", self._is_finite(whole), lost, vector.real("double", 0.0))
        return nearest_code(self._code, self._product.result, whole, lost, columns)

    def _is_finite(self, value: str) -> str:
        size = self._call("fabs", "double", value)
        return self._vector.binary(
            "fcmp olt", "double", size, self._vector.real("double", float("inf"))
        )

    def aligned(self, total: str) -> str:
        rule, columns = self._product.accumulation, self._width
        codes = ""
        for first in range(0, self._product.depth, rule.terms):
            part = range(first, min(first + rule.terms, self._product.depth))
            added = self._aligned_part(part, total)
            codes = cut_code(self._code, self._product.result, added, columns)
            total = self._as_double(codes)
        return codes

    def _aligned_part(self, part: range, total: str) -> str:
        vector, columns = self._vector, self._width
        terms = [self._double("fmul", *self._values(k)) for k in part]
        top = powers_of(self._code, total, columns, ElementFormat.F32)
        top = larger(self._code, vector.real("double", 2.0**LEAST_EXPONENT), top, columns)
        for k in part:
            powers = self._operands(k, self._a.powers, self._b.powers, "double")
            top = larger(self._code, self._double("fmul", *powers), top, columns)
        scale = self._reciprocal(top, self._product.accumulation.fraction_bits)
        special = total
        kept = self._call("trunc", "double", self._double("fmul", total, scale))
        for term in terms:
            special = self._double("fadd", special, term)
            cut = self._call("trunc", "double", self._double("fmul", term, scale))
            kept = self._double("fadd", kept, cut)
        added = self._double("fmul", kept, self._reciprocal(scale, 0))
        infinite = vector.real("double", float("inf"))
        is_special = vector.binary("fcmp oeq", "double", top, infinite)
        return vector.select("double", is_special, special, added)

    def _reciprocal(self, power: str, places: int) -> str:
        """2**places / power for powers of two: a difference of exponents, without a division."""
        vector = self._vector
        bits = vector.cast("bitcast", "double", power, "i64")
        one = vector.splat("i64", (2 * _BIAS + places) << _MANTISSA_BITS)
        return vector.cast("bitcast", "i64", vector.binary("sub", "i64", one, bits), "double")

    def _as_double(self, codes: str) -> str:
        vector = self._vector
        if self._product.result is ElementFormat.F16:
            half = vector.cast("bitcast", "i16", codes, "half")
            single = vector.cast("fpext", "half", half, "float")
        else:
            single = vector.cast("bitcast", "i32", codes, "float")
        return vector.cast("fpext", "float", single, "double")
