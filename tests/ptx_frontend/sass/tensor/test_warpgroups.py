"""HGMMA, QGMMA, IGMMA and BGMMA against the `wgmma` that they were assembled from."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.native_programs import ENGINES, machine_kernel, outputs
from tests.ptx_frontend.sass.tensor.matrix_programs import register_words
from tests.simcore import wgmma_program

_TILE = 32768
_DENSE, _SPARSE = "wgmma.mma_async.sync.aligned.", "wgmma.mma_async.sp.sync.aligned."


@pytest.mark.drawn(2)
@pytest.mark.parametrize(
    ("statement", "words", "name", "swizzle"),
    [
        (f"{_DENSE}m64n16k16.f32.f16.f16 {{D}}, %da, %db, %scale, -1, 1, 1, 0;", 8, "f16", 32),
        (f"{_DENSE}m64n16k16.f32.f16.f16 {{D}}, %da, %db, 0, 1, -1, 0, 1;", 8, "f16", 128),
        (f"{_DENSE}m64n24k16.f32.bf16.bf16 {{D}}, {{A}}, %db, 1, -1, 1, 1;", 12, "bf16", 0),
        (f"{_DENSE}m64n16k16.f16.f16.f16 {{D}}, {{A}}, %db, %scale, -1, -1, 0;", 4, "f16", 0),
        (f"{_DENSE}m64n16k8.f32.tf32.tf32 {{D}}, %da, %db, 1, 1, 1;", 8, "f32", 0),
        (f"{_DENSE}m64n16k32.f16.e4m3.e5m2 {{D}}, %da, %db, 1, 1, -1;", 4, "fp8", 0),
        (f"{_DENSE}m64n16k32.s32.s8.u8.satfinite {{D}}, {{A}}, %db, %scale;", 8, "any", 0),
        (f"{_DENSE}m64n16k256.s32.b1.b1.and.popc {{D}}, %da, %db, 1;", 8, "any", 0),
        (
            f"{_SPARSE}m64n16k32.f32.f16.f16 {{D}}, {{A}}, %db, %meta, 1, %scale, 1, -1, 1;",
            8,
            "f16",
            0,
        ),
        (f"{_SPARSE}m64n16k64.s32.s8.s8 {{D}}, %da, %db, %meta, 0, %scale;", 8, "any", 0),
    ],
)
def test_products_are_those_of_ptx(statement: str, words: int, name: str, swizzle: int) -> None:
    """D's registers before the product count, or not; both engines."""
    random = np.random.default_rng(11)
    source = re.sub(
        str(wgmma_program.SHARED_BYTES),
        str(_TILE),
        wgmma_program.program(statement, words, "b32", 4),
    )
    result = "f16" if ".f16.f16.f16" in statement or ".f16.e4" in statement else "f32"
    before = register_words(result if ".s32." not in statement else "small", 128 * words, random)
    tile = register_words(name, _TILE // 4, random).astype(np.uint32)
    registers = register_words(name, 4 * 128, random).astype(np.uint32)
    metadata = register_words("metadata", 128, random)
    described = [
        np.uint64(wgmma_program.descriptor(start, 1024, 512, swizzle)) for start in (0, _TILE // 2)
    ]
    wgmma = read_ptx(source, "k.ptx").kernels["k"]
    kernel = machine_kernel(source, "sm_90a")
    for scale in (0, 1):
        arguments: tuple[Any, ...] = (
            before,
            tile,
            registers,
            metadata,
            *described,
            np.uint32(scale),
        )
        launch = Launch((1, 1, 1), (128, 1, 1), arguments)
        wanted = outputs(wgmma, launch, "jit")[0]
        assert (wanted != before).any()
        for engine in ENGINES[scale:]:
            np.testing.assert_array_equal(outputs(kernel, launch, engine)[0], wanted)
