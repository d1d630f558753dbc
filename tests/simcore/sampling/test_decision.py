"""Which launches may be sampled, and what is said of the others."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.sampling.decision import (
    Work,
    has_loops,
    why_not_sampled,
)

LOADED_BOUND = """
    ld.param.u64 %rd1, [x]; ld.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; st.global.u32 [%rd1], %r1; DONE: ret;
"""
GATHER = """
    ld.param.u64 %rd1, [x]; ld.global.u64 %rd2, [%rd1];
    add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r1, [%rd3]; ret;
"""
CLOCK = "mov.u32 %r1, %clock; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; DONE: ret;"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (LOADED_BOUND, "which instructions run depends on data that ld.global.u32 reads at test"),
        (GATHER, "where memory is accessed depends on data that ld.global.u64 reads at test.ptx:"),
        (CLOCK, "which instructions run depends on the clock, which mov.u32 reads at test.ptx:"),
    ],
)
def test_dependence_on_data_is_named(
    compile_ptx: Callable[..., Kernel], body: str, reason: str
) -> None:
    found = why_not_sampled(compile_ptx(body, "u64 x"))
    assert found is not None
    assert reason in found


def test_regular_kernels_need_no_data(compile_ptx: Callable[..., Kernel]) -> None:
    kernel = compile_ptx("ld.param.u64 %rd1, [x]; ld.global.u32 %r1, [%rd1]; ret;", "u64 x")
    assert why_not_sampled(kernel) is None


def work(threads: float = 1, instructions: float = 1, accesses: float = 1) -> Work:
    return Work(threads, instructions, accesses, 1000)


def test_work_decides_and_not_only_threads() -> None:
    assert not work(10**8 - 1, 5 * 10**8 - 1, 10**7 - 1).is_large
    assert work(threads=10**8).is_large
    assert work(instructions=5 * 10**8).is_large
    assert work(accesses=10**7).is_large


def test_fewer_thread_blocks_are_counted_the_longer_they_take() -> None:
    assert not work(instructions=2e9).counting_takes_long
    assert work(instructions=3e9).counting_takes_long
    counted = [Work(1, total, 1, 1 << 20).thread_blocks_counted for total in (1e10, 1e12, 1e15)]
    assert counted == [4096, 2097, 512]


def test_loops_go_back(compile_ptx: Callable[..., Kernel]) -> None:
    ahead = "setp.eq.u32 %p1, 1, 0; @%p1 bra DONE; add.u32 %r1, %r1, 1; DONE: ret;"
    back = "AGAIN: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra AGAIN; ret;"
    assert not has_loops(compile_ptx(ahead))
    assert has_loops(compile_ptx(back))
