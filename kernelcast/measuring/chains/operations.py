"""The chains: one operation of PTX each, that takes its own result as an operand.

Operands besides are read from memory and take turns, so that an assembler finds nothing to fold.
What it makes of a chain nevertheless, `machine` tells.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["CHAINS", "LENGTHS", "OPERANDS", "Chain"]

LENGTHS = (8, 16, 32, 64)
"""Steps of a chain's kernels, multiples of OPERANDS: few enough for the caches of instructions."""
OPERANDS = 4
_ONE_F16X2 = 0x3C003C00
_SMALL_F16X2 = 0x14001400


@dataclass(frozen=True, slots=True)
class Chain:
    """One chain. `step`: statements with `{x}`, the value handed on, and operands `{y}` and `{z}`.

    `type` is that of `{x}` and the operands in memory, whose values are `start` and `operands`.
    `setup` stands before the chain, and `{shared}`, `{constant}` and `{memory}` in statements for
    64-bit addresses of 64 bytes each.
    """

    name: str
    type: str
    step: tuple[str, ...]
    start: float = 1.0
    operands: Sequence[float] = (1.0, 1.0, 1.0, 1.0)
    setup: tuple[str, ...] = ()

    @property
    def values(self) -> bytes:
        """The start and the operands as memory holds them, 8 bytes each."""
        return b"".join(_packed(self.type, value) for value in (self.start, *self.operands))


def _packed(type_: str, value: float) -> bytes:
    if type_.startswith("f"):
        return struct.pack("<f" if type_ == "f32" else "<d", value).ljust(8, b"\0")
    return struct.pack("<Q", int(value))


_SINGLES = (1.0, 0.5, 2.0, 1.5)
_NUMBERS = (3, 5, 9, 17)
_FACTORS = (1.0 + 2**-20, 1.0 - 2**-20, 1.0 + 2**-19, 1.0 - 2**-19)
_HALVES = (_ONE_F16X2, _SMALL_F16X2, _ONE_F16X2, _SMALL_F16X2)


def _floats(type_: str) -> tuple[Chain, ...]:
    return (
        Chain(f"add.{type_}", type_, (f"add.rn.{type_} {{x}}, {{x}}, {{y}};",), 1.0, _SINGLES),
        Chain(f"mul.{type_}", type_, (f"mul.rn.{type_} {{x}}, {{x}}, {{y}};",), 1.0, _FACTORS),
        Chain(
            f"fma.{type_}", type_, (f"fma.rn.{type_} {{x}}, {{x}}, {{y}}, {{z}};",), 1.0, _FACTORS
        ),
    )


def _integers(*steps: tuple[str, str]) -> tuple[Chain, ...]:
    return tuple(Chain(name, "u32", (step,), 7, _NUMBERS) for name, step in steps)


_HALF_PAIRS = tuple(
    Chain(f"{name}.f16x2", "u32", (step,), _ONE_F16X2, _HALVES)
    for name, step in (
        ("add", "add.rn.f16x2 {x}, {x}, {y};"),
        ("mul", "mul.rn.f16x2 {x}, {x}, {y};"),
        ("fma", "fma.rn.f16x2 {x}, {x}, {y}, {z};"),
    )
)
_SPECIAL = tuple(
    Chain(name, "f32", (f"{name} {{x}}, {{x}};",), 0.7)
    for name in ("ex2.approx.ftz.f32", "rsqrt.approx.ftz.f32", "sin.approx.ftz.f32")
)
_RECIPROCAL = Chain(  # the reciprocal of a reciprocal is folded
    "rcp.approx.ftz.f32+add.f32",
    "f32",
    ("rcp.approx.ftz.f32 {x}, {x};", "add.rn.f32 {x}, {x}, {y};"),
    0.7,
    _SINGLES,
)
_WIDE = Chain(
    "mad.wide.u32",
    "u64",
    ("mov.b64 {{word, factor}}, {x};", "mad.wide.u32 {x}, word, factor, {y};"),
    7 << 32 | 5,
    _NUMBERS,
)
_CONVERSIONS = (
    Chain(
        "cvt.s32.f32+cvt.f32.s32",
        "f32",
        ("cvt.rni.s32.f32 word, {x};", "cvt.rn.f32.s32 {x}, word;"),
        5.0,
    ),
    Chain(
        "cvt.f64.f32+cvt.f32.f64",
        "f32",
        ("cvt.f64.f32 wide_float, {x};", "cvt.rn.f32.f64 {x}, wide_float;"),
        5.0,
    ),
    Chain("cvt.rni.f32.f32", "f32", ("cvt.rni.f32.f32 {x}, {x};",), 5.0),
)


def _chase(name: str, type_: str, space: str, address: str, cache: str = "") -> Chain:
    """Loads from an address that lies there itself."""
    return Chain(
        name,
        type_,
        (f"ld{space}{cache}.{type_} {{x}}, [{{x}}];",),
        setup=(
            f"cvt.{type_}.u64 {{x}}, {address};",
            f"st.volatile{space}.{type_} [{{x}}], {{x}};",
            "bar.sync 0;",
            "membar.gl;",
        ),
    )


_LOADS = (
    _chase("ld.shared", "u32", ".shared", "{shared}"),
    _chase("ld.global.ca", "u64", ".global", "{memory}", ".ca"),
    _chase("ld.global.cg", "u64", ".global", "{memory}", ".cg"),
    Chain(
        "ld.const",
        "u32",
        (
            "cvt.u64.u32 wide, {x};",
            "add.u64 wide, wide, {constant};",
            "ld.const.u32 {x}, [wide];",
        ),
        0,
        _NUMBERS,
    ),
)
_FLOW = (
    Chain(
        "setp+selp",
        "u32",
        ("setp.lt.u32 flag, {x}, {y};", "selp.u32 {x}, {y}, {z}, flag;"),
        7,
        _NUMBERS,
    ),
    Chain(
        "setp+guarded",
        "u32",
        ("setp.ne.u32 flag, {x}, {y};", "@flag xor.b32 {x}, {x}, {z};"),
        7,
        _NUMBERS,
    ),
    Chain(  # not of one value for all lanes, whose shuffle is folded
        "shfl.bfly",
        "u32",
        ("shfl.sync.bfly.b32 {x}, {x}, {y}, 31, 0xffffffff;",),
        7,
        _NUMBERS,
        setup=("mov.u32 word, %laneid;", "add.u32 {x}, {x}, word;"),
    ),
    Chain("bar.sync", "u32", ("bar.sync 0;",), 7, _NUMBERS),
)

CHAINS: tuple[Chain, ...] = (
    *_floats("f32"),
    *_floats("f64"),
    *_HALF_PAIRS,
    *_integers(
        ("add.u32", "add.u32 {x}, {x}, {y};"),
        ("mad.lo.u32", "mad.lo.u32 {x}, {x}, {y}, {z};"),
        ("lop3", "lop3.b32 {x}, {x}, {y}, {z}, 0xe8;"),
        ("shl", "shl.b32 {x}, {y}, {x};"),
        ("prmt", "prmt.b32 {x}, {y}, {z}, {x};"),
        ("popc", "popc.b32 {x}, {x};"),
        ("bfind", "bfind.u32 {x}, {x};"),
        ("clz", "clz.b32 {x}, {x};"),
    ),
    _WIDE,
    *_CONVERSIONS,
    *_SPECIAL,
    _RECIPROCAL,
    *_FLOW,
    *_LOADS,
)
