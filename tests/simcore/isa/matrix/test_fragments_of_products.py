"""Every shape and type of `mma` and `mma.sp` on both engines.

Integers are exact, floats within the bound of their sums; fragments are laid out by the manual's
formulas (`fragment_places.py`).
"""

from __future__ import annotations

import re
import runpy
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.ptx_frontend.ptx.legal.matrix_forms import product_form
from kernelcast.simcore.isa.matrix.operations import MatrixOperation

Array = npt.NDArray[Any]
manual: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[2] / "fragment_places.py"))
)
codes: Any = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "element_codes.py")))
drawn, decoded, encoded = codes.drawn, codes.decoded, codes.encoded
ENGINES = ["reference", "jit"]
FP8, BYTES, NIBBLES = ("e4m3", "e5m2"), ("s8", "u8"), ("s4", "u4")
SMALL = (*FP8, "e3m2", "e2m3", "e2m1")
SUMS = {"f16": (16, 25), "bf16": (16, 25), "tf32": (8, 25), "f64": (1, 53)}
SUMS |= dict.fromkeys(SMALL, (32, 25))
"""On sm_120: how many products are added at once, and to how many places (docs/matrix.md)."""


@dataclass(frozen=True)
class Form:
    """A product of PTX; `more` stands between the orders and the types."""

    shape: str
    d: str
    a: str
    b: str
    more: str = ""
    bits: str = ""
    sparse: bool = False

    @property
    def sizes(self) -> tuple[int, int, int]:
        rows, columns, depth = map(int, re.findall(r"\d+", self.shape))
        return rows, columns, depth

    @property
    def name(self) -> str:
        root = "mma.sp::ordered_metadata" if self.sparse else "mma"
        types = f"{self.d}.{self.a}.{self.b}.{self.d}"
        return f"{root}.sync.aligned.{self.shape}.row.col{self.more}.{types}{self.bits}"


def pairs(names: tuple[str, ...]) -> list[tuple[str, str]]:
    return list(product(names, names))


DENSE = {
    "f16": [Form(s, d, "f16", "f16") for s in ("m16n8k8", "m16n8k16") for d in ("f32", "f16")],
    "bf16": [Form(s, "f32", "bf16", "bf16") for s in ("m16n8k8", "m16n8k16")],
    "tf32": [Form(s, "f32", "tf32", "tf32") for s in ("m16n8k4", "m16n8k8")],
    "f64": [Form(s, "f64", "f64", "f64") for s in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")],
    "fp8": [
        Form(s, d, a, b)
        for s in ("m16n8k16", "m16n8k32")
        for d in ("f32", "f16")
        for a, b in pairs(FP8)
    ],
    "fp6 and fp4": [
        Form("m16n8k32", "f16" if a == b else "f32", a, b, ".kind::f8f6f4") for a, b in pairs(SMALL)
    ],
    "bytes": [
        Form(s, "s32", a, b, more)
        for s in ("m8n8k16", "m16n8k16", "m16n8k32")
        for (a, b), more in zip(pairs(BYTES), ("", ".satfinite", "", ".satfinite"), strict=True)
    ],
    "nibbles": [
        Form(s, "s32", a, b) for s in ("m8n8k32", "m16n8k32", "m16n8k64") for a, b in pairs(NIBBLES)
    ],
    "bits": [
        Form(s, "s32", "b1", "b1", bits=operation)
        for s in ("m8n8k128", "m16n8k128", "m16n8k256")
        for operation in (".xor.popc", ".and.popc")
    ],
}
SPARSE = {
    "f16": [
        Form(s, d, "f16", "f16", sparse=True)
        for s in ("m16n8k16", "m16n8k32")
        for d in ("f32", "f16")
    ],
    "bf16": [Form(s, "f32", "bf16", "bf16", sparse=True) for s in ("m16n8k16", "m16n8k32")],
    "tf32": [Form(s, "f32", "tf32", "tf32", sparse=True) for s in ("m16n8k8", "m16n8k16")],
    "fp8": [Form("m16n8k64", "f32", a, b, sparse=True) for a, b in pairs(FP8)],
    "fp6 and fp4": [
        Form("m16n8k64", "f32", a, b, ".kind::f8f6f4", sparse=True)
        for a, b in zip(SMALL, (*SMALL[1:], SMALL[0]), strict=True)
    ],
    "bytes": [
        Form(s, "s32", a, b, sparse=True) for s in ("m16n8k32", "m16n8k64") for a, b in pairs(BYTES)
    ],
    "nibbles": [
        Form(s, "s32", a, b, sparse=True)
        for s in ("m16n8k64", "m16n8k128")
        for a, b in pairs(NIBBLES)
    ],
}


def thinned(form: Form, rng: np.random.Generator, whole: bool) -> tuple[Array, Array, Array]:
    """What is stored of a sparse A, all of A as numbers, and metadata, shape (1, LANES).

    Two of four elements are kept, one of two of tf32, two of four pairs of four bits.
    """
    rows, _, depth = form.sizes
    per_chunk = {"tf32": 2, "s4": 8, "u4": 8}.get(form.a, 4)
    chunks = depth // per_chunk
    stored = drawn(form.a, (rows, depth // 2), rng, whole)
    kept = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
    slots = kept[rng.choice([0, 5] if form.a == "tf32" else 6, (rows, chunks))]
    dense = np.zeros((rows, chunks, 4, max(1, per_chunk // 4)))
    values = decoded(stored, form.a).reshape(rows, chunks, -1)
    if form.a == "tf32":  # both halves of an element have a slot each
        dense = np.zeros((rows, chunks, 2, 1))
        np.put_along_axis(dense, slots[:, :, :1, None] // 2, values[..., None], axis=2)
    else:
        group = values.reshape(rows, chunks, 2, -1)
        np.put_along_axis(dense, slots[..., None], group, axis=2)
    return stored, dense.reshape(rows, depth), metadata(form, slots)


def metadata(form: Form, slots: Array) -> Array:
    """Two bits for each slot; words of a quad's lanes as CUTLASS's `reorder_meta` lays them out."""
    words = np.zeros((1, manual.LANES), np.uint64)
    bits = (slots[..., 0] | slots[..., 1] << 2).astype(np.uint64)
    for row, chunk in np.ndindex(bits.shape):
        if manual.BITS[form.a] <= 8:  # a word for one row
            lane, bit = row // 8 + chunk // 8 * 2, chunk % 8 * 4
        else:  # half a word for each of two rows
            lane, bit = chunk // 4, row // 8 * 16 + chunk % 4 * 4
        words[0, row % 8 * 4 + lane] |= bits[row, chunk] << np.uint64(bit)
    return words.astype(np.uint32)


@dataclass
class Case:
    """One product: what goes into the registers, and what must come out."""

    form: Form
    statement: Any
    wanted: Array
    sizes: Array
    """Sums of absolute products: what errors are measured by."""

    def check(self, whole: bool) -> None:
        form = self.form
        rows, columns, depth = form.sizes
        found = manual.out_of_registers(self.statement.result, form.d, (rows, columns), manual.of_c)
        values = decoded(found, form.d)
        if whole:
            np.testing.assert_array_equal(values, self.wanted, err_msg=form.name)
            return
        terms, fraction = SUMS[form.a]
        last = {"f16": 11, "f32": 23, "f64": 53}[form.d]
        steps = -(-depth // terms)
        bound = self.sizes * steps * ((terms + 1) * 2.0**-fraction + 2.0**-last)
        assert (abs(values - self.wanted) <= bound).all(), form.name


def case_of(form: Form, rng: np.random.Generator, whole: bool) -> Case:
    rows, columns, depth = form.sizes
    right = drawn(form.b, (depth, columns), rng, whole)
    stored, left, meta = (
        thinned(form, rng, whole)
        if form.sparse
        else (held := drawn(form.a, (rows, depth), rng, whole), decoded(held, form.a), None)
    )
    numbers = (
        rng.integers(-9, 10, (rows, columns)) if whole else rng.standard_normal((rows, columns))
    )
    before = encoded(numbers, form.d)
    of_a, of_b = formulas(form)
    c = manual.in_registers(before, form.d, manual.of_c)
    sources = [
        manual.in_registers(stored, form.a, of_a),
        manual.in_registers(right, form.b, of_b),
        c,
    ]
    alone, tail = frozenset[int](), ""
    if meta is not None:
        sources, alone, tail = [*sources, meta], frozenset([4]), ", 0"
    y, added = decoded(right, form.b), decoded(before, form.d)
    wanted = left @ y + added
    if form.bits == ".xor.popc":
        wanted = (left[:, :, None] != y[None]).sum(axis=1) + added
    sizes = abs(left) @ abs(y) + abs(added)
    statement = manual.Statement(form.name, sources, np.zeros_like(c), alone, tail)
    return Case(form, statement, wanted, sizes)


def formulas(form: Form) -> tuple[Any, Any]:
    """Formulas of A's and B's registers: a sparse A is stored as a dense one of half the depth."""
    rows, columns, depth = form.sizes
    bits = 64 if form.a == "f64" else manual.BITS[form.a]
    stored = f"m{rows}n{columns}k{depth // 2 if form.sparse else depth}"
    return manual.OF_A[stored, bits], manual.OF_B[depth, bits]


def check(forms: list[Form], engine: str, *, whole: bool) -> None:
    if engine == "jit" and len(forms) > 6:  # all shapes and types, not all pairs: each is compiled
        forms = forms[::3]
    rng = np.random.default_rng(len(forms))
    cases = [case_of(form, rng, whole) for form in forms]
    manual.run_all([case.statement for case in cases], "sm_120a", engine)
    for case in cases:
        case.check(whole)


@pytest.mark.drawn(8)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", DENSE)
def test_integers_exactly(kind: str, engine: str) -> None:
    check(DENSE[kind], engine, whole=True)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", [k for k in DENSE if DENSE[k][0].a in SUMS])
def test_floats_within_the_bound(kind: str, engine: str) -> None:
    check(DENSE[kind], engine, whole=False)


@pytest.mark.drawn(6)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", SPARSE)
def test_sparse_integers_exactly(kind: str, engine: str) -> None:
    check(SPARSE[kind], engine, whole=True)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", [k for k in SPARSE if SPARSE[k][0].a in SUMS])
def test_sparse_floats_within_the_bound(kind: str, engine: str) -> None:
    check(SPARSE[kind], engine, whole=False)


@pytest.mark.parametrize(
    "form", [f for forms in DENSE.values() for f in forms], ids=lambda f: f.name
)
def test_every_register_of_every_lane(form: Form) -> None:
    """Products do not show whether A and B have another order along the depth: places do."""
    operation = product_form(form.name, "sm_120a")
    assert isinstance(operation, MatrixOperation), operation
    word = 32 if form.a == "b1" else 1  # the elements of such a fragment are words of 32 bits
    a, b, c, _ = operation.fragments()
    of_a, of_b = formulas(form)
    row, column = (x[::word] for x in manual.places(of_a, a.elements * word))
    np.testing.assert_array_equal(a.places, row * a.columns + column // word)
    row, column = (x[::word] for x in manual.places(of_b, b.elements * word))
    np.testing.assert_array_equal(b.places, row // word * b.columns + column)
    row, column = manual.places(manual.of_c, c.elements)
    np.testing.assert_array_equal(c.places, row * c.columns + column)
