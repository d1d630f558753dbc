"""`stmatrix`, `movmatrix`, the quad pairs of `mma.m8n8k4`: every lane by the manual's formulas."""

from __future__ import annotations

import runpy
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.launch.launch import Launch

Array = npt.NDArray[Any]
oracle: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[2] / "matrix_program.py"))
)
LANES = 32
LANE, ELEMENT = np.arange(LANES)[None, :], np.arange(2)[:, None]
ROW, COLUMN = LANE // 4 + 0 * ELEMENT, LANE % 4 * 2 + ELEMENT
"""Places of the two elements in a lane's register of 8 x 8 (PTX ISA 9.0, 9.7.14.5.15)."""
HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .b32 %lane, %r<8>, %s<4>; .reg .b64 %in, %out;
.shared .align 16 .b8 tile[512];
ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %lane, %tid.x;
mad.wide.u32 %in, %lane, 4, %in; mad.wide.u32 %out, %lane, 4, %out;
"""


def run(body: str, given: Array, out: Array, engine: str) -> None:
    module = read_ptx(HEAD + body + "\nret;\n}", "k.ptx")
    for reasons in module.rejected.values():
        raise reasons[0]
    execute(module.kernels["k"], Launch((1, 1, 1), (LANES, 1, 1), (given, out)), engine=engine)


def words(matrices: Array) -> Array:
    """Registers (matrices, LANES): the first element in the lower half."""
    held = matrices[:, ROW, COLUMN].astype(np.uint32)
    return np.ascontiguousarray(held[:, 0] | held[:, 1] << 16)


def matrices(count: int) -> Array:
    return np.random.default_rng(count).integers(0, 1 << 16, (count, 8, 8)).astype(np.uint16)


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("trans", ["", ".trans"])
def test_stmatrix(count: int, trans: str, engine: str) -> None:
    """Lane 8 m + r brings the address of row r of matrix m: here the last rows come first."""
    given = matrices(count)
    loads = "".join(f"ld.global.u32 %s{i}, [%in+{128 * i}];" for i in range(count))
    sources = ", ".join(f"%s{i}" for i in range(count))
    body = f"""{loads} xor.b32 %r1, %lane, 7; mov.u32 %r0, tile; mad.lo.u32 %r1, %r1, 16, %r0;
    stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%r1], {{{sources}}};
    bar.sync 0; mad.lo.u32 %r2, %lane, 4, %r0;"""
    for i in range(count):
        body += f"ld.shared.u32 %r3, [%r2+{128 * i}]; st.global.u32 [%out+{128 * i}], %r3;"
    out = np.zeros((count, 8, 8), np.uint16)
    run(body, words(given), out, engine)
    wanted = given.transpose(0, 2, 1) if trans else given
    np.testing.assert_array_equal(out, wanted[:, ::-1])


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_movmatrix(engine: str) -> None:
    given, out = matrices(1), np.zeros((1, LANES), np.uint32)
    body = """ld.global.u32 %s0, [%in]; movmatrix.sync.aligned.m8n8.trans.b16 %s1, %s0;
    st.global.u32 [%out], %s1;"""
    run(body, words(given), out, engine)
    np.testing.assert_array_equal(out, words(given.transpose(0, 2, 1)))


def halves(codes: Array) -> Array:
    """Elements (registers x 2, LANES) of f16 as registers."""
    held = codes.astype(np.float16).view(np.uint16).astype(np.uint32).reshape(-1, 2, LANES)
    return np.ascontiguousarray(held[:, 0] | held[:, 1] << 16)


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize(("left", "right"), list(product(["row", "col"], repeat=2)))
def test_four_products_of_quad_pairs(left: str, right: str, engine: str) -> None:
    """Lanes 4 q to 4 q + 3 and those 16 further on have a product of their own (9.7.14.5.1)."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(-4, 5, (4, 8, 4)), rng.integers(-4, 5, (4, 4, 8))
    c = rng.integers(-9, 10, (4, 8, 8))
    quad, upper, lane = LANE % 16 // 4, 4 * (LANE >= 16), LANE % 4
    i = np.arange(4)[:, None]
    across, along = lane + upper + 0 * i, i + 0 * LANE
    in_a = a[quad, across, along] if left == "row" else a[quad, i + upper, lane + 0 * i]
    in_b = b[quad, along, across] if right == "col" else b[quad, lane + 0 * i, i + upper]
    j = np.arange(8)[:, None]
    row, column = (LANE & 1) + (j & 2) + upper, (j & 4) + (LANE & 2) + (j & 1)
    sums = c[quad, row, column].astype(np.float32)
    source = oracle.program(
        f"mma.sync.aligned.m8n8k4.{left}.{right}.f32.f16.f16.f32", (32,) * 4, (8, 2, 2, 8), "sm_70"
    )
    d = np.zeros((8, LANES), np.float32)
    oracle.run(source, [d, halves(in_a), halves(in_b), sums], engine)
    np.testing.assert_array_equal(d, (a @ b + c)[quad, row, column])
