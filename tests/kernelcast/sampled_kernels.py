"""Kernels on a small machine, sampled with any seed, beside all of their memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

import kernelcast as kc
from kernelcast.execution.data_source import DataSource
from kernelcast.execution.memory_simulation import resident_launch
from kernelcast.simcore.device.device import CacheFacts, CoalescingRule, Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.engine.jit.runtime.run import CompiledLaunch, SlicedLaunch
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.isa.analysis.slices import data_slice
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.simcore.memory.simulated_memory import MemoryResult, SimulatedMemory
from kernelcast.simcore.sampling.census import Census
from kernelcast.simcore.sampling.choice import SampleSize
from kernelcast.simcore.sampling.decision import why_not_sampled
from kernelcast.simcore.sampling.launch_sample import SampledDevice, sample_memories
from kernelcast.simcore.sampling.recorded_sample import LaunchRows, RecordedSample, grid_parts

__all__ = ["CASES", "Case", "exact", "sampled", "small_machine"]

_WORKLOADS = Path(__file__).parents[2] / "validation/workloads"
_KIB = 1024
_WIDTH = 32
_L1 = CacheFacts(
    capacity_bytes=4 * _KIB,
    line_bytes=128,
    sector_bytes=32,
    ways=4,
    replacement="lru",
    index="modulo",
    caches_global_loads=True,
    caches_read_only_loads=True,
    caches_local=True,
    write_allocate=False,
)
_L2 = replace(_L1, capacity_bytes=64 * _KIB, ways=8, write_allocate=True)
_LOOP = """
.version 7.0
.target sm_50
.address_size 64
.visible .entry steps(.param .u64 counts, .param .u64 x, .param .u64 y)
{
    .reg .b32 %r<8>;
    .reg .b64 %d<9>;
    .reg .f32 %f<3>;
    .reg .pred %p;
    ld.param.u64 %d1, [counts];
    ld.param.u64 %d2, [x];
    ld.param.u64 %d3, [y];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r3, %r1, 256, %r2;
    mul.wide.u32 %d4, %r3, 4;
    add.s64 %d5, %d1, %d4;
    ld.global.u32 %r4, [%d5];
    add.s64 %d6, %d2, %d4;
    mov.u32 %r5, 0;
    mov.f32 %f1, 0f00000000;
LOOP:
    setp.ge.u32 %p, %r5, %r4;
    @%p bra DONE;
    ld.global.f32 %f2, [%d6];
    add.f32 %f1, %f1, %f2;
    add.s64 %d6, %d6, 4096;
    add.u32 %r5, %r5, 1;
    bra LOOP;
DONE:
    add.s64 %d7, %d3, %d4;
    st.global.f32 [%d7], %f1;
    ret;
}
"""


@dataclass(frozen=True)
class Case:
    """A launch, new each time, and how many accesses a sample may simulate."""

    make: Callable[[], tuple[Kernel, Launch]]
    accesses: float
    reads_what_is_written: bool = False


def _workload(name: str, **sizes: int) -> Callable[[], tuple[Kernel, Launch]]:
    def make() -> tuple[Kernel, Launch]:
        loaded = kc.load_workload(_WORKLOADS / f"{name}.toml")
        given = {**loaded.sizes["small"], **sizes}
        kernel = _kernel(name)
        return kernel, replace(loaded, sizes={"chosen": given}).make_launch(kernel=kernel)

    return make


@cache
def _kernel(name: str) -> Kernel:
    return kc.load_workload(_WORKLOADS / f"{name}.toml").load_kernel().kernel


@cache
def _loop_kernel() -> Kernel:
    return kc.load_ptx(_LOOP)["steps"].kernel


def _loop() -> tuple[Kernel, Launch]:
    """Threads that take as many steps as the data say: few mostly, in some places many."""
    threads = 800_000 // 256 * 256
    random = np.random.default_rng(5)
    counts = np.minimum(1 + random.pareto(1.5, threads), 60).astype(np.uint32)
    x, y = np.zeros(threads + 61 * 1024, np.float32), np.zeros(threads, np.float32)
    return _loop_kernel(), Launch((threads // 256, 1, 1), (256, 1, 1), (counts, x, y))


CASES = {
    "tiled product": Case(_workload("gemm/tiled_16", m=256, n=512, k=4096), 1e5),
    "product of a few waves": Case(_workload("gemm/tiled_16", m=96, n=96, k=8192), 4e4),
    "product that is followed in part": Case(
        _workload("sgemm_steps/coalesced", m=256, n=256, k=2048), 3e4
    ),
    "product that is followed": Case(_workload("sgemm_steps/coalesced", m=256, n=128, k=512), 5e4),
    "stencil": Case(_workload("stencil/star5_2d", width=2000, height=1500), 1e5),
    "power-law spmv": Case(
        _workload("sparse/spmv_csr_scalar_power_law", rows=400_003, nonzeros=3_200_021), 6e5
    ),
    "breadth-first search": Case(
        _workload("graph/bfs_frontier", vertices=800_003, edges=3_200_007, level=3),
        3e5,
        reads_what_is_written=True,
    ),
    "loop over data": Case(_loop, 2e5),
}


def small_machine() -> Device:
    """Few SMs with small caches, so that small grids have many waves."""
    base = load_device("gtx-480")
    return replace(
        base,
        architecture=replace(base.architecture, sm_count=4),
        coalescing=CoalescingRule.SECTORS,
        dram=replace(base.dram, partial_write_fills=True),
        l1=_L1,
        l2=_L2,
    )


def exact(case: Case) -> MemoryResult:
    """All thread blocks, executed and simulated."""
    kernel, launch = case.make()
    resident = resident_launch(kernel, launch, small_machine())
    warps = -(-launch.threads_per_thread_block // _WIDTH)
    memory = SimulatedMemory(instruction_rows(kernel), _WIDTH, warps, resident)
    CompiledLaunch(kernel, launch, _WIDTH).run(Limits(), None, [memory])
    (found,) = memory.finish()
    return found


def sampled(case: Case, seed: int = 0, *, may_grow: bool = False) -> MemoryResult:
    """A sample of the thread blocks, which may grow where it says too little."""
    kernel, launch = case.make()
    size = SampleSize(case.accesses, seed, may_grow=may_grow)
    if case.reads_what_is_written:
        return _recorded(kernel, launch, size)
    source: SlicedLaunch | DataSource = SlicedLaunch(kernel, launch, _WIDTH, Limits())
    if why_not_sampled(kernel) is not None:
        data = data_slice(kernel)
        assert data is not None
        source = DataSource(kernel, launch, _WIDTH, Limits(), data)
    census = Census(source.counts(None))
    resident = SampledDevice(*resident_launch(kernel, launch, small_machine()))
    ((found,),) = sample_memories(source, census, [resident], size=size)
    return found


def _recorded(kernel: Kernel, launch: Launch, size: SampleSize) -> MemoryResult:
    device, resident = resident_launch(kernel, launch, small_machine())
    warps = -(-launch.threads_per_thread_block // _WIDTH)
    rows = instruction_rows(kernel)
    described = LaunchRows(rows, launch.grid, _WIDTH, warps, 8 * size.accesses)
    sample = RecordedSample.planned(described, device, resident, size)
    assert sample is not None
    compiled = CompiledLaunch(kernel, launch, _WIDTH)
    counts = compiled.run_parts(grid_parts(launch.thread_blocks, [sample.plan]), Limits(), [sample])
    return sample.finish(counts)
