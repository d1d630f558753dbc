"""Which launches may be sampled, and what is said of the others."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.sampling.plan import FEWEST_THREADS, why_not_sampled

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
    found = why_not_sampled(compile_ptx(body, "u64 x"), FEWEST_THREADS)
    assert found is not None
    assert reason in found


def test_large_launches_of_regular_kernels_are_sampled(compile_ptx: Callable[..., Kernel]) -> None:
    kernel = compile_ptx("ld.param.u64 %rd1, [x]; ld.global.u32 %r1, [%rd1]; ret;", "u64 x")
    assert why_not_sampled(kernel, FEWEST_THREADS) is None
    assert why_not_sampled(kernel, 99_999_999) == "99,999,999 threads are fewer than 100,000,000"
    assert why_not_sampled(kernel, 10, fewest_threads=10) is None
