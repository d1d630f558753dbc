"""What RDNA 4 has that older generations lack: scalar numbers, waits, registers of work-groups."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.isa.ir.machine_code import KM, LGKM, VM, VS
from kernelcast.simcore.timing.launch.launch_timing import launch_timing
from tests.ptx_frontend.amdgcn.assembly import NARROW, lowered_for_rdna, walked

ARCHITECTURE, DEVICE = "gfx1201", "rx-9070-xt"
MOST = 63

Number = np.float32
SCALARS: dict[str, Callable[[Any], Any]] = {
    "s_add_f32 s8, s8, 0.5": lambda x: x + Number(0.5),
    "s_sub_f32 s8, 1.0, s8": lambda x: Number(1) - x,
    "s_mul_f32 s8, s8, s8": lambda x: x * x,
    "s_fmac_f32 s8, s8, s8": lambda x: Number(np.float64(x) * x + x),
    "s_fmaak_f32 s8, s8, s8, 0x40200000": lambda x: Number(np.float64(x) * x + 2.5),
    "s_max_num_f32 s8, s8, 0": lambda x: max(x, Number(0)),
    "s_min_num_f32 s8, s8, 0": lambda x: min(x, Number(0)),
    "s_floor_f32 s8, s8": np.floor,
    "s_ceil_f32 s8, s8": np.ceil,
    "s_trunc_f32 s8, s8": np.trunc,
    "s_rndne_f32 s8, s8": np.rint,
    "v_s_rcp_f32 s8, s8": lambda x: Number(1) / x,
    "v_s_sqrt_f32 s8, s8; s_mov_b32 s9, 1": lambda x: np.sqrt(x),
    "s_cvt_i32_f32 s8, s8; s_cvt_f32_i32 s8, s8": np.trunc,
    "s_cvt_f16_f32 s8, s8; s_cvt_f32_f16 s8, s8": lambda x: Number(np.float16(x)),
    "s_cvt_f16_f32 s8, s8; s_mul_f16 s8, s8, s8; s_cvt_f32_f16 s8, s8": lambda x: Number(
        np.float16(x) * np.float16(x)
    ),
    "s_cvt_f16_f32 s8, s8; s_lshl_b32 s8, s8, 16; s_cvt_hi_f32_f16 s8, s8": lambda x: x,
    "s_cmp_lt_f32 s8, 0; s_cselect_b32 s8, 1.0, 2.0": lambda x: Number(1 if x < 0 else 2),
    "s_cmp_nlt_f32 s8, 0; s_cselect_b32 s8, 1.0, 2.0": lambda x: Number(2 if x < 0 else 1),
}


@pytest.mark.parametrize("body", SCALARS)
@pytest.mark.parametrize("x", [2.75, -1.5])
def test_scalar_numbers(tmp_path: Path, body: str, x: float) -> None:
    """NumPy has the same in single precision; fused sums are rounded once."""
    if "sqrt" in body:
        x = abs(x)
    kernel = lowered_for_rdna(
        tmp_path, f"v_readfirstlane_b32 s8, v1; {body}; v_mov_b32_e32 v2, s8", ARCHITECTURE
    )
    out = np.zeros(NARROW, np.float32)
    given = np.full(NARROW, x, np.float32)
    kernel.run(grid=1, block=NARROW, args=[out, given], engine="jit", warp_width=NARROW)
    assert np.array_equal(out, np.full(NARROW, SCALARS[body](Number(x)), np.float32))


PAIRS = {
    "s_add_nc_u64 s[8:9], s[8:9], 7": lambda x: x + 7,
    "s_sub_nc_u64 s[8:9], s[8:9], 7": lambda x: x - 7,
    "s_mul_u64 s[8:9], s[8:9], s[8:9]": lambda x: x * x,
    "s_add_co_u32 s8, s8, -1; s_add_co_ci_u32 s9, s9, 0": lambda x: x + 0xFFFFFFFF,
}


@pytest.mark.parametrize("body", PAIRS)
def test_scalar_numbers_of_64_bits(tmp_path: Path, body: str) -> None:
    start = 0x5_8000_0003
    for half, register in enumerate(("s8", "s9")):
        kernel = lowered_for_rdna(
            tmp_path,
            f"s_mov_b32 s8, 0x80000003; s_mov_b32 s9, 5; {body}; v_mov_b32_e32 v2, {register}",
            ARCHITECTURE,
        )
        out = np.zeros(NARROW, np.uint32)
        kernel.run(grid=1, block=NARROW, args=[out, out.copy()], warp_width=NARROW)
        wanted = PAIRS[body](start) & (1 << 64) - 1
        assert np.array_equal(out, np.full(NARROW, wanted >> 32 * half & 0xFFFFFFFF))


WAITS = {
    "s_wait_loadcnt 0x3": {VM: 3},
    "s_wait_storecnt 0x0": {VS: 0},
    "s_wait_dscnt 0x2": {LGKM: 2},
    "s_wait_kmcnt 0x0": {KM: 0},
    "s_wait_loadcnt_dscnt 0x105": {VM: 1, LGKM: 5},
    "s_wait_storecnt_dscnt 0x302": {VS: 3, LGKM: 2},
}


@pytest.mark.parametrize("body", WAITS)
def test_a_wait_names_its_counters(tmp_path: Path, body: str) -> None:
    kernel = lowered_for_rdna(tmp_path, body, ARCHITECTURE).kernel
    assert kernel.machine is not None
    (found,) = (
        item.control.left
        for item in kernel.machine.instructions.values()
        if item.text == body and item.control is not None
    )
    assert found == tuple(WAITS[body].get(counter, MOST) for counter in (VM, LGKM, VS, KM))


def test_scalar_loads_are_waited_for_apart_from_local_memory(tmp_path: Path) -> None:
    """A wait for scalar loads leaves the latency of local memory to what follows it."""
    told = load_device(DEVICE).timing
    assert told is not None
    filler = "; ".join(["s_mov_b32 s10, 5"] * 8)
    cycles = {
        counter: launch_timing(
            walked(
                lowered_for_rdna(
                    tmp_path,
                    f"v_mov_b32_e32 v4, 0; ds_load_b32 v5, v4; s_wait_{counter}cnt 0x0; {filler}",
                    ARCHITECTURE,
                ),
                NARROW,
                DEVICE,
            ),
            load_device(DEVICE),
            is_exact=True,
        ).full_cycles
        for counter in ("km", "ds")
    }
    assert cycles["ds"] - cycles["km"] == pytest.approx(told.shared_latency_cycles, abs=3)


SOURCE = """#include <hip/hip_runtime.h>
__global__ void places(const short *x, unsigned *out, short factor) {
  unsigned group = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  unsigned item = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned items = blockDim.x * blockDim.y * blockDim.z;
  __shared__ int turned[64];
  turned[item] = x[blockIdx.y] * factor + item;
  __syncthreads();
  out[group * items + item] = blockIdx.x | blockIdx.y << 8 | blockIdx.z << 16
                              | turned[items - 1 - item] << 24;
}
"""


def test_work_groups_know_their_places(tmp_path: Path) -> None:
    """All three axes, in registers of their own, and loads of halves of words."""
    file = tmp_path / "places.hip"
    file.write_text(SOURCE)
    module = kc.load(file)
    (name,) = module
    x = np.array([3, -2, 5], np.int16)
    out = np.zeros((4, 3, 2, 64), np.uint32)
    trace = module[name].run(
        grid=(2, 3, 4),
        block=(8, 4, 2),
        args=[x, out, -3],
        devices=[DEVICE],
        code="native",
    )
    assert trace.code == ARCHITECTURE
    z, y, axis, item = np.indices(out.shape)
    turned = (x[y].astype(np.int64) * -3 + 63 - item) & 0xFF
    assert np.array_equal(out, axis | y << 8 | z << 16 | turned << 24)
