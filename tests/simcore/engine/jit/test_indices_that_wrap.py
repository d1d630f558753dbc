"""Addresses made of indices of 32 bits that wrap around in some lanes, against the reference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelcast.errors import MemoryAccessError
from kernelcast.simcore.engine.jit.codegen.launch_facts import launch_facts
from kernelcast.simcore.engine.jit.runtime.generated_code import generate
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.launch_memory import LaunchMemory
from tests.simcore.trace_comparison import run_on_both

Compile = Callable[..., Kernel]
WORDS = 256
LOOP = """
    ld.param.u64 %rd1, [data]; ld.param.u32 %r2, [first]; ld.param.u64 %rd5, [before];
    mov.u32 %r1, %tid.x; add.u32 %r3, %r2, %r1; mov.u32 %r4, 0; setp.lt.u32 %p2, %r1, 20;
    L: mul.wide.SIGN %rd2, %r3, 4; sub.s64 %rd4, %rd2, %rd5; add.s64 %rd3, %rd1, %rd4;
    GUARD ld.global.u32 %r6, [%rd3]; GUARD add.u32 %r7, %r6, %r4; GUARD st.global.u32 [%rd3], %r7;
    add.u32 %r3, %r3, 1; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 6; @%p1 bra L; ret;"""
"""Six rounds of word `first` + tid + round of what lies `before` bytes below the data."""


def kernel_of(compile_ptx: Compile, sign: str, guard: str = "") -> Kernel:
    text = LOOP.replace("SIGN", sign).replace("GUARD", guard)
    return compile_ptx(text, "u64 data, u32 first, u64 before")


def launch_of(first: int, threads: int = 64) -> Launch:
    data = np.arange(WORDS, dtype=np.uint32)
    before = (4 * first) & ((1 << 64) - 1)
    arguments = (data, np.uint32(first & 0xFFFFFFFF), np.uint64(before))
    return Launch((1, 1, 1), (threads, 1, 1), arguments)


@pytest.mark.parametrize("sign", ["u32", "s32"])
@pytest.mark.parametrize("first", [0, 100, 1 << 30])
def test_indices_that_do_not_wrap(compile_ptx: Compile, sign: str, first: int) -> None:
    run_on_both(kernel_of(compile_ptx, sign), launch_of(first))


@pytest.mark.parametrize(("sign", "end"), [("u32", 1 << 32), ("s32", 1 << 31)])
def test_lanes_that_wrap_are_far_away(compile_ptx: Compile, sign: str, end: int) -> None:
    with pytest.raises(MemoryAccessError):
        run_on_both(kernel_of(compile_ptx, sign), launch_of(end - 30))


@pytest.mark.parametrize(("sign", "end"), [("u32", 1 << 32), ("s32", 1 << 31)])
def test_lanes_that_wrap_but_do_nothing(compile_ptx: Compile, sign: str, end: int) -> None:
    run_on_both(kernel_of(compile_ptx, sign, "@%p2"), launch_of(end - 30))


@pytest.mark.parametrize("first", [-3, -70])
def test_indices_below_zero(compile_ptx: Compile, first: int) -> None:
    run_on_both(kernel_of(compile_ptx, "s32"), launch_of(first))


def test_addresses_are_scalars_beside_the_vectors(compile_ptx: Compile) -> None:
    """The access compares no vector of addresses with its pattern unless an index wraps."""
    kernel, launch = kernel_of(compile_ptx, "u32"), launch_of(100, 32)
    memory = LaunchMemory(kernel, launch)
    code = generate(kernel, launch_facts(kernel, launch, memory, 32, 0), {}, False)
    assert "icmp ne <32 x i64>" not in code.ir
