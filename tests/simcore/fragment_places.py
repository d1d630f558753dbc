"""The PTX manual's formulas of fragments, and kernels of many matrix instructions in a row.

PTX ISA 9.0, 9.7.14.5 (`mma`) and 9.7.14.6 (`mma.sp`): where a lane has its i-th element.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import execute
from kernelcast.simcore.launch.launch import Launch

Array = npt.NDArray[Any]
Places = tuple[Array, Array]
Formula = Callable[[Array, Array, Array], Places]
LANES = 32
BITS = {
    "b1": 1,
    **dict.fromkeys(("s4", "u4"), 4),
    **dict.fromkeys(("s8", "u8", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1"), 8),
    **dict.fromkeys(("f16", "bf16"), 16),
    **dict.fromkeys(("tf32", "f32", "s32"), 32),
}
"""fp6 and fp4 have a byte each; f64 has 64 bits."""

# g: groupID = lane >> 2; t: threadID_in_group = lane % 4; i: the thread's element.
OF_A: dict[tuple[str, int], Formula] = {
    ("m8n8k4", 64): lambda g, t, i: (g + 0 * i, t + 0 * i),
    ("m16n8k4", 64): lambda g, t, i: (np.where(i < 1, g, g + 8), t + 0 * i),
    ("m16n8k8", 64): lambda g, t, i: (np.where(i % 2 == 0, g, g + 8), np.where(i < 2, t, t + 4)),
    ("m16n8k16", 64): lambda g, t, i: (
        np.where(i % 2 == 0, g, g + 8),
        np.where(i % 2 == 0, i * 2 + t, i * 2 - 2 + t),
    ),
    ("m16n8k4", 32): lambda g, t, i: (np.where(i < 1, g, g + 8), t + 0 * i),
    ("m16n8k8", 32): lambda g, t, i: (np.where(i % 2 == 0, g, g + 8), np.where(i < 2, t, t + 4)),
    ("m16n8k8", 16): lambda g, t, i: (np.where(i < 2, g, g + 8), t * 2 + (i & 1)),
    ("m16n8k16", 16): lambda g, t, i: (
        np.where((i < 2) | (i >= 4) & (i < 6), g, g + 8),
        np.where(i < 4, t * 2 + (i & 1), t * 2 + (i & 1) + 8),
    ),
    ("m8n8k16", 8): lambda g, t, i: (g + 0 * i, t * 4 + i),
    ("m16n8k16", 8): lambda g, t, i: (np.where(i < 4, g, g + 8), t * 4 + (i & 3)),
    ("m16n8k32", 8): lambda g, t, i: (
        np.where((i < 4) | (i >= 8) & (i < 12), g, g + 8),
        np.where(i < 8, t * 4 + (i & 3), t * 4 + (i & 3) + 16),
    ),
    ("m8n8k32", 4): lambda g, t, i: (g + 0 * i, t * 8 + i),
    ("m16n8k32", 4): lambda g, t, i: (np.where(i < 8, g, g + 8), t * 8 + (i & 7)),
    ("m16n8k64", 4): lambda g, t, i: (
        np.where((i < 8) | (i >= 16) & (i < 24), g, g + 8),
        np.where(i < 16, t * 8 + (i & 7), t * 8 + (i & 7) + 32),
    ),
    ("m8n8k128", 1): lambda g, t, i: (g + 0 * i, t * 32 + i),
    ("m16n8k128", 1): lambda g, t, i: (np.where(i < 32, g, g + 8), t * 32 + (i & 31)),
    ("m16n8k256", 1): lambda g, t, i: (
        np.where((i < 32) | (i >= 64) & (i < 96), g, g + 8),
        np.where(i < 64, t * 32 + (i & 31), t * 32 + (i & 31) + 128),
    ),
}
OF_B: dict[tuple[int, int], Formula] = {
    (4, 64): lambda g, t, i: (t + 0 * i, g + 0 * i),
    (8, 64): lambda g, t, i: (np.where(i < 1, t, t + 4), g + 0 * i),
    (16, 64): lambda g, t, i: (t + i * 4, g + 0 * i),
    (4, 32): lambda g, t, i: (t + 0 * i, g + 0 * i),
    (8, 32): lambda g, t, i: (np.where(i < 1, t, t + 4), g + 0 * i),
    (16, 32): lambda g, t, i: (t + i * 4, g + 0 * i),
    (8, 16): lambda g, t, i: (t * 2 + i, g + 0 * i),
    (16, 16): lambda g, t, i: (np.where(i < 2, t * 2 + (i & 1), t * 2 + (i & 1) + 8), g + 0 * i),
    (32, 16): lambda g, t, i: (t * 2 + (i & 1) + 8 * (i // 2), g + 0 * i),
    (16, 8): lambda g, t, i: (t * 4 + i, g + 0 * i),
    (32, 8): lambda g, t, i: (np.where(i < 4, t * 4 + (i & 3), t * 4 + (i & 3) + 16), g + 0 * i),
    (64, 8): lambda g, t, i: (t * 4 + (i & 3) + 16 * (i // 4), g + 0 * i),
    (32, 4): lambda g, t, i: (t * 8 + i, g + 0 * i),
    (64, 4): lambda g, t, i: (np.where(i < 8, t * 8 + (i & 7), t * 8 + (i & 7) + 32), g + 0 * i),
    (128, 4): lambda g, t, i: (t * 8 + (i & 7) + 32 * (i // 8), g + 0 * i),
    (128, 1): lambda g, t, i: (t * 32 + i, g + 0 * i),
    (256, 1): lambda g, t, i: (
        np.where(i < 32, t * 32 + (i & 31), t * 32 + (i & 31) + 128),
        g + 0 * i,
    ),
}


def of_c(g: Array, t: Array, i: Array) -> Places:
    """C and D of all shapes have eight columns."""
    return np.where(i < 2, g, g + 8), t * 2 + (i & 1)


def register_bits(name: str) -> int:
    return 64 if name == "f64" else 32


def places(formula: Formula, elements: int) -> Places:
    """(row, column), each of shape (the lane's elements, LANES)."""
    lane = np.arange(LANES)[None, :]
    return formula(lane >> 2, lane % 4, np.arange(elements // LANES)[:, None])


def in_registers(codes: Array, name: str, formula: Formula) -> Array:
    """Registers (registers, LANES) that hold a matrix of codes."""
    row, column = places(formula, codes.size)
    return words_of(codes[row, column], name)


def words_of(held: Array, name: str) -> Array:
    """Codes (elements, LANES) as registers: the first element in the lowest bits."""
    if name == "f64":
        return np.asarray(held, np.uint64)
    bits = BITS[name]
    parts = held.astype(np.uint64).reshape(-1, 32 // bits, LANES) & np.uint64((1 << bits) - 1)
    shifts = (np.arange(32 // bits, dtype=np.uint64) * np.uint64(bits))[None, :, None]
    return np.asarray((parts << shifts).sum(axis=1, dtype=np.uint64), np.uint32)


def codes_in(words: Array, name: str) -> Array:
    """The inverse of `words_of`."""
    if name == "f64":
        return words
    bits = BITS[name]
    shifts = (np.arange(32 // bits, dtype=np.uint32) * np.uint32(bits))[None, :, None]
    held = (words[:, None, :] >> shifts) & np.uint32((1 << bits) - 1 if bits < 32 else 0xFFFFFFFF)
    return np.asarray(held.reshape(-1, LANES))


def out_of_registers(words: Array, name: str, shape: tuple[int, int], formula: Formula) -> Array:
    row, column = places(formula, shape[0] * shape[1])
    codes = np.zeros(shape, words.dtype)
    codes[row, column] = codes_in(words, name)
    return codes


@dataclass
class Statement:
    """An instruction with its sources' registers, each (registers, LANES); `result` is filled in.

    A source that stands alone, such as metadata, has no braces; `tail` follows the operands.
    """

    mnemonic: str
    sources: list[Array]
    result: Array
    alone: frozenset[int] = frozenset()
    tail: str = ""
    offsets: list[int] = field(default_factory=list)


def run_all(statements: list[Statement], target: str, engine: str) -> None:
    """One kernel executes all of them, by one warp."""
    given, end = _gathered(statements)
    out = np.zeros(end, np.uint32)
    lines = [
        f".version 9.0\n.target {target}\n.address_size 64",
        ".visible .entry k(.param .u64 in, .param .u64 out)\n{",
        ".reg .b64 %in, %out, %in8, %out8; .reg .b32 %lane; mov.u32 %lane, %tid.x;",
        "ld.param.u64 %in8, [in]; ld.param.u64 %out8, [out];",
        "mad.wide.u32 %in, %lane, 4, %in8; mad.wide.u32 %in8, %lane, 8, %in8;",
        "mad.wide.u32 %out, %lane, 4, %out8; mad.wide.u32 %out8, %lane, 8, %out8;",
    ]
    place = 0
    for number, statement in enumerate(statements):
        lines += _lines(statement, number, place)
        place += statement.result.nbytes
    module = read_ptx("\n".join([*lines, "ret;\n}"]), "k.ptx")
    for reasons in module.rejected.values():
        raise reasons[0]
    execute(module.kernels["k"], Launch((1, 1, 1), (LANES, 1, 1), (given, out)), engine=engine)
    place = 0
    for statement in statements:
        size = statement.result.nbytes
        found = out.view(np.uint8)[place : place + size].view(statement.result.dtype)
        statement.result[...] = found.reshape(statement.result.shape)
        place += size


def _gathered(statements: list[Statement]) -> tuple[Array, int]:
    """All sources one after the other, and the words of all results."""
    parts, at = [], 0
    for statement in statements:
        statement.offsets = []
        for source in statement.sources:
            statement.offsets.append(at)
            parts.append(np.ascontiguousarray(source).reshape(-1).view(np.uint32))
            at += source.nbytes
    return np.concatenate(parts), sum(s.result.nbytes for s in statements) // 4


def _lines(statement: Statement, number: int, result_at: int) -> list[str]:
    """Loads, the instruction and stores."""
    operands, lines = [], []
    for which, registers in enumerate([statement.result, *statement.sources]):
        size = registers.dtype.itemsize
        names = [f"%s{number}_{which}_{r}" for r in range(len(registers))]
        lines.append(f".reg .b{8 * size} {', '.join(names)};")
        if which:
            base = "%in8" if size == 8 else "%in"
            at = statement.offsets[which - 1]
            lines += [
                f"ld.global.b{8 * size} {name}, [{base}+{at + LANES * size * r}];"
                for r, name in enumerate(names)
            ]
        operands.append(names[0] if which in statement.alone else "{" + ", ".join(names) + "}")
    lines.append(f"{statement.mnemonic} {', '.join(operands)}{statement.tail};")
    size = statement.result.dtype.itemsize
    base = "%out8" if size == 8 else "%out"
    return lines + [
        f"st.global.b{8 * size} [{base}+{result_at + LANES * size * r}], %s{number}_0_{r};"
        for r in range(len(statement.result))
    ]
