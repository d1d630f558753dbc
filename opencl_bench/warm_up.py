"""When a series of timed runs has settled, and when event times can be believed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

__all__ = ["are_events_usable", "is_ramping", "is_settled", "warm_up"]

_AGREEMENT = 0.05
_LAST = 3
_TICKS = 20
_EVENT_SLACK = 1.05


def is_settled(seconds: Sequence[float]) -> bool:
    """The last three runs agree within 5 %."""
    last = seconds[-_LAST:]
    return len(last) == _LAST and max(last) <= (1 + _AGREEMENT) * min(last)


def is_ramping(seconds: Sequence[float]) -> bool:
    """The last three runs become faster and none is slower than the one before: a rising clock."""
    last = seconds[-_LAST:]
    if len(last) < _LAST:
        return True
    slack = 1 + _AGREEMENT
    return last[0] > slack * last[-1] and all(slack * a >= b for a, b in pairwise(last))


def warm_up(run: Callable[[], float], patience_s: float, limit_s: float) -> list[float]:
    """Runs until the times settle and returns them.

    Noise ends it after `patience_s` of run time, a clock that still rises after `limit_s`.
    """
    seconds = [run()]
    while not is_settled(seconds):
        spent = sum(seconds)
        if spent >= limit_s or (spent >= patience_s and not is_ramping(seconds)):
            break
        if spent + min(seconds) > limit_s:
            break
        seconds.append(run())
    return seconds


def are_events_usable(
    event_s: npt.NDArray[np.float64], host_s: npt.NDArray[np.float64], resolution_s: float
) -> bool:
    """Whether events measure: longer than 20 ticks of their clock, not longer than the host saw."""
    longest = _EVENT_SLACK * host_s + resolution_s
    return bool(np.all((event_s > _TICKS * resolution_s) & (event_s <= longest)))
