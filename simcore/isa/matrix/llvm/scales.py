"""Scales of blocks as LLVM IR: the twin of `block_scales`."""

from __future__ import annotations

from kernelcast.simcore.isa.matrix.block_scales import BlockScales, scale_powers, scale_values
from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.llvm.elements import Values
from kernelcast.simcore.isa.matrix.llvm.function import FunctionCode
from kernelcast.simcore.isa.matrix.products import MatrixProduct
from kernelcast.simcore.isa.matrix.sparsity import Sparsity, slots_per_element

__all__ = [
    "expanded",
    "scaled",
]

_RUN = 8
_LANE_BYTES, _LINE_BYTES, _PAIR_BYTES = 4, 16, 8


def scaled(
    code: FunctionCode,
    scales: BlockScales,
    product: MatrixProduct,
    a: Values,
    b: Values,
    operands: list[str],
) -> None:
    """Multiplies the values, and the powers of their exponents, by the scales of their blocks.

    `operands`: vectors of lanes as `SCALE_SOURCES` lists them.
    """
    tables = [(a.values, b.values, code.doubles("scales", scale_values(scales.format)))]
    if a.powers:
        tables.append((a.powers, b.powers, code.doubles("powers", scale_powers(scales.format))))
    codes_a = _codes(code, scales, product.rows, operands[:3], _PAIR_BYTES)
    codes_b = _codes(code, scales, product.columns, operands[3:], _LANE_BYTES)
    for in_a, in_b, table in tables:
        _scale_rows(
            code,
            scales,
            product,
            in_a,
            _looked_up(code, table, codes_a, product.rows * scales.blocks),
        )
        _scale_columns(
            code,
            scales,
            product,
            in_b,
            _looked_up(code, table, codes_b, product.columns * scales.blocks),
        )


def _codes(
    code: FunctionCode, scales: BlockScales, lines: int, operands: list[str], lane_step: int
) -> str:
    """The bytes of each block of each line: all lines of the first block, then of the next."""
    held = code.array(32, "i32")
    code.store_run("i32", 32, operands[0], held, "0")
    byte, lane = (
        code.op(f"zext i16 {code.op(f'extractelement <32 x i16> {o}, i32 0')} to i64")
        for o in operands[1:]
    )
    lane = code.op(f"and i64 {lane}, {_LINE_BYTES // lane_step - 1}")
    start = code.op(f"mul i64 {lane}, {lane_step}")
    codes = code.array(lines * scales.blocks, "i8")
    for block in range(scales.blocks):
        within = code.op(f"and i64 {code.op(f'add i64 {byte}, {block}')}, 3")
        first = code.op(f"add i64 {start}, {within}")
        for line in range(lines):
            place = line % 8 * _LINE_BYTES + line // 8 * _LANE_BYTES
            value = code.load("i8", held, code.op(f"add i64 {first}, {place}"))
            code.do(f"store i8 {value}, ptr {code.place('i8', codes, str(block * lines + line))}")
    return codes


def _looked_up(code: FunctionCode, table: str, codes: str, count: int) -> str:
    found = code.array(count, "double")
    with code.loop(count) as index:
        number = code.op(f"zext i8 {code.load('i8', codes, index)} to i64")
        value = code.load("double", table, number, 8)
        code.do(f"store double {value}, ptr {code.place('double', found, index)}, align 8")
    return found


def _scale_rows(
    code: FunctionCode, scales: BlockScales, product: MatrixProduct, values: str, factors: str
) -> None:
    length = product.depth // scales.blocks
    for block in range(scales.blocks):
        with code.loop(product.rows) as row:
            at = code.op(f"add i64 {row}, {block * product.rows}")
            factor = code.splat("double", _RUN, code.load("double", factors, at, 8))
            line = code.op(f"mul i64 {row}, {product.depth}")
            for step in range(block * length, (block + 1) * length, _RUN):
                _multiply(code, values, code.op(f"add i64 {line}, {step}"), factor)


def _scale_columns(
    code: FunctionCode, scales: BlockScales, product: MatrixProduct, values: str, factors: str
) -> None:
    length = product.depth // scales.blocks
    for block in range(scales.blocks):
        for column in range(0, product.columns, _RUN):
            at = str(block * product.columns + column)
            factor = code.load_run("double", _RUN, factors, at)
            with code.loop(length) as k:
                line = code.op(f"add i64 {k}, {block * length}")
                place = code.op(f"mul i64 {line}, {product.columns}")
                _multiply(code, values, code.op(f"add i64 {place}, {column}"), factor)


def _multiply(code: FunctionCode, values: str, place: str, factor: str) -> None:
    held = code.load_run("double", _RUN, values, place)
    product = code.lanes(_RUN).binary("fmul", "double", held, factor)
    code.store_run("double", _RUN, product, values, place)


def expanded(
    code: FunctionCode, sparsity: Sparsity, format_: ElementFormat, compact: str, metadata: str
) -> str:
    """Codes in matrix order with zeros in between; `metadata`: the words of the 32 lanes."""
    kind = f"i{max(8, format_.bits)}"
    per_chunk = slots_per_element(format_) // 2
    chunks = sparsity.rows * sparsity.chunks
    offsets = sparsity.bit_offsets().reshape(-1)
    bytes_at = code.table("meta", "i32", (offsets // 8).tolist())
    shifts = code.table("meta.shift", "i8", (offsets % 8).tolist())
    dense = code.array(2 * per_chunk * chunks, kind)
    with code.loop(2 * per_chunk * chunks) as index:
        code.do(f"store {kind} 0, ptr {code.place(kind, dense, index)}")
    with code.loop(chunks) as chunk:
        place = code.op(f"zext i32 {code.load('i32', bytes_at, chunk, 4)} to i64")
        held = code.load("i8", metadata, place)
        bits = code.op(f"lshr i8 {held}, {code.load('i8', shifts, chunk)}")
        start = code.op(f"mul i64 {chunk}, {per_chunk}")
        first = code.op(f"shl i64 {start}, 1")
        for element in range(per_chunk):
            number = element * 2 // max(2, per_chunk)
            slot = code.op(f"and i8 {code.op(f'lshr i8 {bits}, {2 * number}')}, 3")
            wide = code.op(f"zext i8 {slot} to i64")
            scaled = code.op(f"lshr i64 {code.op(f'mul i64 {wide}, {2 * per_chunk}')}, 2")
            within = code.op(f"add i64 {scaled}, {element % max(1, per_chunk // 2)}")
            target = code.op(f"add i64 {first}, {within}")
            value = code.load(kind, compact, code.op(f"add i64 {start}, {element}"))
            code.do(f"store {kind} {value}, ptr {code.place(kind, dense, target)}")
    return dense
