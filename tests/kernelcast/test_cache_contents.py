"""Launches that find in L2 what those before left, beside closed forms and equal launches."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import ExecutionError, LaunchError, TraceFormatError
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.runnable import LoadedModule, RunnableKernel
from kernelcast.execution.sampling import Sampling
from kernelcast.simcore.profile.profile import KernelProfile, MemoryTraffic

THREADS = 256
V100, MI210, H100 = "v100-pcie", "mi210", "h100-sxm"
V100_L2 = kc.device(V100).l2.capacity_bytes
KERNELS = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry copy(.param .u64 a, .param .u64 b) {
    .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<3>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 256, %r1;
    mul.wide.u32 %rd3, %r3, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
    ld.global.cg.f32 %f1, [%rd4]; add.f32 %f1, %f1, %f1; st.global.f32 [%rd5], %f1;
    ret;
}
.visible .entry look(.param .u64 a) {
    .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [a];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 256, %r1;
    mul.wide.u32 %rd3, %r3, 4; add.u64 %rd4, %rd1, %rd3;
    ld.global.cg.b32 %r4, [%rd4]; setp.eq.u32 %p1, %r4, 77;
    @%p1 st.global.b32 [%rd4], %r4;
    ret;
}
"""


@dataclass
class Program:
    """Launches on one device memory; `words` of an allocation are taken by a thread each."""

    devices: tuple[str, ...] = (V100,)
    code: str | None = "source"
    memory: kc.DeviceMemory = field(default_factory=kc.DeviceMemory)
    contents: kc.CacheContents = field(default_factory=kc.CacheContents)
    module: LoadedModule = field(default_factory=lambda: kc.load_ptx(KERNELS))

    def allocate(self, size: int) -> kc.Allocation:
        return self.memory.allocate(size)

    def run(self, name: str, *args: Any, size: int | None = None, **options: Any) -> KernelTrace:
        given: dict[str, Any] = {
            "devices": self.devices,
            "memory": self.memory,
            "caches": self.contents,
            "code": self.code,
            **options,
        }
        threads = (size or args[0].size) // 4
        kernel: RunnableKernel = self.module[name]
        return kernel.run(grid=threads // THREADS, block=THREADS, args=args, **given)

    def traffic(self, name: str, *args: Any, **options: Any) -> MemoryTraffic:
        return self.run(name, *args, **options).profile(self.devices[0]).traffic


def read(found: MemoryTraffic) -> float:
    return found.sector_bytes * found.dram_read_transactions


def left(found: MemoryTraffic) -> float:
    return found.sector_bytes * found.left_write_transactions


def evicted(found: MemoryTraffic) -> float:
    return found.sector_bytes * found.dram_write_transactions - left(found)


def counted(profile: KernelProfile) -> tuple[Any, ...]:
    return profile.traffic, profile.hot_spots, kc.estimate(profile).time_s


def whole(share: float, capacity: int = V100_L2) -> int:
    """Bytes that are about that share of a capacity, for whole thread blocks."""
    return int(share * capacity) // (4 * THREADS) * 4 * THREADS


@pytest.mark.parametrize(
    ("device", "size"),
    [
        *((V100, whole(share)) for share in (0.1, 0.6, 1.5)),
        (MI210, whole(0.6, kc.device(MI210).l2.capacity_bytes)),
        *(("gtx-480", size) for size in (1 << 18, 5 << 19)),
        (H100, 1 << 20),
    ],
)
def test_the_first_launch_is_a_cold_one_and_the_second_a_warm_one(device: str, size: int) -> None:
    """Every count is the same, whether L2 holds both buffers or a part of them."""
    program = Program((device,))
    a, b = program.allocate(size), program.allocate(size)
    first, second = (counted(program.run("copy", a, b).profile(device)) for _ in range(2))
    cold, warm = (
        counted(program.run("copy", a, b, caches=name).profile(device)) for name in ("cold", "warm")
    )
    assert first == cold
    assert second == warm
    assert first != second


def test_a_consumer_finds_what_its_producer_wrote() -> None:
    """Three buffers of a megabyte in 6: the second launch reads none and evicts none."""
    program, size = Program(), 1 << 20
    a, b, c = (program.allocate(size) for _ in range(3))
    produced, consumed = program.traffic("copy", a, b), program.traffic("copy", b, c)
    assert (read(produced), evicted(produced), left(produced)) == (size, 0, size)
    assert (read(consumed), evicted(consumed), left(consumed)) == (0, 0, size)
    assert consumed.l2_read_hit_sectors == size // 32
    assert program.contents.held_bytes(kc.device(V100)) == 3 * size


@pytest.mark.parametrize(("share", "missing"), [(0.3, 0.0), (0.45, 0.0), (0.75, 1.0), (3.0, 1.0)])
def test_what_was_used_least_recently_is_gone(share: float, missing: float) -> None:
    """Two buffers by turns: either both fit, or each drives out what of the other is next."""
    program, size = Program(), whole(share)
    x, y = program.allocate(size), program.allocate(size)
    for buffer in (x, y):
        assert read(program.traffic("look", buffer)) == size
    assert read(program.traffic("look", x)) == pytest.approx(missing * size, abs=0.02 * size)


def test_a_launch_pays_for_dirty_lines_that_it_evicts() -> None:
    """A reader of four capacities drives out a megabyte that the launch before has written."""
    program, size = Program(), 1 << 20
    a, b, large = program.allocate(size), program.allocate(size), program.allocate(whole(4))
    alone = program.run("look", large).profile(V100)
    program.run("copy", a, b)
    after = program.run("look", large).profile(V100)
    assert (evicted(alone.traffic), left(alone.traffic)) == (0, 0)
    assert (evicted(after.traffic), left(after.traffic)) == (size, 0)
    assert read(after.traffic) == read(alone.traffic) == large.size
    assert kc.estimate(after).time_s > 1.01 * kc.estimate(alone).time_s
    again = program.traffic("look", large)
    assert (evicted(again), left(again)) == (0, 0)


def test_writes_are_counted_once_over_many_launches() -> None:
    """What is evicted, and what is dirty in the end, is what was made dirty."""
    program, size = Program(), whole(0.4)
    buffers = [program.allocate(size) for _ in range(4)]
    found = [program.traffic("copy", buffers[0], to) for to in buffers[1:]]
    reader = program.traffic("look", program.allocate(whole(4)))
    assert sum(map(evicted, found)) + evicted(reader) == 3 * size


def test_what_the_host_copies_to_leaves_l2() -> None:
    program, size = Program(), 1 << 20
    a, b = program.allocate(size), program.allocate(size)
    program.run("copy", a, b)
    program.contents.invalidate(b, size // 2)
    assert program.contents.held_bytes(kc.device(V100)) == 1.5 * size
    assert read(program.traffic("look", b)) == size // 2
    swept = program.traffic("look", program.allocate(whole(4)))
    assert evicted(swept) == size // 2  # the other half was dirty no more


@pytest.mark.parametrize(
    ("first", "size", "sectors"),
    [(0, 0, 0), (0, 1, 1), (31, 2, 2), (32, 32, 1), (100, 200, 7), (4095, 1, 1), (4096, 64, 0)],
)
def test_sectors_leave_l2_of_which_a_byte_is_named(first: int, size: int, sectors: int) -> None:
    program = Program()
    a = program.allocate(4096)
    program.run("look", a)
    program.contents.invalidate(a.address + first, size)
    assert program.contents.held_bytes(kc.device(V100)) == 4096 - 32 * sectors
    assert read(program.traffic("look", a)) == 32 * sectors


def test_arrays_that_a_launch_brings_leave_with_it() -> None:
    program, size = Program(), 1 << 18
    a, array = program.allocate(size), np.zeros(size // 4, np.float32)
    for expected in (size, 0):
        assert read(program.traffic("copy", a, array)) == expected
        assert program.contents.held_bytes(kc.device(V100)) == size


@pytest.mark.parametrize("code", ["source", None])
def test_each_device_has_an_l2_of_its_own(code: str | None) -> None:
    """Warps of 32 and 64 threads and machine code of several architectures, in one run each."""
    devices, size = (V100, MI210, H100), whole(0.7)
    together, alone = Program(devices, code), {name: Program((name,), code) for name in devices}
    programs = [together, *alone.values()]
    buffers = [[item.allocate(size) for _ in range(3)] for item in programs]
    for source, target in ((0, 1), (1, 2), (0, 1)):
        traces = [
            item.run("copy", own[source], own[target])
            for item, own in zip(programs, buffers, strict=True)
        ]
        for device, trace in zip(devices, traces[1:], strict=True):
            assert traces[0].profile(device).traffic == trace.profile(device).traffic
    assert read(traces[0].profile(H100).traffic) == 0 < read(traces[0].profile(V100).traffic)


def test_devices_that_come_later_begin_cold() -> None:
    program, size = Program(), 1 << 18
    a = program.allocate(size)
    program.run("look", a)
    trace = program.run("look", a, devices=[V100, MI210])
    assert [read(trace.profile(name).traffic) for name in (V100, MI210)] == [0, size]


def test_a_launch_that_fails_leaves_what_there_was() -> None:
    program, size = Program(), 1 << 18
    a, b = program.allocate(size), program.allocate(size)
    program.run("look", a)
    with pytest.raises(ExecutionError):
        program.run("look", b, size=2 * size)
    assert program.contents.held_bytes(kc.device(V100)) == size
    assert read(program.traffic("look", b)) == size


def test_the_second_execution_of_a_launch_may_fail_as_well() -> None:
    """Where codes differ, each is executed for itself: the L2 of the first is not kept then."""
    program, device = Program(), kc.device(V100)
    program.run("look", program.allocate(1 << 18))
    held = program.contents.of(device)
    assert held is not None
    with suppress(RuntimeError), program.contents.launch() as changed:
        changed.keep(device, held)
        changed.keep(kc.device(MI210), held)
        raise RuntimeError
    assert program.contents.of(kc.device(MI210)) is None


def test_profiles_say_what_was_found() -> None:
    program = Program()
    a = program.allocate(1 << 18)
    program.run("look", a)
    trace = program.run("look", a)
    assert any(line.startswith("caches: kept") for line in trace.profile(V100).assumptions)
    with pytest.raises(TraceFormatError, match="with kept caches, not cold ones: execute"):
        trace.with_caches("cold").profile(V100)
    with pytest.raises(TraceFormatError, match="not of mi210"):
        trace.profile(MI210)
    assert repr(program.contents) == "<contents of L2: v100-pcie: 262,144 bytes>"


def test_the_example_of_the_docs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(__file__).parents[2]
    text = (root / "docs" / "device-memory.md").read_text(encoding="utf-8")
    parts = [part.split("```")[0] for part in text.split("```python\n")[1:]]
    monkeypatch.chdir(root)
    exec(compile("\n".join(parts), "device-memory.md", "exec"), {})
    assert capsys.readouterr().out.splitlines()[-3:] == ["262144.0", "0.0", "0.0"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memory": None}, "goes with memory="),
        ({"devices": ()}, "goes with devices="),
        ({"record_memory": False}, "record_memory=True"),
        ({"memory": kc.DeviceMemory()}, "were on another device memory"),
        ({"sampling": Sampling.ALWAYS}, "cannot be sampled: the next launch is to find"),
    ],
)
def test_what_does_not_go_together(options: dict[str, Any], message: str) -> None:
    program = Program()
    a = program.allocate(1 << 16)
    program.run("look", a)
    argument = np.zeros(1 << 14, np.float32) if "memory" in options else a
    with pytest.raises(LaunchError, match=message):
        program.run("look", argument, size=1 << 16, **options)


def test_launches_are_executed_where_others_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelcast.simcore.sampling.decision._MANY_THREADS", 0)
    program, size = Program(), 1 << 22
    a, b = program.allocate(size), program.allocate(size)
    program.memory.write(a, np.ones(size // 4, np.float32))
    for caches, expected in (("cold", 0.0), (program.contents, 2.0)):
        program.run("copy", a, b, sampling=Sampling.AUTO, caches=caches)
        assert (program.memory.read(b, size // 4, np.float32) == expected).all()
