"""How large the errors of a group of predictions are."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kernelcast.validation.comparison import TimeComparison

__all__ = ["ErrorStatistics", "Ranking", "by_model_and_device", "error_statistics", "rankings"]

_FEWEST_TO_RANK = 3


@dataclass(frozen=True, slots=True)
class ErrorStatistics:
    """`mape`: mean absolute error as a fraction; `ratio`: geometric mean of max(p/m, m/p).

    `within`: shares with errors of at most 10, 25 and 50 %; `in_interval`: share of measured times
    between the model's low and high ones.
    """

    count: int
    mape: float
    ratio: float
    within_10: float
    within_25: float
    within_50: float
    in_interval: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """How well a model orders `count` GPUs for a kernel.

    `tau` is Kendall's (tau-b); `regret` what choosing the predicted best costs over the true best,
    as a fraction of the latter.
    """

    model: str
    subject: str
    count: int
    tau: float
    regret: float


def error_statistics(points: Sequence[TimeComparison]) -> ErrorStatistics:
    """Statistics of held-out points, at least one; ValueError for calibration points or none."""
    if not points or any(point.is_calibration for point in points):
        raise ValueError("statistics are of held-out points, at least one")
    errors = [abs(point.error) for point in points]

    def share(most: float) -> float:
        return sum(error <= most for error in errors) / len(errors)

    return ErrorStatistics(
        count=len(points),
        mape=sum(errors) / len(errors),
        ratio=math.exp(sum(math.log(point.ratio) for point in points) / len(points)),
        within_10=share(0.10),
        within_25=share(0.25),
        within_50=share(0.50),
        in_interval=sum(point.is_in_interval for point in points) / len(points),
    )


def by_model_and_device(
    points: Iterable[TimeComparison],
) -> dict[tuple[str, str], ErrorStatistics]:
    """Statistics of the held-out points by (model, device); `all` stands for all devices."""
    groups: dict[tuple[str, str], list[TimeComparison]] = defaultdict(list)
    for point in points:
        if not point.is_calibration:
            groups[point.model, "all"].append(point)
            groups[point.model, point.device].append(point)
    return {key: error_statistics(group) for key, group in sorted(groups.items())}


def rankings(points: Iterable[TimeComparison]) -> list[Ranking]:
    """How each model orders the GPUs for every kernel that was measured on three or more.

    A model that predicts the same time everywhere gives no order and no row.
    """
    from scipy.stats import kendalltau  # slow to import

    groups: dict[tuple[str, str], list[TimeComparison]] = defaultdict(list)
    for point in points:
        if not point.is_calibration:
            groups[point.model, point.kernel].append(point)
    found = []
    for (model, name), group in sorted(groups.items()):
        if len(group) < _FEWEST_TO_RANK:
            continue
        predicted = [point.predicted_s for point in group]
        measured = [point.measured_s for point in group]
        chosen = min(group, key=lambda point: point.predicted_s).measured_s
        tau = float(kendalltau(predicted, measured).statistic)
        if not math.isnan(tau):
            found.append(Ranking(model, name, len(group), tau, chosen / min(measured) - 1))
    return found
