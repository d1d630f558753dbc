"""Long stretches of compiled code that a kernel has once, and calls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.simcore.engine import execute
from kernelcast.simcore.engine.jit.runtime.generated_code import generate
from kernelcast.simcore.engine.jit.runtime.run import CompiledLaunch
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch

Compile = Callable[..., Kernel]
THREADS, TABLE = 128, 1024
LOADS = 20
"""More than the function of a warp takes up in itself, of lanes anywhere."""


def code_of(kernel: Kernel, launch: Launch, width: int) -> str:
    """LLVM IR of the kernel in warps of that many threads."""
    compiled = CompiledLaunch(kernel, launch, width)
    return generate(kernel, compiled.facts, dict(compiled.memory.symbols), True).ir


def narrow_loads(kind: str, size: int) -> str:
    """Adds up LOADS elements at places that follow no rule, in two of three threads."""
    body = """ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [table]; mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4; add.u64 %rd3, %rd1, %rd3; mul.lo.u32 %r2, %r1, %r1;
    rem.u32 %r3, %r1, 3; setp.ne.u32 %p1, %r3, 0; mov.u32 %r4, 0;
    """
    for number in range(LOADS):
        body += f"""mad.lo.u32 %r5, %r2, 7, {13 * number}; and.b32 %r5, %r5, {TABLE - 1};
        mul.wide.u32 %rd4, %r5, {size}; add.u64 %rd4, %rd2, %rd4; mov.u16 %rs1, 1;
        @%p1 ld.global.{kind} %rs1, [%rd4]; cvt.u32.u16 %r6, %rs1; add.u32 %r4, %r4, %r6;
        """
    return body + "st.global.u32 [%rd3], %r4; ret;"


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize(("kind", "dtype"), [("u8", np.uint8), ("u16", np.uint16)])
def test_narrow_loads_of_lanes_anywhere(
    compile_ptx: Compile, kind: str, dtype: type[np.unsignedinteger], width: int
) -> None:
    """No processor gathers bytes: LLVM would have a branch for each lane of each load."""
    rng = np.random.default_rng(3)
    table = rng.integers(0, 256, TABLE).astype(dtype)
    out = np.zeros(THREADS, np.uint32)
    kernel = compile_ptx(narrow_loads(kind, table.itemsize), "u64 out, u64 table")
    launch = Launch((1, 1, 1), (THREADS, 1, 1), (out, table))
    assert "masked.gather" not in code_of(kernel, launch, width)
    execute(kernel, launch, engine="jit", warp_width=width)
    thread, number = np.arange(THREADS), np.arange(LOADS)[:, None]
    loaded = table[(thread * thread * 7 + 13 * number) % TABLE].astype(np.uint32)
    wanted = np.where(thread % 3 != 0, loaded, 1).sum(axis=0)
    np.testing.assert_array_equal(out, wanted)


MATRICES = """.reg .b32 %a<4>, %b<2>; .reg .f32 %c<4>;
ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [halves]; mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 16; add.u64 %rd1, %rd1, %rd3; add.u64 %rd3, %rd2, %rd3;
mov.u32 %r2, tile; mad.lo.u32 %r2, %r1, 16, %r2;
ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%rd3]; st.shared.v4.u32 [%r2], {%a0, %a1, %a2, %a3};
bar.sync 0;
ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%a0, %a1, %a2, %a3}, [%r2];
ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%b0, %b1, %r4, %r5}, [%r2];
mov.f32 %c0, 0f00000000; mov.f32 %c1, %c0; mov.f32 %c2, %c0; mov.f32 %c3, %c0;
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
  {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
  {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};
st.global.v4.f32 [%rd1], {%c0, %c1, %c2, %c3}; ret;"""


def fragments(halves: npt.NDArray[np.float16]) -> tuple[npt.NDArray[np.float32], ...]:
    """A and B of each group of 32 lanes: lanes 8 m to 8 m + 7 hold the rows of 8 x 8 matrix m.

    `ldmatrix.trans` gives the matrices transposed; A is made of them column by column, and B^T of
    the first two side by side (PTX ISA 9.0, 9.7.14.5.8 and 9.7.14.5.15).
    """
    m = halves.reshape(-1, 4, 8, 8).transpose(0, 1, 3, 2).astype(np.float32)
    a = np.block([[m[:, 0], m[:, 2]], [m[:, 1], m[:, 3]]])
    return a, np.concatenate([m[:, 0], m[:, 1]], axis=2).transpose(0, 2, 1)


@pytest.mark.parametrize("width", [32, 64])
def test_exchanges_and_products_are_functions(compile_ptx: Compile, width: int) -> None:
    rng = np.random.default_rng(4)
    halves = rng.integers(-4, 5, (THREADS, 8)).astype(np.float16)
    out = np.zeros((THREADS, 4), np.float32)
    shared = f".shared .align 16 .b8 tile[{16 * THREADS}];"
    kernel = compile_ptx(f"{shared}{MATRICES}", "u64 out, u64 halves", target="sm_80")
    launch = Launch((1, 1, 1), (THREADS, 1, 1), (out, halves))
    code = code_of(kernel, launch, width)
    names = [f"@ldmatrix.x4.trans.{width}("]
    if width > 32:
        (name,) = {
            word.partition("(")[0]
            for word in code.split()
            if word.startswith("@product.") and word.partition("(")[0].endswith(f".{width}")
        }
        names.append(f"{name}(")
    for name in names:
        lines = [line for line in code.splitlines() if name in line]
        assert [line.startswith("define") for line in lines].count(True) == 1
        assert len(lines) > 2  # both uses call it
    execute(kernel, launch, engine="jit", warp_width=width)
    lane = np.arange(32)
    for group, (a, b) in enumerate(zip(*fragments(halves), strict=True)):
        sums = 2 * (a @ b)
        mine = out[32 * group : 32 * group + 32]
        for number in range(4):
            row, column = lane // 4 + 8 * (number // 2), lane % 4 * 2 + number % 2
            np.testing.assert_array_equal(mine[:, number], sums[row, column])
