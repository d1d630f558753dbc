"""Matrix instructions of PTX: which are legal, sparse operands, fragments in memory."""

from __future__ import annotations

import runpy
import subprocess
from itertools import combinations, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.ptx_frontend import read_ptx
from kernelcast.ptx_frontend.ptx.legal.matrix_forms import product_form
from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.layouts import Order, Role, quad_pairs
from kernelcast.simcore.isa.matrix.operations import MatrixOperation
from kernelcast.simcore.launch.launch import Launch
from kernelcast.traces.trace import Trace

Array = npt.NDArray[Any]
ORACLE = Path(__file__).parents[2] / "simcore" / "matrix_program.py"
ASSEMBLER = Path(__file__).parents[1] / "assembler.py"
assembler: Any = SimpleNamespace(**runpy.run_path(str(ASSEMBLER)))
oracle: Any = SimpleNamespace(**runpy.run_path(str(ORACLE)))
LANES = 32
LEGAL = [
    *(
        f"mma.sync.aligned.{s}.row.col.{t}.f16.f16.{t}"
        for s in ("m16n8k8", "m16n8k16")
        for t in ("f16", "f32")
    ),
    *(
        f"mma.sync.aligned.m8n8k4.{a}.{b}.f32.f16.f16.{c}"
        for a in ("row", "col")
        for b in ("row", "col")
        for c in ("f16", "f32")
    ),
    "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32",
    "mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc",
    "mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e5m2.f16",
    "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.s4.u4.s32",
    *(f"wmma.mma.sync.aligned.row.row.{s}.f32.f16" for s in ("m16n16k16", "m32n8k16", "m8n32k16")),
    "wmma.mma.sync.aligned.col.row.m16n16k8.f32.tf32.tf32.f32",
    "wmma.mma.sync.aligned.row.col.m8n32k16.s32.u8.u8.s32.satfinite",
    "wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
    "wmma.mma.sync.aligned.row.row.m8n8k4.rn.f64.f64.f64.f64",
]
ILLEGAL = [
    "mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16",
    "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32",
    "mma.sync.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sp.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
    "wmma.mma.sync.aligned.row.row.m8n8k32.s32.s4.s4.s32",
    "wmma.mma.sync.aligned.row.col.m16n16k8.f32.f16.f16.f32",
]


def source_of(mnemonic: str, selector: int = 0) -> str:
    """A kernel of the instruction; for one that is refused the operands of the likest legal one."""
    form = product_form(mnemonic, "sm_90", selector)
    assert isinstance(form, MatrixOperation), form
    a, b, c, d = form.fragments()
    order = (d, a, b, c)
    bits = tuple(f.format.register_bits for f in order)
    counts = tuple(f.registers for f in order)
    tail = ""
    if form.sparsity is not None:
        bits, counts, tail = (*bits, 32), (*counts, 1), f", {selector}"
    text: str = oracle.program(mnemonic, bits, counts, "sm_90", tail)
    return text


@pytest.mark.parametrize("mnemonic", LEGAL)
def test_the_assembler_takes_what_is_taken_here(mnemonic: str, tmp_path: Path) -> None:
    """Shapes, types and the numbers of registers."""
    file = tmp_path / "k.ptx"
    file.write_text(source_of(mnemonic))
    command = [assembler.ptxas(), "-arch=sm_90", "-o", str(tmp_path / "k"), str(file)]
    subprocess.run(command, check=True)


@pytest.mark.parametrize("mnemonic", ILLEGAL)
def test_what_ptx_lacks_is_refused(mnemonic: str) -> None:
    assert isinstance(product_form(mnemonic, "sm_90"), Refusal)


def test_a_sparsity_selector_is_one_of_those_of_the_shape() -> None:
    name = "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
    assert isinstance(product_form(name, "sm_80", 1), MatrixOperation)
    assert isinstance(product_form(name, "sm_80", 2), Refusal)


SPARSE = [("f16", 16, 4), ("f16", 32, 2), ("s8", 32, 2), ("s8", 64, 1)]


@pytest.mark.parametrize(("type_", "depth", "selectors"), SPARSE)
def test_sparse_products(type_: str, depth: int, selectors: int) -> None:
    """A with two of four elements, whose places the metadata of the chosen lanes tell."""
    out = "f32" if type_ == "f16" else "s32"
    name = f"mma.sp.sync.aligned.m16n8k{depth}.row.col.{out}.{type_}.{type_}.{out}"
    rng = np.random.default_rng(depth)
    chunks = depth // 4
    pairs = np.array(list(combinations(range(4), 2)))[rng.integers(0, 6, (16, chunks))]
    stored = rng.integers(1, 8, (16, chunks, 2))
    dense = np.zeros((16, chunks, 4), np.int64)
    np.put_along_axis(dense, pairs, stored, axis=2)
    right = rng.integers(-8, 8, (depth, 8))
    nibbles = pairs[..., 0] | pairs[..., 1] << 2
    for selector in range(selectors):
        form = product_form(name, "sm_80", selector)
        assert isinstance(form, MatrixOperation)
        a, b, _, d = form.fragments()
        metadata = rng.integers(0, 1 << 32, LANES, dtype=np.uint64).astype(object)
        for row, chunk in product(range(16), range(chunks)):
            if type_ == "f16":  # half a word for each of two rows
                lane = row % 8 * 4 + selector * (depth // 16) + chunk // 4
                bit = row // 8 * 16 + chunk % 4 * 4
            else:  # a word for one row
                lane = row % 8 * 4 + selector * 2 + row // 8 + chunk // 8 * 2
                bit = chunk % 8 * 4
            metadata[lane] = metadata[lane] & ~(15 << bit) | int(nibbles[row, chunk]) << bit
        codes = np.float16 if type_ == "f16" else np.int8
        views = np.uint16 if type_ == "f16" else np.uint8
        buffers = [
            np.zeros(4 * LANES, np.uint32),
            a.registers_of(stored.reshape(1, 16, -1).astype(codes).view(views))
            .astype(np.uint32)
            .reshape(-1),
            b.registers_of(right[None].astype(codes).view(views)).astype(np.uint32).reshape(-1),
            np.zeros(4 * LANES, np.uint32),
            metadata.astype(np.uint32),
        ]
        oracle.run(source_of(name, selector), buffers, "reference")
        found = d.codes(buffers[0].reshape(1, 4, LANES))[0, 0]
        values = found.view(np.float32 if type_ == "f16" else np.int32)
        np.testing.assert_array_equal(values, dense.reshape(16, -1) @ right)


@pytest.mark.parametrize("order", list(Order))
def test_quad_pairs_of_the_first_tensor_cores(order: Order) -> None:
    """PTX ISA, `mma.m8n8k4` on f16: the formulas of rows and columns."""
    for lane, i in product(range(LANES), range(4)):
        batch, upper = lane % 16 // 4, 4 * (lane >= 16)
        a = (lane % 4 + upper, i) if order is Order.ROW else (i % 4 + upper, lane % 4)
        b = (lane % 4, i + upper) if order is Order.ROW else (i, lane % 4 + upper)
        found = (
            quad_pairs(role, ElementFormat.F16, order).places[i, lane] for role in (Role.A, Role.B)
        )
        assert tuple(found) == (batch * 32 + a[0] * 4 + a[1], batch * 32 + b[0] * 8 + b[1])
    for i, lane in product(range(8), range(LANES)):
        row = (lane & 1) + (i & 2) + 4 * (lane >= 16)
        column = (i & 4) + (lane & 2) + (i & 1)
        places = quad_pairs(Role.ACCUMULATOR, ElementFormat.F32, Order.ROW).places
        assert places[i, lane] == lane % 16 // 4 * 64 + row * 8 + column


@pytest.mark.parametrize("mnemonic", LEGAL)
def test_every_element_is_held_once(mnemonic: str) -> None:
    form = product_form(mnemonic, "sm_90")
    assert isinstance(form, MatrixOperation)
    for fragment in form.fragments():
        np.testing.assert_array_equal(
            np.sort(fragment.places, axis=None), np.arange(fragment.elements)
        )


def test_a_kind_changes_no_product_of_fp8() -> None:
    name = "mma.sync.aligned.{}m16n8k16.row.col.f32.e5m2.e4m3.f32"
    kinds = [product_form(name.format(kind), "sm_120a") for kind in ("", "kind::f8f6f4.")]
    assert isinstance(kinds[0], MatrixOperation)
    assert kinds[0] == kinds[1]


HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .pred %p<2>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
.shared .align 16 .b8 tile[1024];
ld.param.u64 %rd0, [in]; cvta.to.global.u64 %rd0, %rd0;
ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1;
mov.u32 %r0, %tid.x; mov.u32 %r1, tile; shl.b32 %r2, %r0, 4; add.u32 %r3, %r1, %r2;
"""


def run(body: str, given: Array, out: Array, engine: str) -> Trace:
    module = read_ptx(HEAD + body + "\nret;\n}", "k.ptx")
    for reasons in module.rejected.values():
        raise reasons[0]
    return execute(module.kernels["k"], Launch((1, 1, 1), (32, 1, 1), (given, out)), engine=engine)


FILL = """mul.wide.u32 %rd2, %r0, 16; add.u64 %rd2, %rd0, %rd2;
ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd2]; st.shared.v4.u32 [%r3], {%r4, %r5, %r6, %r7};
bar.sync 0;
"""
PUT = "mul.wide.u32 %rd3, %r0, 4; add.u64 %rd3, %rd1, %rd3; "


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("trans", ["", ".trans"])
def test_ldmatrix(count: int, trans: str, engine: str) -> None:
    """Lane l of a matrix gets row l/4, columns 2(l%4) and the next."""
    given = np.arange(256, dtype=np.uint16)
    out = np.zeros(count * LANES, np.uint32)
    registers = [f"%r{8 + i}" for i in range(count)]
    stores = "".join(f"st.global.u32 [%rd3+{128 * i}], {r};" for i, r in enumerate(registers))
    load = (
        f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{', '.join(registers)}}}, [%r3];"
    )
    trace = run(FILL + load + PUT + stores, given, out, engine)
    matrices = given.reshape(4, 8, 8)[:count]
    wanted = (matrices.transpose(0, 2, 1) if trans else matrices).reshape(-1).copy().view(np.uint32)
    np.testing.assert_array_equal(out, wanted)
    (row,) = [r for r in trace.instructions if r.mnemonic.startswith("ldmatrix") and r.is_source]
    assert (row.kind, row.space, row.access_bytes) == ("load", "shared", 16)


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("trans", ["", ".trans"])
def test_stmatrix_is_the_inverse(trans: str, engine: str) -> None:
    given, out = np.arange(256, dtype=np.uint16), np.zeros(128, np.uint32)
    body = f"""ldmatrix.sync.aligned.m8n8.x2{trans}.shared.b16 {{%r8, %r9}}, [%r3];
    stmatrix.sync.aligned.m8n8.x2{trans}.shared.b16 [%r3+512], {{%r8, %r9}};
    add.u32 %r10, %r1, 512; shl.b32 %r11, %r0, 2; add.u32 %r10, %r10, %r11;
    ld.shared.u32 %r12, [%r10]; st.global.u32 [%rd3], %r12;
    ld.shared.u32 %r12, [%r10+128]; st.global.u32 [%rd3+128], %r12;"""
    run(FILL + PUT + body, given, out, engine)
    np.testing.assert_array_equal(out[:64], given.view(np.uint32)[:64])


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("order", ["row", "col"])
@pytest.mark.parametrize("type_", ["f16", "f32"])
def test_wmma_accumulators_keep_their_elements(order: str, type_: str, engine: str) -> None:
    """Loaded in one order and stored in the other, a matrix is transposed."""
    count, other = (4, "col" if order == "row" else "row") if type_ == "f16" else (8, "row")
    registers = ", ".join(f"%r{4 + i}" for i in range(count))
    bits = np.uint16 if type_ == "f16" else np.uint32
    given = np.arange(16 * 24, dtype=bits)
    out = np.zeros(16 * 16, bits)
    load, store = f"wmma.load.c.sync.aligned.{order}", f"wmma.store.d.sync.aligned.{other}"
    body = f"""{load}.m16n16k16.global.{type_} {{{registers}}}, [%rd0], 24;
    {store}.m16n16k16.global.{type_} [%rd1], {{{registers}}};"""
    run(body, given, out, engine)
    memory = given.reshape(16, 24)[:, :16]
    np.testing.assert_array_equal(out.reshape(16, 16), memory if order == other else memory.T)
