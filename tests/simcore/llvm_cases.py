"""Opcodes with the modifiers that they honour, compiled by themselves and called on arrays."""

from __future__ import annotations

import ctypes
import functools
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from kernelcast.simcore.host.llvm import compile_module
from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.numerics.packed import elements
from kernelcast.simcore.isa.opcodes.table import OPCODES, Context
from kernelcast.simcore.isa.types import Kind, ScalarType
from tests.simcore.isa.opcodes.verification import comparable_bits, operand_arrays

APPROXIMATIONS = ("sin", "cos", "ex2", "lg2", "tanh")
INTEGRAL = ("rni", "rzi", "rmi", "rpi")
DIRECTED = ("rz", "rm", "rp")
SATURATING_INTEGER = ("add", "sub", "mad.hi", "mad24.hi")
FAMILIES = sorted({entry.compute.__module__.rpartition(".")[2] for entry in OPCODES.values()})

Case = tuple[str, Context]
Row = tuple[Any, ...]

operands_of = functools.cache(operand_arrays)


def names_of(family: str) -> list[str]:
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
    if OPCODES[name].compute.__module__.endswith(".video"):
        own = ["clamp", "wrap"] if name[:3] == "vsh" else ["eq", "lt"] if "vset" in name else [""]
        of_b = [""] if name[:3] == "vsh" else ["", "b.s32"]
        return [own, ["", "sat"], ["a.s32"], of_b, ["", "d.s32"]]
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


def cases_of(names: list[str]) -> Iterator[Case]:
    for name in names:
        for type_ in sorted(OPCODES[name].types, key=lambda t: t.ptx_name):
            for source in _sources(name, type_):
                for chosen in itertools.product(*_choices(name, type_, source)):
                    yield name, Context(type_, source, frozenset(chosen) - {""})


def _load(code: LaneCode, type_: ScalarType, position: int) -> str:
    """Lane values at the row `%row`; predicates take a byte each."""
    stored = "i8" if type_.kind is Kind.PREDICATE else code.type(type_).split()[-1].rstrip(">")
    address = code.op(f"getelementptr {stored}, ptr %operand{position}, i64 %row")
    value = code.op(f"load {code.type(stored)}, ptr {address}, align 1")
    return code.cast("trunc", "i8", value, type_) if stored == "i8" and type_.bits == 1 else value


def _store(code: LaneCode, type_: ScalarType, position: int, value: str) -> None:
    stored = "i8" if type_.kind is Kind.PREDICATE else code.type(type_).split()[-1].rstrip(">")
    address = code.op(f"getelementptr {stored}, ptr %result{position}, i64 %row")
    if type_.bits == 1:
        value = code.cast("zext", type_, value, "i8")
    code.do(f"store {code.type(stored)} {value}, ptr {address}, align 1")


def _constant(code: LaneCode, type_: ScalarType, value: Any) -> str:
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
    code = LaneCode(lanes, [], declarations, lambda: f"%v{next(numbers)}")
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


def module_text(cases: list[Case], lanes: int, *rows: Row) -> str:
    declarations: dict[str, str] = {}
    functions = [
        _function(f"f{index}", case, lanes, declarations, row)
        for index, (case, row) in enumerate(itertools.zip_longest(cases, rows))
    ]
    return "\n".join([*declarations.values(), *functions])


class Compiled:
    """All cases of one lane count in one module."""

    def __init__(self, cases: list[Case], lanes: int, optimization: int, *rows: Row) -> None:
        self._module = compile_module(module_text(cases, lanes, *rows), optimization)

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


def expected(case: Case, operands: list[Any]) -> list[Any]:
    name, context = case
    with np.errstate(all="ignore"):
        result = OPCODES[name].compute(context, *operands)
    results = result if isinstance(result, tuple) else (result,)
    return [np.broadcast_to(r, operands[0].shape) for r in results]


def units_apart(a: Any, b: Any, type_: ScalarType) -> Any:
    """Distances in units of the last place; of integers and predicates, whether they differ."""
    if type_.is_packed:
        parts = zip(elements(a, type_), elements(b, type_), strict=True)
        return np.maximum(*(units_apart(x, y, type_.element) for x, y in parts))
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


def compare(case: Case, operands: list[Any], found: list[Any], ulps: int) -> None:
    types = OPCODES[case[0]].result_types(case[1])
    for want, got, type_ in zip(expected(case, operands), found, types, strict=True):
        wrong = np.flatnonzero(units_apart(want, got, type_) > ulps)
        if wrong.size:
            row = [array[wrong[0]] for array in operands]
            raise AssertionError(
                f"{case}: {row} gave {got[wrong[0]]!r}, not {want[wrong[0]]!r}; "
                f"{wrong.size} rows of {got.size}"
            )


def ulps_of(case: Case) -> int:
    return 1 if case[0] in APPROXIMATIONS else 0
