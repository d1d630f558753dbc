"""The LLVM meaning of every opcode against its NumPy meaning: bit for bit on hard values.

Approximations may be off by one unit in the last place.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
import struct
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kernelcast.simcore.isa.native_code import NativeCode
from kernelcast.simcore.isa.opcodes import OPCODES, Context
from kernelcast.simcore.isa.packed import elements
from kernelcast.simcore.isa.types import Kind, ScalarType
from kernelcast.simcore.isa.verification import comparable_bits, operand_arrays
from kernelcast.simcore.isa.verification_values import encoded, rounded
from kernelcast.simcore.llvm import compile_module, emit_object, host_supports_vectors

pytestmark = pytest.mark.skipif(not host_supports_vectors(), reason="no vector unit to compile for")

LANES = (1, 8)
APPROXIMATIONS = ("sin", "cos", "ex2", "lg2", "tanh")
INTEGRAL = ("rni", "rzi", "rmi", "rpi")
DIRECTED = ("rz", "rm", "rp")
SATURATING_INTEGER = ("add", "sub", "mad.hi", "mad24.hi")
FAMILIES = sorted({entry.compute.__module__.rpartition(".")[2] for entry in OPCODES.values()})

MANY = 1200
Case = tuple[str, Context]
Row = tuple[Any, ...]

_operands = functools.cache(operand_arrays)


def _names(family: str) -> list[str]:
    return [n for n, e in OPCODES.items() if e.compute.__module__.endswith(f".{family}")]


def _sources(name: str, type_: ScalarType) -> list[ScalarType]:
    """The second types that PTX has for the opcode."""
    match name.split("."):
        case ["set", *_] if type_.is_packed:
            return [t for t in OPCODES[name].sources if t is type_]
        case ["set", *_] if type_ not in (ScalarType.U32, ScalarType.S32):
            return [t for t in _sorted(OPCODES[name].sources) if not t.is_packed]
    return _sorted(OPCODES[name].sources) or [type_]


def _sorted(types: Iterable[ScalarType]) -> list[ScalarType]:
    return sorted(types, key=lambda t: t.ptx_name)


def _choices(name: str, type_: ScalarType, source: ScalarType) -> list[list[str]]:
    """Modifiers that exclude each other, group by group; "" for none of them."""
    honoured = OPCODES[name].modifiers
    rounding = [""]
    is_brain = type_.element is ScalarType.BF16
    if name.startswith("cvt"):
        if type_.holds_floats:
            rounding += DIRECTED
        if type_.element.kind is Kind.ALTERNATE:
            rounding.append("rna")
        if source.is_float:
            rounding = ["", *INTEGRAL] if type_.is_integer else [*rounding, *INTEGRAL]
    elif type_.holds_floats and not is_brain and "rz" in honoured:
        rounding += DIRECTED
    groups = [rounding]
    flushes = not is_brain and (type_.holds_floats or source.holds_floats)
    if "ftz" in honoured and flushes:
        groups.append(["", "ftz"])
    saturates = (type_.holds_floats and not is_brain) or name == "cvt"
    limits = [""]
    if "sat" in honoured and (saturates or (name in SATURATING_INTEGER and type_ in SIGNED_WORD)):
        limits.append("sat")
    if "relu" in honoured and (type_.holds_floats or type_ in (*SIGNED_WORD, ScalarType.S16X2)):
        limits.append("relu")
    if "satfinite" in honoured and type_.element.bits < 32 and type_.holds_floats:
        limits.append("satfinite")
    groups.append(limits)
    if "NaN" in honoured and type_.holds_floats:
        groups.append(["", "NaN"])
        groups.append(["", "abs", *(["xorsign"] if name in ("min", "max") else [])])
    return groups


SIGNED_WORD = (ScalarType.S32,)


def _cases(names: list[str]) -> Iterator[Case]:
    for name in names:
        for type_ in sorted(OPCODES[name].types, key=lambda t: t.ptx_name):
            for source in _sources(name, type_):
                for chosen in itertools.product(*_choices(name, type_, source)):
                    yield name, Context(type_, source, frozenset(chosen) - {""})


def _load(code: NativeCode, type_: ScalarType, position: int) -> str:
    """Lane values at the row `%row`; predicates take a byte each."""
    stored = "i8" if type_.kind is Kind.PREDICATE else code.type(type_).split()[-1].rstrip(">")
    address = code.op(f"getelementptr {stored}, ptr %operand{position}, i64 %row")
    value = code.op(f"load {code.type(stored)}, ptr {address}, align 1")
    return code.cast("trunc", "i8", value, type_) if stored == "i8" and type_.bits == 1 else value


def _store(code: NativeCode, type_: ScalarType, position: int, value: str) -> None:
    stored = "i8" if type_.kind is Kind.PREDICATE else code.type(type_).split()[-1].rstrip(">")
    address = code.op(f"getelementptr {stored}, ptr %result{position}, i64 %row")
    if type_.bits == 1:
        value = code.cast("zext", type_, value, "i8")
    code.do(f"store {code.type(stored)} {value}, ptr {address}, align 1")


def _constant(code: NativeCode, type_: ScalarType, value: Any) -> str:
    if type_.is_float:
        return code.real(type_, float(value))
    return code.splat(type_, str(bool(value)).lower() if type_.bits == 1 else int(value))


def _function(
    symbol: str, case: Case, lanes: int, declarations: dict[str, str], row: Row | None = None
) -> str:
    """A loop over rows of lanes: (operand pointers, result pointers, number of lanes).

    With a `row`, its values are constants for all operands but the first.
    """
    name, context = case
    entry = OPCODES[name]
    numbers = itertools.count()
    code = NativeCode(lanes, [], declarations, lambda: f"%v{next(numbers)}")
    operand_types, result_types = entry.operand_types(context), entry.result_types(context)
    operands = [_load(code, type_, i) for i, type_ in enumerate(operand_types)]
    if row is not None:
        fixed = zip(operand_types[1:], row[1:], strict=True)
        operands[1:] = [_constant(code, type_, value) for type_, value in fixed]
    emitted = entry.emit(code, context, *operands)
    results = emitted if isinstance(emitted, tuple) else (emitted,)
    for position, (type_, value) in enumerate(zip(result_types, results, strict=True)):
        _store(code, type_, position, value)
    parameters = [f"ptr %operand{i}" for i in range(len(operand_types))]
    parameters += [f"ptr %result{i}" for i in range(len(result_types))]
    return "\n".join(
        [
            f"define void @{symbol}({', '.join(parameters)}, i64 %count) {{",
            "entry:",
            "  br label %rows",
            "rows:",
            "  %row = phi i64 [ 0, %entry ], [ %next, %rows ]",
            *code.lines,
            f"  %next = add i64 %row, {lanes}",
            "  %more = icmp ult i64 %next, %count",
            "  br i1 %more, label %rows, label %done",
            "done:",
            "  ret void",
            "}",
        ]
    )


def _module_text(cases: list[Case], lanes: int, *rows: Row) -> str:
    declarations: dict[str, str] = {}
    functions = [
        _function(f"f{index}", case, lanes, declarations, row)
        for index, (case, row) in enumerate(itertools.zip_longest(cases, rows))
    ]
    return "\n".join([*declarations.values(), *functions])


class _Compiled:
    """All cases of one lane count in one module."""

    def __init__(self, cases: list[Case], lanes: int, optimization: int, *rows: Row) -> None:
        self._module = compile_module(_module_text(cases, lanes, *rows), optimization)

    def call(self, index: int, case: Case, operands: list[Any]) -> list[Any]:
        """Operands are padded to a multiple of the lanes with their first rows."""
        name, context = case
        count = len(operands[0])
        padded = [np.ascontiguousarray(np.resize(a, (count + 7) // 8 * 8)) for a in operands]
        types = OPCODES[name].result_types(context)
        results = [np.zeros(len(padded[0]), type_.dtype) for type_ in types]
        pointers = [array.ctypes.data for array in (*padded, *results)]
        prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers), ctypes.c_int64)
        prototype(self._module.address(f"f{index}"))(*pointers, len(padded[0]))
        return [result[:count] for result in results]


def _expected(case: Case, operands: list[Any]) -> list[Any]:
    name, context = case
    with np.errstate(all="ignore"):
        result = OPCODES[name].compute(context, *operands)
    results = result if isinstance(result, tuple) else (result,)
    return [np.broadcast_to(r, operands[0].shape) for r in results]


def _distance(a: Any, b: Any, type_: ScalarType) -> Any:
    """In units of the last place; of integers and predicates, whether they differ."""
    if type_.is_packed:
        parts = zip(elements(a, type_), elements(b, type_), strict=True)
        return np.maximum(*(_distance(x, y, type_.element) for x, y in parts))
    if type_.kind is Kind.ALTERNATE:
        return np.abs(comparable_bits(a, type_) - comparable_bits(b, type_)).astype(np.int64)
    if a.dtype.kind != "f":
        return (a != b).astype(int)
    stored = np.dtype(f"i{a.dtype.itemsize}")
    differing = np.flatnonzero(np.ascontiguousarray(a).view(stored) != b.view(stored))
    distance = np.zeros(a.shape, np.int64)
    apart = np.abs(comparable_bits(a[differing]) - comparable_bits(b[differing]))
    distance[differing] = np.minimum(apart, 1 << 62)
    return distance


def _compare(case: Case, operands: list[Any], found: list[Any], ulps: int) -> None:
    types = OPCODES[case[0]].result_types(case[1])
    for want, got, type_ in zip(_expected(case, operands), found, types, strict=True):
        wrong = np.flatnonzero(_distance(want, got, type_) > ulps)
        if wrong.size:
            row = [array[wrong[0]] for array in operands]
            raise AssertionError(
                f"{case}: {row} gave {got[wrong[0]]!r}, not {want[wrong[0]]!r}; "
                f"{wrong.size} rows of {got.size}"
            )


def _ulps(case: Case) -> int:
    return 1 if case[0] in APPROXIMATIONS else 0


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("family", FAMILIES)
def test_native_meanings_equal_the_numpy_meanings(family: str, lanes: int) -> None:
    cases = list(_cases(_names(family)))
    if len(cases) > MANY:
        # thousands that differ only in a type and a modifier: some as vectors, others as scalars
        step, offset = 1 + 2 * len(cases) // MANY, lanes % 2
        cases = [
            case for i, case in enumerate(cases) if i % step == offset or case[0] != cases[i - 1][0]
        ]
    assert {name for name, _ in cases} == set(_names(family))
    compiled = _Compiled(cases, lanes, 0)
    for index, case in enumerate(cases):
        operands = _operands(*case)
        _compare(case, operands, compiled.call(index, case, operands), _ulps(case))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_optimizer_keeps_the_meaning(family: str) -> None:
    cases = list(_cases(_names(family)))
    cases = cases[:: 1 + len(cases) // 120]
    compiled = _Compiled(cases, 8, 2)
    for index, case in enumerate(cases):
        operands = _operands(*case)
        _compare(case, operands, compiled.call(index, case, operands), _ulps(case))


@pytest.mark.parametrize("family", FAMILIES)
def test_constant_operands_have_the_same_meaning(family: str) -> None:
    """Divisors, shift amounts and selectors are mostly constants: LLVM folds them."""
    every = [case for case in _cases(_names(family)) if len(OPCODES[case[0]].signature) > 3]
    chosen, rows, grids = [], [], []
    for index, case in enumerate(every[:: 1 + len(every) // 150]):
        operands = _operands(*case)
        lane = (len(operands[0]) * (2 * index + 1) * 7919 // 150) % len(operands[0])
        row = tuple(array[lane] for array in operands)
        fixed = [np.full_like(array, value) for array, value in zip(operands, row, strict=True)]
        chosen.append(case)
        rows.append(row)
        grids.append([operands[0], *fixed[1:]])
    if not chosen:
        return
    compiled = _Compiled(chosen, 8, 2, *rows)
    for index, (case, operands) in enumerate(zip(chosen, grids, strict=True)):
        _compare(case, operands, compiled.call(index, case, operands), _ulps(case))


@pytest.mark.parametrize("type_", [ScalarType.S16, ScalarType.U16, ScalarType.S32, ScalarType.U32])
@pytest.mark.parametrize("name", ["div", "rem"])
def test_vectors_of_integers_divide_as_vectors(name: str, type_: ScalarType) -> None:
    """x86 and AArch64 have no integer division of vectors: LLVM would divide lane by lane."""
    case = (name, Context(type_, type_, frozenset()))
    assert "div i" in _module_text([case], 1)
    assert "fdiv <8 x" in _module_text([case], 8)
    assert "div <8 x i" not in _module_text([case], 8).replace("fdiv", "")


@pytest.mark.parametrize("type_", [ScalarType.S32, ScalarType.U32])
def test_integer_division_is_exact_near_multiples(type_: ScalarType) -> None:
    """Dividends beside multiples of the divisor, where a quotient rounded up would show."""
    generator = np.random.default_rng(7)
    divisor = generator.integers(1, 1 << 31, 30_000, np.int64) >> generator.integers(0, 31, 30_000)
    divisor = np.maximum(divisor, 1)
    multiple = ((1 << 31) - 2) // divisor * divisor
    dividend = np.concatenate([multiple - 1, multiple, multiple + 1]).astype(type_.dtype)
    operands = [dividend, np.tile(divisor, 3).astype(type_.dtype)]
    if type_.is_signed:
        operands[1][::2] *= -1
    cases = [(name, Context(type_, type_, frozenset())) for name in ("div", "rem")]
    compiled = _Compiled(cases, 8, 2)
    for index, case in enumerate(cases):
        _compare(case, operands, compiled.call(index, case, operands), 0)


@pytest.mark.parametrize("triple", [None, "aarch64-linux-gnu"])
@pytest.mark.parametrize("family", ["arithmetic", "conversion", "transcendental"])
def test_no_opcode_calls_a_library(family: str, triple: str | None) -> None:
    """Neither lane by lane nor otherwise: the object names no symbol but its own functions."""
    cases = list(_cases(_names(family)))
    cases = cases[:: 1 + len(cases) // 150]
    symbols = _undefined_symbols(emit_object(_module_text(cases, 8), 0, triple))
    assert symbols == []


def _undefined_symbols(data: bytes) -> list[str]:
    """Of a 64-bit little-endian ELF object: symbols of section 0, without the empty one."""
    start, (size, count) = (
        struct.unpack_from("<Q", data, 40)[0],
        struct.unpack_from("<HH", data, 58),
    )
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + i * size) for i in range(count)]
    symbol_table = next(section for section in sections if section[1] == 2)
    names = sections[symbol_table[6]][4]
    undefined = []
    for offset in range(symbol_table[4], symbol_table[4] + symbol_table[5], 24):
        name, _, _, section = struct.unpack_from("<IBBH", data, offset)
        if name and not section:
            end = data.index(b"\0", names + name)
            undefined.append(data[names + name : end].decode())
    return undefined


def _random_floats(count: int) -> Any:
    """Every exponent alike, infinities and NaN among them."""
    generator = np.random.default_rng(20170101)
    return generator.integers(0, 1 << 32, count, np.uint32).view(np.float32)


@pytest.mark.parametrize("name", APPROXIMATIONS)
def test_approximations_are_within_one_unit_in_the_last_place(name: str) -> None:
    case = (name, Context(ScalarType.F32, ScalarType.F32, frozenset()))
    generator = np.random.default_rng(1)
    usual = (generator.standard_normal(50_000) * 30).astype(np.float32)
    # the f32 nearest to multiples of pi/2 (Kahan 1983), and both sides of the ways to reduce
    hard = np.array(
        [16367173 * 2.0**72, -16367173 * 2.0**72, 2.0**50, 1.5 * 2.0**49, 1e22, 355, 710, 52174],
        np.float32,
    )
    half_turns = (np.arange(1, 20_000) * (math.pi / 2)).astype(np.float32)
    operand = np.concatenate([_random_floats(100_000), usual, hard, half_turns])
    found = _Compiled([case], 8, 2).call(0, case, [operand])
    _compare(case, [operand], found, 1)
    differing = np.count_nonzero(_distance(_expected(case, [operand])[0], found[0], case[1].type))
    assert differing <= operand.size >> 17


def test_reduction_of_huge_angles_does_not_depend_on_the_other_lanes() -> None:
    case = ("sin", Context(ScalarType.F32, ScalarType.F32, frozenset()))
    usual = np.arange(-400, 400, dtype=np.float32)
    mixed = np.where(np.arange(800) % 3 == 0, np.float32(2.0**100), usual)
    compiled = _Compiled([case], 8, 2)
    alone, beside = (compiled.call(0, case, [x])[0] for x in (usual, mixed))
    kept = mixed == usual
    assert (alone[kept] == beside[kept]).all()


def test_directed_rounding_leaves_the_mode_of_the_processor_alone() -> None:
    up = ("add", Context(ScalarType.F32, ScalarType.F32, frozenset(("rp",))))
    nearest = ("add", Context(ScalarType.F32, ScalarType.F32, frozenset()))
    one, tiny = np.ones(8, np.float32), np.full(8, 2.0**-60, np.float32)
    compiled = _Compiled([up, nearest], 8, 2)
    for index, is_above in ((0, True), (1, False), (0, True), (1, False)):
        result = compiled.call(index, (up, nearest)[index], [one, tiny])[0]
        assert (result > 1).all() == is_above
    assert (one.astype(np.float64) + tiny == 1).all()


def test_fused_multiply_add_of_brain_floats_rounds_once() -> None:
    """Products that are halves between two bf16, and addends far too small to show otherwise."""
    generator = np.random.default_rng(8)
    signs = generator.choice([-1.0, 1.0], (3, 4000))
    a, b = signs[:2] * generator.integers(128, 256, (2, 4000))
    c = signs[2] * 2.0 ** generator.integers(-130, -8, 4000)
    numbers = [x.astype(np.float32) for x in (a, b, c)]
    operands = [(x.view(np.uint32) >> 16).astype(np.uint16) for x in numbers]
    case = ("fma", Context(ScalarType.BF16, ScalarType.BF16, frozenset(("rn",))))
    rows = zip(*(x.tolist() for x in numbers), strict=True)
    exact = [Fraction(x) * Fraction(y) + Fraction(z) for x, y, z in rows]
    wanted = encoded([rounded(x, ScalarType.BF16, "rn") for x in exact], ScalarType.BF16)
    twice = encoded(
        [rounded(Fraction(float(x)), ScalarType.BF16, "rn") for x in exact], ScalarType.BF16
    )
    assert (wanted != twice).any(), "no operand tells one rounding from two"
    assert (_expected(case, operands)[0] == wanted).all()
    assert (_Compiled([case], 8, 2).call(0, case, operands)[0] == wanted).all()


def test_numbers_of_8_bits_round_alike_near_every_tie() -> None:
    codes = np.arange(256, dtype=np.uint16)
    for name in ("e4m3x2", "e5m2x2"):
        packed = ScalarType.named(name)
        decode = ("cvt.packed", Context(ScalarType.F16X2, packed, frozenset(("rn",))))
        _compare(decode, [codes], _Compiled([decode], 8, 2).call(0, decode, [codes]), 0)
        exact = _expected(decode, [codes])[0].astype(np.uint16).view(np.float16)
        ties = (np.sort(exact)[1:].astype(np.float32) + np.sort(exact)[:-1]) / np.float32(2)
        near = [np.nextafter(ties, np.float32(x)) for x in (-np.inf, np.inf)]
        numbers = np.concatenate([ties, *near])
        encode = ("cvt.pair", Context(packed, ScalarType.F32, frozenset(("rn", "satfinite"))))
        operands = [numbers, numbers[::-1].copy()]
        with np.errstate(all="ignore"):
            _compare(encode, operands, _Compiled([encode], 8, 2).call(0, encode, operands), 0)
