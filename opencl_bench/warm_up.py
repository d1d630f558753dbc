"""When timed runs have settled, which series of them counts, and when events can be believed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kernelcast.opencl_bench.measurement import NOISY_SPREAD

__all__ = ["are_events_usable", "is_ramping", "is_settled", "steadiest", "warm_up"]

_AGREEMENT = 0.05
_SERIES = 3
_LONG_SERIES_S = 0.25
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


def steadiest(series: Callable[[], npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """The seconds of the first series whose spread is not noisy.

    Of three noisy ones the one that is the least so. A noisy series of more than a quarter of a
    second is not repeated.
    """
    best = series()
    for _ in range(_SERIES - 1):
        if _spread(best) <= NOISY_SPREAD or best.sum() > _LONG_SERIES_S:
            break
        best = min(best, series(), key=_spread)
    return best


def _spread(seconds: npt.NDArray[np.float64]) -> float:
    """Interquartile range over median; 0 for what took no time, which is not noise."""
    low, middle, high = np.percentile(seconds, (25, 50, 75))
    return float((high - low) / middle) if middle > 0 else 0.0


def are_events_usable(
    event_s: npt.NDArray[np.float64], host_s: npt.NDArray[np.float64], resolution_s: float
) -> bool:
    """Whether events measure: longer than 20 ticks of their clock, not longer than the host saw."""
    longest = _EVENT_SLACK * host_s + resolution_s
    return bool(np.all((event_s > _TICKS * resolution_s) & (event_s <= longest)))
