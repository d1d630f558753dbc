"""Wavefronts and atomics that several devices count alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.memory.banks import Wavefronts
from kernelcast.simcore.memory.native_accesses import NativeAccesses
from kernelcast.simcore.memory.stage_wavefronts import StageWavefronts
from kernelcast.simcore.memory.stateless_counts import stateless_counts
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import AccessTable, InstructionRow, PatternCounts

KERNEL = """.version 8.0
.target sm_70
.address_size 64
.visible .entry k()
{
.reg .b32 %r<3>; .shared .align 4 .b8 tile[8192];
mov.u32 %r1, tile; st.shared.u32 [%r1], 1; ld.shared.u32 %r2, [%r1]; ret;
}
"""
STRIDED = 8 * np.arange(32, dtype=np.int64)
"""Two words of each second bank of 32; all banks of 64."""


def rows() -> tuple[InstructionRow, ...]:
    return instruction_rows(read_ptx(KERNEL, "k.ptx").kernels["k"])


def accesses(count: int) -> AccessBatch:
    """Stores of that many warps to places eight bytes apart."""
    (pc,) = (row.pc for row in rows() if row.kind == "store")
    zero = np.zeros(1, np.int32)
    counted = PatternCounts(zero + pc, zero, zero, zero, np.array([count], np.int64))
    patterns = PatternTable(np.array([2**32 - 1], np.uint64), STRIDED[None])
    return AccessBatch(0, 1, AccessTable.empty(), patterns, np.zeros(1, np.int32), counted)


def with_banks(device: Device, banks: int) -> Device:
    return replace(device, shared=replace(device.shared, banks=banks))


def test_devices_that_count_alike_count_once() -> None:
    gpus = [kc.device(name) for name in ("v100-pcie", "a100-40gb", "h200")]
    many = with_banks(gpus[0], 64)
    first, second, third, other = stateless_counts(rows(), [*gpus, many])
    assert first is second is third
    assert first is not other
    for counts in (first, other):
        counts.accept(accesses(5))
    store = next(row.pc for row in rows() if row.kind == "store")
    taken = [int(counts.wavefronts.taken[store]) for counts in (first, other)]
    assert taken == [5 * 2, 5 * 1]


def test_what_atomics_take_counts_only_where_there_are_atomics() -> None:
    device = kc.device("v100-pcie")
    slower = replace(device, atomics=replace(device.atomics, address_cycles=9.0))
    plain, same = stateless_counts(rows(), [device, slower])
    assert plain is same
    atomic = [*rows(), replace(rows()[0], kind="atomic")]
    plain, other = stateless_counts(atomic, [device, slower])
    assert plain is not other


@pytest.mark.parametrize("order", [range(7), [6, *range(6)], [0, 0, 3, 1, 6]])
def test_stages_keep_what_they_have_as_more_come(order: range | list[int]) -> None:
    found = StageWavefronts(2)
    patterns = PatternTable(np.array([2**32 - 1], np.uint64), STRIDED[None])
    native = NativeAccesses(np.array([4, 4]), np.array([-1, -1]))
    wanted = np.zeros((max(order) + 1, 2), np.int64)
    for number, stage in enumerate(order):
        zero = np.zeros(1, np.int32)
        counted = PatternCounts(
            zero + 1, zero + stage, zero, zero, np.array([10 + number], np.int64)
        )
        passes = Wavefronts(np.array([2]), np.array([1]))
        found.count(counted, patterns, passes, native, kc.device("v100-pcie"))
        wanted[stage, 1] += 10 + number
    assert found.requests.tolist() == wanted.tolist()
    assert found.taken.tolist() == (2 * wanted).tolist()
    assert found.ideal.tolist() == wanted.tolist()
    assert not found.partial.any()
