"""Atomics on floating-point numbers of AMD's code against NumPy, on both engines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.execution.instruction_mix import Counting, instruction_mix
from tests.ptx_frontend.amdgcn.assembly import LANES, lowered

ENGINES = ("jit", "reference")
PLACES = 4
"""Lanes take turns at four places."""


def after(x: np.ndarray, start: np.ndarray, change: Callable[..., np.ndarray]) -> np.ndarray:
    """What the places hold when all lanes were there, the lowest first."""
    held = start.copy()
    for lane, number in enumerate(x):
        held[lane % PLACES] = change(held[lane % PLACES], number)
    return held


SINGLES = {"add": np.add, "min": np.fmin, "max": np.fmax}
PLACE = "v_and_b32_e32 v4, 3, v3; v_lshlrev_b32_e32 v4, 2, v4; "


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", SINGLES)
@pytest.mark.parametrize(
    "form",
    [
        "global_atomic_{}_f32 v4, v1, s[0:1] offset:512",
        "flat_atomic_{}_f32 v[6:7], v1 offset:512",
        "ds_{}_f32 v4, v1 offset:16",
    ],
)
def test_numbers_of_single_precision(tmp_path: Path, form: str, name: str, engine: str) -> None:
    x = np.random.default_rng(7).normal(size=LANES).astype(np.float32)
    start = np.array([0.25, -3, 2, 1e-3], np.float32)
    out = np.concatenate((np.zeros(128, np.float32), start))
    is_local = form.startswith("ds")
    body = PLACE + (
        "v_lshlrev_b32_e32 v5, 2, v3; v_cmp_gt_u32_e32 vcc, 4, v3; s_mov_b64 s[8:9], exec; "
        "s_and_b64 exec, exec, vcc; global_load_dword v8, v5, s[0:1] offset:512; "
        "s_waitcnt vmcnt(0); ds_write_b32 v5, v8 offset:16; s_mov_b64 exec, s[8:9]; "
        "v_mov_b32_e32 v9, s1; v_add_co_u32_e32 v6, vcc, s0, v4; "
        "v_addc_co_u32_e32 v7, vcc, 0, v9, vcc; "
        f"{form.format(name)}; s_waitcnt vmcnt(0) lgkmcnt(0); ds_read_b32 v2, v4 offset:16; "
        "s_waitcnt lgkmcnt(0)"
    )
    kernel = lowered(tmp_path, body)
    kernel.run(grid=1, block=LANES, args=[out, x], engine=engine, warp_width=LANES)
    found = out[:PLACES] if is_local else out[128:]
    assert np.array_equal(found, after(x, start, SINGLES[name]))


@pytest.mark.parametrize("engine", ENGINES)
def test_old_values_come_back(tmp_path: Path, engine: str) -> None:
    """A lane sees what those below it have added up, at one place of local memory."""
    x = np.arange(1, LANES + 1, dtype=np.float32)
    out = np.zeros(LANES, np.float32)
    body = (
        "v_mov_b32_e32 v4, 0; ds_write_b32 v4, v4; ds_add_rtn_f32 v2, v4, v1; s_waitcnt lgkmcnt(0)"
    )
    kernel = lowered(tmp_path, body)
    kernel.run(grid=1, block=LANES, args=[out, x], engine=engine, warp_width=LANES)
    assert np.array_equal(out, np.cumsum(x) - x)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["global_atomic_fmin", "global_atomic_min_f32"])
def test_rdna_has_another_name(tmp_path: Path, name: str, engine: str) -> None:
    x = np.random.default_rng(8).normal(size=LANES).astype(np.float32)
    out = np.concatenate((np.zeros(128, np.float32), np.ones(4, np.float32)))
    kernel = lowered(tmp_path, f"{PLACE}{name} v4, v1, s[0:1] offset:512")
    kernel.run(grid=1, block=LANES, args=[out, x], engine=engine, warp_width=LANES)
    assert np.array_equal(out[128:], x.reshape(-1, PLACES).min(axis=0).clip(max=1))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["global_atomic_pk_add_f16", "ds_pk_add_f16"])
def test_pairs_of_halves(tmp_path: Path, name: str, engine: str) -> None:
    x = np.random.default_rng(9).normal(size=(LANES, 2)).astype(np.float16)
    out = np.zeros(132, np.uint32)
    if name.startswith("ds"):
        body = f"{PLACE}v_mov_b32_e32 v5, 0; ds_write_b32 v4, v5; {name} v4, v1; "
        body += "ds_read_b32 v2, v4; s_waitcnt lgkmcnt(0)"
    else:
        body = f"{PLACE}{name} v4, v1, s[0:1] offset:512"
    kernel = lowered(tmp_path, body)
    kernel.run(grid=1, block=LANES, args=[out, x.view(np.uint32)], engine=engine, warp_width=LANES)
    found = out[:PLACES] if name.startswith("ds") else out[128:]
    wanted = after(x, np.zeros((PLACES, 2), np.float16), np.add)
    assert np.array_equal(found.view(np.float16).reshape(-1, 2), wanted)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", SINGLES)
def test_numbers_of_double_precision(tmp_path: Path, name: str, engine: str) -> None:
    x = np.random.default_rng(10).normal(size=LANES).astype(np.float32)
    start = np.array([0.25, -3, 2, 1e-3])
    out = np.concatenate((np.zeros(128, np.float32), start.view(np.float32)))
    body = (
        "v_and_b32_e32 v4, 3, v3; v_lshlrev_b32_e32 v4, 3, v4; v_cvt_f64_f32_e32 v[6:7], v1; "
        f"global_atomic_{name}_f64 v4, v[6:7], s[0:1] offset:512"
    )
    lowered(tmp_path, body).run(grid=1, block=LANES, args=[out, x], engine=engine, warp_width=LANES)
    assert np.array_equal(out[128:].view(np.float64), after(x, start, SINGLES[name]))


def test_sums_in_hip_are_atomics_of_the_machine(tmp_path: Path) -> None:
    """`atomicAdd` of a float in shared memory is one instruction of each GPU."""
    file = tmp_path / "sum.hip"
    file.write_text(
        "#include <hip/hip_runtime.h>\n"
        "__global__ void total(const float *x, float *y) {\n"
        "  __shared__ float sum;\n  if (threadIdx.x == 0) sum = 0;\n  __syncthreads();\n"
        "  atomicAdd(&sum, x[threadIdx.x]);\n  __syncthreads();\n"
        "  if (threadIdx.x == 0) atomicAdd(y, sum);\n}\n"
    )
    module = kc.load(file)
    (name,) = module
    for device in ("mi210", "mi300x", "mi355x", "rx-6900-xt", "rx-7900-xtx"):
        x, y = np.arange(256, dtype=np.float32), np.ones(1, np.float32)
        trace = module[name].run(grid=1, block=256, args=[x, y], devices=[device], code="native")
        assert y[0] == 1 + x.sum()
        rows = instruction_mix(trace.data, Counting.PLAIN).rows
        assert "ds_add_f32" in {row.opcode for row in rows}
