"""Products of whole matrices in memory as LLVM IR: the twin of `products` for tensor memory.

Two functions a product. `general` takes codes of A (rows, depth), of B (depth, columns) and of the
sums (rows, columns), gives those of the result, and takes factors and their powers of A and B as
doubles. `quick` takes A as (depth, rows) and B as (columns / 16, depth, 16), adds to the sums where
they are, and returns other than zero, having done nothing, where operands are out of the ordinary;
its factors are single precision, their powers exponents.
"""

from __future__ import annotations

from dataclasses import replace

from kernelcast.simcore.isa.matrix.accumulation import Summation
from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.llvm.elements import Values, decoded
from kernelcast.simcore.isa.matrix.llvm.function import FunctionCode
from kernelcast.simcore.isa.matrix.llvm.product import store_sums
from kernelcast.simcore.isa.matrix.llvm.quick_sums import (
    QUICK_RUN,
    PartialSums,
    QuickOperand,
    note_odd_powers,
    note_odd_sums,
    quick_operand,
)
from kernelcast.simcore.isa.matrix.products import MatrixProduct

__all__ = ["QUICK_RUN", "general_tiles", "has_quick_tiles", "quick_tiles"]

_SLAB = 16
"""Rows at a time: what a function needs of the stack stays small."""
_RUN = 8
_ATTRIBUTES = """attributes #0 = { "prefer-vector-width"="512" "min-legal-vector-width"="512" }"""


def has_quick_tiles(product: MatrixProduct) -> bool:
    """Whether products of elements are exact in single precision, and sums are f32."""
    return (
        product.accumulation.summation is Summation.ALIGNED
        and product.accumulator is product.result is ElementFormat.F32
        and product.columns % QUICK_RUN == 0
        and max(product.a.mantissa, product.b.mantissa) <= ElementFormat.TF32.mantissa
    )


def general_tiles(product: MatrixProduct, *, has_factors: bool) -> str:
    """A module with `void run(a, b, sums, result, factors of a, powers, factors of b, powers)`."""
    code = FunctionCode("tiles")
    p = product
    aligned = p.accumulation.summation is Summation.ALIGNED
    b = decoded(code, p.b, "%b", p.depth * p.columns, powers=aligned)
    if has_factors:
        _scale(code, b, "%fb", "%pb", p.depth * p.columns)
    part = replace(p, rows=_SLAB)
    with code.loop(p.rows // _SLAB) as slab:
        at_a = code.op(f"mul i64 {slab}, {_SLAB * p.depth}")
        at_c = code.op(f"mul i64 {slab}, {_SLAB * p.columns}")
        kind_a, kind_c = (f"i{max(8, f.bits)}" for f in (p.a, p.accumulator))
        codes = code.place(kind_a, "%a", at_a)
        a = decoded(code, p.a, codes, _SLAB * p.depth, powers=aligned)
        if has_factors:
            factors, powers = (code.place("double", name, at_a) for name in ("%fa", "%pa"))
            _scale(code, a, factors, powers, _SLAB * p.depth)
        sums = code.place(kind_c, "%c", at_c)
        c = decoded(code, p.accumulator, sums, _SLAB * p.columns, powers=False)
        store_sums(code, part, a, b, c, code.place(f"i{p.result.bits}", "%d", at_c))
    code.do("ret void")
    return _module(code, "void", ("%a", "%b", "%c", "%d", "%fa", "%pa", "%fb", "%pb"))


def quick_tiles(product: MatrixProduct, *, has_factors: bool) -> str:
    """A module with `i32 run(a, b, sums, factors of a, powers, factors of b, powers)`."""
    code = FunctionCode("tiles")
    p = product
    odd = code.array(QUICK_RUN, "i32")
    code.store_run("i32", QUICK_RUN, "zeroinitializer", odd, "0")
    right = quick_operand(code, p.a, "%a", p.rows * p.depth, odd)
    left = quick_operand(code, p.b, "%b", p.depth * p.columns, odd)
    if has_factors:
        _scale_quick(code, right, "%fa", "%pa", p.rows * p.depth, odd)
        _scale_quick(code, left, "%fb", "%pb", p.depth * p.columns, odd)
    note_odd_sums(code, "%c", p.rows * p.columns, odd)
    held = code.load_run("i32", QUICK_RUN, odd, "0")
    bits = code.op(f"bitcast <{QUICK_RUN} x i32> {held} to i512")
    code.do(f"br i1 {code.op(f'icmp ne i512 {bits}, 0')}, label %odd, label %quick")
    code.label("odd")
    code.do("ret i32 1")
    code.label("quick")
    _add_up(code, p, left, right)
    code.do("ret i32 0")
    return _module(code, "i32", ("%a", "%b", "%c", "%fa", "%pa", "%fb", "%pb"))


def _add_up(
    code: FunctionCode, product: MatrixProduct, left: QuickOperand, right: QuickOperand
) -> None:
    """Vectors run along the rows of the sums: elements of A are the same in all lanes."""
    terms, depth = product.accumulation.terms, product.depth
    turned = replace(product, rows=QUICK_RUN, columns=product.rows)
    with code.loop(product.columns // QUICK_RUN) as run:
        at = code.op(f"mul i64 {run}, {depth * QUICK_RUN}")
        part = QuickOperand(
            code.place("float", left.values, at), code.place("i32", left.exponents, at)
        )
        column = code.op(f"mul i64 {run}, {QUICK_RUN}")
        with code.loop(product.rows) as row:
            line = code.op(f"mul i64 {row}, {product.columns}")
            place = code.op(f"add i64 {line}, {column}")
            total = code.load_run("float", QUICK_RUN, "%c", place)
            for start in range(0, depth, terms):
                chosen = range(start, min(start + terms, depth))
                total = PartialSums(code, turned, part, right, row, chosen).added(total)
            code.store_run("float", QUICK_RUN, total, "%c", place)


def _scale(code: FunctionCode, values: Values, factors: str, powers: str, count: int) -> None:
    """Values and the powers of their exponents."""
    vector = code.lanes(_RUN)
    pairs = [(values.values, factors)] + [(values.powers, powers)] * bool(values.powers)
    with code.loop(count, _RUN) as index:
        for held, factor in pairs:
            by = code.load_run("double", _RUN, factor, index)
            old = code.load_run("double", _RUN, held, index)
            code.store_run("double", _RUN, vector.binary("fmul", "double", old, by), held, index)


def _scale_quick(
    code: FunctionCode, operand: QuickOperand, factors: str, powers: str, count: int, odd: str
) -> None:
    vector = code.lanes(QUICK_RUN)
    note_odd_powers(code, powers, count, odd)
    with code.loop(count, QUICK_RUN) as index:
        for kind, name, held, by in (
            ("float", "fmul", operand.values, factors),
            ("i32", "add", operand.exponents, powers),
        ):
            more = code.load_run(kind, QUICK_RUN, by, index)
            old = code.load_run(kind, QUICK_RUN, held, index)
            code.store_run(kind, QUICK_RUN, vector.binary(name, kind, old, more), held, index)


def _module(code: FunctionCode, result: str, names: tuple[str, ...]) -> str:
    parameters = [f"ptr {name}" for name in names]
    body = code.definition(result, parameters)
    passed = ", ".join(parameters)
    call = f"call {result} @{code.name}({passed})"
    end = "ret void" if result == "void" else "ret i32 %found"
    start = call if result == "void" else f"%found = {call}"
    outer = f"define {result} @run({passed}) {{\n  {start}\n  {end}\n}}"
    return "\n".join((*code.globals.values(), body, outer, _ATTRIBUTES))
