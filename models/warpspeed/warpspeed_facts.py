"""What the data volumes of address expressions need to know of a device beside its caches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.section import Section

__all__ = ["WARPSPEED", "HitRateFacts", "WarpspeedFacts"]

_LARGEST_EXPONENT = 700.0
"""The largest exponent of e whose power is still a number."""


@dataclass(frozen=True, slots=True)
class HitRateFacts:
    """R_hit(O) = a exp(-b exp(steepness O)), O the oversubscription of a cache.

    Ernst et al. 2022, section 4.5, where the print has exp(-c O) and c must be negative: steepness
    is -c.
    """

    a: float
    b: float
    steepness: float

    def at(self, oversubscription: float) -> float:
        """Share of redundant volume that hits, 0 to 1."""
        return float(self.at_each(np.array([oversubscription]))[0])

    def at_each(self, oversubscriptions: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The hit rate at each of many oversubscriptions, shape (n,)."""
        exponents = np.minimum(self.steepness * oversubscriptions, _LARGEST_EXPONENT)
        found: npt.NDArray[np.float64] = self.a * np.exp(-self.b * np.exp(exponents))
        return np.minimum(1.0, found)


@dataclass(frozen=True, slots=True)
class WarpspeedFacts:
    """`l2_effective_bytes`: what of L2 is left where both of its partitions hold the same lines.

    `l1_data_banks` of `l1_bank_bytes`, 0 where lines are served as a whole; `l1_tag_banks` look up
    one line each at a time. `far_distance_bytes`: addresses further apart never share a wavefront,
    0 where that is not so (section 4.2). Hit rates of section 4.5, fitted: that of L1 over what is
    between two uses, that of stores over what is between two writes to one sector.
    """

    l2_effective_bytes: int
    l1_data_banks: int
    l1_bank_bytes: int
    l1_tag_banks: int
    far_distance_bytes: int
    l1_hit_rate: HitRateFacts
    y_layer_hit_rate: HitRateFacts
    z_layer_hit_rate: HitRateFacts
    store_hit_rate: HitRateFacts


WARPSPEED = Section(
    "warpspeed",
    WarpspeedFacts,
    may_be_zero=frozenset(("l1_data_banks", "l1_bank_bytes", "far_distance_bytes")),
    units={"_hit_rate.a": "share", "_hit_rate.b": "1", "_hit_rate.steepness": "1"},
)
"""`[warpspeed]` of a device file."""
