"""Aligned sums in single precision and integers, for operands that are not out of the ordinary.

Products of 16-bit and tf32 elements are exact in single precision; scaled by a power of two and cut
towards zero they fit integers of 32 bits, whose sums are exact. Infinities, NaNs, negative zeros in
the accumulator and exponents far from zero are left to the general function. Vectors run along a
column of the result: elements of B are the same in all lanes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelcast.simcore.isa.matrix.accumulation import Summation
from kernelcast.simcore.isa.matrix.formats import ElementFormat, small_values
from kernelcast.simcore.isa.matrix.layouts import LANES, Fragment
from kernelcast.simcore.isa.matrix.llvm.function import FunctionCode
from kernelcast.simcore.isa.matrix.llvm.registers import codes_of, registers_of
from kernelcast.simcore.isa.matrix.llvm.rounding import cut_code
from kernelcast.simcore.isa.matrix.products import MatrixProduct
from kernelcast.simcore.isa.numerics.lane_code import LaneCode

__all__ = [
    "QUICK_RUN",
    "PartialSums",
    "QuickOperand",
    "has_quick_sums",
    "note_odd_powers",
    "note_odd_sums",
    "quick_operand",
    "quick_sums",
]

_Fragments = tuple[Fragment, Fragment, Fragment, Fragment]
_FORMATS = (ElementFormat.F16, ElementFormat.BF16, ElementFormat.TF32)
_BIAS, _MANTISSA_BITS, _EXPONENT_FIELD = 127, 23, 255
_FAR, _FAR_OF_SUMS = 30, 60
"""Exponents of elements and of accumulators are between these and their negatives."""
_LEAST = 2 * _BIAS - 100
"""An exponent below that of any sum other than zero, with the bias of a product."""
_ZERO = -1000
QUICK_RUN = 16
_CHUNK = 8
_TF32_MASK = -8192
_DOUBLE_BIAS, _DOUBLE_MANTISSA_BITS = 1023, 52


def has_quick_sums(product: MatrixProduct, fragments: _Fragments) -> bool:
    """Whether `quick_sums` can be written for a product.

    The caller has seen to it that the product has neither sparsity nor block scales.
    """
    return (
        product.accumulation.summation is Summation.ALIGNED
        and product.batches == 1
        and {product.a, product.b} <= set(_FORMATS)
        and product.accumulator is product.result is ElementFormat.F32
        and not any(fragment.is_scattered for fragment in fragments)
    )


@dataclass(frozen=True, slots=True)
class QuickOperand:
    """Arrays of single-precision values and of biased exponents, `_ZERO` those of zeros."""

    values: str
    exponents: str


def quick_sums(
    general: str, result: str, kinds: list[str], product: MatrixProduct, fragments: _Fragments
) -> tuple[str, dict[str, str]]:
    """The name of a function equivalent to `general` and the global lines that define it.

    `kinds`: LLVM types of the registers.
    """
    code = FunctionCode(f"{general}.quick")
    a, b, c, d = fragments
    names = [f"%r{number}" for number in range(len(kinds))]
    from_b, from_c = a.registers, a.registers + b.registers
    columns_first = np.arange(a.elements).reshape(product.rows, product.depth).T.reshape(-1)
    by_column = np.arange(c.elements).reshape(product.rows, product.columns).T.reshape(-1)
    odd = code.array(QUICK_RUN, "i32")
    code.store_run("i32", QUICK_RUN, "zeroinitializer", odd, "0")
    left = codes_of(code, a, names[: a.distinct_registers], columns_first)
    right = codes_of(code, b, names[from_b : from_b + b.distinct_registers])
    start = codes_of(code, c, names[from_c : from_c + c.distinct_registers], by_column)
    operands = (
        quick_operand(code, product.a, left, a.elements, odd),
        quick_operand(code, product.b, right, b.elements, odd),
    )
    note_odd_sums(code, start, c.elements, odd)
    held = code.load_run("i32", QUICK_RUN, odd, "0")
    bits = code.op(f"bitcast <{QUICK_RUN} x i32> {held} to i512")
    is_odd = code.op(f"icmp ne i512 {bits}, 0")
    code.do(f"br i1 {is_odd}, label %general, label %quick")
    code.label("general")
    parameters = [f"<{LANES} x {k}> {n}" for k, n in zip(kinds, names, strict=True)]
    found = code.op(f"call {result} @{general}({', '.join(parameters)})")
    code.do(f"ret {result} {found}")
    code.label("quick")
    _columns(code, product, *operands, start)
    whole = "poison"
    for index, value in enumerate(registers_of(code, d, start, by_column)):
        whole = code.op(f"insertvalue {result} {whole}, <{LANES} x i32> {value}, {index}")
    code.do(f"ret {result} {whole}")
    return code.name, {**code.globals, f"@{code.name}": code.definition(result, parameters)}


def quick_operand(
    code: FunctionCode, format_: ElementFormat, codes: str, count: int, odd: str
) -> QuickOperand:
    """Values and exponents; what is out of the ordinary is noted in `odd`."""
    vector = code.lanes(QUICK_RUN)
    values, exponents = code.array(count, "float"), code.array(count, "i32")
    least = vector.splat("i32", _BIAS + format_.least_exponent)
    with code.loop(count, QUICK_RUN) as index:
        value = _single(code, format_, codes, index)
        code.store_run("float", QUICK_RUN, value, values, index)
        field = _field(vector, vector.cast("bitcast", "float", value, "i32"))
        is_zero = vector.binary("fcmp oeq", "float", value, "zeroinitializer")
        far = _is_far(vector, field, _FAR)
        far = vector.select("i1", is_zero, vector.splat("i1", 0), far)
        _note(code, vector, far, odd)
        field = _larger(vector, field, least)
        field = vector.select("i32", is_zero, vector.splat("i32", _ZERO), field)
        code.store_run("i32", QUICK_RUN, field, exponents, index)
    return QuickOperand(values, exponents)


def note_odd_sums(code: FunctionCode, codes: str, count: int, odd: str) -> None:
    """Positive zeros are fine, too."""
    vector = code.lanes(QUICK_RUN)
    with code.loop(count, QUICK_RUN) as index:
        bits = code.load_run("i32", QUICK_RUN, codes, index)
        far = _is_far(vector, _field(vector, bits), _FAR_OF_SUMS)
        is_something = vector.binary("icmp ne", "i32", bits, "zeroinitializer")
        _note(code, vector, vector.binary("and", "i1", far, is_something), odd)


def note_odd_powers(code: FunctionCode, exponents: str, count: int, odd: str) -> None:
    """Exponents of factors that elements are multiplied by."""
    vector = code.lanes(QUICK_RUN)
    with code.loop(count, QUICK_RUN) as index:
        powers = code.load_run("i32", QUICK_RUN, exponents, index)
        field = vector.binary("add", "i32", powers, vector.splat("i32", _BIAS))
        _note(code, vector, _is_far(vector, field, _FAR), odd)


def _single(code: FunctionCode, format_: ElementFormat, codes: str, index: str) -> str:
    """Elements that follow one another, as single precision."""
    vector = code.lanes(QUICK_RUN)
    if format_ is ElementFormat.F16:
        return vector.cast("fpext", "half", code.load_run("half", QUICK_RUN, codes, index), "float")
    if format_.bits <= 8:
        return _looked_up(code, format_, codes, index)
    bits = code.load_run(f"i{format_.bits}", QUICK_RUN, codes, index)
    if format_ is ElementFormat.BF16:
        wide = vector.cast("zext", "i16", bits, "i32")
        bits = vector.binary("shl", "i32", wide, vector.splat("i32", 16))
    else:
        bits = vector.binary("and", "i32", bits, vector.splat("i32", _TF32_MASK))
    return vector.cast("bitcast", "i32", bits, "float")


def _looked_up(code: FunctionCode, format_: ElementFormat, codes: str, index: str) -> str:
    """Elements of at most eight bits, exact in single precision."""
    bits = small_values(format_).astype(np.float32).view(np.int32).tolist()
    table = code.table(f"singles.{format_.ptx_name}", "i32", bits)
    vector = code.lanes(QUICK_RUN)
    found, kind = "poison", vector.type("i32")
    for lane in range(QUICK_RUN):
        place = code.load("i8", codes, code.op(f"add i64 {index}, {lane}"))
        value = code.load("i32", table, code.op(f"zext i8 {place} to i64"), 4)
        found = code.op(f"insertelement {kind} {found}, i32 {value}, i32 {lane}")
    return vector.cast("bitcast", "i32", found, "float")


def _field(vector: LaneCode, bits: str) -> str:
    """Biased exponents."""
    above = vector.binary("lshr", "i32", bits, vector.splat("i32", _MANTISSA_BITS))
    return vector.binary("and", "i32", above, vector.splat("i32", _EXPONENT_FIELD))


def _is_far(vector: LaneCode, field: str, most: int) -> str:
    distance = vector.binary("sub", "i32", field, vector.splat("i32", _BIAS - most))
    return vector.binary("icmp ugt", "i32", distance, vector.splat("i32", 2 * most))


def _note(code: FunctionCode, vector: LaneCode, where: str, odd: str) -> None:
    known = code.load_run("i32", QUICK_RUN, odd, "0")
    found = vector.cast("zext", "i1", where, "i32")
    code.store_run("i32", QUICK_RUN, vector.binary("or", "i32", known, found), odd, "0")


def _larger(vector: LaneCode, a: str, b: str) -> str:
    kind = vector.type("i32")
    return vector.intrinsic("smax", "i32", [(kind, a), (kind, b)])


def _columns(
    code: FunctionCode, product: MatrixProduct, a: QuickOperand, b: QuickOperand, sums: str
) -> None:
    """Each column of `sums`, which lie one after the other, with all products added."""
    rows, terms = product.rows, product.accumulation.terms
    with code.loop(product.columns) as column:
        first = code.op(f"mul i64 {column}, {rows}")
        total = code.load_run("float", rows, sums, first)
        for start in range(0, product.depth, terms):
            part = range(start, min(start + terms, product.depth))
            total = PartialSums(code, product, a, b, column, part).added(total)
        code.store_run("float", rows, total, sums, first)


class PartialSums:
    """The products of one column that are added at a time."""

    def __init__(
        self,
        code: FunctionCode,
        product: MatrixProduct,
        a: QuickOperand,
        b: QuickOperand,
        column: str,
        part: range,
    ) -> None:
        self._code = code
        self._rows = product.rows
        self._vector = code.lanes(product.rows)
        self._places = product.accumulation.fraction_bits
        self._pairs = [
            (str(k * product.rows), code.op(f"add i64 {column}, {k * product.columns}"))
            for k in part
        ]
        self._a, self._b = a, b

    def added(self, total: str) -> str:
        """All of them and the total, cut to the same place and added, cut to single precision."""
        vector = self._vector
        top = self._top(total)
        bits = self._exponent(2 * _BIAS + _BIAS + self._places, top, "sub")
        scale = vector.cast("bitcast", "i32", bits, "float")
        kept = [self._cut(total, scale)]
        for a, b in self._factors(self._a.values, self._b.values, "float"):
            kept.append(self._cut(vector.binary("fmul", "float", a, b), scale))
        sums = [self._sum(kept[i : i + _CHUNK]) for i in range(0, len(kept) - 1, _CHUNK)]
        if self._fits(len(kept) - 1):
            return self._rounded(self._sum([*sums, *kept[len(sums) * _CHUNK :]]), top)
        return self._rounded_wide([*sums, *kept[len(sums) * _CHUNK :]], top)

    def _fits(self, terms: int) -> bool:
        """Whether sums of so many products, each below 4 in the largest's units, have 32 bits."""
        return (4 * terms + 2) << self._places < 1 << 31

    def _top(self, total: str) -> str:
        """The largest exponent, with the bias of a product."""
        vector = self._vector
        field = _field(vector, vector.cast("bitcast", "float", total, "i32"))
        top = vector.binary("add", "i32", field, vector.splat("i32", _BIAS))
        top = _larger(vector, top, vector.splat("i32", _LEAST))
        for a, b in self._factors(self._a.exponents, self._b.exponents, "i32"):
            top = _larger(vector, top, vector.binary("add", "i32", a, b))
        return top

    def _factors(self, a: str, b: str, kind: str) -> list[tuple[str, str]]:
        code, rows = self._code, self._rows
        return [
            (
                code.load_run(kind, rows, a, in_a),
                code.splat(kind, rows, code.load(kind, b, in_b, 4)),
            )
            for in_a, in_b in self._pairs
        ]

    def _exponent(self, number: int, top: str, name: str) -> str:
        """The bits of a power of two: number - top, or top - number for `rsub`."""
        vector = self._vector
        splat = vector.splat("i32", number)
        field = (
            vector.binary("sub", "i32", splat, top)
            if name == "sub"
            else vector.binary("sub", "i32", top, splat)
        )
        return vector.binary("shl", "i32", field, vector.splat("i32", _MANTISSA_BITS))

    def _cut(self, value: str, scale: str) -> str:
        vector = self._vector
        scaled = vector.binary("fmul", "float", value, scale)
        return vector.cast("fptosi", "float", scaled, "i32")

    def _sum(self, terms: list[str]) -> str:
        """Pairwise, so that additions need not wait for each other."""
        while len(terms) > 1:
            pairs = zip(terms[::2], terms[1::2], strict=False)
            joined = [self._vector.binary("add", "i32", one, other) for one, other in pairs]
            terms = joined + terms[len(terms) // 2 * 2 :]
        return terms[0]

    def _rounded(self, number: str, top: str) -> str:
        """Emits rounding towards zero: what rounding to nearest made larger is corrected."""
        vector = self._vector
        nearest = vector.cast("sitofp", "i32", number, "float")
        back = vector.cast("fptosi", "float", nearest, "i32")
        is_past = vector.binary("icmp sgt", "i32", self._size(back), self._size(number))
        bits = vector.cast("bitcast", "float", nearest, "i32")
        lost = vector.cast("sext", "i1", is_past, "i32")
        single = vector.cast("bitcast", "i32", vector.binary("add", "i32", bits, lost), "float")
        unit = self._exponent(_BIAS + self._places, top, "rsub")
        return vector.binary("fmul", "float", single, vector.cast("bitcast", "i32", unit, "float"))

    def _size(self, number: str) -> str:
        kind = self._vector.type("i32")
        return self._vector.intrinsic("abs", "i32", [(kind, number), ("i1", "false")])

    def _rounded_wide(self, parts: list[str], top: str) -> str:
        """Emits rounding towards zero of sums that may need more than 32 bits."""
        vector = self._vector
        total = vector.cast("sitofp", "i32", parts[0], "double")
        for part in parts[1:]:
            more = vector.cast("sitofp", "i32", part, "double")
            total = vector.binary("fadd", "double", total, more)
        field = vector.splat("i32", _DOUBLE_BIAS - 2 * _BIAS - self._places)
        wide = vector.cast("sext", "i32", vector.binary("add", "i32", top, field), "i64")
        bits = vector.binary("shl", "i64", wide, vector.splat("i64", _DOUBLE_MANTISSA_BITS))
        unit = vector.cast("bitcast", "i64", bits, "double")
        value = vector.binary("fmul", "double", total, unit)
        codes = cut_code(self._code, ElementFormat.F32, value, self._rows)
        return vector.cast("bitcast", "i32", codes, "float")
