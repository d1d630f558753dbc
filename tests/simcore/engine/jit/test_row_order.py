"""What workers record, as sinks take it: beside NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from kernelcast.simcore.engine.jit.codegen.memory.counted_accesses import CountedAccesses
from kernelcast.simcore.engine.jit.codegen.memory.records import CountedAccess
from kernelcast.simcore.engine.jit.recording.access_rows import Rows
from kernelcast.simcore.engine.jit.recording.row_order import by_warp


@pytest.mark.parametrize("used", [0, 1, 400])
def test_rows_are_put_warp_after_warp_as_they_came(used: int) -> None:
    random = np.random.default_rng(used)
    columns = [random.integers(0, 1000, 500).astype(np.int32) for _ in range(5)]
    warp = (random.integers(0, 17, 500) + 100).astype(np.int32)
    addresses = random.integers(0, 2**40, 500)
    pc, time, stage, pattern, _ = columns
    found = by_warp(Rows(pc, warp, time, stage, addresses, pattern), used)
    order = np.argsort(warp[:used], kind="stable")
    for name, column in vars(found).items():
        wanted = {"pc": pc, "warp": warp, "time": time, "stage": stage, "pattern": pattern}
        assert np.array_equal(column, wanted.get(name, addresses)[:used][order]), name


def test_counters_are_taken_once() -> None:
    accesses = [
        CountedAccess(pc=3, offsets=(0, 4), starts=(0, 8), first_slot=0),
        CountedAccess(pc=5, offsets=(0, 0), starts=(4,), first_slot=2),
    ]
    counted = CountedAccesses(accesses, slots=3, width=2, stages=4)
    counted.table[:] = np.arange(12).reshape(4, 3) % 5
    wanted = counted.table.copy()
    found = counted.take()
    stage, slot = np.nonzero(wanted)
    assert found.stage.tolist() == stage.tolist()
    assert found.count.tolist() == wanted[stage, slot].tolist()
    assert found.pc.tolist() == np.array([3, 3, 5])[slot].tolist()
    assert found.start.tolist() == np.array([0, 8, 4])[slot].tolist()
    assert found.pattern.tolist() == np.array([0, 0, 1])[slot].tolist()
    assert not counted.table.any()
    assert not len(counted.take())
