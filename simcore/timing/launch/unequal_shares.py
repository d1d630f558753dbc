"""Which thread blocks SMs get where these differ in work and are few.

An SM that gets more thread blocks than were recorded works through all of these, and the SMs are
alike. With fewer, what an SM has to do depends on which ones it gets, and the launch lasts as long
as the SM with the most work.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.traces.warp_paths import WarpPaths

__all__ = ["UnequalShares", "unequal_shares"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class UnequalShares:
    """Recorded thread blocks, by position, in the order in which an SM gets them.

    `mean` are those of the SM whose work is nearest to the average, `most` of the one that has the
    most; `later` SMs have more to do than the former, of `busy` that have any work.
    """

    mean: Ints
    most: Ints
    later: int
    busy: int


def unequal_shares(
    paths: WarpPaths, thread_blocks: int, sms: int, thread_blocks_per_sm: int
) -> UnequalShares | None:
    """None where SMs get as many thread blocks as were recorded, or all of these are alike.

    Thread blocks go to the SMs in turn until all places are taken, then each to the SM that has
    been given the least work, in instructions. A thread block that was not recorded does what the
    recorded one nearest in number does.
    """
    work = np.diff(paths.start[:: paths.warps_per_thread_block])
    if thread_blocks >= len(work) * sms or (work == work[0]).all():
        return None
    stand_ins = _nearest(paths.thread_blocks, thread_blocks)
    dealt = _dealt(work[stand_ins], min(sms, thread_blocks), thread_blocks_per_sm)
    loads = np.array([int(work[stand_ins[numbers]].sum()) for numbers in dealt])
    mean = int(np.argmin(np.abs(loads - loads.mean())))
    return UnequalShares(
        mean=stand_ins[dealt[mean]],
        most=stand_ins[dealt[int(np.argmax(loads))]],
        later=int((loads > loads[mean]).sum()),
        busy=len(dealt),
    )


def _nearest(recorded: Ints, thread_blocks: int) -> Ints:
    """The position of the nearest recorded thread block, by number of a thread block."""
    between = (recorded[:-1] + recorded[1:]) // 2
    return np.searchsorted(between, np.arange(thread_blocks), side="left").astype(np.int64)


def _dealt(work: Ints, sms: int, places: int) -> list[list[int]]:
    """The numbers of the thread blocks of each SM."""
    at_once = min(len(work), sms * places)
    dealt = [list(range(sm, at_once, sms)) for sm in range(sms)]
    queue = [(int(work[numbers].sum()), sm) for sm, numbers in enumerate(dealt)]
    heapq.heapify(queue)
    for number in range(at_once, len(work)):
        load, sm = queue[0]
        dealt[sm].append(number)
        heapq.heapreplace(queue, (load + int(work[number]), sm))
    return dealt
