"""Samples of paths are compared with the launch without the tries of waits for mbarriers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kernelcast.simcore.engine import execute
from kernelcast.simcore.engine.path_sample import PathSample, record_paths
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.traces.trace import Trace

WAIT = """
    .shared .align 8 .b64 bar; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [bar], 64; bar.sync 0; mov.u32 %r2, 0;
    WORK: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 9; @%p2 bra WORK;
    mbarrier.arrive.shared.b64 %rd1, [bar];
    TRY: mbarrier.test_wait.shared.b64 %p3, [bar], %rd1; @!%p3 bra TRY;
    ret;
"""


def with_more(trace: Trace, mnemonic: str) -> Trace:
    """The launch had issued that instruction a hundred times more in each thread block."""
    issues = trace.classes.warp_issues.copy()
    issues[:, [row.pc for row in trace.instructions if row.mnemonic.startswith(mnemonic)]] += 100
    return replace(trace, classes=replace(trace.classes, warp_issues=issues))


def test_tries_of_waits_do_not_count(compile_ptx: Callable[..., Kernel]) -> None:
    kernel, launch = compile_ptx(WAIT), Launch((2, 1, 1), (64, 1, 1), (np.zeros(1, np.uint64),))
    sample = record_paths(kernel, launch, 32, Limits())
    trace = execute(kernel, launch, engine="reference")
    looks = {row.pc for row in trace.instructions if row.mnemonic.startswith("mbarrier.test")}
    work = {row.pc for row in trace.instructions if row.mnemonic.startswith("add")}
    assert looks <= sample.waits
    assert not work & sample.waits
    assert sample.of(with_more(trace, "mbarrier.test_wait")).paths is sample.paths
    refused = sample.of(with_more(trace, "add"))
    assert refused.paths is None
    assert "thread blocks depend on each other" in refused.no_paths


def test_without_those_loops_everything_counts(compile_ptx: Callable[..., Kernel]) -> None:
    kernel, launch = compile_ptx(WAIT), Launch((2, 1, 1), (64, 1, 1), (np.zeros(1, np.uint64),))
    paths = record_paths(kernel, launch, 32, Limits()).paths
    trace = with_more(execute(kernel, launch, engine="reference"), "mbarrier.test_wait")
    assert PathSample(paths).of(trace).paths is None
