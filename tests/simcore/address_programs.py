"""Random programs whose addresses wrap around, end just before or behind memory, or are good.

A module has one kernel of many programs; a thread block reads from `table` which one it runs and
the numbers that it adds to addresses. So one compiled kernel serves many launches. Programs load
from `a`, store one and the same value to `b` and add to `c`: the order of thread blocks has no
effect.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

__all__ = ["BLOCKS", "WORDS", "Program", "numbers", "ptx_module"]

BLOCKS = 4
WORDS = 8
"""The words of a thread block's row in the table: the program, then displacements."""
_MASK = (1 << 64) - 1
_SHARED, _LOCAL, _CONST = 1040, 80, 528
_WINDOWS = {"shared": 1 << 40, "local": 2 << 40, "const": 3 << 40, "param": 4 << 40}
SIZES = {"shared": _SHARED, "local": _LOCAL, "const": _CONST, "param": 32}
_PLACES = (
    *("a", "a", "a", "b", "b", "c", "shared", "shared", "shared32", "shared32", "local"),
    *("const", "generic a", "generic b", "generic shared", "generic local", "generic const"),
    *("const32", "generic param", "generic c"),
)
_SCALARS = {1: ("u8", "s8", "b8"), 2: ("u16", "b16"), 4: ("u32", "s32", "f32"), 8: ("u64", "f64")}


@dataclass(frozen=True)
class Step:
    """Displacement `word` + lane stride + one of the offsets, from the start of a place."""

    place: str
    word: int
    offsets: tuple[int, ...]
    size: int


@dataclass(frozen=True)
class Program:
    text: str
    steps: tuple[Step, ...]


def numbers(choose: random.Random) -> int:
    """A power of two, one less or one more, of either sign."""
    value = (1 << choose.randrange(66)) + choose.choice((-1, 0, 0, 0, 1))
    value = (value + (1 << 63)) % (1 << 64) - (1 << 63)
    return value if choose.random() < 0.5 or value == -(1 << 63) else -value


def ptx_module(choose: random.Random, count: int) -> tuple[str, tuple[Program, ...]]:
    """The text, and its programs."""
    programs = tuple(_program(choose, number) for number in range(count))
    tests = "".join(f"setp.eq.u64 %p1, %rd1, {n}; @%p1 bra P{n};\n" for n in range(len(programs)))
    words = "".join(f"ld.global.u64 %rd{1 + i}, [%rd21+{8 * i}];" for i in range(WORDS))
    text = f""".version 8.0
.target sm_80
.address_size 64
.const .align 16 .b8 fixed[{_CONST}] = {{{", ".join(str(3 * n % 256) for n in range(_CONST))}}};
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 table, .param .u64 out)
{{
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<99>; .reg .b64 %rd<99>;
.reg .f32 %f<9>; .reg .f64 %fd<9>;
.shared .align 16 .b8 tile[{_SHARED}];
.local .align 16 .b8 own[{_LOCAL}];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; cvt.u64.u32 %rd20, %r1; mov.u64 %rd50, 0;
ld.param.u64 %rd10, [a]; ld.param.u64 %rd11, [b]; ld.param.u64 %rd12, [c];
ld.param.u64 %rd13, [table]; ld.param.u64 %rd14, [out];
mul.wide.u32 %rd21, %r2, {8 * WORDS}; add.s64 %rd21, %rd13, %rd21;
{words}
mov.u64 %rd15, tile; mov.u64 %rd16, own; mov.u64 %rd17, fixed;
{tests}
bra.uni END;
{"".join(program.text for program in programs)}
END:
mad.lo.u32 %r3, %r2, %ntid.x, %r1; mul.wide.u32 %rd22, %r3, 8; add.s64 %rd22, %rd14, %rd22;
st.global.u64 [%rd22], %rd50;
ret;
}}
"""
    return text, programs


def _program(choose: random.Random, number: int) -> Program:
    steps: list[Step] = []
    lines = [f"P{number}:"]
    for word in range(1, 1 + choose.choice((1, 1, 1, 2))):
        step, text = _step(choose, word, f"L{number}_{word}")
        steps.append(step)
        lines.append(text)
    lines.append("bra.uni END;\n")
    return Program("\n".join(lines), tuple(steps))


def _step(choose: random.Random, word: int, label: str) -> tuple[Step, str]:
    place = choose.choice(_PLACES)
    size, count = choose.choice((1, 2, 4, 4, 4, 8, 8)), choose.choice((1, 1, 1, 2, 4))
    if size * count > 16 or place.endswith("c"):
        count = 1
    if place.endswith("c"):
        size = choose.choice((4, 8))
    part, is_wide = _lane_part(choose, place, size * count)
    guard, condition = _guard(choose, is_wide=is_wide)
    text = part + _base(place, word) + condition
    offsets = _offsets(choose, size * count)
    accesses = "".join(_access(choose, place, offset, size, count, guard) for offset in offsets)
    if choose.random() < 0.2:
        stride = numbers(choose) if choose.random() < 0.15 else size * count
        add = f"add.u32 %r30, %r30, {stride & 0xFFFFFFFF};"
        accesses = (
            f"mov.u32 %r40, 0;\n{label}:\n{accesses}add.s64 %rd30, %rd30, {stride};{add}"
            f"add.u32 %r40, %r40, 1; setp.lt.u32 %p3, %r40, 3; @%p3 bra {label};\n"
        )
    return Step(place, word, offsets, size * count), text + accesses


def _offsets(choose: random.Random, size: int) -> tuple[int, ...]:
    """Offsets of accesses with one base: near each other, anywhere, or a whole turn apart."""
    first = choose.choice((0, 0, size, -size, numbers(choose), numbers(choose)))
    found = [first]
    for _ in range(choose.choice((0, 0, 1, 2, 3))):
        how = choose.random()
        if how < 0.88:
            found.append(first + size * choose.choice((0, 0, 1, 1, 1, 2, 3)))
        elif how < 0.95:
            found.append(first + numbers(choose) // size * size)
        else:
            found.append(numbers(choose))
    return tuple((o + (1 << 63)) % (1 << 64) - (1 << 63) for o in found)


def _lane_part(choose: random.Random, place: str, size: int) -> tuple[str, bool]:
    """%rd25: what a lane adds; whether that may be much."""
    stride, shift = numbers(choose), choose.randrange(70)
    small = size * choose.choice((0, 1, 1, 1, 1, 1, 2, 3, -1))
    if ("local" in place or "param" in place) and choose.random() < 0.9:
        return "mov.u64 %rd25, 0;", False
    if choose.random() < 0.7:
        stride = stride // size * size
    near = (
        "mov.u64 %rd25, 0;",
        f"mul.lo.u64 %rd25, %rd20, {small};",
        f"mul.wide.s32 %rd25, %r1, {small};",
        f"and.b32 %r25, %r1, {choose.choice((1, 3, 7, 28))}; mul.wide.s32 %rd25, %r25, {small};",
        f"shr.u32 %r25, %r1, {choose.randrange(7)}; mul.wide.s32 %rd25, %r25, {small};",
    )
    if choose.random() < 0.75:
        return choose.choice(near), False
    far = choose.choice(
        (
            f"mul.lo.u64 %rd25, %rd20, {stride};",
            f"mul.wide.s32 %rd25, %r1, {(stride & 0xFFFFFFFF) - (1 << 31)};",
            f"mul.lo.u32 %r25, %r1, {stride & 0xFFFFFFFF}; cvt.u64.u32 %rd25, %r25;",
            f"mad.lo.s32 %r25, %r1, {stride & 0xFFFFFFFF}, {small}; cvt.s64.s32 %rd25, %r25;",
            f"mov.u32 %r25, {shift}; shl.b64 %rd25, %rd20, %r25;",
            f"div.u64 %rd25, %rd20, {abs(stride) or 1}; shl.b64 %rd25, %rd25, 2;",
            "mul.lo.u64 %rd25, %rd20, %rd8;",
            f"sub.s32 %r25, %r1, {choose.randrange(40)}; mul.wide.s32 %rd25, %r25, {small};",
        )
    )
    return far, True


def _base(place: str, word: int) -> str:
    """%rd30, or %r30 with 32 bits: the start of a place, a displacement and the lane's part."""
    name = place.split()[-1].removesuffix("32")
    register = {"a": 10, "b": 11, "c": 12, "shared": 15, "local": 16, "const": 17}.get(name)
    if register is None:
        start = f"mov.u64 %rd30, {_WINDOWS['param']};"
    elif place.startswith("generic") and name in _WINDOWS:
        start = f"cvta.{name}.u64 %rd30, %rd{register};"
    else:
        start = f"mov.u64 %rd30, %rd{register};"
    move = f"add.s64 %rd30, %rd30, %rd{1 + word}; add.s64 %rd30, %rd30, %rd25;"
    return f"{start}{move}cvt.u32.u64 %r30, %rd30;\n"


def _guard(choose: random.Random, *, is_wide: bool) -> tuple[str, str]:
    most = choose.choice((1, 1, 1, 2) if is_wide else (1, 2, 4, 8, 16, 31))
    how = choose.random()
    if how < (0.1 if is_wide else 0.5):
        return "", ""
    if how < 0.7:
        return "@%p2 ", f"setp.lt.u32 %p2, %r1, {most};\n"
    if how < 0.9:
        return "@%p2 ", f"and.b32 %r26, %r1, {most}; setp.eq.u32 %p2, %r26, 0;\n"
    return "@%p2 ", "setp.eq.u64 %p2, %rd8, 4;\n"


def _access(
    choose: random.Random, place: str, offset: int, size: int, count: int, guard: str
) -> str:
    """Loads add to %rd50."""
    space = "" if place.startswith("generic") else place.removesuffix("32")
    space = "global" if space in ("a", "b", "c") else space
    at = f"[{'%r30' if place.endswith('32') else '%rd30'}{offset:+d}]"
    dot, name = f".{space}" if space else "", place.split()[-1].removesuffix("32")
    type_ = choose.choice(_SCALARS[size])
    letter = {1: "h", 2: "h", 4: "r", 8: "rd"}[size]
    letter = {"f32": "f", "f64": "fd"}.get(type_, letter)
    registers = [f"%{letter}{(60 if letter in ('r', 'rd') else 1) + i}" for i in range(count)]
    vector = "" if count == 1 else f".v{count}"
    many = registers[0] if count == 1 else f"{{{', '.join(registers)}}}"
    stores = name == "b" or (name not in ("a", "c") and choose.random() < 0.4)
    if name in ("const", "param") and not space:
        stores = choose.random() < 0.1
    elif name == "const":
        stores = False
    if name == "c" or (name == "shared" and size > 2 and choose.random() < 0.2):
        bits = 64 if size == 8 else 32
        wide = "rd" if bits == 64 else "r"
        result = f"%{wide}70"
        if name == "c" or choose.random() < 0.5:
            return f"{guard}red{dot}.add.u{bits} {at}, {3 if bits == 32 else 5};\n"
        return (
            f"mov.b{bits} {result}, 0; {guard}atom{dot}.add.u{bits} {result}, {at}, 7;\n"
            + _added(wide, result)
        )
    if stores:
        sets = "".join(_constant(letter, register) for register in registers)
        return f"{sets}{guard}st{dot}{vector}.{type_} {at}, {many};\n"
    zeros = "".join(_constant(letter, register) for register in registers)
    adds = "".join(_added(letter, register) for register in registers)
    return f"{zeros}{guard}ld{dot}{vector}.{type_} {many}, {at};\n{adds}"


def _constant(letter: str, register: str) -> str:
    kind, value = {
        "h": ("u16", "0x5A5A"),
        "r": ("u32", "0x5A5A5A5A"),
        "rd": ("u64", "0x5A5A5A5A5A5A5A5A"),
        "f": ("f32", "0f5A5A5A5A"),
        "fd": ("f64", "0d5A5A5A5A5A5A5A5A"),
    }[letter]
    return f"mov.{kind} {register}, {value};"


def _added(letter: str, register: str) -> str:
    wide = {
        "h": f"cvt.u64.u16 %rd51, {register};",
        "r": f"cvt.u64.u32 %rd51, {register};",
        "rd": f"mov.u64 %rd51, {register};",
        "f": f"mov.b32 %r52, {register}; cvt.u64.u32 %rd51, %r52;",
        "fd": f"mov.b64 %rd51, {register};",
    }[letter]
    return f"{wide} mad.lo.u64 %rd50, %rd50, 31, %rd51;\n"
