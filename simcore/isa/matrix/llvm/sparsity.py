"""Sparse matrices spread out by their metadata, as LLVM IR: the twin of `sparsity`."""

from __future__ import annotations

from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.llvm.function import FunctionCode
from kernelcast.simcore.isa.matrix.sparsity import Sparsity, slots_per_element

__all__ = ["expanded"]


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
