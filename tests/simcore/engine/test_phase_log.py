"""Phases of barriers and mbarriers in recorded paths: who takes part in which, who waits for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from kernelcast.simcore.engine.path_sample import record_paths
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.traces.warp_paths import WarpPaths

Compile = Callable[..., Kernel]
INIT = """
    .shared .align 8 .b64 bar; .shared .align 128 .b8 tile[64]; ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
"""
TWICE = f"""
    {INIT} @%p1 mbarrier.init.shared.b64 [bar], 64; bar.sync 0; mov.u32 %r2, 0;
    AGAIN: mbarrier.arrive.shared.b64 %rd1, [bar];
    TRY: mbarrier.test_wait.shared.b64 %p3, [bar], %rd1; @!%p3 bra TRY;
    add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 2; @%p2 bra AGAIN; ret;
"""


def recorded(compile_ptx: Compile, body: str, grid: int = 1, block: int = 64) -> WarpPaths:
    kernel = compile_ptx(body)
    launch = Launch((grid, 1, 1), (block, 1, 1), (np.zeros(64, np.uint64),))
    sample = record_paths(kernel, launch, 32, Limits())
    assert sample.paths is not None, sample.reason
    return sample.paths


def told(paths: WarpPaths, kernel: Kernel, mnemonic: str) -> Counter[tuple[int, int, bool]]:
    """How many events of such instructions have each (warp, phase, waits)."""
    rows, table = instruction_rows(kernel), paths.phases
    found: Counter[tuple[int, int, bool]] = Counter()
    for event, phase, waits in zip(table.event, table.phase, table.is_wait, strict=True):
        if rows[paths.pc[event]].mnemonic.startswith(mnemonic):
            warp = int(np.searchsorted(paths.start, event, side="right")) - 1
            found[warp, int(phase), bool(waits)] += 1
    return found


def test_arrivals_and_waits_belong_to_their_phases(compile_ptx: Compile) -> None:
    """Both warps of both thread blocks arrive in phases 0 and 1 and see each of them end."""
    paths, kernel = recorded(compile_ptx, TWICE, grid=2), compile_ptx(TWICE)
    each = {(warp, phase): 1 for warp in range(4) for phase in range(2)}
    arrivals = told(paths, kernel, "mbarrier.arrive")
    assert arrivals == {(*key, False): count for key, count in each.items()}
    waits = told(paths, kernel, "mbarrier.test_wait")
    assert {key[:2] for key in waits} >= set(each)
    assert all(waiting for _, _, waiting in waits)
    assert paths.is_own_phase.all()


def test_lanes_of_one_arrival_may_end_phases(compile_ptx: Compile) -> None:
    """32 lanes at an mbarrier for 16."""
    body = f"""{INIT} @%p1 mbarrier.init.shared.b64 [bar], 16; bar.sync 0;
        mbarrier.arrive.shared.b64 _, [bar]; mov.u32 %r2, 1;
        TRY: mbarrier.test_wait.parity.shared.b64 %p3, [bar], %r2; @!%p3 bra TRY; ret;"""
    paths = recorded(compile_ptx, body, block=32)
    assert told(paths, compile_ptx(body), "mbarrier.arrive") == {(0, 0, False): 1, (0, 1, False): 1}
    assert told(paths, compile_ptx(body), "mbarrier.test_wait") == {(0, 1, True): 1}


def test_a_copy_in_bulk_takes_part_in_the_phase_that_it_tells(compile_ptx: Compile) -> None:
    body = f"""{INIT} @%p1 mbarrier.init.shared.b64 [bar], 1; bar.sync 0; mov.u32 %r2, 0;
        @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;
        @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
            [tile], [%rd2], 64, [bar];
        TRY: mbarrier.try_wait.parity.shared.b64 %p3, [bar], %r2; @!%p3 bra TRY; ret;"""
    paths, kernel = recorded(compile_ptx, body), compile_ptx(body)
    assert told(paths, kernel, "cp.async.bulk") == {(0, 0, False): 1}
    assert told(paths, kernel, "mbarrier.arrive") == {(0, 0, False): 1}
    assert set(told(paths, kernel, "mbarrier.try_wait")) == {(0, 0, True), (1, 0, True)}


def test_an_mbarrier_that_is_initialised_again_is_another(compile_ptx: Compile) -> None:
    again = TWICE.replace("bra AGAIN; ret;", "bra AGAIN; bar.sync 0; bra MORE; MORE:")
    body = again + TWICE.split("%tid.x;")[1].replace("AGAIN", "ANEW").replace("TRY", "ASK").replace(
        "setp.eq.u32 %p1, %r1, 0;", ""
    )
    paths = recorded(compile_ptx, body)
    rows = instruction_rows(compile_ptx(body))
    table = paths.phases
    mine = np.array([rows[pc].mnemonic.startswith("mbarrier") for pc in paths.pc[table.event]])
    assert len(np.unique(table.barrier[mine])) == 2
    assert set(table.phase[mine].tolist()) == {0, 1}


def test_barriers_for_a_part_have_phases(compile_ptx: Compile) -> None:
    """Warp 0 comes by barrier 1 twice, warp 1 waits there twice; all meet at barrier 0."""
    body = f"""{INIT} setp.lt.u32 %p2, %r1, 32; @%p2 bra FIRST;
        bar.sync 1, 64; bar.sync 2, 64; bar.sync 1, 64; bra ALL;
        FIRST: bar.arrive 1, 64; bar.sync 2, 64; bar.arrive 1, 64;
        ALL: bar.sync 0; ret;"""
    paths, kernel = recorded(compile_ptx, body), compile_ptx(body)
    assert told(paths, kernel, "bar.arrive") == {(0, 0, False): 1, (0, 1, False): 1}
    syncs = told(paths, kernel, "bar.sync")
    met = {(1, 0): 3, (1, 1): 1, (0, 0): 2}
    assert syncs == {(*key, waits): count for key, count in met.items() for waits in (False, True)}


def test_kernels_without_them_have_none(compile_ptx: Compile) -> None:
    assert len(recorded(compile_ptx, f"{INIT} bar.sync 0; bar.sync 0, 64; ret;").phases) == 0
