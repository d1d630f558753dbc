"""Timing of source forms in the order of an assembler, by closed forms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.memory.simulated_memory import simulate_memory
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.pipelines import pipelines
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel, timing_facts
from kernelcast.simcore.timing.launch.launch_timing import launch_timing

V100 = load_device("v100-pcie")
LOOP = """.version 7.0
.target sm_70
.address_size 64
.visible .entry sums(.param .u64 a, .param .u32 n) {
  .reg .b64 %p, %q; .reg .b32 %n, %i; .reg .f32 %v, %s; .reg .pred %z;
  ld.param.u64 %p, [a]; ld.param.u32 %n, [n]; cvta.to.global.u64 %p, %p; mov.b64 %q, %p;
  mov.u32 %i, 0; mov.f32 %s, 0f00000000;
B: %pragma
  ld.global.f32 %v, [%p]; add.f32 %s, %s, %v;
  add.s64 %p, %p, 128; add.s32 %i, %i, 1; setp.lt.s32 %z, %i, %n; @%z bra B;
  st.global.f32 [%q], %s; ret;
}
"""


def run(trips: int, code: str, pragma: str = "") -> kc.KernelTrace:
    kernel = read_ptx(LOOP.replace("%pragma", pragma), "sums.ptx").kernels["sums"]
    return RunnableKernel(kernel).run(
        grid=1,
        block=32,
        args=[np.zeros(32 * (trips + 1), np.float32), trips],
        code=code,
        record_paths=True,
    )


def cycles(trips: int, code: str, pragma: str = "") -> float:
    profile = run(trips, code, pragma).profile(V100)
    kernel = profile.derived(timed_warps)
    assert isinstance(kernel, TimedKernel)
    return launch_timing(kernel, V100).cycles


def per_trip(code: str, pragma: str = "") -> float:
    return (cycles(1 + 128, code, pragma) - cycles(1 + 64, code, pragma)) / 64


def test_loads_of_four_iterations_are_on_their_way_together() -> None:
    """One warp waits for one latency each iteration as written, for one each four otherwise."""
    latency = timing_facts(V100).dram_latency_cycles
    assert per_trip("as-written") == pytest.approx(latency, rel=0.1)
    assert per_trip("source") == pytest.approx(latency / 4, rel=0.15)


def test_a_loop_that_is_kept_rolled_waits_each_time() -> None:
    latency = timing_facts(V100).dram_latency_cycles
    assert per_trip("source", '.pragma "nounroll";') == pytest.approx(latency, rel=0.1)


def events(trace: kc.KernelTrace) -> Sequence[int]:
    assert trace.data.paths is not None
    return [int(pc) for pc in trace.data.paths.pc]


def test_all_but_the_schedule_is_the_same() -> None:
    source, written = run(8, "source"), run(8, "as-written")
    assert (source.code, written.code) == ("source", "as-written")
    assert events(source) == events(written)
    np.testing.assert_array_equal(source.data.classes.warp_issues, written.data.classes.warp_issues)
    assert source.data.schedule is not None
    assert source.data.schedule.regions
    assert written.data.schedule is not None
    assert not written.data.schedule.regions


def test_every_event_is_timed_once() -> None:
    profile = run(11, "source").profile(V100)
    kernel = profile.derived(timed_warps)
    assert isinstance(kernel, TimedKernel)
    mnemonics = [kernel.instructions[pc].mnemonic for pc in kernel.paths.pc.tolist()]
    assert mnemonics.count("ld.global.f32") == mnemonics.count("add.f32") == 11
    branches = [kernel.pipeline[pc] is Pipeline.BRANCH for pc in kernel.paths.pc.tolist()]
    assert sum(branches) == 4  # four and four, two, one


def test_schedules_are_stored(tmp_path: Path) -> None:
    trace = run(8, "source")
    file = tmp_path / "trace.parquet"
    kc.save_trace(trace, file)
    assert kc.load_trace(file).data.schedule == trace.data.schedule


@pytest.mark.parametrize(
    ("statement", "pipeline"),
    [
        ("cvt.u64.u32 %d, %r;", Pipeline.INTEGER),
        ("cvt.s64.s32 %d, %r;", Pipeline.INTEGER),
        ("cvt.sat.s16.s32 %h, %r;", Pipeline.CONVERSION),
        ("cvt.rn.f32.u32 %f, %r;", Pipeline.CONVERSION),
    ],
)
def test_to_widen_an_integer_is_a_move(statement: str, pipeline: Pipeline) -> None:
    text = f""".version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 a) {{
  .reg .b64 %p, %d; .reg .b32 %r; .reg .b16 %h; .reg .f32 %f;
  ld.param.u64 %p, [a]; mov.u32 %r, %tid.x; {statement}
  st.global.u64 [%p], %d; st.global.u16 [%p+8], %h; st.global.f32 [%p+12], %f; ret;
}}
"""
    kernel = RunnableKernel(read_ptx(text, "k.ptx").kernels["k"])
    trace = kernel.run(grid=1, block=1, args=[np.zeros(64, np.uint8)], code="source")
    rows = trace.data.instructions
    place = next(row.pc for row in rows if row.mnemonic.startswith("cvt"))
    assert pipelines(rows, simulate_memory(trace.data, V100, 1))[place] is pipeline
