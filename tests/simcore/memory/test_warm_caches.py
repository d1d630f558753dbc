"""Launches that find in L2 what an equal one left, beside closed forms and two launches in one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import KernelcastError, TraceFormatError, WorkloadError
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.sampling import Sampling
from kernelcast.simcore.device.resident_launch import ResidentLaunch
from kernelcast.simcore.memory.contents.cache_contents import FirstContents
from kernelcast.simcore.memory.simulated_memory import SimulatedMemory
from kernelcast.simcore.profile.profile import MemoryTraffic
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import AccessTable, InstructionRow

THREADS = 256
V100, MI210 = "v100-pcie", "mi210"
COPY = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry copy(.param .u64 a, .param .u64 b, .param .u32 n) {
    .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<3>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r5, [n];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 256, %r1;
    rem.u32 %r4, %r3, %r5;
    mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
    ld.global.cg.f32 %f1, [%rd4]; add.f32 %f1, %f1, %f1; st.global.f32 [%rd5], %f1;
    ret;
}
"""


def arguments(words: int) -> list[Any]:
    return [np.zeros(words, np.float32), np.zeros(words, np.float32), np.uint32(words)]


def run(words: int, device: str, times: int = 1, **options: Any) -> KernelTrace:
    """A copy of so many words, as often as `times` says within one launch."""
    kernel = kc.load_ptx(COPY)["copy"]
    blocks = times * words // THREADS
    args = arguments(words)
    return kernel.run(
        grid=blocks, block=THREADS, args=args, code="source", devices=[device], **options
    )


def traffic(trace: KernelTrace, device: str) -> MemoryTraffic:
    return trace.profile(device).traffic


def read(found: MemoryTraffic) -> float:
    return found.sector_bytes * found.dram_read_transactions


def written(found: MemoryTraffic) -> float:
    return found.sector_bytes * found.dram_write_transactions


@pytest.mark.parametrize("device", [V100, MI210])
def test_what_fits_l2_is_neither_read_nor_written_again(device: str) -> None:
    """2 MB of 6 and 8: cold they come and go once, warm not at all."""
    words = 1 << 18
    cold = traffic(run(words, device), device)
    warm = traffic(run(words, device, caches="warm"), device)
    assert read(cold) == written(cold) == 4 * words
    assert read(warm) == written(warm) == 0


@pytest.mark.parametrize("device", [V100, MI210])
def test_what_is_four_times_as_large_is_as_if_it_were_cold(device: str) -> None:
    """L2 of both replaces the least recently used line."""
    words = 4 * kc.device(device).l2.capacity_bytes // 8 // THREADS * THREADS
    cold = traffic(run(words, device), device)
    warm = traffic(run(words, device, caches="warm"), device)
    assert read(warm) == pytest.approx(read(cold), rel=0.02)
    assert written(warm) == pytest.approx(written(cold), rel=0.02)


@pytest.mark.parametrize("share", [0.9, 1.1, 1.3])
@pytest.mark.parametrize("device", ["gtx-1070", V100])
def test_a_warm_launch_is_the_second_of_two_in_one(device: str, share: float) -> None:
    """Twice the copy in one launch, less the first: sizes about the capacity of L2."""
    words = int(share * kc.device(device).l2.capacity_bytes) // 8 // THREADS * THREADS
    once, twice = (traffic(run(words, device, times), device) for times in (1, 2))
    warm = traffic(run(words, device, caches="warm"), device)
    second = read(twice) - read(once)
    assert read(warm) == pytest.approx(second, abs=0.05 * read(once))


def test_kept_accesses_and_those_of_a_run_give_the_same() -> None:
    words = 3 << 18
    kernel = kc.load_ptx(COPY)["copy"]
    args = arguments(words)
    kept = kernel.run(grid=words // THREADS, block=THREADS, args=args, code="source")
    cold, warm = (traffic(kept.with_caches(name), V100) for name in ("cold", "warm"))
    assert cold == traffic(run(words, V100), V100)
    assert warm == traffic(run(words, V100, caches="warm"), V100)
    assert read(warm) < 0.6 * read(cold)


def test_samples_find_what_all_thread_blocks_find() -> None:
    """5 MB in each array, on L2 of 6: some of it is left."""
    words = 5 << 18
    exact = traffic(run(words, V100, times=4, caches="warm"), V100)
    sampled = traffic(run(words, V100, times=4, caches="warm", sampling=Sampling.ALWAYS), V100)
    assert read(sampled) == pytest.approx(read(exact), rel=0.05)


def test_warm_launches_take_less_time() -> None:
    words = 1 << 19
    cold, warm = (
        kc.estimate(run(words, V100, caches=name).profile(V100)) for name in ("cold", "warm")
    )
    assert warm.time_s < 0.8 * cold.time_s
    assert any("caches: warm" in line for line in warm.assumptions)
    assert not any("caches: warm" in line for line in cold.assumptions)


def test_a_run_with_cold_caches_says_that_it_has_no_warm_ones() -> None:
    trace = run(1 << 16, V100)
    with pytest.raises(TraceFormatError, match="with cold caches, not warm ones: execute"):
        trace.with_caches("warm").profile(V100)
    with pytest.raises(KernelcastError, match="unknown caches 'hot'; known: cold, warm"):
        trace.with_caches("hot")


GTX480 = "gtx-480"
LOADS_AND_STORES = tuple(
    InstructionRow(pc, kind, kind, "", 0, kind, 0, "global", 4, merged_into=pc)
    for pc, kind in enumerate(("load", "store"))
)
ACCESSES = 20


def random_rows(first: int, thread_blocks: int) -> AccessBatch:
    """One warp each: rows of 128 bytes all over four times the L2 of a GTX-480."""
    rows = thread_blocks * ACCESSES
    begin = first * ACCESSES
    choice = np.random.default_rng(7).integers(0, 1 << 62, begin + rows)[begin:]
    warp, time = np.divmod(np.arange(begin, begin + rows, dtype=np.int32), np.int32(ACCESSES))
    zero = np.zeros(rows, np.int32)
    address = 128 * (choice % (4 * 6144))
    kind = (choice >> 40) % 2
    return AccessBatch(
        first,
        thread_blocks,
        AccessTable(kind.astype(np.int32), warp, time, zero, address, zero),
        PatternTable(np.array([2**32 - 1], np.uint64), 4 * np.arange(32)[None]),
        np.full(thread_blocks, ACCESSES, np.int32),
    )


@pytest.mark.parametrize("size", [100, 700, 3334])
def test_warm_traffic_does_not_depend_on_how_accesses_are_cut(size: int) -> None:
    """L2 has other contents after a half of the launch; that half is what counts in any cut."""
    thread_blocks = 10_000
    found = []
    for each in (size, thread_blocks):
        resident = ResidentLaunch(kc.device(GTX480), 8)
        memory = SimulatedMemory(LOADS_AND_STORES, 32, 1, resident, FirstContents.EQUAL_LAUNCH)
        for first in range(0, thread_blocks, each):
            memory.accept(random_rows(first, min(each, thread_blocks - first)))
        found += memory.finish()
    cut, whole = (
        [*(column.tolist() for column in result.traffic.by_instruction), result.traffic.writes]
        for result in found
    )
    assert cut == whole
    assert found[0].notes == found[1].notes == ()


WORKLOAD = """
[kernel]
source = "copy.ptx"
entry = "copy"

[sizes.usual]
n = 262144

[launch]
grid = ["n / 256"]
block = [256]
repeats = 3
caches = "{caches}"

[[args]]
name = "a"
type = "f32[n]"
init = "zeros"

[[args]]
name = "b"
type = "f32[n]"
init = "zeros"

[[args]]
name = "n"
type = "u32"
value = "n"
"""


def workload(folder: Path, caches: str) -> Path:
    (folder / "copy.ptx").write_text(COPY)
    path = folder / f"{caches}.toml"
    path.write_text(WORKLOAD.format(caches=caches))
    return path


def test_workloads_say_what_a_launch_finds(tmp_path: Path) -> None:
    """Each of the repeats finds it; options of a run go before the file."""
    found = {}
    for caches in ("cold", "warm"):
        trace = kc.load_workload(workload(tmp_path, caches)).run(devices=[V100])
        found[caches] = trace.profile(V100)
    assert read(found["warm"].traffic) == 0 < read(found["cold"].traffic)
    assert found["warm"].repeats == found["cold"].repeats == 3
    other = kc.load_workload(workload(tmp_path, "warm")).run(devices=[V100], caches="cold")
    assert traffic(other, V100) == found["cold"].traffic
    with pytest.raises(WorkloadError, match="must be cold or warm, got 'hot'"):
        kc.load_workload(workload(tmp_path, "hot"))
