"""The fit of hit rates gives back the curve that its points come from (section 4.5)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hit_rate_fit import HitRatePoint, fit_hit_rate

from kernelcast.errors import KernelcastError
from kernelcast.models.warpspeed.warpspeed_facts import HitRateFacts

CURVE = HitRateFacts(1.0, 0.003, 4.0)


def gompertz(over: float) -> float:
    return math.exp(-0.003 * math.exp(4.0 * over))


def test_coefficients_are_found_again() -> None:
    points = [HitRatePoint.of_rate(at, gompertz(at)) for at in np.linspace(0.2, 3.0, 15)]
    found = fit_hit_rate(points)
    assert found.a == 1.0
    assert found.b == pytest.approx(0.003, rel=1e-3)
    assert found.steepness == pytest.approx(4.0, rel=1e-3)


def test_points_may_be_sums_over_several_oversubscriptions() -> None:
    random = np.random.default_rng(7)
    points = []
    for _ in range(12):
        over, volumes = random.uniform(0.1, 3.0, 5), random.uniform(1.0, 9.0, 5)
        hits = sum(v * gompertz(o) for o, v in zip(over, volumes, strict=True))
        points.append(HitRatePoint(tuple(over), tuple(volumes), hits))
    found = fit_hit_rate(points)
    assert found.b == pytest.approx(0.003, rel=1e-3)
    assert found.steepness == pytest.approx(4.0, rel=1e-3)


def test_weights_decide_between_points_that_disagree() -> None:
    one = [HitRatePoint.of_rate(at, gompertz(at), weight=1e6) for at in (0.5, 1.0, 1.5, 2.0)]
    other = [HitRatePoint.of_rate(at, 1.0) for at in (1.5, 2.0)]
    assert fit_hit_rate([*one, *other]).b == pytest.approx(0.003, rel=0.01)


def test_rates_are_cut_to_zero_and_one() -> None:
    assert HitRatePoint.of_rate(1.0, 1.3).hits == 1.0
    assert HitRatePoint.of_rate(1.0, -0.2).hits == 0.0


def test_three_points_are_too_few() -> None:
    with pytest.raises(KernelcastError, match="3 points are too few"):
        fit_hit_rate([HitRatePoint.of_rate(at, 0.5) for at in (0.5, 1.0, 1.5)])


def test_rates_of_many_are_those_of_each() -> None:
    over = np.array([0.0, 0.7, 1.4, 5.0, 1e6])
    assert CURVE.at_each(over).tolist() == [CURVE.at(float(at)) for at in over]
    assert CURVE.at(0.0) == pytest.approx(1.0, abs=0.01)
    assert CURVE.at(1e6) == 0.0
