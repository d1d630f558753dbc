"""Statements of PTX on floating-point numbers as kernels, with hard operands for all of them.

A statement names its operands by letters (`f`, `g`, `h` are three f32, see `OPERANDS`) and its
result `rf`, `rm`, `rh`, `ri`, `rx`, `rp` (f32, f64, 16, 32, 64 bits, a predicate) or `rp|rq`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.inputs.native.cubins import assembled_module
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.native_programs import EXACT, needs_tools, outputs

__all__ = [
    "LANES",
    "OPERANDS",
    "Bits",
    "FloatStatement",
    "assert_same_as_ptx",
    "kernels_of",
    "operand_bits",
    "results_of",
    "sample",
    "without_payloads",
]

Bits = npt.NDArray[np.uint64]
LANES = 1024
_THREADS = 128
_PER_KERNEL = 12
_OPERANDS = {
    "f32": (("f", "g", "h"), "f32", 32),
    "f64": (("m", "n", "o"), "f64", 64),
    "f16": (("ha", "hb", "hc"), "b16", 16),
    "bf16": (("ba", "bb", "bc"), "b16", 16),
    "f16x2": (("u", "v", "w"), "b32", 32),
    "bf16x2": (("U", "V", "W"), "b32", 32),
    "f32x2": (("xx", "yy", "zz"), "b64", 64),
    "s32": (("i", "j", "k"), "b32", 32),
    "s64": (("x", "y", "z"), "b64", 64),
    "s16": (("si", "sj", "sk"), "b16", 16),
}
"""Kind of operand: the letters of three, the type of their registers and its bits."""
OPERANDS = {
    letter: (kind, position, type_, bits)
    for kind, (letters, type_, bits) in _OPERANDS.items()
    for position, letter in enumerate(letters)
}
_RESULT = re.compile(r"(?<![.\w])(rf|rm|rh|ri|rx|rp)\b")
_STORED = {
    "rf": "mov.b32 word, rf; cvt.u64.u32 wide, word;",
    "rm": "mov.b64 wide, rm;",
    "rh": "cvt.u64.u16 wide, rh;",
    "ri": "cvt.u64.u32 wide, ri;",
    "rx": "mov.b64 wide, rx;",
    "rp": "selp.u32 word, 1, 0, rp; cvt.u64.u32 wide, word;",
    "rp|rq": "selp.u32 word, 1, 0, rp; selp.u32 other, 2, 0, rq; or.b32 word, word, other;"
    " cvt.u64.u32 wide, word;",
}


@dataclass(frozen=True, slots=True)
class FloatStatement:
    """A statement, what its result is (a kind of operand, or raw bits), and from which sm_ on."""

    text: str
    result: str = "raw"
    since: int = 0

    @property
    def letters(self) -> tuple[str, ...]:
        """The operands that it names."""
        words = re.findall(r"(?<![.\w])[A-Za-z]+(?![\w])", self.text)
        return tuple(dict.fromkeys(word for word in words if word in OPERANDS))


_NUMBERS = (0, 1, 1.5, 2, 3, 0.1, 0.5, 0.25, 2.5, 3.5, 255.5, 127.5, 128.49, 65504)
_LARGE = (65520, 70000, 2**31, 2**31 - 128, 2**32, 2**63, 1e10, 3e38, 1e-30, 1.0000001)
_INTEGERS = (0, 1, 2, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**24 + 1, 2**25 + 3)
_SPECIAL = {
    "f32": (0x7F800000, 0x7FC00000, 0x7FFFFFFF, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x387FC000),
    "f64": (0x7FF << 52, 0xFFF << 51, 1, (1 << 52) - 1, 1 << 52, (0x7FF << 52) - 1, 0x380 << 52),
    "f16": (0x7C00, 0x7E00, 0x7FFF, 1, 0x3FF, 0x400, 0x7BFF),
}


def _signed(values: Sequence[int], bits: int) -> list[int]:
    return [value | sign << (bits - 1) for value in values for sign in (0, 1)]


@cache
def _hard(kind: str) -> tuple[int, ...]:
    if kind == "f32":
        words = np.array((*_NUMBERS, *_LARGE), np.float32).view(np.uint32)
        return tuple(_signed([*map(int, words), *_SPECIAL[kind]], 32))
    if kind == "f64":
        words64 = np.array((*_NUMBERS, *_LARGE), np.float64).view(np.uint64)
        return tuple(_signed([*map(int, words64), *_SPECIAL[kind]], 64))
    if kind == "f16":
        halves = np.array(_NUMBERS, np.float16).view(np.uint16)
        return tuple(_signed([*map(int, halves), *_SPECIAL[kind]], 16))
    if kind == "bf16":
        return tuple(dict.fromkeys(word >> 16 for word in _hard("f32")))
    bits = int(kind[1:])
    numbers = [*_INTEGERS, 2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1, 2**60 + 2**36 + 1]
    return tuple({n & ((1 << bits) - 1) for value in numbers for n in (value, ~value, -value)})


@cache
def operand_bits(kind: str) -> Bits:
    """Three operands for each lane, shape (3, lanes): hard values, numbers near 1, any bits."""
    if kind.endswith("x2"):
        low = operand_bits(kind[:-2])
        return low | np.roll(low, 77, axis=1) << np.uint64(int(kind[:-2].strip("bf")))
    bits, draw = int(kind.strip("bfs")), np.random.default_rng(len(kind) + ord(kind[-1]))
    hard = np.array(_hard(kind), np.uint64)
    found = draw.choice(hard, (3, LANES))
    quarter = LANES // 4
    top = (1 << bits) - 1
    found[:, :quarter] = draw.integers(0, top, (3, quarter), np.uint64, endpoint=True)
    near = draw.standard_normal((3, quarter)) * 2.0 ** draw.integers(-8, 8, (3, quarter))
    near = np.clip(near, -6e4, 6e4)
    found[:, quarter : 2 * quarter] = _bits_of(near, kind)
    return found


def _bits_of(numbers: npt.NDArray[np.float64], kind: str) -> Bits:
    if kind == "f64":
        return numbers.view(np.uint64)
    if kind == "f16":
        return numbers.astype(np.float16).view(np.uint16).astype(np.uint64)
    if kind.startswith("s"):
        mask = np.uint64((1 << int(kind[1:])) - 1)
        return numbers.astype(np.int64).view(np.uint64) & mask
    single = numbers.astype(np.float32).view(np.uint32).astype(np.uint64)
    return single >> np.uint64(16) if kind == "bf16" else single


def _kernel(name: str, statements: Sequence[FloatStatement]) -> str:
    letters = dict.fromkeys(letter for item in statements for letter in item.letters)
    lines = [
        f".visible .entry {name}("
        + ", ".join(f".param .u64 p_{kind}" for kind in _OPERANDS)
        + ", .param .u64 p_out) {",
        ".reg .b64 at, wide, step, out; .reg .b32 tid, block, size, lane, word, other;",
        ".reg .pred p, rp, rq; .reg .f32 rf; .reg .f64 rm; .reg .b16 rh; .reg .b32 ri;",
        ".reg .b64 rx; mov.u32 tid, %tid.x; mov.u32 block, %ctaid.x; mov.u32 size, %ntid.x;",
        "mad.lo.u32 lane, block, size, tid; ld.param.u64 out, [p_out];",
        "mul.wide.u32 step, lane, 8; add.u64 out, out, step;",
        "and.b32 word, lane, 1; setp.ne.u32 p, word, 0;",
    ]
    for letter in letters:
        kind, position, type_, bits = OPERANDS[letter]
        size = bits // 8
        place = position * LANES * size
        lines += [
            f".reg .{type_} {letter}; ld.param.u64 at, [p_{kind}];",
            f"mul.wide.u32 step, lane, {size}; add.u64 at, at, step;",
            f"ld.global.{type_} {letter}, [at+{place}];",
        ]
    for index, statement in enumerate(statements):
        match = _RESULT.search(statement.text)
        assert match is not None, statement.text
        result = "rp|rq" if "rp|rq" in statement.text else match[1]
        lines.append(f"{{ {statement.text}; }} {_STORED[result]}")
        lines.append(f"st.global.u64 [out+{index * LANES * 8}], wide;")
    return "\n".join([*lines, "ret; }"])


def kernels_of(
    statements: Sequence[FloatStatement], architecture: str
) -> list[tuple[Sequence[FloatStatement], Kernel, Kernel]]:
    """Groups of statements, each with its kernel in PTX and as machine code."""
    needs_tools(architecture)
    parts = [statements[i : i + _PER_KERNEL] for i in range(0, len(statements), _PER_KERNEL)]
    version = "8.8" if int(re.sub(r"\D", "", architecture)) >= 75 else "8.6"
    ptx = "\n".join(
        [
            f".version {version}",
            f".target {architecture}",
            ".address_size 64",
            *(_kernel(f"k{i}", part) for i, part in enumerate(parts)),
        ]
    )
    source = read_ptx(ptx, "k.ptx")
    module = assembled_module(ptx, architecture, "k.ptx", source, EXACT)
    for reasons in (*source.rejected.values(), *module.rejected.values()):
        raise reasons[0]
    names = [f"k{i}" for i in range(len(parts))]
    return [
        (part, source.kernels[name], module.kernels[name])
        for part, name in zip(parts, names, strict=True)
    ]


def _arguments(count: int) -> tuple[Any, ...]:
    words = {
        kind: operand_bits(kind).astype(np.dtype(f"u{bits // 8}")).reshape(-1)
        for kind, (_, _, bits) in _OPERANDS.items()
    }
    return (*words.values(), np.zeros(count * LANES, np.uint64))


def results_of(kernel: Kernel, count: int, engine: str) -> Bits:
    """The bits of every statement's result, shape (statements, lanes)."""
    grid = (LANES // _THREADS, 1, 1)
    launch = Launch(grid=grid, thread_block=(_THREADS, 1, 1), arguments=_arguments(count))
    found: Bits = outputs(kernel, launch, engine)[-1]
    return found.reshape(count, LANES)


_INFINITIES = {
    "f32": (0x7F800000, 31),
    "f64": (0x7FF << 52, 63),
    "f16": (0x7C00, 15),
    "bf16": (0x7F80, 15),
}


def without_payloads(bits: Bits, kind: str) -> Bits:
    """Bits of which all NaNs are one."""
    if kind.endswith("x2"):
        width = np.uint64(int(kind[:-2].strip("bf")))
        low = bits & ((np.uint64(1) << width) - np.uint64(1))
        halves = (without_payloads(half, kind[:-2]) for half in (low, bits >> width))
        lower, upper = halves
        return lower | upper << width
    if kind not in _INFINITIES:
        return bits
    infinity, top = _INFINITIES[kind]
    magnitude = bits & np.uint64((1 << top) - 1)
    return np.where(magnitude > infinity, np.uint64(infinity + 1), bits)


def sample(
    statements: Sequence[FloatStatement], architecture: str, among: Sequence[str]
) -> list[FloatStatement]:
    """A share of the statements that an architecture has; all together get to every statement."""
    number = int(re.sub(r"\D", "", architecture))
    numbers = [int(re.sub(r"\D", "", name)) for name in among]
    found = []
    for index, statement in enumerate(statements):
        able = [n for n in numbers if n >= statement.since]
        if number in able and index % len(able) == able.index(number):
            found.append(statement)
    random.Random(number).shuffle(found)
    return found


def assert_same_as_ptx(
    statements: Sequence[FloatStatement], architecture: str, engines: Sequence[str]
) -> None:
    """Machine code gives what PTX gives, NaN payloads aside; the JIT engine takes every third."""
    for index, (part, source, machine) in enumerate(kernels_of(statements, architecture)):
        wanted = results_of(source, len(part), "reference")
        for engine in engines:
            if engine == "jit" and index % 3:
                continue
            found = results_of(machine, len(part), engine)
            for row, statement in enumerate(part):
                kind = statement.result
                want, got = (without_payloads(x[row], kind) for x in (wanted, found))
                wrong = np.flatnonzero(want != got)
                assert not wrong.size, _described(statement, want, got, int(wrong[0]), engine)


def _described(statement: FloatStatement, want: Bits, got: Bits, lane: int, engine: str) -> str:
    operands = ", ".join(
        f"{letter}={int(operand_bits(OPERANDS[letter][0])[OPERANDS[letter][1]][lane]):#x}"
        for letter in statement.letters
    )
    return f"{statement.text} on {engine}: {operands}: {int(got[lane]):#x} for {int(want[lane]):#x}"
