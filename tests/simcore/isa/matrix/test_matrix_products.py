"""Products of fragments against NumPy, every lane's registers by the manual's formulas."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.ptx_frontend.ptx.legal.matrix_forms import product_form
from kernelcast.simcore.isa.matrix.accumulation import WIDE, Accumulation, Summation
from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.operations import MatrixOperation
from kernelcast.simcore.isa.matrix.products import MatrixProduct, multiply

Array = npt.NDArray[Any]
Place = tuple[int, int]
F = ElementFormat
HERE = Path(__file__).parents[2]
oracle: Any = SimpleNamespace(**runpy.run_path(str(HERE / "matrix_program.py")))
LANES, program, run = oracle.LANES, oracle.program, oracle.run
BITS = {"s4": 4, "u4": 4, "b1": 1, "s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8, "f16": 16, "bf16": 16}
DENSE = [
    ("m16n8k8", "f32.f16.f16.f32", ""),
    ("m16n8k16", "f32.f16.f16.f32", ""),
    ("m16n8k8", "f16.f16.f16.f16", ""),
    ("m16n8k16", "f16.f16.f16.f16", ""),
    ("m16n8k8", "f32.bf16.bf16.f32", ""),
    ("m16n8k16", "f32.bf16.bf16.f32", ""),
    ("m16n8k4", "f32.tf32.tf32.f32", ""),
    ("m16n8k8", "f32.tf32.tf32.f32", ""),
    *((shape, "f64.f64.f64.f64", "") for shape in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")),
    *(
        (shape, f"{d}.{a}.{b}.{d}", "")
        for shape in ("m16n8k16", "m16n8k32")
        for d in ("f32", "f16")
        for a in ("e4m3", "e5m2")
        for b in ("e4m3", "e5m2")
    ),
    *(
        (shape, f"s32.{a}.{b}.s32", "")
        for shape in ("m8n8k16", "m16n8k16", "m16n8k32")
        for a in ("s8", "u8")
        for b in ("s8", "u8")
    ),
    *(
        (shape, f"s32.{a}.{b}.s32", "")
        for shape in ("m8n8k32", "m16n8k32", "m16n8k64")
        for a in ("s4", "u4")
        for b in ("s4", "u4")
    ),
    *(
        (shape, "s32.b1.b1.s32", operation)
        for shape in ("m8n8k128", "m16n8k128", "m16n8k256")
        for operation in (".xor.popc", ".and.popc")
    ),
]
COMPILED = [
    ("m16n8k16", "f32.f16.f16.f32", ""),
    ("m16n8k16", "f16.f16.f16.f16", ""),
    ("m16n8k8", "f32.tf32.tf32.f32", ""),
    ("m16n8k8", "f64.f64.f64.f64", ""),
    ("m16n8k32", "f32.e4m3.e5m2.f32", ""),
    ("m16n8k32", "s32.s8.u8.s32", ""),
    ("m16n8k64", "s32.s4.u4.s32", ""),
    ("m16n8k256", "s32.b1.b1.s32", ".xor.popc"),
]
"""One of every kind for the JIT engine, which has to compile each."""


def place_in_a(lane: int, i: int, bits: int, rows: int) -> Place:
    """groupID and threadID_in_group as the manual writes them; `i` counts a thread's elements."""
    per_register = max(1, 32 // bits)
    register, inside = divmod(i, per_register)
    group, thread = lane >> 2, lane % 4
    row = group if rows == 8 or register % 2 == 0 else group + 8
    quarter = register if rows == 8 else register // 2
    return row, thread * per_register + inside + quarter * 4 * per_register


def place_in_b(lane: int, i: int, bits: int, _rows: int) -> Place:
    per_register = max(1, 32 // bits)
    register, inside = divmod(i, per_register)
    return (lane % 4) * per_register + inside + register * 4 * per_register, lane >> 2


def place_in_c(lane: int, i: int, _bits: int, _rows: int) -> Place:
    return (lane >> 2) if i < 2 else (lane >> 2) + 8, (lane % 4) * 2 + (i & 1)


Placing = Callable[[int, int, int, int], Place]


def width(name: str) -> int:
    return BITS.get(name, 64 if name == "f64" else 32)


def packed(codes: Array, name: str, place: Placing, rows: int) -> Array:
    """Registers of all lanes, register after register, from the codes of a matrix."""
    bits, register_bits = width(name), 64 if name == "f64" else 32
    per_register = register_bits // bits
    count = codes.size // LANES
    registers = [[0] * LANES for _ in range(count // per_register)]
    for lane in range(LANES):
        for i in range(count):
            value = int(codes[place(lane, i, bits, rows)]) & ((1 << bits) - 1)
            registers[i // per_register][lane] |= value << (i % per_register * bits)
    return np.array(registers, np.uint64 if register_bits == 64 else np.uint32).reshape(-1)


def unpacked(registers: Array, name: str, shape: Place, place: Placing) -> Array:
    bits, register_bits = width(name), 64 if name == "f64" else 32
    per_register = register_bits // bits
    codes = np.zeros(shape, np.uint64)
    for lane in range(LANES):
        for i in range(codes.size // LANES):
            word = int(registers[i // per_register * LANES + lane])
            codes[place(lane, i, bits, shape[0])] = word >> (i % per_register * bits) & (
                (1 << bits) - 1
            )
    return codes


def encoded(values: Array, name: str) -> Array:
    """Codes of values that the format has."""
    match name:
        case "f64":
            return values.astype(np.float64).view(np.uint64)
        case "f32" | "tf32":
            return values.astype(np.float32).view(np.uint32)
        case "bf16":
            return values.astype(np.float32).view(np.uint32) >> 16
        case "f16":
            return values.astype(np.float16).view(np.uint16)
        case "e4m3" | "e5m2":
            table = F.named(name).decode(np.arange(256, dtype=np.uint8))  # type: ignore[union-attr]
            return np.array([[np.flatnonzero(table == x)[0] for x in row] for row in values])
    return values.astype(np.int64)


def decoded(codes: Array, name: str) -> Array:
    match name:
        case "f64":
            return codes.astype(np.uint64).view(np.float64)
        case "f32":
            return codes.astype(np.uint32).view(np.float32).astype(np.float64)
        case "f16":
            return codes.astype(np.uint16).view(np.float16).astype(np.float64)
    return codes.astype(np.uint32).view(np.int32).astype(np.float64)


def small_integers(name: str, shape: Place, rng: np.random.Generator) -> Array:
    low, high = {"b1": (0, 2), "u4": (0, 16), "s4": (-8, 8), "u8": (0, 256), "s8": (-128, 128)}.get(
        name, (-4, 5)
    )
    return rng.integers(low, high, shape).astype(np.float64)


def wanted(a: Array, b: Array, c: Array, operation: str) -> Array:
    if operation == ".xor.popc":
        return np.asarray((a[:, :, None] != b[None, :, :]).sum(axis=1) + c)
    return a @ b + c


def check(shape: str, types: str, operation: str, engine: str) -> None:
    d, a, b, c = types.split(".")
    rows, columns, depth = (int(x) for x in shape[1:].replace("n", " ").replace("k", " ").split())
    rng = np.random.default_rng(7)
    left = small_integers(a, (rows, depth), rng)
    right = small_integers(b, (depth, columns), rng)
    added = rng.integers(-9, 10, (rows, columns)).astype(np.float64)
    sources = [
        packed(encoded(left, a), a, place_in_a, rows),
        packed(encoded(right, b), b, place_in_b, columns),
        packed(encoded(added, c), c, place_in_c, rows),
    ]
    bits = tuple(64 if name == "f64" else 32 for name in (d, a, b, c))
    result = np.zeros_like(sources[2])
    counts = tuple(len(x) // LANES for x in (result, *sources))
    name = f"mma.sync.aligned.{shape}.row.col.{types}{operation}"
    run(program(name, bits, counts, "sm_89"), [result, *sources], engine)
    found = decoded(unpacked(result, d, (rows, columns), place_in_c), d)
    np.testing.assert_array_equal(found, wanted(left, right, added, operation))


@pytest.mark.parametrize(("shape", "types", "operation"), DENSE)
def test_integers_are_multiplied_exactly(shape: str, types: str, operation: str) -> None:
    check(shape, types, operation, "reference")


@pytest.mark.parametrize(("shape", "types", "operation"), COMPILED)
def test_integers_are_multiplied_exactly_by_native_code(
    shape: str, types: str, operation: str
) -> None:
    check(shape, types, operation, "jit")


def operation_of(mnemonic: str, target: str = "sm_80", selector: int = 0) -> MatrixOperation:
    form = product_form(mnemonic, target, selector)
    assert isinstance(form, MatrixOperation), form
    return form


RANDOM = [
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16",
    "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32",
    "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
    "wmma.mma.sync.aligned.col.row.m32n8k16.f16.f32",
    "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32",
    "mma.sp.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32",
]


@pytest.mark.drawn(6)
@pytest.mark.parametrize("mnemonic", RANDOM)
def test_both_engines_agree_on_any_bits(mnemonic: str) -> None:
    operation = operation_of(mnemonic, "sm_90")
    a, b, c, d = operation.fragments()
    order = (d, a, b, c)
    bits = tuple(f.format.register_bits for f in order)
    counts = tuple(f.registers for f in order)
    tail = ""
    if operation.sparsity is not None:
        bits, counts, tail = (*bits, 32), (*counts, 1), ", 0"
    rng = np.random.default_rng(3)
    source = program(mnemonic, bits, counts, "sm_90", tail)
    data: list[Array] = [rng.integers(0, 1 << 32, n * LANES, dtype=np.uint32) for n in counts]
    results = []
    for engine in ("reference", "jit"):
        own = [x.copy() for x in data]
        run(source, own, engine)
        results.append(own[0])
    np.testing.assert_array_equal(results[0], results[1])


def product(
    accumulation: Accumulation, a: F = F.F16, result: F = F.F32, depth: int = 4
) -> MatrixProduct:
    return MatrixProduct(1, 1, depth, a, a, result, result, accumulation)


def summed(rule: MatrixProduct, a: list[float], b: list[float], c: float) -> float:
    """One dot product."""
    names = rule.a.ptx_name, rule.result.ptx_name
    left = encoded(np.array([a]), names[0])
    right = encoded(np.array([b]).T, names[0])
    added = encoded(np.array([[c]]), names[1])
    return float(decoded(multiply(rule, left, right, added), names[1])[0, 0])


def test_volta_keeps_no_bit_below_the_last_place_of_the_largest() -> None:
    """Fasi et al. (2021), section 3.4: four products of half a unit in the last place vanish."""
    tiny = [2.0**-12] * 4
    volta = product(Accumulation(Summation.ALIGNED, 4, 23))
    ampere = product(Accumulation(Summation.ALIGNED, 4, 24))
    assert summed(volta, tiny, tiny, 1.0) == 1.0
    assert summed(ampere, tiny, tiny, 1.0) == 1.0 + 2.0**-22


def test_sums_are_cut_towards_zero() -> None:
    volta = product(Accumulation(Summation.ALIGNED, 4, 24))
    small = [2.0**-12, 0.0, 0.0, 0.0]
    assert summed(volta, small, small, 1.0) == 1.0
    assert summed(volta, [-x for x in small], small, -1.0) == -1.0


def test_half_precision_results_are_rounded_to_nearest() -> None:
    rule = product(Accumulation(Summation.ALIGNED, 4, 24), result=F.F16)
    assert summed(rule, [1.0, 0, 0, 0], [2.0**-11 + 2.0**-13, 0, 0, 0], 1.0) == 1.0 + 2.0**-10


def test_infinities_and_their_difference() -> None:
    rule = product(Accumulation(Summation.ALIGNED, 4, 24))
    assert summed(rule, [np.inf, 0, 0, 0], [1, 0, 0, 0], 1.0) == np.inf
    assert np.isnan(summed(rule, [np.inf, np.inf, 0, 0], [1, -1, 0, 0], 1.0))
    assert np.isnan(summed(rule, [np.inf, 0, 0, 0], [0, 0, 0, 0], 1.0))


def test_a_wide_sum_is_rounded_once() -> None:
    wide = product(WIDE)
    assert summed(wide, [2.0**-12] * 4, [2.0**-12] * 4, 1.0) == np.float32(1.0 + 4 * 2.0**-24)
    assert (
        summed(wide, [60000.0, 2.0**-24, -60000.0, 0], [60000.0, 2.0**-24, 60000.0, 0], 0.0)
        == 2.0**-48
    )


@pytest.mark.parametrize("name", ["f32.f16.f16.f32", "f32.bf16.bf16.f32"])
@pytest.mark.parametrize("target", ["sm_70", "sm_80", "sm_90", "sm_100"])
def test_random_products_stay_within_the_bound(name: str, target: str) -> None:
    """Each of the sums loses at most one unit of the places kept, for each of its terms."""
    operation = operation_of(f"mma.sync.aligned.m16n8k16.row.col.{name}", target)
    rule = operation.product
    rng = np.random.default_rng(11)
    a, b = rng.standard_normal((16, 16)), rng.standard_normal((16, 8))
    c = rng.standard_normal((16, 8)).astype(np.float32).astype(np.float64)
    codes = encoded(a, rule.a.ptx_name), encoded(b, rule.a.ptx_name)
    exact_a, exact_b = (rule.a.decode(x) for x in codes)
    found = decoded(multiply(rule, *codes, encoded(c, "f32")), "f32")
    largest = np.abs(exact_a) @ np.abs(exact_b) + np.abs(c)
    steps = 16 // rule.accumulation.terms
    bound = largest * (18 * steps) * 2.0**-rule.accumulation.fraction_bits * 2
    assert np.all(np.abs(found - (exact_a @ exact_b + c)) <= bound)


def test_a_product_counts_as_work_of_the_tensor_unit() -> None:
    source = program(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", (32,) * 4, (4, 4, 2, 4), "sm_80"
    )
    buffers = [np.zeros(n * LANES, np.uint32) for n in (4, 4, 2, 4)]
    rows = run(source, buffers, "reference").instructions
    (row,) = [row for row in rows if row.unit == "tensor"]
    assert row.flops * LANES == 2 * 16 * 8 * 16
    assert row.opcode == "mma.m16n8k16.f32.f16.f16.f32"
