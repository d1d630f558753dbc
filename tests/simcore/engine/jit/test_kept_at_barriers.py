"""What warps keep at barriers, barrier by barrier or in one place: the same results either way."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.simcore.engine.jit.codegen import warp_context

THREADS = 96
TEXT = """
.version 7.0
.target sm_50
.address_size 64
.visible .entry sums(.param .u64 x, .param .u64 y)
{
    .reg .b32 %r<12>;
    .reg .b64 %d<8>;
    .reg .pred %p<4>;
    .shared .align 4 .b8 tile[384];
    ld.param.u64 %d1, [x];
    ld.param.u64 %d2, [y];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d3, %r1, 4;
    add.s64 %d4, %d1, %d3;
    ld.global.u32 %r2, [%d4];
    mul.lo.u32 %r3, %r1, 4;
    mov.u32 %r4, tile;
    add.u32 %r5, %r4, %r3;
    setp.gt.u32 %p3, %r2, 40;
    mov.u32 %r6, 48;
LOOP:
    st.shared.u32 [%r5], %r2;
    bar.sync 0;
    setp.lt.u32 %p1, %r1, %r6;
    mul.lo.u32 %r7, %r6, 4;
    add.u32 %r8, %r5, %r7;
    mov.u32 %r9, 0;
    @%p1 ld.shared.u32 %r9, [%r8];
    bar.sync 0;
    add.u32 %r2, %r2, %r9;
    shr.u32 %r6, %r6, 1;
    setp.gt.u32 %p2, %r6, 2;
    @%p2 bra LOOP;
    bar.sync 0;
    @%p3 add.u32 %r2, %r2, 1000;
    add.s64 %d5, %d2, %d3;
    st.global.u32 [%d5], %r2;
    ret;
}
"""


def expected(x: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    found, width = x.copy(), 48
    while width > 2:
        before = found.copy()
        found[:width] += before[width : 2 * width]
        width //= 2
    return found + np.where(x > 40, 1000, 0).astype(np.uint32)


@pytest.mark.parametrize("most", [0, 1 << 12])
def test_sums_of_a_thread_block(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warp_context, "_MUCH_CODE", most)
    x = np.random.default_rng(2).integers(0, 100, THREADS).astype(np.uint32)
    y = np.zeros_like(x)
    kc.load_ptx(TEXT)["sums"].run(grid=3, block=THREADS, args=[x, y], engine="jit")
    assert y.tolist() == expected(x).tolist()


@pytest.mark.parametrize(("most", "places"), [(0, 1), (1 << 12, 3)])
def test_code_that_keeps_is_there_once_where_it_is_much(
    most: int, places: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Places that end a turn of the warp, besides the end of the kernel."""
    from kernelcast.simcore.engine.jit.runtime import generated_code, run

    made: list[str] = []
    generate = generated_code.generate

    def kept(*given: object, **named: object) -> generated_code.GeneratedCode:
        found = generate(*given, **named)  # type: ignore[arg-type]
        made.append(found.ir)
        return found

    monkeypatch.setattr(warp_context, "_MUCH_CODE", most)
    monkeypatch.setattr(run, "generate", kept)
    x = np.zeros(THREADS, np.uint32)
    kc.load_ptx(TEXT)["sums"].run(grid=1, block=THREADS, args=[x, x.copy()], engine="jit")
    assert made[0].count("br label %leave") == 1 + places
    assert ("keep:" in made[0]) == (places == 1)
