"""`wgmma` and `tcgen05` of PTX: which are legal, and what they are counted as."""

from __future__ import annotations

import pytest

from kernelcast.ptx_frontend import read_ptx
from kernelcast.ptx_frontend.ptx.legal.wgmma_forms import wgmma_form
from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.isa.analysis.static_products import static_product, with_exact_sums
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.isa.matrix.accumulation import Summation
from kernelcast.simcore.isa.matrix.operations import MatrixOpcode

NAME = "wgmma.mma_async.sync.aligned"
SPARSE = "wgmma.mma_async.sp.sync.aligned"
LEGAL = [
    *(f"{NAME}.m64n{n}k16.f32.f16.f16" for n in range(8, 257, 8)),
    *(f"{NAME}.m64n{n}k32.s32.s8.u8" for n in (8, 16, 24, 32, 48, 240, 256)),
    f"{NAME}.m64n16k32.satfinite.s32.u8.u8",
    f"{NAME}.m64n16k32.s32.s8.u8.satfinite",
    f"{NAME}.m64n8k8.f32.tf32.tf32",
    f"{NAME}.m64n64k32.f16.e5m2.e4m3",
    f"{NAME}.m64n256k256.s32.b1.b1.and.popc",
    f"{SPARSE}.m64n128k32.f32.bf16.bf16",
    f"{SPARSE}.m64n128k64.s32.s8.s8",
]
ILLEGAL = [
    f"{NAME}.m64n4k16.f32.f16.f16",
    f"{NAME}.m64n264k16.f32.f16.f16",
    f"{NAME}.m64n40k32.s32.s8.s8",
    f"{NAME}.m64n8k8.f32.f16.f16",
    f"{NAME}.m64n8k16.f16.bf16.bf16",
    f"{NAME}.m64n8k16.f32.f16.bf16",
    f"{NAME}.m64n8k16.satfinite.f32.f16.f16",
    f"{NAME}.m64n8k256.s32.b1.b1",
    f"{SPARSE}.m64n8k16.f32.f16.f16",
    f"{SPARSE}.m64n8k512.s32.b1.b1.and.popc",
]
DECLARED = ".reg .pred %p<2>; .reg .b32 %r<9>; .reg .f32 %f<4>; .reg .b64 %rd<4>;"


def kernel(body: str) -> Kernel:
    text = f""".version 8.7
        .target sm_100a
        .address_size 64
        .visible .entry k() {{ {DECLARED} {body} ret; }}"""
    return read_ptx(text, "k.ptx").kernels["k"]


@pytest.mark.parametrize("mnemonic", LEGAL)
def test_legal(mnemonic: str) -> None:
    assert not isinstance(wgmma_form(mnemonic, "sm_90a"), Refusal)


@pytest.mark.parametrize("mnemonic", ILLEGAL)
def test_illegal(mnemonic: str) -> None:
    assert isinstance(wgmma_form(mnemonic, "sm_90a"), Refusal)


def test_a_product_of_a_warpgroup_counts_once() -> None:
    """What fetches the operands is part of it."""
    product = f"{NAME}.m64n8k16.f32.f16.f16 {{%f0, %f1, %f2, %f3}}, %rd0, %rd1, 1, 1, 1, 0, 0;"
    rows = [row for row in instruction_rows(kernel(product)) if not row.is_part][:1]
    assert [row.opcode for row in rows] == ["wgmma.m64n8k16.f32.f16.f16.f32"]
    assert 128 * rows[0].flops == 2 * 64 * 8 * 16
    assert rows[0].unit == "tensor"


def test_groups_are_waited_for_by_number() -> None:
    body = "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 2;"
    assert [row.opcode for row in instruction_rows(kernel(body))][:2] == [
        "commit_group",
        "wait_group.2",
    ]


def test_operations_of_a_product_in_tensor_memory() -> None:
    """Operations are known where the descriptor is a constant of the kernel."""
    word = 1 << 4 | 64 // 8 << 17 | 128 // 16 << 24
    product = "tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd1, %r1, %p0;"
    known = kernel(f"mov.b32 %r1, {word}; {product}")
    rows = [row for row in instruction_rows(known) if row.mnemonic.startswith("tcgen05")]
    assert rows[0].flops == rows[0].tensor_operations == 2 * 128 * 64 * 16
    assert rows[0].unit == "tensor"
    unknown = kernel(f"mov.u32 %r1, %tid.x; {product}")
    assert [static_product(unknown, i) for i in unknown.instructions] == [None] * 3


def test_exact_sums_of_both() -> None:
    product = f"{NAME}.m64n8k16.f32.f16.f16 {{%f0, %f1, %f2, %f3}}, %rd0, %rd1, 1, 1, 1, 0, 0;"
    text = f"{product} tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd1, 135266320, %p0;"
    exact = with_exact_sums(kernel(text))
    sums = [
        opcode.operation.product.accumulation.summation
        for block in exact.blocks
        for i in block.body
        if isinstance(opcode := getattr(i, "opcode", None), MatrixOpcode) and opcode.operation
    ]
    found = [static_product(exact, i) for i in exact.instructions]
    sums += [product.accumulation.summation for product in found if product is not None]
    assert sums == [Summation.WIDE, Summation.WIDE]
