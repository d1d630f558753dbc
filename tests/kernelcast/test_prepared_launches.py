"""Launches that are prepared once and run often do what `run` does each time."""

from __future__ import annotations

import os
import signal
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import (
    ExecutionError,
    InputError,
    LaunchError,
    LimitExceeded,
    MemoryAccessError,
)
from kernelcast.simcore.engine.jit.runtime import run as jit_run
from kernelcast.simcore.engine.jit.runtime.worker import Worker

HEAD = ".version 6.0\n.target sm_50\n.address_size 64\n"
ADD = (
    HEAD
    + """
.visible .entry add(.param .u64 out, .param .u32 step, .param .u32 count) {
.reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p;
ld.param.u64 %rd1, [out];
ld.param.u32 %r1, [step];
ld.param.u32 %r2, [count];
mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
mad.lo.u32 %r6, %r3, %r4, %r5;
setp.ge.u32 %p, %r6, %r2;
@%p bra END;
mad.wide.u32 %rd2, %r6, 4, %rd1;
ld.global.u32 %r7, [%rd2];
add.u32 %r8, %r7, %r1;
st.global.u32 [%rd2], %r8;
END:
ret;
}
"""
)

LOOP = (
    HEAD
    + """
.visible .entry loop(.param .u64 out, .param .u64 passes) {
.reg .b64 %rd<4>; .reg .pred %p;
ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [passes];
mov.u64 %rd3, 0;
L: add.u64 %rd3, %rd3, 1;
setp.lt.u64 %p, %rd3, %rd2;
@%p bra L;
st.global.u64 [%rd1], %rd3;
ret;
}
"""
)
COUNTER = (
    HEAD
    + """
.global .u32 calls;
.const .u32 step = 2;
.visible .entry count(.param .u64 out) {
.reg .b32 %r<4>; .reg .b64 %rd<2>;
ld.const.u32 %r1, [step];
ld.global.u32 %r2, [calls];
add.u32 %r3, %r2, %r1;
st.global.u32 [calls], %r3;
ld.param.u64 %rd1, [out];
st.global.u32 [%rd1], %r3;
ret;
}
"""
)
MEETING = (
    HEAD
    + """
.visible .entry meet(.param .u64 arrived, .param .u32 expected) {
.reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p;
ld.param.u64 %rd1, [arrived]; ld.param.u32 %r1, [expected];
atom.global.add.u32 %r2, [%rd1], 1;
L: ld.volatile.global.u32 %r3, [%rd1];
setp.lt.u32 %p, %r3, %r1;
@%p bra L;
ret;
}
"""
)
PRINT = (
    HEAD
    + """
.extern .func (.param .b32 status) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[11] = {98, 108, 111, 99, 107, 32, 37, 100, 59, 32, 0};
.visible .entry print() {
.local .align 8 .b8 values[8];
.reg .b32 %r<3>; .reg .b64 %rd<5>;
mov.u32 %r1, %ctaid.x;
mov.u64 %rd1, values; cvta.local.u64 %rd2, %rd1; st.u32 [%rd2], %r1;
mov.u64 %rd3, text; cvta.global.u64 %rd4, %rd3;
{ .param .b64 a; .param .b64 b; .param .b32 c;
st.param.b64 [a], %rd4; st.param.b64 [b], %rd2;
call.uni (c), vprintf, (a, b);
ld.param.b32 %r2, [c]; }
ret;
}
"""
)
GRID_STATE = (
    HEAD
    + """
.visible .entry count(.param .u64 out) {
.reg .b32 %r<4>; .reg .b64 %rd<4>;
mov.b32 %r1, %envreg1; mov.b32 %r2, %envreg2; mov.b64 %rd1, {%r2, %r1};
atom.global.add.u32 %r3, [%rd1], 1;
ld.param.u64 %rd2, [out];
red.global.add.u32 [%rd2], %r3;
ret;
}
"""
)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[threading.Thread]:
    """Threads that were started."""
    found: list[threading.Thread] = []
    start = threading.Thread.start

    def noted(thread: threading.Thread) -> None:
        found.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", noted)
    return found


def block(pointer: object, step: int, count: int) -> bytes:
    return struct.pack("<QII", int(pointer), step, count)  # type: ignore[call-overload]


@pytest.fixture
def memory() -> kc.DeviceMemory:
    return kc.DeviceMemory()


def test_every_run_does_the_work_again(memory: kc.DeviceMemory) -> None:
    x = memory.allocate(4 * 100, "x")
    launch = kc.load_ptx(ADD)["add"].prepare(grid=4, block=32, args=[x, 3, 100], memory=memory)
    for _ in range(5):
        launch.run()
    assert memory.read(x, 100, np.uint32).tolist() == [15] * 100


def test_arrays_are_written_in_place() -> None:
    x = np.arange(64, dtype=np.uint32)
    launch = kc.load_ptx(ADD)["add"].prepare(grid=2, block=32, args=[x, 1, 64])
    launch.run()
    launch.run(block(0, 10, 64))  # the array is no pointer of the block
    assert x.tolist() == [i + 11 for i in range(64)]


def test_a_block_replaces_numbers_and_pointers(memory: kc.DeviceMemory) -> None:
    x, y = memory.allocate(4 * 64, "x"), memory.allocate(4 * 64, "y")
    launch = kc.load_ptx(ADD)["add"].prepare(grid=2, block=32, args=[x, 1, 64], memory=memory)
    launch.run(block(y, 5, 32))
    launch.run()
    assert not memory.read(x, 64, np.uint32).any()
    assert memory.read(y, 64, np.uint32).tolist() == [10] * 32 + [0] * 32
    launch.run(block(x + 128, 7, 8))
    assert memory.read(x, 64, np.uint32).tolist() == [0] * 32 + [7] * 8 + [0] * 24


def test_a_block_of_another_size_is_refused(memory: kc.DeviceMemory) -> None:
    x = memory.allocate(4 * 64, "x")
    launch = kc.load_ptx(ADD)["add"].prepare(grid=2, block=32, args=[x, 1, 64], memory=memory)
    with pytest.raises(LaunchError, match="a block of 12 bytes of parameters, kernel add takes 16"):
        launch.run(bytes(12))


def test_what_was_freed_is_refused(memory: kc.DeviceMemory) -> None:
    x = memory.allocate(4 * 64, "x")
    launch = kc.load_ptx(ADD)["add"].prepare(grid=2, block=32, args=[x, 1, 64], memory=memory)
    launch.run()
    memory.free(x)
    with pytest.raises(LaunchError, match="it was freed, or is of another memory"):
        launch.run()
    with pytest.raises(MemoryAccessError, match=r"inside x \(256 bytes, argument out\), which was"):
        launch.run(block(x, 1, 64))


def test_what_was_allocated_later_is_found(memory: kc.DeviceMemory) -> None:
    x = memory.allocate(4 * 64, "x")
    launch = kc.load_ptx(ADD)["add"].prepare(grid=2, block=32, args=[x, 1, 64], memory=memory)
    launch.run()
    y = memory.allocate(4 * 64, "y")
    launch.run(block(y, 2, 64))
    assert memory.read(y, 64, np.uint32).tolist() == [2] * 64


def test_bounds_and_read_only_memory_are_checked(memory: kc.DeviceMemory) -> None:
    x = memory.allocate(4 * 64, "x")
    fixed = memory.allocate(4 * 64, "fixed", is_read_only=True)
    launch = kc.load_ptx(ADD)["add"].prepare(grid=2, block=32, args=[x, 1, 64], memory=memory)
    launch.run()
    with pytest.raises(MemoryAccessError, match="past the end of x"):
        launch.run(block(x + 4, 1, 64))
    with pytest.raises(MemoryAccessError, match="store to a read-only array"):
        launch.run(block(fixed, 1, 64))
    launch.run(block(x, 1, 64))
    assert memory.read(x, 64, np.uint32)[0] == 2


def test_options_of_estimates_are_refused(memory: kc.DeviceMemory) -> None:
    kernel, x = kc.load_ptx(ADD)["add"], memory.allocate(256)
    with pytest.raises(LaunchError, match="simulates no memory"):
        kernel.prepare(grid=1, block=32, args=[x, 1, 1], memory=memory, devices=["gtx-480"])


def test_repeated_runs_start_no_threads(
    memory: kc.DeviceMemory, started: list[threading.Thread]
) -> None:
    x, kernel = memory.allocate(4 << 20, "x"), kc.load_ptx(ADD)["add"]
    small = kernel.prepare(grid=2, block=32, args=[x, 1, 64], memory=memory)
    large = kernel.prepare(grid=4096, block=256, args=[x, 1, 1 << 20], memory=memory)

    def run_all() -> None:
        small.run()
        large.run()
        kernel.run(grid=2, block=32, args=[x, 0, 64], memory=memory, record_memory=False)

    run_all()
    before = len(started)
    for _ in range(6):
        run_all()
    assert len(started) == before
    expected = np.full(1 << 20, 7, np.uint32)
    expected[:64] += 7
    assert np.array_equal(memory.read(x, 1 << 20, np.uint32), expected)


def test_a_small_grid_runs_on_the_calling_thread(
    memory: kc.DeviceMemory, started: list[threading.Thread]
) -> None:
    x = memory.allocate(4 * 64, "x")
    launch = kc.load_ptx(ADD)["add"].prepare(grid=1, block=64, args=[x, 1, 64], memory=memory)
    launch.run()
    assert not [thread for thread in started if "worker" in thread.name]


@pytest.mark.parametrize("grid", [1, 4096])
def test_an_interrupt_ends_a_run(memory: kc.DeviceMemory, grid: int) -> None:
    x, kernel = memory.allocate(8, "x"), kc.load_ptx(LOOP)["loop"]
    limits = kc.Limits(seconds=600, instructions_per_warp=None)
    launch = kernel.prepare(grid=grid, block=32, args=[x, 1], memory=memory, limits=limits)
    launch.run()
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))

    def interrupted() -> None:
        timer.start()
        launch.run(struct.pack("<QQ", x.address, 1 << 60))

    with pytest.raises(KeyboardInterrupt):  # else its limit is what ends it
        interrupted()
    launch.run(struct.pack("<QQ", x.address, 5))
    assert memory.read(x, 1, np.uint64)[0] == 5


@pytest.mark.parametrize("grid", [1, 4096])
def test_limits_hold_for_each_run(memory: kc.DeviceMemory, grid: int) -> None:
    x, kernel = memory.allocate(8, "x"), kc.load_ptx(LOOP)["loop"]

    def prepared(limits: kc.Limits) -> Callable[[int], None]:
        launch = kernel.prepare(grid=grid, block=32, args=[x, 1], memory=memory, limits=limits)
        return lambda passes: launch.run(struct.pack("<QQ", x.address, passes))

    run = prepared(kc.Limits(seconds=1.0, instructions_per_warp=None))
    with pytest.raises(LimitExceeded, match=r"still running after 1 s"):
        run(1 << 60)
    run(3)
    run = prepared(kc.Limits(instructions_per_warp=1000))
    with pytest.raises(LimitExceeded, match="issued more than 1,000 instructions"):
        run(1 << 60)
    run(4)
    assert memory.read(x, 1, np.uint64)[0] == 4


@pytest.mark.parametrize("engine", ["jit", "reference"])
def test_no_limit_of_instructions_lets_long_loops_end(engine: str) -> None:
    out, passes = np.zeros(1, np.uint64), {"jit": 1 << 21, "reference": 1000}[engine]
    kernel = kc.load_ptx(LOOP)["loop"]

    def run(most: int | None) -> None:
        options = kc.RunOptions(
            limits=kc.Limits(instructions_per_warp=most), record_memory=False, engine=engine
        )
        kernel.run(args=[out, passes], grid=1, block=1, options=options)

    with pytest.raises(LimitExceeded, match="issued more than"):
        run(min(passes, 1 << 20))
    run(None)
    assert out[0] == passes


def test_variables_live_on_and_constants_are_copied_at_each_run(memory: kc.DeviceMemory) -> None:
    module, out = kc.load_ptx(COUNTER), memory.allocate(4, "out")
    launch = module["count"].prepare(grid=1, block=1, args=[out], memory=memory)
    launch.run()
    launch.run()
    assert memory.read(module.variable("calls", memory), 1, np.uint32)[0] == 4
    memory.write(module.variable("step", memory), np.array([10], np.uint32))
    memory.write(module.variable("calls", memory), np.array([100], np.uint32))
    launch.run()
    assert memory.read(out, 1, np.uint32)[0] == 110
    module.unload(memory)
    launch.run()
    assert memory.read(out, 1, np.uint32)[0] == 2


def test_thread_blocks_may_wait_for_each_other(memory: kc.DeviceMemory) -> None:
    x = memory.allocate(4, "x")
    launch = kc.load_ptx(MEETING)["meet"].prepare(
        grid=40, block=1, args=[x, 40], memory=memory, limits=kc.Limits(seconds=600)
    )
    launch.run()
    launch.run(struct.pack("<QI", x.address, 80))
    assert memory.read(x, 1, np.uint32)[0] == 80
    with pytest.raises(ExecutionError, match="endless loop"):
        launch.run(struct.pack("<QI", x.address, 121))


def test_the_workspace_of_a_grid_begins_anew(memory: kc.DeviceMemory) -> None:
    x = memory.allocate(4, "x")
    launch = kc.load_ptx(GRID_STATE)["count"].prepare(grid=3, block=1, args=[x], memory=memory)
    for _ in range(4):
        launch.run()
    assert memory.read(x, 1, np.uint32)[0] == 4 * (0 + 1 + 2)


def test_prints_after_each_run(capsys: pytest.CaptureFixture[str]) -> None:
    launch = kc.load_ptx(PRINT)["print"].prepare(grid=3, block=1, args=[])
    for _ in range(2):
        launch.run()
        assert capsys.readouterr().out == "block 0; block 1; block 2; "


def test_the_reference_engine_repeats_launches_too(memory: kc.DeviceMemory) -> None:
    x, kernel = memory.allocate(4 * 64, "x"), kc.load_ptx(ADD)["add"]
    launch = kernel.prepare(grid=2, block=32, args=[x, 1, 64], memory=memory, engine="reference")
    launch.run()
    launch.run(block(x, 5, 64))
    assert memory.read(x, 64, np.uint32).tolist() == [6] * 64


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[Worker]:
    """Workers that were made: some for every launch that is made ready."""
    found: list[Worker] = []
    make = Worker.__init__

    def noted(worker: Worker, *arguments: Any, **keywords: Any) -> None:
        found.append(worker)
        make(worker, *arguments, **keywords)

    monkeypatch.setattr(Worker, "__init__", noted)
    return found


def test_other_numbers_pointers_and_allocations_need_nothing_new(
    memory: kc.DeviceMemory, workers: list[Worker]
) -> None:
    x, y = memory.allocate(4 * 64, "x"), memory.allocate(4 * 64, "y")
    launch = kc.load_ptx(ADD)["add"].prepare(grid=1, block=64, args=[x, 0, 64], memory=memory)
    for step in range(1, 5):
        launch.run(block(x, step, 64))
    before = len(workers)
    for step in range(5, 20):
        launch.run(block((x, y)[step % 2], step, 64))
        memory.free(memory.allocate(100))
    assert len(workers) == before
    assert memory.read(x, 1, np.uint32)[0] == sum(range(1, 5)) + sum(range(6, 20, 2))
    assert memory.read(y, 1, np.uint32)[0] == sum(range(5, 20, 2))


def test_a_few_values_that_come_back_keep_their_workers(
    memory: kc.DeviceMemory, workers: list[Worker]
) -> None:
    x = memory.allocate(4 * 64, "x")
    launch = kc.load_ptx(ADD)["add"].prepare(grid=1, block=64, args=[x, 0, 64], memory=memory)
    for _ in range(10):
        launch.run(block(x, 0, 64))
        launch.run(block(x, 1, 64))
    assert len(workers) == 2
    assert memory.read(x, 64, np.uint32).tolist() == [10] * 64


def test_faults_name_the_argument_that_points_there_by_now(memory: kc.DeviceMemory) -> None:
    x, y = memory.allocate(4 * 64, "x"), memory.allocate(4 * 64, "y")
    launch = kc.load_ptx(ADD)["add"].prepare(grid=2, block=32, args=[x, 1, 64], memory=memory)
    launch.run()
    launch.run(block(y, 1, 64))
    memory.free(y)
    with pytest.raises(MemoryAccessError, match=r"inside y \(256 bytes, argument out\), which was"):
        launch.run()
    launch.run(block(x, 1, 64))
    with pytest.raises(MemoryAccessError, match="bytes before x"):
        launch.run(block(64, 1, 64))
    assert memory.read(x, 64, np.uint32).tolist() == [2] * 64


def test_what_is_at_an_address_by_now_is_used(memory: kc.DeviceMemory) -> None:
    at = 0x500_0000_0000
    x = memory.allocate(4 * 64, "x", address=at)
    launch = kc.load_ptx(ADD)["add"].prepare(grid=2, block=32, args=[x, 1, 64], memory=memory)
    launch.run(block(at, 1, 64))
    memory.free(x)
    memory.allocate(4 * 32, "half", address=at)
    with pytest.raises(
        MemoryAccessError, match=r"inside x \(256 bytes, argument out\), which was freed"
    ):
        launch.run()
    launch.run(block(at, 1, 32))
    memory.free(at)
    memory.allocate(4 * 64, "fixed", address=at, is_read_only=True)
    with pytest.raises(MemoryAccessError, match="store to a read-only array"):
        launch.run()


def test_the_example_of_the_docs(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[2]
    text = (root / "docs" / "device-memory.md").read_text(encoding="utf-8")
    code = next(part for part in text.split("```python\n") if ".prepare(" in part).split("```")[0]
    monkeypatch.chdir(root)
    saxpy = kc.load("examples/saxpy/saxpy.ptx")["saxpy"]
    code = code.replace("launch.run()", "memory.fill(x, 4, n, np.float32); launch.run()")
    names: dict[str, Any] = {"kc": kc, "np": np, "kernel": saxpy}
    exec(compile(code, "device-memory.md", "exec"), names)
    found = names["memory"].read(names["y"], names["n"], np.float32)
    assert np.all(found == 4 * (2 + 1 + 0.5 + 0.25))


def test_short_runs_that_add_up_are_worth_optimized_code(
    memory: kc.DeviceMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("LARGE_IR", 0), ("_OPTIMIZING_S_PER_CHARACTER", 0.0)):
        monkeypatch.setattr(jit_run, name, value)
    monkeypatch.setattr(jit_run, "is_compiled", lambda ir: False)
    levels: list[int] = []
    compile_module = vars(jit_run)["compile_module"]

    def noted(ir: str, level: int) -> Any:
        levels.append(level)
        return compile_module(ir, level)

    monkeypatch.setattr(jit_run, "compile_module", noted)
    x = memory.allocate(4 * 64, "x")
    launch = kc.load_ptx(ADD)["add"].prepare(grid=1, block=64, args=[x, 1, 64], memory=memory)
    runs, until = 0, time.monotonic() + 600
    while len(levels) < 2 and time.monotonic() < until:
        launch.run()
        runs += 1
    launch.run()
    assert levels == [0, 2]
    assert memory.read(x, 64, np.uint32).tolist() == [runs + 1] * 64


def test_machine_code_takes_a_block_as_well(memory: kc.DeviceMemory) -> None:
    x, kernel = memory.allocate(4 * 64, "x"), kc.load_ptx(ADD)["add"]
    try:
        launch = kernel.prepare(
            grid=1, block=64, args=[x, 1, 64], memory=memory, code="native", target="v100-pcie"
        )
    except InputError:
        pytest.skip("no assembler is installed")
    launch.run()
    for step in range(2, 8):
        launch.run(block(x, step, 64))
    assert memory.read(x, 64, np.uint32).tolist() == [28] * 64
