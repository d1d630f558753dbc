"""Every shape, type and order of `wmma` on both engines: loaded, multiplied and stored.

PTX leaves fragments open, so that what counts is what the three instructions do together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import execute
from kernelcast.simcore.launch.launch import Launch

Array = npt.NDArray[Any]
ENGINES = ["reference", "jit"]
SHAPES = ("m16n16k16", "m32n8k16", "m8n32k16")
ORDERS = ("row", "col")
ALIGNMENT = 32
BITS = {"s4": 4, "u4": 4, "b1": 1, "s8": 8, "u8": 8, "f16": 16, "bf16": 16, "f64": 64}
REGISTERS = {"f16": (8, 8), "tf32": (4, 4), "f64": (1, 1)}
RANGES = {"s8": (-128, 128), "u8": (0, 256), "s4": (-8, 8), "u4": (0, 16), "b1": (0, 2)}
SMALLER = {
    ("bf16", "m16n16k16"): (4, 4),
    ("bf16", "m8n32k16"): (2, 8),
    ("bf16", "m32n8k16"): (8, 2),
    **{(t, "m16n16k16"): (2, 2) for t in ("s8", "u8")},
    **{(t, "m32n8k16"): (4, 1) for t in ("s8", "u8")},
    **{(t, "m8n32k16"): (1, 4) for t in ("s8", "u8")},
    **dict.fromkeys((("s4", "m8n8k32"), ("u4", "m8n8k32"), ("b1", "m8n8k128")), (1, 1)),
}


@dataclass(frozen=True)
class Form:
    """Orders of A, B, C and D in memory; the types of D and C differ where PTX lets them."""

    shape: str
    a: str
    d: str
    c: str
    orders: tuple[str, str, str, str]
    operation: str = ""

    @property
    def sizes(self) -> tuple[int, int, int]:
        rows, columns, depth = map(int, re.findall(r"\d+", self.shape))
        return rows, columns, depth

    @property
    def mnemonic(self) -> str:
        orders = f"{self.orders[0]}.{self.orders[1]}.{self.shape}"
        operation = f"{self.operation}." if self.operation else ""
        types = f"{self.d}.{self.c}"
        if self.a != "f16":
            types = f"{self.d}.{self.a}.{self.a}.{self.c}"
        middle = ".rn" if self.a == "f64" else ""
        return f"wmma.mma.{operation}sync.aligned.{orders}{middle}.{types}"


def forms(
    types: tuple[str, ...], shapes: tuple[str, ...], results: tuple[str, ...], fixed: bool = False
) -> list[Form]:
    """C and D take each order in turn; `fixed`: A in rows, B in columns."""
    found = []
    for number, (a, shape, d, c, left, right) in enumerate(
        product(types, shapes, results, results, ORDERS, ORDERS)
    ):
        if not fixed or (left, right) == ("row", "col"):
            others = ORDERS[number % 2], ORDERS[number // 2 % 2]
            found.append(Form(shape, a, d, c, (left, right, *others)))
    return found


KINDS = {
    "f16": forms(("f16",), SHAPES, ("f16", "f32")),
    "bf16": forms(("bf16",), SHAPES, ("f32",)),
    "tf32": forms(("tf32",), ("m16n16k8",), ("f32",)),
    "f64": forms(("f64",), ("m8n8k4",), ("f64",)),
    "bytes": forms(("s8", "u8"), SHAPES, ("s32",)),
    "nibbles": forms(("s4", "u4"), ("m8n8k32",), ("s32",), fixed=True),
    "bits": [
        Form("m8n8k128", "b1", "s32", "s32", ("row", "col", order, "row"), operation)
        for order, operation in zip(ORDERS, ("xor.popc", "and.popc"), strict=True)
    ],
}


def encoded(values: Array, name: str) -> Array:
    match name:
        case "f16":
            return values.astype(np.float16)
        case "bf16":
            return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        case "tf32" | "f32":
            return values.astype(np.float32)
        case "f64":
            return values.astype(np.float64)
        case "s32":
            return values.astype(np.int32)
    return values.astype(np.int64).astype(np.uint8)


def in_memory(values: Array, name: str, order: str, stride: int) -> Array:
    """Bytes of a matrix whose lines begin `stride` elements after one another."""
    lines = values if order == "row" else values.T
    wide = np.zeros((lines.shape[0], stride), values.dtype)
    wide[:, : lines.shape[1]] = lines
    codes = encoded(wide, name)
    bits = BITS.get(name, 32)
    if bits < 8:  # the first element in the lowest bits
        parts = codes.reshape(-1, 8 // bits) & ((1 << bits) - 1)
        codes = (parts << (np.arange(8 // bits, dtype=np.uint8) * bits)).sum(axis=1, dtype=np.uint8)
    return np.ascontiguousarray(codes).reshape(-1).view(np.uint8)


def stride_of(rows: int, columns: int, name: str, order: str) -> int:
    """Longer than a line, by 16 bytes: the shortest step that PTX allows."""
    return (columns if order == "row" else rows) + max(4, 128 // BITS.get(name, 32))


class Program:
    """Buffers and PTX of many products."""

    def __init__(self, all_forms: list[Form], rng: np.random.Generator) -> None:
        self.lines: list[str] = []
        self.parts: list[Array] = []
        self.size = 0
        self.results: list[tuple[Form, int, Array]] = []
        self.out = 0
        for number, form in enumerate(all_forms):
            self._add(form, number, rng)

    def _put(self, values: Array, name: str, order: str) -> tuple[int, int]:
        """(offset, stride) of a matrix among the sources."""
        stride = stride_of(values.shape[0], values.shape[1], name, order)
        raw = in_memory(values, name, order, stride)
        at, self.size = self.size, self.size + -(-raw.size // ALIGNMENT) * ALIGNMENT
        self.parts.append(np.pad(raw, (0, self.size - at - raw.size)))
        return at, stride

    def _add(self, form: Form, number: int, rng: np.random.Generator) -> None:
        rows, columns, depth = form.sizes
        low, high = RANGES.get(form.a, (-4, 5))
        a, b = rng.integers(low, high, (rows, depth)), rng.integers(low, high, (depth, columns))
        c = rng.integers(-9, 10, (rows, columns))
        counts = REGISTERS.get(form.a) or SMALLER[form.a, form.shape]
        ends = {"f16": 4, "f64": 2}
        few = 2 if rows * columns == 64 else 8
        many = (*counts, ends.get(form.c, few), ends.get(form.d, few))
        names = []
        for letter, count in zip("abcd", many, strict=True):
            kind = "b64" if form.a == "f64" else "b32"
            registers = [f"%{letter}{number}_{i}" for i in range(count)]
            self.lines.append(f".reg .{kind} {', '.join(registers)};")
            names.append("{" + ", ".join(registers) + "}")
        sources = ((a, form.a), (b, form.a), (c, form.c))
        for letter, (values, name), order, held in zip(
            "abc", sources, form.orders, names, strict=False
        ):
            at, stride = self._put(values, name, order)
            root = f"wmma.load.{letter}.sync.aligned.{order}.{form.shape}.global.{name}"
            self.lines.append(f"{root} {held}, [%in+{at}], {stride};")
        self.lines.append(f"{form.mnemonic} {names[3]}, {names[0]}, {names[1]}, {names[2]};")
        stride = stride_of(rows, columns, form.d, form.orders[3])
        root = f"wmma.store.d.sync.aligned.{form.orders[3]}.{form.shape}.global.{form.d}"
        self.lines.append(f"{root} [%out+{self.out}], {names[3]}, {stride};")
        together = {"xor.popc": np.not_equal, "and.popc": np.logical_and}.get(form.operation)
        wanted = a @ b if together is None else together(a[:, :, None], b[None]).sum(axis=1)
        memory = in_memory(wanted + c, form.d, form.orders[3], stride)
        self.results.append((form, self.out, memory))
        self.out += -(-memory.size // ALIGNMENT) * ALIGNMENT

    def run(self, engine: str) -> Array:
        head = """.version 8.0\n.target sm_80\n.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)\n{
.reg .b64 %in, %out; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];"""
        module = read_ptx("\n".join([head, *self.lines, "ret;\n}"]), "k.ptx")
        for reasons in module.rejected.values():
            raise reasons[0]
        out = np.zeros(self.out, np.uint8)
        launch = Launch((1, 1, 1), (32, 1, 1), (np.concatenate(self.parts), out))
        execute(module.kernels["k"], launch, engine=engine)
        return out


@pytest.mark.drawn(7)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", KINDS)
def test_products(kind: str, engine: str) -> None:
    """Products are right, and bytes between the lines stay as they are.

    The JIT engine compiles each form: of kinds with many, a step that meets all shapes, types and
    orders chooses some.
    """
    forms_of_kind = KINDS[kind]
    if engine == "jit" and len(forms_of_kind) > 4:
        forms_of_kind = forms_of_kind[:: 7 if len(forms_of_kind) > 24 else 5]
    program = Program(forms_of_kind, np.random.default_rng(len(kind)))
    out = program.run(engine)
    for form, at, memory in program.results:
        np.testing.assert_array_equal(out[at : at + memory.size], memory, err_msg=str(form))
