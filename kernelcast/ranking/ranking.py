"""A kernel's configurations on one device, fastest first, with what limits each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kernelcast.notebook import Table, Tabular
from kernelcast.ranking.variations import Configuration
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.units import format_seconds

__all__ = [
    "Outcome",
    "Prediction",
    "Ranking",
    "RankingRow",
    "Refusal",
    "make_ranking",
]


@dataclass(frozen=True, slots=True)
class Prediction:
    """The time and volumes that a model predicts for one configuration on one device.

    `seconds` is the time of a core that the prediction took. `volumes` are its cost at each level
    of the memory under names that carry the unit.
    """

    time_s: float
    limiter: str
    volumes: Mapping[str, float]
    seconds: float


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a configuration cannot run on a device, or cannot be predicted."""

    reason: str
    seconds: float = 0.0


Outcome: TypeAlias = Prediction | Refusal


@dataclass(frozen=True, slots=True)
class RankingRow:
    """One configuration with its rank, which counts from 1; equal times have equal ranks.

    `is_undominated`: no other configuration is as good in all volumes and better in one.
    """

    rank: int
    configuration: Configuration
    time_s: float
    limiter: str
    volumes: Mapping[str, float]
    is_undominated: bool


@dataclass(frozen=True, repr=False)
class Ranking(Tabular):
    """`seconds_per_configuration`: what a prediction took of one core, in the mean."""

    kernel: str
    device: str
    model: str
    seconds_per_configuration: float
    rows: tuple[RankingRow, ...]
    refused: tuple[tuple[Configuration, str], ...]
    statements: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Kernel, device, and how many configurations."""
        return (
            f"ranking of {source_name(self.kernel)} on {self.device}: "
            f"{len(self.rows)} configurations ({self.model})"
        )

    def table(self) -> Table:
        """The configurations, fastest first."""
        rows = (
            (r.rank, r.configuration.label, format_seconds(r.time_s), r.limiter) for r in self.rows
        )
        return (">rank", "configuration", ">time", "limited by"), rows

    @property
    def pareto_note(self) -> str:
        """Which rows are worth measuring besides the first; empty for fewer than two rows."""
        if len(self.rows) < 2:
            return ""
        best = sum(row.is_undominated for row in self.rows)
        return (
            f"Pareto: {best} of {len(self.rows)} configurations, marked *, are beaten by no other "
            "in all volumes together"
        )


def make_ranking(
    kernel: str,
    device: str,
    model: str,
    outcomes: Mapping[Configuration, Outcome],
    statements: Sequence[str] = (),
) -> Ranking:
    """Orders the predictions by time, then by volumes, then by configuration."""
    made = {
        configuration: outcome
        for configuration, outcome in outcomes.items()
        if isinstance(outcome, Prediction)
    }
    order = sorted(made, key=lambda item: (made[item].time_s, *made[item].volumes.values(), item))
    times = [made[item].time_s for item in order]
    undominated = _undominated([tuple(made[item].volumes.values()) for item in order])
    rows = tuple(
        RankingRow(
            times.index(made[item].time_s) + 1,
            item,
            made[item].time_s,
            made[item].limiter,
            made[item].volumes,
            is_undominated,
        )
        for item, is_undominated in zip(order, undominated, strict=True)
    )
    refused = tuple(
        (configuration, outcome.reason)
        for configuration, outcome in outcomes.items()
        if isinstance(outcome, Refusal)
    )
    spent = sum(outcome.seconds for outcome in outcomes.values()) / max(1, len(outcomes))
    return Ranking(kernel, device, model, spent, rows, refused, tuple(statements))


def _undominated(points: Sequence[tuple[float, ...]]) -> list[bool]:
    """Whether no other point is at most as large along every axis and smaller along one."""
    front: list[tuple[float, ...]] = []
    for point in sorted(set(points)):  # whatever dominates a point sorts before it
        if not any(all(a <= b for a, b in zip(other, point, strict=True)) for other in front):
            front.append(point)
    chosen = set(front)
    return [point in chosen for point in points]
