"""Several kernels or invocations as one: each weighs as much as the time that it took.

Saiz 2021, section 5.3: a kernel that runs twice as long contributes twice as much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kernelcast.models.topdown.parts import Part, TopDown

__all__ = ["weighted_mean"]


def weighted_mean(kernel: str, results: Sequence[TopDown], weights: Sequence[float]) -> TopDown:
    """The mean of every part; a part that a result has not got counts as 0 there.

    `weights` are times in any unit. ValueError unless they are positive in sum, and the results are
    of one device.
    """
    total = math.fsum(weights)
    places = {(result.device, result.ipc_max) for result in results}
    if len(places) != 1 or not total > 0:
        raise ValueError("a mean needs results of one device, and weights that are not all 0")
    (device, ipc_max), shares = places.pop(), [weight / total for weight in weights]
    parts = _mean_parts([result.parts for result in results], shares, ipc_max)
    assumptions = dict.fromkeys(item for result in results for item in result.assumptions)
    return TopDown(kernel, device, ipc_max, parts, tuple(assumptions))


def _mean_parts(
    siblings: Sequence[tuple[Part, ...]], shares: Sequence[float], ipc_max: float
) -> tuple[Part, ...]:
    names = dict.fromkeys(part.name for parts in siblings for part in parts)
    return tuple(_mean_part(name, siblings, shares, ipc_max) for name in names)


def _mean_part(
    name: str, siblings: Sequence[tuple[Part, ...]], shares: Sequence[float], ipc_max: float
) -> Part:
    found = [next((part for part in parts if part.name == name), None) for parts in siblings]
    ipc = math.fsum(
        share * part.ipc for part, share in zip(found, shares, strict=True) if part is not None
    )
    below = [part.parts if part is not None else () for part in found]
    return Part(name, ipc, 100 * ipc / ipc_max, _mean_parts(below, shares, ipc_max))
