"""`ldmatrix` and `stmatrix` of 8-bit elements, and of 6 and 4 bits that become bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import UnsupportedInstruction
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.isa.ir.kernel import Module
from kernelcast.simcore.launch.launch import Launch

Array = npt.NDArray[Any]
pytestmark = pytest.mark.parametrize("engine", sorted(ENGINES))

LANES = 32
KERNEL = """.version 9.0
.target sm_120a
.address_size 64
.visible .entry k(.param .u64 given, .param .u64 out)
{{
.reg .b32 %r<24>; .reg .b64 %rd<8>;
.shared .align 16 .b8 tile[1024];
mov.u32 %r0, %tid.x; mov.u32 %r1, tile; shl.b32 %r2, %r0, 4; add.u32 %r3, %r1, %r2;
ld.param.u64 %rd0, [given]; ld.param.u64 %rd1, [out];
mul.wide.u32 %rd4, %r0, 16; add.u64 %rd2, %rd0, %rd4; add.u64 %rd3, %rd1, %rd4;
{body}
ret;
}}
"""
FILL = """ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd2];
st.shared.v4.u32 [%r3], {%r4, %r5, %r6, %r7}; bar.sync 0;"""


def module_of(body: str) -> Module:
    return read_ptx(KERNEL.format(body=body), "k.ptx")


def run(body: str, given: Array, engine: str) -> Array:
    """16 bytes for each lane."""
    module = module_of(body)
    for reasons in module.rejected.values():
        raise reasons[0]
    out = np.zeros((LANES, 16), np.uint8)
    shape = Launch((1, 1, 1), (LANES, 1, 1), (given, out))
    execute(module.kernels["k"], shape, engine=engine)
    return out


def loaded(form: str, count: int, given: Array, engine: str) -> Array:
    """What each lane gets: (lanes, registers, 4 bytes)."""
    registers = ", ".join(f"%r{8 + i}" for i in range(count))
    stores = "".join(f"st.global.u32 [%rd3+{4 * i}], %r{8 + i};" for i in range(count))
    body = f"{FILL} ldmatrix.sync.aligned.{form} {{{registers}}}, [%r3]; {stores}"
    return run(body, given, engine).reshape(LANES, 4, 4)[:, :count]


def random_rows() -> Array:
    return np.random.default_rng(7).integers(0, 256, (LANES, 16), np.uint8)


def transposed(rows: Array, matrices: int) -> Array:
    """Columns g and g+8 at rows 4t ... 4t+3 of each matrix, for lane 4g+t."""
    matrix = rows[: 16 * matrices].reshape(matrices, 4, 4, 2, 8)
    return matrix.transpose(4, 1, 0, 3, 2).reshape(LANES, 2 * matrices, 4)


@pytest.mark.parametrize("matrices", [1, 2])
def test_bytes_are_transposed(matrices: int, engine: str) -> None:
    given = random_rows()
    found = loaded(f"m16n16.x{matrices}.trans.shared.b8", 2 * matrices, given, engine)
    np.testing.assert_array_equal(found, transposed(given, matrices))


def unpacked(rows: Array, bits: int) -> Array:
    """16 elements of so many bits from the lowest on, as Python's integers see them."""
    wholes = [int.from_bytes(row.tobytes(), "little") for row in rows]
    elements = [[whole >> bits * i & (1 << bits) - 1 for i in range(16)] for whole in wholes]
    return np.array(elements, np.uint8)


@pytest.mark.parametrize(("packed", "bits"), [("b6x16_p32", 6), ("b4x16_p64", 4)])
@pytest.mark.parametrize("matrices", [1, 2, 4])
def test_short_elements_become_bytes(matrices: int, packed: str, bits: int, engine: str) -> None:
    """Lane l gets elements 4(l%4) ... of row l/4; what is behind the last element is padding."""
    given = random_rows()
    found = loaded(f"m8n16.x{matrices}.shared::cta.b8x16.{packed}", matrices, given, engine)
    rows = unpacked(given, bits)[: 8 * matrices].reshape(matrices, LANES, 4)
    np.testing.assert_array_equal(found, rows.transpose(1, 0, 2))


@pytest.mark.parametrize(("packed", "bits"), [("b6x16_p32", 6), ("b4x16_p64", 4)])
@pytest.mark.parametrize("matrices", [1, 2])
def test_short_elements_are_transposed(matrices: int, packed: str, bits: int, engine: str) -> None:
    given = random_rows()
    found = loaded(f"m16n16.x{matrices}.trans.shared.b8x16.{packed}", 2 * matrices, given, engine)
    np.testing.assert_array_equal(found, transposed(unpacked(given, bits), matrices))


@pytest.mark.parametrize("matrices", [1, 2, 4])
def test_bytes_are_stored_transposed(matrices: int, engine: str) -> None:
    """Lane 4g+t holds (row g, columns 2t and 2t+1), and likewise of row g+8.

    Rows of 8 matrices' columns come out.
    """
    given = np.random.default_rng(3).integers(0, 256, (LANES, 4, 4), np.uint8)
    registers = ", ".join(f"%r{4 + i}" for i in range(matrices))
    body = f"""{FILL} st.shared.v4.u32 [%r3], {{%r12, %r12, %r12, %r12}};
    ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%rd2];
    stmatrix.sync.aligned.m16n8.x{matrices}.trans.shared.b8 [%r3], {{{registers}}};
    bar.sync 0; ld.shared.v4.u32 {{%r8, %r9, %r10, %r11}}, [%r3];
    st.global.v4.u32 [%rd3], {{%r8, %r9, %r10, %r11}};"""
    found = run(body, given, engine)
    memory = np.zeros((4, 8, 16), np.uint8)
    for lane in range(LANES):
        group, thread = divmod(lane, 4)
        for matrix in range(matrices):
            for part in range(4):
                column = 2 * thread + part % 2
                memory[matrix, column, group + 8 * (part // 2)] = given[lane, matrix, part]
    np.testing.assert_array_equal(found.reshape(4, 8, 16), memory)


@pytest.mark.parametrize(
    "statement",
    [
        "ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%r4, %r5}, [%r3];",
        "ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8 {%r4, %r5, %r6, %r7}, [%r3];",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b8 {%r4}, [%r3];",
        "ldmatrix.sync.aligned.m8n16.x1.shared.b8 {%r4}, [%r3];",
        "ldmatrix.sync.aligned.m8n16.x1.trans.shared.b8x16.b4x16_p64 {%r4}, [%r3];",
        "ldmatrix.aligned.m8n8.x1.shared.b16 {%r4}, [%r3];",
        "stmatrix.sync.aligned.m16n8.x1.shared.b8 [%r3], {%r4};",
        "stmatrix.sync.aligned.m8n8.x1.shared.b8 [%r3], {%r4};",
    ],
)
def test_what_ptx_does_not_have_is_refused(statement: str, engine: str) -> None:
    (reasons,) = module_of(statement).rejected.values()
    assert isinstance(reasons[0], UnsupportedInstruction), engine
