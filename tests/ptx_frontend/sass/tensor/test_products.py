"""HMMA, IMMA, DMMA, BMMA, QMMA and OMMA against the `mma` that they were assembled from."""

from __future__ import annotations

import numpy as np
import pytest

from kernelcast.simcore.isa.ir.kernel import WarpOperation
from kernelcast.simcore.isa.matrix.operations import MatrixOpcode
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.native_programs import machine_kernel, outputs
from tests.ptx_frontend.sass.tensor.matrix_programs import Statement, check_statements

_HALVES, _BYTES = ("f16", "f16", "metadata"), ("any", "small", "metadata")
_DOUBLES, _NARROW = ("f64", "f64", "f64"), ("fp8", "f32", "metadata")


def _mma(name: str) -> str:
    return f"mma.sync.aligned.{name} {{D}}, {{A}}, {{B}}, {{C}}"


def _sparse(name: str, selector: int = 0) -> str:
    return (
        f"mma.sp::ordered_metadata.sync.aligned.{name} {{D}}, {{A}}, {{B}}, {{C}}, %e0, {selector}"
    )


_TURING = (
    Statement(_mma("m16n8k8.row.col.f32.f16.f16.f32"), 2, 1, 4, 4),
    Statement(_mma("m16n8k8.row.col.f16.f16.f16.f16"), 2, 1, 2, 2, _HALVES),
    Statement(_mma("m8n8k16.row.col.satfinite.s32.u8.s8.s32"), 1, 1, 2, 2, _BYTES),
    Statement(_mma("m8n8k32.row.col.s32.s4.u4.s32"), 1, 1, 2, 2, _BYTES),
    Statement(_mma("m8n8k128.row.col.s32.b1.b1.s32.xor.popc"), 1, 1, 2, 2, _BYTES),
)
_AMPERE = (
    *_TURING[:3],
    Statement(_mma("m16n8k16.row.col.f32.f16.f16.f32"), 4, 2, 4, 4),
    Statement(_mma("m16n8k16.row.col.f16.f16.f16.f16"), 4, 2, 2, 2, _HALVES),
    Statement(_mma("m16n8k16.row.col.f32.bf16.bf16.f32"), 4, 2, 4, 4, ("bf16", "f32", "metadata")),
    Statement(_mma("m16n8k4.row.col.f32.tf32.tf32.f32"), 2, 1, 4, 4, ("f32", "f32", "metadata")),
    Statement(_mma("m16n8k8.row.col.f32.tf32.tf32.f32"), 4, 2, 4, 4, ("f32", "f32", "metadata")),
    Statement(_mma("m16n8k16.row.col.s32.s8.u8.s32"), 2, 1, 4, 4, _BYTES),
    Statement(_mma("m16n8k32.row.col.satfinite.s32.u8.u8.s32"), 4, 2, 4, 4, _BYTES),
    Statement(_mma("m16n8k256.row.col.s32.b1.b1.s32.and.popc"), 4, 2, 4, 4, _BYTES),
    Statement(_mma("m8n8k4.row.col.f64.f64.f64.f64"), 1, 1, 2, 2, _DOUBLES),
    Statement(_sparse("m16n8k16.row.col.f32.f16.f16.f32", 1), 2, 2, 4, 4, others=1),
    Statement(_sparse("m16n8k32.row.col.f16.f16.f16.f16"), 4, 4, 2, 2, _HALVES, others=1),
    Statement(_sparse("m16n8k64.row.col.s32.s8.u8.s32"), 4, 4, 4, 4, _BYTES, others=1),
)
_NIBBLES = (
    Statement(_mma("m16n8k64.row.col.s32.s4.s4.s32"), 4, 2, 4, 4, _BYTES),
    Statement(_mma("m16n8k32.row.col.s32.u4.s4.s32"), 2, 1, 4, 4, _BYTES),
    Statement(_sparse("m16n8k128.row.col.s32.u4.s4.s32"), 4, 4, 4, 4, _BYTES, others=1),
)
_ADA = (
    Statement(_mma("m16n8k32.row.col.f32.e4m3.e5m2.f32"), 4, 2, 4, 4, _NARROW),
    Statement(_mma("m16n8k16.row.col.f16.e5m2.e5m2.f16"), 2, 1, 2, 2, ("fp8", "f16", "metadata")),
    Statement(_sparse("m16n8k64.row.col.f32.e4m3.e5m2.f32"), 4, 4, 4, 4, _NARROW, others=1),
)
_HOPPER = tuple(
    Statement(_mma(f"m16n8k{k}.row.col.f64.f64.f64.f64"), k // 2, k // 4, 4, 4, _DOUBLES)
    for k in (4, 8, 16)
)


def _negated(name: str, a: int, b: int, c: int) -> Statement:
    """A of f64 with the other sign, which the product itself gives it."""
    registers = [f"%n{name[:6]}_{index}" for index in range(a)]
    signs = " ".join(f"neg.f64 {item}, %e{index};" for index, item in enumerate(registers))
    left = "{" + ", ".join(registers) + "}"
    product = f"mma.sync.aligned.{name}.row.col.f64.f64.f64.f64 {{D}}, {left}, {{B}}, {{C}}"
    text = f".reg .f64 {', '.join(registers)}; {signs} {product}"
    return Statement(text, 0, b, c, c, _DOUBLES, others=a)


_SCALED = ("fp8", "f32", "scales")


def _scaled(shape: str, kind: str, formats: str, places: tuple[str, str]) -> str:
    a, b = places
    return (
        f"mma.sync.aligned.{shape}.row.col.kind::{kind}.f32.{formats} "
        f"{{D}}, {{A}}, {{B}}, {{C}}, {{%e0}}, {a}, {{%e1}}, {b}"
    )


_BLACKWELL = (
    Statement(_mma("m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32"), 4, 2, 4, 4, _NARROW),
    Statement(
        _scaled(
            "m16n8k32",
            "mxf8f6f4.block_scale.scale_vec::1X",
            "e3m2.e2m1.f32.ue8m0",
            ("{2, 1}", "{1, 3}"),
        ),
        *(4, 2, 4, 4),
        _SCALED,
        others=2,
    ),
    Statement(
        _scaled(
            "m16n8k64",
            "mxf4.block_scale.scale_vec::2X",
            "e2m1.e2m1.f32.ue8m0",
            ("{2, 1}", "{0, 3}"),
        ),
        *(4, 2, 4, 4),
        _SCALED,
        others=2,
    ),
    Statement(
        _scaled(
            "m16n8k64",
            "mxf4nvf4.block_scale.scale_vec::4X",
            "e2m1.e2m1.f32.ue4m3",
            ("{0, 1}", "{0, 2}"),
        ),
        *(4, 2, 4, 4),
        _SCALED,
        others=2,
    ),
)


@pytest.mark.drawn(2)
@pytest.mark.parametrize(
    ("architecture", "statements"),
    [
        ("sm_75", _TURING),
        ("sm_80", (*_AMPERE, *_NIBBLES, _negated("m8n8k4", 1, 1, 2))),
        ("sm_89", (*_AMPERE[:4], *_ADA)),
        ("sm_90", (*_AMPERE, *_NIBBLES, *_HOPPER, _negated("m16n8k16", 8, 4, 4))),
        ("sm_100", (*_AMPERE, *_NIBBLES, *_HOPPER)),
        ("sm_120a", (*_AMPERE[3:6], *_ADA, *_BLACKWELL)),
    ],
)
def test_products_are_those_of_ptx(architecture: str, statements: tuple[Statement, ...]) -> None:
    """What an architecture lacks is made of several others; their sums do not differ."""
    check_statements(statements, architecture)


def _quads(orders: str, result: str, before: str) -> Statement:
    registers = {"f16": 4, "f32": 8}
    return Statement(
        _mma(f"m8n8k4.{orders}.{result}.f16.f16.{before}"),
        *(2, 2, registers[before], registers[result]),
        ("f16", before, "metadata"),
    )


def test_steps_of_volta() -> None:
    """Two or four instructions make one product; all of them together count its operations."""
    statements = (
        _quads("row.col", "f32", "f32"),
        _quads("col.row", "f32", "f32"),
        _quads("row.row", "f16", "f16"),
        _quads("col.col", "f32", "f16"),
    )
    check_statements(statements, "sm_70")


def test_steps_share_the_operations_of_their_product() -> None:
    text = """.version 8.7
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p0) {
.reg .b64 %p; .reg .b32 %a<4>; .reg .f32 %d<8>;
ld.param.u64 %p, [p0]; ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%p];
ld.global.v4.f32 {%d0, %d1, %d2, %d3}, [%p]; ld.global.v4.f32 {%d4, %d5, %d6, %d7}, [%p];
mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7},
  {%a0, %a1}, {%a2, %a3}, {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7};
st.global.v4.f32 [%p], {%d0, %d1, %d2, %d3}; st.global.v4.f32 [%p], {%d4, %d5, %d6, %d7};
ret;
}
"""
    kernel = machine_kernel(text, "sm_70")
    steps = [i.opcode for i in kernel.instructions if isinstance(i, WarpOperation)]
    steps = [opcode for opcode in steps if isinstance(opcode, MatrixOpcode)]
    assert len(steps) == 4
    assert 32 * sum(opcode.flops for opcode in steps) == 4 * 2 * 8 * 8 * 4


@pytest.mark.parametrize("architecture", ["sm_70", "sm_75", "sm_80"])
def test_a_product_of_wmma_is_numpy_s(architecture: str) -> None:
    """Integers, so that no sum is rounded; the shape is made of several instructions."""
    text = f""".version 8.0
.target {architecture}
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2) {{
.reg .b64 %a, %b, %c; .reg .b32 %x<8>, %y<8>, %z; .reg .f32 %d<8>, %zero;
ld.param.u64 %a, [p0]; ld.param.u64 %b, [p1]; ld.param.u64 %c, [p2]; mov.f32 %zero, 0f00000000;
wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {{%x0,%x1,%x2,%x3,%x4,%x5,%x6,%x7}}, [%a];
wmma.load.b.sync.aligned.row.m16n16k16.global.f16 {{%y0,%y1,%y2,%y3,%y4,%y5,%y6,%y7}}, [%b];
wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {{%d0,%d1,%d2,%d3,%d4,%d5,%d6,%d7}},
  {{%x0,%x1,%x2,%x3,%x4,%x5,%x6,%x7}}, {{%y0,%y1,%y2,%y3,%y4,%y5,%y6,%y7}},
  {{%zero,%zero,%zero,%zero,%zero,%zero,%zero,%zero}};
wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%c], {{%d0,%d1,%d2,%d3,%d4,%d5,%d6,%d7}};
ret;
}}
"""
    random = np.random.default_rng(3)
    a, b = (random.integers(-9, 9, (16, 16)).astype(np.float16) for _ in range(2))
    launch = Launch((1, 1, 1), (32, 1, 1), (a, b, np.zeros((16, 16), np.float32)))
    kernel = machine_kernel(text, architecture)
    for engine in ("reference", "jit"):
        found = outputs(kernel, launch, engine)[2]
        np.testing.assert_array_equal(found, a.astype(np.float32) @ b.astype(np.float32))
