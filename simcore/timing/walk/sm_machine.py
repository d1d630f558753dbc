"""One SM of a device as the numbers that the compiled simulator reads, in cycles of its clock."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.banked_l1 import has_banked_l1
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.timing_facts import TimingFacts
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.stall_reasons import REASON_BITS, StallReason
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel, timing_facts
from kernelcast.simcore.timing.walk.beyond_l2 import (
    dram_cycles,
    dram_waits,
    latency_beyond_l2,
    sectors_past,
)
from kernelcast.simcore.timing.walk.issue_width import is_mixed, issues_of_a_warp
from kernelcast.simcore.timing.walk.kernel_arrays import (
    AFTER,
    ARRIVE,
    AWAIT,
    BARRIER,
    BRANCH,
    BULK,
    COMMIT,
    CONSTANT,
    EXIT,
    FENCE,
    FETCH_AHEAD,
    FETCH_LINE_BYTES,
    KINDS,
    LATENCY,
    LOAD,
    MEET,
    PIPE_REASON,
    PIPELINES,
    RECONVERGE,
    SHARED,
    STORE,
    TENSOR,
    UNITS,
    UNLIMITED,
)

__all__ = ["Machine", "sm_machine"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_WITHOUT_PIPE = (BARRIER, FENCE, BRANCH, RECONVERGE, EXIT, COMMIT, MEET, BULK)
_OPERAND_READ_CYCLES = 10
"""Cycles from the issue of an access until its operands have been read; assumed."""
_BEHIND = 0.25
"""How far SMs are behind, in waves: spread evenly over one, a quarter on average."""


class Machine(NamedTuple):
    """An SM of a device in numbers.

    `units` by kind: UNIT_CYCLES of a warp instruction, of a pass of the tensor unit, and
    UNIT_IS_PARTITIONED, 1 where each scheduler has its own share; nothing for what is no unit.
    `kinds`: LATENCY of a unit; AFTER how many cycles the warp issues again, packed with what it
    waits for until then; PIPE_REASON while its pipe is taken. Both are found by `kind_word`.

    `shared_cycles`, `constant_cycles`, `l1_cycles`: of a pass; `l2_cycles`, `dram_cycles`: of one
    sector at the SM's share of the bandwidths, `..._least_cycles` while the other SMs ask for
    nothing, `..._room`: cycles by which the SM can be behind its share and catch up;
    `address_share`: by how much longer the busiest address of atomics is occupied by a request of
    each busy SM than by one; `fetch_lines`: lines of the instruction cache, 0 where all code is
    there from the beginning; `fetch_ahead`: lines that are on their way at a time; `operand_read`:
    cycles until an access has read its operands; `request_limit`: sectors, or UNLIMITED;
    `slot_cycles`: until a scheduler may issue again, 0 where issue slots have no end;
    `shares_slots`: whether all that a scheduler issues in a cycle counts as one slot;
    `own_kinds`: bits of the kinds for which a scheduler has a pipe of its own, or which need none;
    `dram_queue`: what loads wait at DRAM for each other in the queue, which is one while DRAM is
    half busy, a mean over `dram_span` cycles, `dram_turn` while it is busy all the time;
    `dram_deviation` of the latency of one that is alone, `dram_queue_deviation` behind one other;
    `bank_share`: of the cycles of L1 those that it takes the banks of shared memory, 0 where it has
    others; `access_cycles`: what an access to
    shared memory takes at least, for its addresses.
    """

    schedulers: int
    issues: int
    issue_cycles: int
    slot_cycles: int
    own_kinds: int
    units: Floats
    kinds: Ints
    shared_cycles: float
    shared_latency: int
    constant_cycles: float
    constant_latency: int
    l1_latency: int
    l2_latency: int
    dram_latency: int
    l1_cycles: float
    l2_cycles: float
    l2_least_cycles: float
    l2_room: float
    dram_cycles: float
    dram_least_cycles: float
    dram_room: float
    address_share: float
    request_limit: float
    barrier_latency: int
    waits_at_barriers: bool
    fetch_lines: int
    fetch_latency: int
    fetch_ahead: int
    operand_read: int
    launch_cycles: int
    store_retire_cycles: int
    dispatch_cycles: float = 0.0
    dram_queue: float = 0.0
    dram_turn: float = 0.0
    dram_deviation: float = 0.0
    dram_queue_deviation: float = 0.0
    dram_span: float = 1.0
    bank_share: float = 0.0
    access_cycles: float = 0.0
    shares_slots: bool = False


def sm_machine(
    kernel: TimedKernel,
    device: Device,
    busy_sms: float,
    without: frozenset[Component] = frozenset(),
) -> Machine:
    """One SM while `busy_sms` share the bandwidths of L2 and DRAM."""
    timing, width = timing_facts(device), kernel.warp_width
    schedulers = device.sm.warp_schedulers
    partitioned, cycles = _units(device, timing, width, without)
    gone = without.__contains__
    latency = _latencies(timing, latency_beyond_l2(kernel, device, timing), without)
    l2 = 0.0 if gone(Component.L2_BANDWIDTH) else _l2_cycles(device, timing, busy_sms)
    dram = 0.0
    if not gone(Component.DRAM_BANDWIDTH):
        dram = dram_cycles(kernel, device, timing, busy_sms)
    past_l1, past_l2 = _wave_sectors(kernel, device)
    warps = kernel.paths.warps_per_thread_block
    machine = Machine(
        schedulers=schedulers,
        issues=issues_of_a_warp(kernel, timing),
        issue_cycles=1 if gone(Component.ISSUE) else timing.issue_cycles,
        slot_cycles=0 if gone(Component.ISSUE) else timing.issue_cycles,
        own_kinds=_own_kinds(partitioned),
        units=np.concatenate([_by_kind(cycles), _by_kind(partitioned)]),
        kinds=_kinds(timing, latency.units, without),
        shared_cycles=0.0 if gone(Component.SHARED_PIPE) else _shared_cycles(device, width),
        shared_latency=latency.shared,
        constant_cycles=device.constant.pass_cycles,
        constant_latency=latency.constant,
        l1_latency=latency.l1,
        l2_latency=latency.l2,
        dram_latency=latency.dram,
        l1_cycles=0.0 if gone(Component.L1_BANDWIDTH) else 1.0,
        l2_cycles=l2,
        l2_least_cycles=0.0 if gone(Component.L2_BANDWIDTH) else _l2_cycles(device, timing, 1.0),
        l2_room=l2 * past_l1,
        dram_cycles=dram,
        dram_least_cycles=dram / busy_sms,
        dram_room=dram * past_l2,
        address_share=0.0 if gone(Component.ATOMICS) else float(busy_sms),
        request_limit=UNLIMITED
        if gone(Component.OUTSTANDING_REQUESTS)
        else float(timing.outstanding_sectors),
        barrier_latency=0 if gone(Component.BARRIER) else _barrier_cycles(timing, warps),
        waits_at_barriers=not gone(Component.BARRIER),
        fetch_lines=_fetch_lines(kernel, timing, without),
        fetch_latency=_whole(timing.fetch_latency_cycles),
        fetch_ahead=1 if kernel.schedule is None else FETCH_AHEAD,
        operand_read=_OPERAND_READ_CYCLES,
        launch_cycles=0 if gone(Component.THREAD_BLOCK_LAUNCH) else _launch_cycles(timing, warps),
        store_retire_cycles=_whole(timing.store_retire_cycles),
    )
    return _among_others(machine, kernel, device, busy_sms, without)


def _units(
    device: Device, timing: TimingFacts, width: int, without: frozenset[Component]
) -> tuple[list[bool], list[float]]:
    """Whether each scheduler has its own share of a unit, and cycles of a warp instruction."""
    schedulers = device.sm.warp_schedulers
    partitioned, cycles = list[bool](), list[float]()
    for pipeline in PIPELINES[:TENSOR]:
        lanes = timing.lanes_of(pipeline.value)
        own = lanes >= schedulers
        partitioned.append(own)
        is_free = Component[pipeline.name] in without or not lanes
        cycles.append(0.0 if is_free else width / (lanes / schedulers if own else lanes))
    scalar = PIPELINES.index(Pipeline.SCALAR)
    partitioned[scalar] = True
    cycles[scalar] = 0.0 if Component.SCALAR in without else timing.scalar_issue_cycles
    partitioned.append(True)
    cycles.append(0.0 if Component.TENSOR in without else 1.0)
    return partitioned, cycles


def _among_others(
    machine: Machine,
    kernel: TimedKernel,
    device: Device,
    busy_sms: float,
    without: frozenset[Component],
) -> Machine:
    """The SM with what is shared: dispatcher, queues at DRAM, banks, and cycles of a scheduler."""
    timing = timing_facts(device)
    dispatch = timing.dispatch_cycles * busy_sms
    waits = dram_waits(kernel, timing, without)
    if is_mixed(kernel, timing) and Component.ISSUE not in without:
        machine = machine._replace(slot_cycles=0, shares_slots=True)
    return machine._replace(
        dispatch_cycles=0.0 if Component.THREAD_BLOCK_LAUNCH in without else dispatch,
        dram_queue=waits.queue,
        dram_turn=waits.turn,
        dram_deviation=waits.deviation,
        dram_queue_deviation=waits.queue_deviation,
        dram_span=2.0 * timing.dram_latency_cycles,
        bank_share=_bank_share(device, timing, without),
        access_cycles=0.0 if Component.SHARED_PIPE in without else _address_cycles(kernel, timing),
    )


def _bank_share(device: Device, timing: TimingFacts, without: frozenset[Component]) -> float:
    """The part of L1's cycles in which it takes the banks that shared memory lies in, too.

    L1 may be narrower than the banks, which are then free in between.
    """
    if not has_banked_l1(device) or without & {Component.SHARED_PIPE, Component.L1_BANDWIDTH}:
        return 0.0
    width = device.shared.banks * device.shared.bank_bytes
    return min(1.0, timing.l1_wavefront_bytes / width)


def _address_cycles(kernel: TimedKernel, timing: TimingFacts) -> float:
    """Cycles in which the SM takes the addresses of a warp; 0 where it takes all at once."""
    lanes = timing.load_store_lanes
    return kernel.warp_width / lanes if lanes else 0.0


def _barrier_cycles(timing: TimingFacts, warps: int) -> int:
    """Cycles until a barrier of so many warps opens, from when the last one has come."""
    return _whole(timing.barrier_latency_cycles + warps * timing.barrier_warp_cycles)


def _launch_cycles(timing: TimingFacts, warps: int) -> int:
    """Cycles from the end of a thread block of so many warps to the next in its place."""
    return _whole(timing.thread_block_launch_cycles + warps * timing.warp_launch_cycles)


def _own_kinds(is_partitioned: Sequence[bool]) -> int:
    """`is_partitioned` by unit."""
    own = [unit for unit, is_own in enumerate(is_partitioned) if is_own]
    return sum(1 << kind for kind in (*own, *_WITHOUT_PIPE))


def _by_kind(units: Sequence[float]) -> Floats:
    return np.append(units, np.zeros(KINDS - UNITS))


def _kinds(timing: TimingFacts, units: Ints, without: frozenset[Component]) -> Ints:
    table = np.zeros((PIPE_REASON + 1, KINDS), np.int64)
    table[LATENCY, :UNITS] = units
    soonest = 1 if Component.ISSUE in without else timing.issue_cycles
    together = timing.reconvergence_latency_cycles
    table[AFTER] = table[PIPE_REASON] = StallReason.EXECUTION_DEPENDENCY.code
    for kind, component, cycles, reason in (
        (BRANCH, Component.BRANCH, timing.branch_latency_cycles, StallReason.BRANCH),
        (RECONVERGE, Component.BRANCH, together, StallReason.BRANCH),
        (FENCE, Component.FENCE, timing.fence_latency_cycles, StallReason.FENCE),
    ):
        after = max(0 if component in without else _whole(cycles), soonest)
        table[AFTER, kind] = after << REASON_BITS | reason.code
    table[PIPE_REASON, :UNITS] = StallReason.FP32_PIPE.code + np.arange(UNITS)
    table[PIPE_REASON, [SHARED, ARRIVE, AWAIT]] = StallReason.SHARED_PIPE.code
    table[PIPE_REASON, CONSTANT] = StallReason.CONSTANT_PIPE.code
    table[PIPE_REASON, [LOAD, STORE]] = StallReason.L1_PIPE.code
    return table.ravel()


class _Latencies(NamedTuple):
    units: Ints
    shared: int
    constant: int
    l1: int
    l2: int
    dram: int


def _latencies(timing: TimingFacts, beyond_l2: float, without: frozenset[Component]) -> _Latencies:
    units = np.array([_whole(timing.latency_of(item.value)) for item in PIPELINES[:TENSOR]] + [0])
    memory = (timing.l1_latency_cycles, timing.l2_latency_cycles, beyond_l2)
    l1, l2, dram = (
        1 if Component.MEMORY_LATENCY in without else _whole(cycles) for cycles in memory
    )
    return _Latencies(
        units=np.minimum(units, 1) if Component.ARITHMETIC_LATENCY in without else units,
        shared=1 if Component.SHARED_LATENCY in without else _whole(timing.shared_latency_cycles),
        constant=1
        if Component.CONSTANT_LATENCY in without
        else _whole(timing.constant_latency_cycles),
        l1=l1,
        l2=l2,
        dram=dram,
    )


def _l2_cycles(device: Device, timing: TimingFacts, busy_sms: float) -> float:
    """Cycles of a sector at L2: the SM's own port or its share of the whole, the slower one."""
    share = timing.l2_bandwidth_bytes_per_s / device.running_clock_hz / busy_sms
    return device.l2.sector_bytes / min(timing.l2_bytes_per_cycle, share)


def _shared_cycles(device: Device, width: int) -> float:
    """Cycles of a pass of shared memory, which moves at most a word of each bank.

    As many words a cycle as loads of shared memory are measured to reach; the whole pass in one
    cycle where nobody measured it.
    """
    if device.measured is None:
        return 1.0
    words = device.measured.load_store_ops_per_s / (
        device.architecture.sm_count * device.running_clock_hz
    )
    most = min(width, device.shared.banks)
    return most / min(most, max(1, round(words)))


def _wave_sectors(kernel: TimedKernel, device: Device) -> tuple[float, float]:
    """What an SM asks for past L1 and past L2 while it catches up with the others.

    All begin together, and are dealt thread blocks in turn from the second wave on.
    """
    resident = kernel.thread_blocks_per_sm
    each = -(-kernel.thread_blocks // device.architecture.sm_count)
    wave = min(resident, max(0, each - resident)) / max(1, len(kernel.paths.thread_blocks))
    past_l1, past_l2 = sectors_past(kernel)
    share = _BEHIND * wave
    return share * float(past_l1.sum()), share * float(past_l2.sum())


def _fetch_lines(kernel: TimedKernel, timing: TimingFacts, without: frozenset[Component]) -> int:
    is_there = kernel.schedule is None and (
        _code_bytes(kernel, timing) <= timing.instruction_cache_bytes
    )
    if is_there or Component.INSTRUCTION_FETCH in without:
        return 0
    return max(1, int(timing.instruction_cache_bytes // FETCH_LINE_BYTES))


def _code_bytes(kernel: TimedKernel, timing: TimingFacts) -> float:
    """Bytes of code that a source form is taken to need."""
    native = sum(pipeline is not Pipeline.NONE for pipeline in kernel.pipeline)
    return native * timing.instruction_bytes


def _whole(cycles: float) -> int:
    return math.ceil(cycles)
