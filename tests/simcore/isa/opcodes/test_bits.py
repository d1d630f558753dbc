"""Logic, shifts and bit manipulation, against the definitions over single bits and bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kernelcast.simcore.isa.opcodes.table import OPCODES, Context
from kernelcast.simcore.isa.types import ScalarType, Unit
from tests.simcore.isa.opcodes.verification import check_opcode

Oracle = Callable[..., Any]


def _raw(context: Context, value: int) -> int:
    return int(value) % (1 << context.type.bits)


def _lop3(_context: Context, a: int, b: int, c: int, table: int) -> int:
    return sum(
        (table >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1) << i for i in range(32)
    )


def _shl(context: Context, a: int, amount: int) -> int:
    return a << amount if amount < context.type.bits else 0


def _shr(context: Context, a: int, amount: int) -> int:
    return a >> min(amount, context.type.bits)


def _funnel(direction: str, mode: str) -> Oracle:
    def oracle(_context: Context, low: int, high: int, amount: int) -> int:
        shift = min(amount, 32) if mode == "clamp" else amount % 32
        value = high << 32 | low
        return value << shift >> 32 if direction == "l" else value >> shift

    return oracle


def _bfind(context: Context, a: int) -> int:
    return (~a if a < 0 else a).bit_length() - 1


def _bfind_shiftamt(context: Context, a: int) -> int:
    found = _bfind(context, a)
    return -1 if found < 0 else context.type.bits - 1 - found


def _brev(context: Context, a: int) -> int:
    return int(f"{a:0{context.type.bits}b}"[::-1], 2)


def _bfe(context: Context, a: int, position: int, length: int) -> int:
    bits, raw = context.type.bits, _raw(context, a)
    start, size = position % 256, length % 256
    extends = context.type.is_signed and size > 0
    sign = raw >> min(start + size - 1, bits - 1) & 1 if extends else 0
    taken = [raw >> (start + i) & 1 if i < size and start + i < bits else sign for i in range(bits)]
    return sum(bit << i for i, bit in enumerate(taken))


def _bfi(context: Context, a: int, b: int, position: int, length: int) -> int:
    start, size = position % 256, length % 256
    for i in range(size):
        if start + i < context.type.bits:
            b = b & ~(1 << (start + i)) | (a >> i & 1) << (start + i)
    return b


def _bmsk(position: int, length: int) -> int:
    return sum(1 << i for i in range(position, position + length) if i < 32)


def _prmt(_context: Context, a: int, b: int, selector: int) -> int:
    source = a.to_bytes(4, "little") + b.to_bytes(4, "little")
    taken = []
    for i in range(4):
        nibble = selector >> (4 * i) & 15
        byte = source[nibble & 7]
        taken.append((255 if byte & 128 else 0) if nibble & 8 else byte)
    return int.from_bytes(bytes(taken), "little")


def _prmt_mode(pick: Callable[[int, int], int]) -> Oracle:
    """`pick` gives the source byte of result byte i for a selector n."""

    def oracle(context: Context, a: int, b: int, selector: int) -> int:
        n = selector & 3
        return _prmt(context, a, b, sum(pick(i, n) << (4 * i) for i in range(4)))

    return oracle


def _dp4a(context: Context, a: int, b: int, c: int) -> int:
    words = [
        np.array([x % (1 << 32)], np.uint32).view(np.int8 if t.is_signed else np.uint8)
        for x, t in ((a, context.type), (b, context.source_type))
    ]
    return c + sum(int(x) * int(y) for x, y in zip(*words, strict=True))


def _dp2a(first_byte: int) -> Oracle:
    def oracle(context: Context, a: int, b: int, c: int) -> int:
        halves = np.array([a % (1 << 32)], np.uint32)
        halves = halves.view(np.int16 if context.type.is_signed else np.uint16)
        bytes_ = np.array([b % (1 << 32)], np.uint32)
        bytes_ = bytes_.view(np.int8 if context.source_type.is_signed else np.uint8)
        return c + sum(int(halves[i]) * int(bytes_[first_byte + i]) for i in range(2))

    return oracle


def _szext(clamps: bool) -> Oracle:
    def oracle(context: Context, a: int, length: int) -> int:
        length = min(length, 32) if clamps else length % 32
        field = a % (1 << length)
        is_negative = context.type.is_signed and length > 0 and field >> (length - 1)
        return field - (1 << length) if is_negative else field

    return oracle


def _fns(_context: Context, mask: int, base: int, offset: int) -> int:
    """The definition of the PTX ISA; a base above 31 is undefined there, here it wraps."""
    base %= 32
    distance = offset - (1 << 32) if offset >> 31 else offset
    if distance == 0:
        return base if mask >> base & 1 else -1
    places = range(base, 32) if distance > 0 else range(base, -1, -1)
    found = [place for place in places if mask >> place & 1]
    return found[abs(distance) - 1] if abs(distance) <= len(found) else -1


def _lop3_with(combine: Callable[[bool, bool], bool]) -> Oracle:
    def oracle(context: Context, a: int, b: int, c: int, table: int, q: bool) -> tuple[int, bool]:
        result = _lop3(context, a, b, c, table)
        return result, combine(result != 0, q)

    return oracle


ORACLES: dict[str, Oracle] = {
    "dp2a.lo": _dp2a(0),
    "dp2a.hi": _dp2a(2),
    "szext.clamp": _szext(clamps=True),
    "szext.wrap": _szext(clamps=False),
    "fns": _fns,
    "lop3.and": _lop3_with(lambda x, q: x and q),
    "lop3.or": _lop3_with(lambda x, q: x or q),
    "and": lambda _c, a, b: a & b,
    "or": lambda _c, a, b: a | b,
    "xor": lambda _c, a, b: a ^ b,
    "not": lambda c, a: not a if c.type is ScalarType.PRED else ~a,
    "cnot": lambda _c, a: int(a == 0),
    "lop3": _lop3,
    "shl": _shl,
    "shr": _shr,
    **{f"shf.{d}.{m}": _funnel(d, m) for d in "lr" for m in ("wrap", "clamp")},
    "popc": lambda _c, a: bin(a).count("1"),
    "clz": lambda c, a: c.type.bits - a.bit_length(),
    "bfind": _bfind,
    "bfind.shiftamt": _bfind_shiftamt,
    "brev": _brev,
    "bfe": _bfe,
    "bfi": _bfi,
    "bmsk.clamp": lambda _c, position, length: _bmsk(min(position, 32), min(length, 32)),
    "bmsk.wrap": lambda _c, position, length: _bmsk(position % 32, length % 32),
    "prmt": _prmt,
    "prmt.f4e": _prmt_mode(lambda i, n: n + i),
    "prmt.b4e": _prmt_mode(lambda i, n: (n - i) % 8),
    "prmt.rc8": _prmt_mode(lambda _i, n: n),
    "prmt.ecl": _prmt_mode(max),
    "prmt.ecr": _prmt_mode(min),
    "prmt.rc16": _prmt_mode(lambda i, n: 2 * (n & 1) + (i & 1)),
    "dp4a": _dp4a,
}

NAMES = [
    name
    for name, entry in OPCODES.items()
    if entry.compute.__module__.endswith((".logic", ".bits", ".bit_search"))
]


@pytest.mark.parametrize("name", NAMES)
def test_bits(name: str) -> None:
    for type_ in OPCODES[name].types:
        check_opcode(name, ORACLES[name], Context(type_, type_, frozenset()))


@pytest.mark.parametrize("types", ["u32 s32", "s32 u32"])
def test_dot_products_of_mixed_signs(types: str) -> None:
    a, b = (ScalarType.named(name) for name in types.split())
    for name in ("dp4a", "dp2a.lo", "dp2a.hi"):
        check_opcode(name, ORACLES[name], Context(a, b, frozenset()))


@pytest.mark.parametrize(
    ("mask", "base", "offset", "expected"),
    [
        # the examples of the PTX ISA
        (0xAAAAAAAA, 3, 1, 3),
        (0xAAAAAAAA, 3, -1, 3),
        (0xAAAAAAAA, 2, 1, 3),
        (0xAAAAAAAA, 2, -1, 1),
        (0xAAAAAAAA, 0, 16, 31),
        (0xAAAAAAAA, 0, 17, 0xFFFFFFFF),
    ],
)
def test_find_nth_set(mask: int, base: int, offset: int, expected: int) -> None:
    context = Context(ScalarType.B32, ScalarType.B32, frozenset())
    operands = [np.array(x % (1 << 32), np.uint32) for x in (mask, base, offset)]
    assert int(OPCODES["fns"].compute(context, *operands)) == expected


def test_find_nth_set_of_random_masks() -> None:
    generator = np.random.default_rng(4)
    mask = generator.integers(0, 1 << 32, 3000, np.uint32)
    base, offset = generator.integers(0, 32, 3000), generator.integers(-20, 20, 3000)
    context = Context(ScalarType.B32, ScalarType.B32, frozenset())
    operands = [mask, base.astype(np.uint32), offset.astype(np.int32).view(np.uint32)]
    found = OPCODES["fns"].compute(context, *operands).tolist()
    rows = zip(*(x.tolist() for x in operands), strict=True)
    assert found == [_fns(context, *row) % (1 << 32) for row in rows]


def test_units() -> None:
    def unit(name: str, type_: ScalarType) -> Unit:
        return OPCODES[name].unit(Context(type_, type_, frozenset()))

    assert unit("and", ScalarType.B32) is Unit.INTEGER
    assert unit("and", ScalarType.PRED) is Unit.MOVE
    assert unit("shl", ScalarType.B64) is Unit.INTEGER
    assert unit("popc", ScalarType.B32) is Unit.INTEGER
