"""Special registers, parameters and constants in machine code: values are those of the PTX."""

from __future__ import annotations

import numpy as np
import pytest

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.native_programs import (
    ARCHITECTURES,
    ENGINES,
    machine_kernel,
    outputs,
)

_WORDS = (
    *(f"%{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"),
    *(f"%lanemask_{name}" for name in ("eq", "lt", "le", "gt", "ge")),
    *("%laneid", "%warpid", "%smid", "%nsmid", "%dynamic_smem_size", "%envreg3"),
)
_CLUSTER_WORDS = (
    *(
        f"%{name}.{axis}"
        for name in ("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")
        for axis in "xyz"
    ),
    *("%cluster_ctarank", "%cluster_nctarank", "%nwarpid"),
)
_BLOCK, _GRID = (20, 3, 2), (6, 2, 3)
_LANES, _BLOCKS = 120, 36


def _target(architecture: str) -> str:
    return "sm_90" if architecture in ("sm_100", "sm_120") else architecture


def _registers(architecture: str) -> tuple[str, int]:
    is_newer = int(architecture[3:]) >= 90
    names = (*_WORDS, *(_CLUSTER_WORDS if is_newer else ()))
    lines = [
        f".version 8.7\n.target {_target(architecture)}\n.address_size 64",
        ".visible .entry k(.param .u64 out)",
        ".explicitcluster .reqnctapercluster 3, 2, 1" if is_newer else "",
        "{ .shared .align 4 .b8 room[64]; .reg .b32 v, t, u, n; .reg .b64 to, step, w;",
        "ld.param.u64 to, [out]; mov.u32 n, 0;",
    ]
    for axis, size in (("z", 2), ("y", 3), ("x", 20)):
        lines.append(f"mov.u32 t, %tid.{axis}; mad.lo.u32 n, n, {size}, t;")
    lines.append("mov.u32 u, 0;")
    for axis, size in (("z", 3), ("y", 2), ("x", 6)):
        lines.append(f"mov.u32 t, %ctaid.{axis}; mad.lo.u32 u, u, {size}, t;")
    count = len(names) + 2
    lines.append(f"mad.lo.u32 n, u, {_LANES}, n; mul.wide.u32 step, n, {8 * count};")
    lines.append("add.s64 to, to, step;")
    for number, name in enumerate(names):
        lines.append(f"mov.u32 v, {name}; cvt.u64.u32 w, v; st.global.u64 [to+{8 * number}], w;")
    lines.append(f"mov.u64 w, %gridid; st.global.u64 [to+{8 * len(names)}], w;")
    lines.append(f"mov.u32 v, %total_smem_size; st.global.u32 [to+{8 * len(names) + 8}], v;")
    lines.append("mov.u32 t, room; st.shared.u32 [t], v; ret; }")
    return "\n".join(lines), count


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", ["sm_70", *ARCHITECTURES])
def test_special_registers_are_those_of_ptx(architecture: str) -> None:
    ptx, count = _registers(architecture)
    results = np.zeros((_LANES * _BLOCKS, count), np.uint64)
    launch = Launch(_GRID, _BLOCK, (results,), dynamic_shared_bytes=48)
    (expected,) = outputs(read_ptx(ptx, "k.ptx").kernels["k"], launch, "reference")
    kernel = machine_kernel(ptx, architecture)
    for engine in ENGINES:
        (found,) = outputs(kernel, launch, engine)
        assert np.argwhere(found != expected).tolist()[:5] == []


_PARAMETERS = """
.version 8.7
.target {target}
.address_size 64
.const .align 4 .b32 table[8] = {{3, 1, 4, 1, 5, 9, 2, 6}};
.const .align 8 .b64 far[3] = {{0x1122334455667788, 7, 0x8000000000000001}};
.visible .entry k(.param .u64 out, .param .u8 small, .param .s16 half, .param .s8 signed,
    .param .align 8 .b8 many[40], .param .u16 last)
{{
    .reg .b16 h;
    .reg .b32 t, n, v, s;
    .reg .b64 to, step, p, x;
    ld.param.u64 to, [out];
    mov.u32 t, %tid.x;
    mul.wide.u32 step, t, 80;
    add.s64 to, to, step;
    ld.param.u8 v, [small]; st.global.u32 [to], v;
    ld.param.s16 v, [half]; st.global.u32 [to+4], v;
    ld.param.s8 v, [signed]; st.global.u32 [to+8], v;
    ld.param.u16 v, [last]; st.global.u32 [to+12], v;
    mov.u64 p, many;
    and.b32 n, t, 7;
    mul.wide.u32 step, n, 4;
    add.s64 x, p, step; ld.param.u32 v, [x]; st.global.u32 [to+16], v;
    ld.param.u32 v, [x+4]; st.global.u32 [to+20], v;
    ld.param.u8 v, [x+7]; st.global.u32 [to+24], v;
    ld.param.s16 v, [x+2]; st.global.u32 [to+28], v;
    ld.param.u64 x, [many+8]; st.global.u64 [to+32], x;
    ld.param.u8 v, [many+13]; st.global.u32 [to+40], v;
    ld.param.s8 v, [many+14]; st.global.u32 [to+44], v;
    and.b32 n, t, 3;
    mul.wide.u32 step, n, 8;
    add.s64 x, p, step; ld.param.u64 x, [x+8]; st.global.u64 [to+48], x;
    mov.u64 p, table; and.b32 n, t, 7; mul.wide.u32 step, n, 4;
    add.s64 x, p, step; ld.const.u32 v, [x]; st.global.u32 [to+56], v;
    ld.const.u8 v, [x]; st.global.u32 [to+60], v;
    ld.const.u32 v, [table+8]; st.global.u32 [to+64], v;
    mov.u64 p, far; rem.u32 n, t, 3; mul.wide.u32 step, n, 8;
    add.s64 x, p, step; ld.const.u64 x, [x]; st.global.u64 [to+72], x;
    ret;
}}
"""


@pytest.mark.drawn(3)
@pytest.mark.parametrize("architecture", ["sm_70", *ARCHITECTURES])
def test_parameters_and_constants_are_those_of_ptx(architecture: str) -> None:
    ptx = _PARAMETERS.format(target=_target(architecture))
    results = np.zeros((64, 10), np.uint64)
    many = bytes((37 * i + 130) % 256 for i in range(40))
    launch = Launch((1, 1, 1), (64, 1, 1), (results, 0xF3, -2, -3, many, 0xFEDC))
    (expected,) = outputs(read_ptx(ptx, "k.ptx").kernels["k"], launch, "reference")
    kernel = machine_kernel(ptx, architecture)
    for engine in ENGINES:
        (found,) = outputs(kernel, launch, engine)
        assert np.argwhere(found != expected).tolist()[:5] == []
