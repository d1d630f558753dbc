"""Threads that wait for each other in loops, on the JIT engine: locks, queues, flags, retries."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelcast.errors import LimitExceeded
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.isa.analysis.spin_loops import meeting_blocks, patience, spin_loops
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Limits
from kernelcast.traces.trace import Trace

Run = Callable[..., Trace]
Compile = Callable[..., Kernel]


@pytest.fixture(autouse=True)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The engine that `execute` takes by default; `on_both` runs a test with each."""
    name = str(getattr(request, "param", "jit"))
    defaults = {**(execute.__kwdefaults__ or {}), "engine": name}
    monkeypatch.setattr(execute, "__kwdefaults__", defaults)
    return name


on_both = pytest.mark.parametrize("engine", sorted(ENGINES), indirect=True)
ME = """mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;"""
CRITICAL = """ld.volatile.global.u32 %r11, [%rd2]; add.u32 %r11, %r11, 1; membar.gl;
    st.volatile.global.u32 [%rd2], %r11; membar.gl; atom.global.exch.b32 %r12, [%rd1], 0;"""
LOCKS = {
    "the holder leaves the loop": f"""
TRY: atom.global.cas.b32 %r10, [%rd1], 0, 1; setp.ne.u32 %p1, %r10, 0; @%p1 bra TRY;
    {CRITICAL} ret;""",
    "the holder stays in the loop": f"""mov.u32 %r13, 0;
TRY: atom.global.cas.b32 %r10, [%rd1], 0, 1; setp.ne.u32 %p1, %r10, 0; @%p1 bra NEXT;
    {CRITICAL} mov.u32 %r13, 1;
NEXT: setp.eq.u32 %p2, %r13, 0; @%p2 bra TRY; ret;""",
    "taken by exchange": f"""
TRY: atom.global.exch.b32 %r10, [%rd1], 1; setp.ne.u32 %p1, %r10, 0; @%p1 bra TRY;
    {CRITICAL} ret;""",
    "looked at before it is tried": f"""
TRY: ld.relaxed.gpu.global.u32 %r10, [%rd1]; setp.ne.u32 %p1, %r10, 0; @%p1 bra TRY;
    atom.global.cas.b32 %r10, [%rd1], 0, 1; setp.ne.u32 %p1, %r10, 0; @%p1 bra TRY;
    {CRITICAL} ret;""",
}


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize(("grid", "block"), [(1, 32), (1, 128), (5, 70)])
def test_spin_locks(run_ptx: Run, engine: str, lock: str, grid: int, block: int) -> None:
    """No increment is lost within a warp, between warps, between thread blocks."""
    mutex, total = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    body = f"{ME} ld.param.u64 %rd1, [mutex]; ld.param.u64 %rd2, [total]; {LOCKS[lock]}"
    trace = run_ptx(body, "u64 mutex, u64 total", [mutex, total], grid=grid, block=block)
    assert (total[0], mutex[0], trace.engine) == (grid * block, 0, engine)


@pytest.mark.parametrize("width", [8, 64])
def test_spin_locks_in_warps_of_other_widths(run_ptx: Run, width: int) -> None:
    mutex, total = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    lock = LOCKS["the holder leaves the loop"]
    body = f"{ME} ld.param.u64 %rd1, [mutex]; ld.param.u64 %rd2, [total]; {lock}"
    arguments = [mutex, total]
    run_ptx(body, "u64 mutex, u64 total", arguments, grid=2, block=100, warp_width=width)
    assert total[0] == 200


def test_a_ticket_lock_serves_in_order(run_ptx: Run) -> None:
    """Tickets are drawn outside of the loop; each holder appends its ticket."""
    state, order = np.zeros(2, np.uint32), np.zeros(192, np.uint32)
    body = """ld.param.u64 %rd1, [state]; ld.param.u64 %rd2, [order];
    atom.global.add.u32 %r10, [%rd1], 1;
TRY: atom.global.add.u32 %r11, [%rd1+4], 0; setp.ne.u32 %p1, %r11, %r10; @%p1 bra TRY;
    mul.wide.u32 %rd3, %r11, 4; add.s64 %rd3, %rd3, %rd2; st.global.u32 [%rd3], %r10; membar.gl;
    atom.global.add.u32 %r12, [%rd1+4], 1; ret;"""
    run_ptx(body, "u64 state, u64 order", [state, order], grid=3, block=64)
    assert order.tolist() == list(range(192))
    assert state.tolist() == [192, 192]


@on_both
@pytest.mark.parametrize(
    "wait", ["ld.volatile.shared.u32 %r10, [flag]", "ld.shared.u32 %r10, [flag]; membar.cta"]
)
def test_a_warp_waits_for_a_flag_of_another(run_ptx: Run, wait: str) -> None:
    """Warps 0 to 2 wait for the last warp, which runs after them."""
    out = np.zeros(128, np.uint32)
    body = f""".shared .align 4 .u32 flag; .shared .align 4 .u32 value;
    {ME} ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r3, 4; add.s64 %rd1, %rd1, %rd2;
    setp.lt.u32 %p1, %r3, 96; @%p1 bra WAIT;
    st.shared.u32 [value], 77; membar.cta; st.volatile.shared.u32 [flag], 1; ret;
WAIT: {wait}; setp.eq.u32 %p2, %r10, 0; @%p2 bra WAIT;
    ld.shared.u32 %r11, [value]; add.u32 %r11, %r11, %r3; st.global.u32 [%rd1], %r11; ret;"""
    run_ptx(body, "u64 out", [out], block=128)
    assert out.tolist() == [77 + i for i in range(96)] + [0] * 32


@on_both
def test_thread_blocks_wait_for_the_one_before(run_ptx: Run) -> None:
    """Domino: thread block b waits for b + 1, the last one starts. All of them are under way."""
    blocks = 40
    flags = np.zeros(blocks + 1, np.uint32)
    flags[blocks] = 5
    body = f"""{ME} ld.param.u64 %rd1, [flags]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;
    setp.ne.u32 %p1, %r3, 0; @%p1 bra DONE;
WAIT: ld.acquire.gpu.global.u32 %r10, [%rd1+4]; setp.eq.u32 %p2, %r10, 0; @%p2 bra WAIT;
    add.u32 %r10, %r10, 1; st.release.gpu.global.u32 [%rd1], %r10;
DONE: bar.sync 0; ret;"""
    run_ptx(body, "u64 flags", [flags], grid=blocks, block=64)
    assert flags.tolist() == [5 + blocks - i for i in range(blocks + 1)]


def test_a_barrier_of_the_grid(run_ptx: Run, engine: str) -> None:
    """Each round adds up the neighbours of the round before, across thread blocks."""
    grid, block, rounds = 12, 64, 4
    threads = grid * block
    data = np.random.default_rng(8).integers(0, 99, (rounds + 1, threads)).astype(np.uint32)
    expected = data[:1].copy()
    for _ in range(rounds):
        expected = np.vstack((expected, expected[-1] + np.roll(expected[-1], -block)))
    arrived = np.zeros(1, np.uint32)
    body = f"""{ME} ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [arrived]; mov.u32 %r5, 0;
    add.u32 %r6, %r4, {block}; rem.u32 %r6, %r6, {threads};
    mul.wide.u32 %rd3, %r4, 4; mul.wide.u32 %rd4, %r6, 4;
    add.s64 %rd3, %rd3, %rd1; add.s64 %rd4, %rd4, %rd1;
ROUND: ld.global.u32 %r10, [%rd3]; ld.global.u32 %r11, [%rd4]; add.u32 %r10, %r10, %r11;
    st.global.u32 [%rd3+{4 * threads}], %r10; add.u32 %r5, %r5, 1; mul.lo.u32 %r7, %r5, {grid};
    bar.sync 0; setp.ne.u32 %p1, %r3, 0; @%p1 bra TOGETHER;
    membar.gl; red.global.add.u32 [%rd2], 1;
WAIT: ld.volatile.global.u32 %r12, [%rd2]; setp.lt.u32 %p2, %r12, %r7; @%p2 bra WAIT;
    membar.gl;
TOGETHER: bar.sync 0; add.s64 %rd3, %rd3, {4 * threads}; add.s64 %rd4, %rd4, {4 * threads};
    setp.lt.u32 %p3, %r5, {rounds}; @%p3 bra ROUND; ret;"""
    trace = run_ptx(body, "u64 data, u64 arrived", [data, arrived], grid=grid, block=block)
    np.testing.assert_array_equal(data, expected)
    assert trace.engine == engine
    assert len(trace.stage_warp_issues) == 2 * rounds + 1
    store = next(row.pc for row in trace.instructions if row.mnemonic == "st.global.u32")
    assert (trace.accesses.pc == store).sum() == rounds * threads // 32


@on_both
def test_adding_doubles_by_compare_and_swap(run_ptx: Run) -> None:
    """Whole numbers: their sums do not depend on the order."""
    random = np.random.default_rng(3)
    where = random.integers(0, 3, 700).astype(np.uint32)
    values = random.integers(-50, 50, 700).astype(np.float64)
    bins = np.zeros(3)
    body = f"""{ME} ld.param.u64 %rd1, [bins]; ld.param.u64 %rd2, [values];
    ld.param.u64 %rd3, [where]; setp.ge.u32 %p1, %r4, 700; @%p1 ret;
    mul.wide.u32 %rd4, %r4, 4; add.s64 %rd3, %rd3, %rd4; ld.global.u32 %r5, [%rd3];
    mul.wide.u32 %rd4, %r4, 8; add.s64 %rd2, %rd2, %rd4; ld.global.f64 %fd1, [%rd2];
    mul.wide.u32 %rd4, %r5, 8; add.s64 %rd1, %rd1, %rd4; ld.global.u64 %rd5, [%rd1];
AGAIN: mov.b64 %fd2, %rd5; add.f64 %fd2, %fd2, %fd1; mov.b64 %rd6, %fd2;
    atom.global.cas.b64 %rd7, [%rd1], %rd5, %rd6; setp.ne.s64 %p2, %rd7, %rd5;
    mov.u64 %rd5, %rd7; @%p2 bra AGAIN; ret;"""
    arguments = [bins, values, where]
    run_ptx(body, "u64 bins, u64 values, u64 where", arguments, grid=6, block=128)
    np.testing.assert_array_equal(bins, np.bincount(where, values, 3))


@on_both
def test_a_work_queue(run_ptx: Run) -> None:
    """Every item is done once, by whoever draws its number."""
    items = 3000
    taken, done = np.zeros(1, np.uint32), np.zeros(items, np.uint32)
    body = f"""ld.param.u64 %rd1, [taken]; ld.param.u64 %rd2, [done];
NEXT: atom.global.add.u32 %r10, [%rd1], 1; setp.ge.u32 %p1, %r10, {items}; @%p1 bra END;
    mul.wide.u32 %rd3, %r10, 4; add.s64 %rd3, %rd3, %rd2; ld.global.u32 %r11, [%rd3];
    mad.lo.u32 %r11, %r10, %r10, %r11; add.u32 %r11, %r11, 1; st.global.u32 [%rd3], %r11;
    bra.uni NEXT;
END: ret;"""
    run_ptx(body, "u64 taken, u64 done", [taken, done], grid=3, block=96)
    assert done.tolist() == [i * i % 2**32 + 1 for i in range(items)]
    assert taken[0] == items + 3 * 96


def test_a_hash_table(run_ptx: Run) -> None:
    """Linear probing, nine tenths full: long chains in which nobody waits for anybody."""
    size, keys = 1024, np.random.default_rng(5).permutation(5000)[:920].astype(np.uint32)
    table = np.full(size, 2**32 - 1, np.uint32)
    body = f"""{ME} ld.param.u64 %rd1, [keys]; ld.param.u64 %rd2, [table];
    setp.ge.u32 %p1, %r4, {len(keys)}; @%p1 ret;
    mul.wide.u32 %rd3, %r4, 4; add.s64 %rd1, %rd1, %rd3; ld.global.u32 %r5, [%rd1];
    and.b32 %r6, %r5, {size - 1};
PROBE: mul.wide.u32 %rd4, %r6, 4; add.s64 %rd4, %rd4, %rd2;
    atom.global.cas.b32 %r7, [%rd4], 0xffffffff, %r5; setp.eq.u32 %p2, %r7, 0xffffffff;
    @%p2 ret; add.u32 %r6, %r6, 1; and.b32 %r6, %r6, {size - 1}; bra.uni PROBE;"""
    run_ptx(body, "u64 keys, u64 table", [keys, table], grid=8, block=128)
    assert sorted(table[table != 2**32 - 1].tolist()) == sorted(keys.tolist())
    for at in np.flatnonzero(table != 2**32 - 1).tolist():
        home = int(table[at]) % size
        chain = [(home + i) % size for i in range((at - home) % size)]
        assert (table[chain] != 2**32 - 1).all()


@pytest.mark.parametrize("grid", [1, 3])
def test_a_flag_that_nobody_sets(run_ptx: Run, grid: int) -> None:
    body = """ld.param.u64 %rd1, [flag];
WAIT: ld.volatile.global.u32 %r10, [%rd1]; setp.eq.u32 %p1, %r10, 0; @%p1 bra WAIT; ret;"""
    with pytest.raises(LimitExceeded, match="endless loop: nothing changes") as caught:
        run_ptx(body, "u64 flag", [np.zeros(1, np.uint32)], grid=grid, block=64)
    assert caught.value.span is not None


def test_waiting_ends_at_the_limits(run_ptx: Run) -> None:
    """The loop counts: nobody can tell that it will not end."""
    body = """ld.param.u64 %rd1, [flag]; mov.u32 %r11, 0;
WAIT: add.u32 %r11, %r11, 1; ld.volatile.global.u32 %r10, [%rd1];
    setp.eq.u32 %p1, %r10, 0; @%p1 bra WAIT; st.global.u32 [%rd1], %r11; ret;"""
    arguments = [np.zeros(1, np.uint32)]
    with pytest.raises(LimitExceeded, match="still running after 1 s"):
        run_ptx(body, "u64 flag", arguments, block=64, limits=Limits(1.0, None))
    with pytest.raises(LimitExceeded, match="more than 5,000 instructions"):
        run_ptx(body, "u64 flag", arguments, block=64, limits=Limits(None, 5000))


@on_both
def test_a_wait_with_an_end_of_its_own(run_ptx: Run) -> None:
    """Every thread gives up after so many looks, however the engine slices them."""
    out = np.zeros(96, np.uint32)
    body = f"""{ME} ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd1, %rd1, %rd2;
    mov.u32 %r11, 0; add.u32 %r12, %r4, 50;
WAIT: ld.volatile.global.u32 %r10, [%rd1]; setp.ne.u32 %p1, %r10, 0; @%p1 bra END;
    add.u32 %r11, %r11, 1; setp.lt.u32 %p2, %r11, %r12; @%p2 bra WAIT;
END: st.global.u32 [%rd1], %r11; ret;"""
    trace = run_ptx(body, "u64 out", [out], grid=2, block=48)
    assert out.tolist() == [50 + i for i in range(96)]
    looks = next(row.pc for row in trace.instructions if row.mnemonic.startswith("ld.volatile"))
    assert trace.classes.totals()[1][looks] == sum(50 + i for i in range(96))


def test_what_waits(compile_ptx: Compile) -> None:
    """Only where a way out of the loop depends on what is read there."""

    def waits(body: str) -> bool:
        return bool(spin_loops(compile_ptx(f"ld.param.u64 %rd1, [out]; {body}", "u64 out")))

    read = "ld.volatile.global.u32 %r10, [%rd1];"
    count = "add.u32 %r11, %r11, 1; setp.lt.u32 %p1, %r11, %r12; @%p1 bra L; ret;"
    assert waits(f"L: {read} setp.eq.u32 %p1, %r10, 0; @%p1 bra L; ret;")
    assert waits(f"mov.u32 %r11, 0; mov.u32 %r12, 9; L: {read} add.u32 %r12, %r12, %r10; {count}")
    assert not waits(f"{read} mov.u32 %r11, 0; mov.u32 %r12, %r10; L: {count}")
    assert not waits(
        f"""mov.u32 %r11, 0; mov.u32 %r12, 9; L: {read} setp.eq.u32 %p2, %r10, 0; @%p2 bra N;
        st.global.u32 [%rd1], 1; N: {count}"""
    )
    assert waits(
        f"""mov.u32 %r11, 0; mov.u32 %r12, 9; L: {read} setp.eq.u32 %p2, %r10, 0; @%p2 bra N;
        mov.u32 %r11, 9; N: {count}"""
    )
    assert waits("L: atom.global.cas.b32 %r10, [%rd1], 0, 1; setp.ne.u32 %p1, %r10, 0; @%p1 bra L;")
    assert not waits("L: ld.global.u32 %r10, [%rd1]; setp.ne.u32 %p1, %r10, 0; @%p1 bra L; ret;")
    spilled = f""".local .align 4 .u32 kept; L: {read} st.local.u32 [kept], %r10;
        ld.local.u32 %r11, [kept]; setp.eq.u32 %p1, %r11, 0; @%p1 bra L; ret;"""
    assert waits(spilled)


@on_both
@pytest.mark.parametrize("members", ["0xffffffff", "%r20"])
@pytest.mark.parametrize(("grid", "block"), [(1, 32), (2, 128)])
def test_a_warp_waits_for_its_lane_that_takes_a_lock(
    run_ptx: Run, grid: int, block: int, members: str
) -> None:
    """Lane 0 locks and unlocks; the other lanes wait at the synchronisation of the warp."""
    mutex, total = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    body = f"""{ME} ld.param.u64 %rd1, [mutex]; ld.param.u64 %rd2, [total]; mov.u32 %r20, -1;
    mov.u32 %r14, %laneid; setp.ne.u32 %p3, %r14, 0; @%p3 bra LOCKED;
TRY: atom.global.cas.b32 %r10, [%rd1], 0, 1; setp.ne.u32 %p1, %r10, 0; @%p1 bra TRY;
LOCKED: bar.warp.sync {members}; @%p3 bra ADDED;
    ld.volatile.global.u32 %r11, [%rd2]; add.u32 %r11, %r11, 1; membar.gl;
    st.volatile.global.u32 [%rd2], %r11; membar.gl;
ADDED: shfl.sync.idx.b32 %r15, %r14, 5, 31, {members}; @%p3 bra END;
    atom.global.exch.b32 %r12, [%rd1], 0;
END: ret;"""
    run_ptx(body, "u64 mutex, u64 total", [mutex, total], grid=grid, block=block)
    assert (total[0], mutex[0]) == (grid * block // 32, 0)


def test_basic_blocks_that_wait_for_members(compile_ptx: Compile) -> None:
    spin = "L: atom.global.cas.b32 %r10, [%rd1], 0, 1; setp.ne.u32 %p1, %r10, 0; @%p1 bra L;"
    sync = "bar.warp.sync 0xffffffff;"
    assert meeting_blocks(compile_ptx(f"{sync} ret;", "u64 out")) == ()
    kernel = compile_ptx(f"{spin} {sync} ret;", "u64 out")
    (meeting,) = meeting_blocks(kernel)
    assert kernel.blocks[meeting].body[-1].mnemonic == "bar.warp.sync"
    assert patience(waits_for_members=True) < patience(waits_for_members=False)
