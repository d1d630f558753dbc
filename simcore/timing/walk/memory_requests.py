"""Global accesses of one SM on their way through L1, L2 and DRAM.

A level takes one sector after the other at its bandwidth, and requests wait for one another. What
the SM leaves unused of its share, others use; it gets that back when it asks for more at once.
Which requests miss is in `missed_lines`.
"""

from __future__ import annotations

import math

import numpy as np

from kernelcast.simcore.host.compiled import inlined, unlikely
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.walk.kernel_arrays import (
    DRAM_SECTORS,
    L1_MISSES,
    L2_MISSES,
    L2_SECTORS,
    L2_WEIGHT,
    MISSED_SECTORS,
    PIECE_SECTORS,
    RESULT,
    SECTORS_OF_DRAM,
    SHARED,
    SOONER,
    TURN_AT_L1,
    TURN_AT_L2,
    UNLIMITED,
    WARP_PIECES,
    KernelArrays,
    word,
)
from kernelcast.simcore.timing.walk.missed_lines import missed
from kernelcast.simcore.timing.walk.packed_words import pack
from kernelcast.simcore.timing.walk.pipe_use import close_accesses
from kernelcast.simcore.timing.walk.random_times import gumbel, latest_of
from kernelcast.simcore.timing.walk.sm_machine import Machine
from kernelcast.simcore.timing.walk.sm_reads import warp_number, warp_position
from kernelcast.simcore.timing.walk.sm_state import (
    ADDRESS_FREE,
    ADDRESS_SINCE,
    DISPATCHED,
    DRAM_CREDIT,
    DRAM_FREE,
    DRAM_LAST,
    DRAM_LOAD,
    DRAM_SINCE,
    L1_FREE,
    L2_CREDIT,
    L2_FREE,
    L2_SINCE,
    LOAD_QUEUE,
    LOADS,
    REQUEST_READY,
    REQUEST_SECTORS,
    RESIDENT_FIRST,
    RINGS,
    STORE_DONE,
    STORE_QUEUE,
    STORES,
    SmState,
    common_pipe,
    request_word,
)

__all__ = ["copy_in_bulk", "load", "store"]

_L1 = StallReason.L1_LATENCY.code
_L2 = StallReason.L2_LATENCY.code
_DRAM = StallReason.DRAM_LATENCY.code
_MOST_BUSY = 0.95
"""A load beyond that queues up in the walk itself."""
_ROUNDING = 1e-9
_RING_L2, _RING_DRAM, _RING_STORES = range(3)


@inlined
def _through_l1(machine: Machine, state: SmState, passes: float, at: int) -> float:
    """When the last pass begins."""
    cycles = passes * machine.l1_cycles
    begins: float = max(state.clocks[L1_FREE], float(at))
    if machine.bank_share > 0.0:
        banks = np.uint64(common_pipe(machine, SHARED))
        begins = max(begins, state.free[banks])
        state.free[banks] = begins + cycles * machine.bank_share
    state.clocks[L1_FREE] = begins + cycles
    return max(begins, begins + cycles - 1.0)


@inlined
def _take(
    state: SmState,
    free: int,
    since: int,
    credit: int,
    room: float,
    arrives: float,
    cycles: float,
    least: float,
) -> float:
    """When a level begins a request that arrives then and takes `cycles` of the SM's share.

    Idle cycles of the share are credit, `room` of them at most; a request that uses credit is done
    in `least` cycles, those of the whole bandwidth.
    """
    begins: float = state.clocks[free]
    if begins < arrives:
        if state.counts[DISPATCHED] > state.counts[RESIDENT_FIRST]:
            state.clocks[credit] = min(room, state.clocks[credit] + arrives - begins)
        begins = arrives
        state.clocks[since] = arrives
    used = min(state.clocks[credit], cycles - least)
    state.clocks[credit] -= used
    state.clocks[free] = begins + cycles - used
    return begins


@inlined
def _take_l2(machine: Machine, state: SmState, arrives: float, sectors: float) -> float:
    return _take(
        state,
        L2_FREE,
        L2_SINCE,
        L2_CREDIT,
        machine.l2_room,
        arrives,
        sectors * machine.l2_cycles,
        sectors * machine.l2_least_cycles,
    )


@inlined
def _take_dram(machine: Machine, state: SmState, arrives: float, sectors: float) -> float:
    return _take(
        state,
        DRAM_FREE,
        DRAM_SINCE,
        DRAM_CREDIT,
        machine.dram_room,
        arrives,
        sectors * machine.dram_cycles,
        sectors * machine.dram_least_cycles,
    )


@inlined
def _busy_dram(machine: Machine, state: SmState, at: float, sectors: float) -> float:
    """The share of the time in which DRAM was busy, before a request for `sectors`.

    It is a mean over the past, which fades in `dram_span` cycles.
    """
    fades = math.exp(min(0.0, state.clocks[DRAM_LAST] - at) / machine.dram_span)
    load: float = state.clocks[DRAM_LOAD] * fades
    state.clocks[DRAM_LAST] = max(state.clocks[DRAM_LAST], at)
    state.clocks[DRAM_LOAD] = load + sectors * machine.dram_cycles / machine.dram_span
    return min(load, _MOST_BUSY)


@inlined
def _late_at_dram(
    kernel: KernelArrays,
    machine: Machine,
    state: SmState,
    warp: int,
    row: int,
    others: float,
    sectors: float,
) -> float:
    """How much later, or earlier, than after the mean wait a request comes.

    Each piece that it needs comes when it comes, and the request with the last one. The variance of
    their times is that of one which is alone, and one for each of the `others` in the queue. Warps
    of a thread block that need the same piece get it at the same time.
    """
    variance = machine.dram_deviation**2 + others * machine.dram_queue_deviation**2
    pieces = max(1.0, sectors / kernel.moved[word(row, PIECE_SECTORS)])
    turn = kernel.event_turn[np.uint64(warp_position(state, warp))]
    number, warps = warp_number(state, warp), kernel.warps
    together = number % warps * kernel.moved[word(row, WARP_PIECES)]
    drawn = gumbel(number - number % warps + math.floor(together + _ROUNDING), row, turn)
    return latest_of(pieces, math.sqrt(variance), drawn)


@inlined
def _take_address(
    kernel: KernelArrays, machine: Machine, state: SmState, row: int, arrives: float
) -> float:
    """When the busiest address of all atomics begins a request that is at L2 then."""
    cycles = kernel.traffic[word(row, RESULT)] * machine.address_share
    if not unlikely(cycles > 0.0):
        return arrives
    begins: float = state.clocks[ADDRESS_FREE]
    if begins < arrives:
        begins = arrives
        state.clocks[ADDRESS_SINCE] = arrives
    state.clocks[ADDRESS_FREE] = begins + cycles
    return begins


@inlined
def _waits(kernel: KernelArrays, state: SmState, warp: int, row: int) -> tuple[float, float]:
    """Sectors of this request that come from L2 or DRAM, and those from DRAM."""
    past_l1, past_l2 = missed(
        warp_number(state, warp) // kernel.warps,
        kernel.event_turn[np.uint64(warp_position(state, warp))],
        kernel.traffic[word(row, L1_MISSES)],
        kernel.traffic[word(row, L2_MISSES)],
        kernel.traffic[word(row, TURN_AT_L1)],
        kernel.traffic[word(row, TURN_AT_L2)],
    )
    of_l2 = kernel.traffic[word(row, MISSED_SECTORS)] if past_l1 else 0.0
    of_dram = kernel.moved[word(row, SECTORS_OF_DRAM)] if past_l2 else 0.0
    return of_l2, of_dram


@inlined
def _asked(kernel: KernelArrays, row: int, waits: float) -> float:
    """Sectors that L2 is asked for; others are on their way for other warps already."""
    found: float = waits * kernel.moved[word(row, L2_SECTORS)]
    return found


@inlined
def _moved(kernel: KernelArrays, row: int, waits: float) -> float:
    """Sectors that DRAM moves."""
    found: float = waits * kernel.moved[word(row, DRAM_SECTORS)]
    return found


@inlined
def _weight(kernel: KernelArrays, row: int) -> float:
    """Sectors of bandwidth of L2 that one of this request takes."""
    found: float = kernel.moved[word(row, L2_WEIGHT)]
    return found


@inlined
def _push(state: SmState, ring: int, ready: float, sectors: float) -> None:
    size = state.ring
    tail = state.counts[RINGS + 2 * ring + 1]
    state.requests[request_word(ring * size + (tail & (size - 1)), REQUEST_READY)] = ready
    state.requests[request_word(ring * size + (tail & (size - 1)), REQUEST_SECTORS)] = sectors
    state.counts[RINGS + 2 * ring + 1] = tail + 1


@inlined
def _first_ready(state: SmState, ring: int) -> float:
    size = state.ring
    head = state.counts[RINGS + 2 * ring]
    if head == state.counts[RINGS + 2 * ring + 1]:
        return math.inf
    ready: float = state.requests[request_word(ring * size + (head & (size - 1)), REQUEST_READY)]
    return ready


@inlined
def _drop(state: SmState, ring: int) -> float:
    size = state.ring
    head = state.counts[RINGS + 2 * ring]
    state.counts[RINGS + 2 * ring] = head + 1
    sectors: float = state.requests[
        request_word(ring * size + (head & (size - 1)), REQUEST_SECTORS)
    ]
    return sectors


@inlined
def load(
    kernel: KernelArrays,
    machine: Machine,
    state: SmState,
    warp: int,
    row: int,
    passes: float,
    at: int,
) -> int:
    """When the data of a request of cycle `at` are there, packed with the level they come from.

    The next request waits until as many sectors are free as this one took, for which each DRAM
    request counts with its mean wait: they come back in any order. What it has waited for its own
    SM's share of DRAM is part of what requests were measured to wait there.
    """
    arrives = _through_l1(machine, state, passes, at)
    of_l2, of_dram = _waits(kernel, state, warp, row)
    sooner: float = kernel.moved[word(row, SOONER)]
    ready, level, late = arrives + machine.l1_latency - sooner, _L1, 0.0
    if of_l2 > 0.0:
        past_l1, past_l2 = _asked(kernel, row, of_l2), _moved(kernel, row, of_dram)
        at_l2 = _take_l2(machine, state, arrives, past_l1 * _weight(kernel, row))
        at_l2 = _take_address(kernel, machine, state, row, at_l2)
        ready, level, ring = at_l2 + machine.l2_latency, _L2, _RING_L2
        if of_dram > 0.0:
            at_dram = _take_dram(machine, state, at_l2, past_l2)
            ready, level, ring = at_dram + machine.dram_latency, _DRAM, _RING_DRAM
            if machine.dram_queue_deviation > 0.0:
                busy = _busy_dram(machine, state, at_dram, past_l2)
                others = busy / (1.0 - busy)
                queued = machine.dram_turn * busy + machine.dram_queue * others
                ready += max(0.0, queued - (at_dram - at_l2))
                late = _late_at_dram(kernel, machine, state, warp, row, others, of_dram)
                late = max(late, at_dram + machine.l2_latency - ready)
        if machine.request_limit != UNLIMITED:
            _push(state, ring, ready, past_l1)
            state.clocks[LOADS] += past_l1
            while state.clocks[LOADS] > 0.0 and (
                state.clocks[LOADS] + past_l1 > machine.request_limit
            ):
                l2, dram = _first_ready(state, _RING_L2), _first_ready(state, _RING_DRAM)
                state.counts[LOAD_QUEUE] = max(state.counts[LOAD_QUEUE], math.ceil(min(l2, dram)))
                state.clocks[LOADS] -= _drop(state, _RING_L2 if l2 <= dram else _RING_DRAM)
    close_accesses(machine, state, at)
    return pack(math.ceil(ready + late), level)


@inlined
def copy_in_bulk(
    kernel: KernelArrays, machine: Machine, state: SmState, warp: int, row: int, at: int
) -> int:
    """When the last sector of a bulk copy begun at cycle `at` has come, packed with its level.

    The copy asks L2 for all of them at once, and has no place among the requests of L1.
    """
    of_l2, of_dram = _waits(kernel, state, warp, row)
    past_l1, past_l2 = _asked(kernel, row, of_l2), _moved(kernel, row, of_dram)
    if past_l1 == 0.0:
        soonest: int = at + machine.l2_latency
        return pack(soonest, _L2)
    begins = _take_l2(machine, state, float(at), past_l1)
    ready, level = state.clocks[L2_FREE] + machine.l2_latency, _L2
    if past_l2 > 0.0:
        _take_dram(machine, state, begins, past_l2)
        last = max(state.clocks[DRAM_FREE], state.clocks[L2_FREE])
        ready, level = last + machine.dram_latency, _DRAM
    cycle: int = math.ceil(ready)
    return pack(cycle, level)


@inlined
def store(
    kernel: KernelArrays,
    machine: Machine,
    state: SmState,
    warp: int,
    row: int,
    passes: float,
    at: int,
) -> int:
    """When a store is acknowledged, 0 where nobody waits for that.

    It holds its sectors until the last level that it needs has taken them.
    """
    arrives = _through_l1(machine, state, passes, at)
    of_l2, of_dram = _waits(kernel, state, warp, row)
    past_l1, past_l2 = _asked(kernel, row, of_l2), _moved(kernel, row, of_dram)
    begins = arrives
    if past_l1 > 0.0:
        begins = _take_l2(machine, state, arrives, past_l1 * _weight(kernel, row))
        begins = _take_address(kernel, machine, state, row, begins)
        done = max(state.clocks[L2_FREE], begins)
        if past_l2 > 0.0:
            at_dram = _take_dram(machine, state, begins, past_l2)
            done = max(done, state.clocks[DRAM_FREE])
            if machine.dram_queue_deviation > 0.0:
                _busy_dram(machine, state, at_dram, past_l2)
        state.clocks[STORE_DONE] = max(state.clocks[STORE_DONE], done)
        if machine.request_limit != UNLIMITED:
            _push(state, _RING_STORES, done, past_l1)
            state.clocks[STORES] += past_l1
            while state.clocks[STORES] > 0.0 and (
                state.clocks[STORES] + past_l1 > machine.request_limit
            ):
                first = _first_ready(state, _RING_STORES)
                state.counts[STORE_QUEUE] = max(state.counts[STORE_QUEUE], math.ceil(first))
                state.clocks[STORES] -= _drop(state, _RING_STORES)
    close_accesses(machine, state, at)
    if machine.store_retire_cycles == 0:
        return 0
    return math.ceil(begins) + machine.store_retire_cycles
