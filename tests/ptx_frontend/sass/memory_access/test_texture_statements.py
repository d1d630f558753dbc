"""Reads of textures as machine code give what those of the PTX give."""

from __future__ import annotations

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.simcore.isa.ir.image_formats import ImageKind
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.program_checks import assert_as_ptx

PROGRAM = """
.version 8.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 t) {
.reg .u64 %rd<9>; .reg .u32 %r<20>;
ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [t]; mov.u32 %r1, %tid.x; sub.u32 %r2, %r1, 2;
mul.wide.u32 %rd3, %r1, 64; add.u64 %rd3, %rd3, %rd1; shr.u32 %r3, %r1, 2;
READ {%r4, %r5, %r6, %r7}, [%rd2, {PLACE}]; st.global.v4.u32 [%rd3], {%r4, %r5, %r6, %r7};
READ {%r4, %r5, %r6, %r7}, [%rd2, {PLACE}]; st.global.v2.u32 [%rd3+16], {%r5, %r7};
ld.global.u64 %rd4, [%rd3+48]; add.u64 %rd4, %rd4, %rd2;
READ {%r4, %r5, %r6, %r7}, [%rd4, {PLACE}]; st.global.u32 [%rd3+32], %r6;
ret; }
"""


def _program(read: str, place: str) -> str:
    program = PROGRAM.replace("READ", read).replace("PLACE", place)
    return program.replace(".reg .u32 %r<20>", ".reg .b32 %r<20>")


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", ["sm_70", "sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize("type_", [np.float32, np.int16, np.uint8])
def test_texels(type_: type[np.generic], architecture: str) -> None:
    values = np.random.default_rng(3).uniform(-90, 90, (32, 4)).astype(type_)
    kind = "f32" if type_ is np.float32 else "s32"
    launch = Launch(
        (1, 1, 1), (40, 1, 1), (np.zeros(640, np.uint32), kc.Texture(values, ImageKind.IMAGE_1D))
    )
    assert_as_ptx(_program(f"tex.1d.v4.{kind}.s32", "%r2"), launch, (architecture,))


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
def test_texels_of_planes(architecture: str) -> None:
    values = np.random.default_rng(4).normal(size=(8, 16, 4)).astype(np.float32)
    launch = Launch(
        (1, 1, 1), (40, 1, 1), (np.zeros(640, np.uint32), kc.Texture(values, ImageKind.IMAGE_2D))
    )
    assert_as_ptx(_program("tex.2d.v4.f32.s32", "%r2, %r3"), launch, (architecture,))
