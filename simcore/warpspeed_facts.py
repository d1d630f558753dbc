"""What the data volumes of address expressions need to know of a device beside its caches."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["HitRateFacts", "WarpspeedFacts"]


@dataclass(frozen=True, slots=True)
class HitRateFacts:
    """R_hit(O) = a exp(-b exp(steepness O)), O the oversubscription of a cache: Ernst et al. 2022,
    section 4.5, where the print has exp(-c O) and c must be negative: steepness is -c."""

    a: float
    b: float
    steepness: float

    def at(self, oversubscription: float) -> float:
        """Share of redundant volume that hits, 0 to 1."""
        exponent = self.steepness * oversubscription
        if exponent > 700:
            return 0.0
        return min(1.0, self.a * math.exp(-self.b * math.exp(exponent)))


@dataclass(frozen=True, slots=True)
class WarpspeedFacts:
    """`l2_effective_bytes`: what of L2 is left where both of its partitions hold the same lines.

    `l1_data_banks` of `l1_bank_bytes`, 0 where lines are served as a whole; `l1_tag_banks` look up
    one line each at a time. `far_distance_bytes`: addresses further apart never share a wavefront,
    0 where that is not so (section 4.2). Hit rates of section 4.5, fitted.
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
