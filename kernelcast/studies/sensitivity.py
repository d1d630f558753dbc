"""How much each changed fact moves the time: elasticities, Sobol's and Morris's indices, tornados.

All is worked out from the rows of a sweep, for each kernel, launch, device and model together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.studies.data_set import Design
from kernelcast.studies.findings import grouped
from kernelcast.studies.rows import CHANGE

__all__ = [
    "Effect",
    "Index",
    "changed_facts",
    "effects",
    "elasticities",
    "indices",
    "morris_effects",
    "sobol_indices",
]

Row = Mapping[str, Any]
Floats = npt.NDArray[np.float64]
_FEW = 3
"""Fewer points than facts and this many more tell nothing of a slope."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What one changed fact does to the time of a kernel.

    `elasticity`: by how many percent the time rises where the fact rises by one, a least-squares
    fit over all points; None where the fact is no number, or does not vary. `low_s`, `high_s`: the
    least and the largest of the mean times at each of its values, `at_low` and `at_high` where
    these are. `reduction`: the share of the variance of log time between its values.
    """

    kernel: str
    device: str
    model: str
    fact: str
    elasticity: float | None
    low_s: float
    high_s: float
    at_low: Any
    at_high: Any
    reduction: float

    @property
    def swing(self) -> float:
        """The largest mean time over the least."""
        return self.high_s / self.low_s


def changed_facts(rows: Sequence[Row]) -> tuple[str, ...]:
    """Names of the facts that the sweep changes."""
    names = rows[0] if rows else ()
    return tuple(name.removeprefix(CHANGE) for name in names if name.startswith(CHANGE))


def effects(rows: Sequence[Row]) -> list[Effect]:
    """The effect of each fact on each kernel, device and model; the largest swing first."""
    facts = changed_facts(rows)
    found = []
    for (kernel, device, model), group in grouped(rows, "kernel", "device", "model").items():
        changed = [row for row in group if row["changes"]]
        slopes = elasticities(changed, facts)
        of_group = [
            _effect(changed, (kernel, device, model, fact), slopes[fact])
            for fact in facts
            if len({row[CHANGE + fact] for row in changed}) > 1
        ]
        found += sorted(of_group, key=lambda item: -item.swing)
    return found


def _effect(rows: Sequence[Row], where: tuple[str, str, str, str], slope: float | None) -> Effect:
    fact = where[-1]
    at_value = {
        value: [math.log(row["time_s"]) for row in group]
        for (value,), group in grouped(rows, CHANGE + fact).items()
    }
    means = {value: float(np.mean(times)) for value, times in at_value.items()}
    logs = np.array([time for times in at_value.values() for time in times])
    between = sum(
        len(times) * (means[value] - logs.mean()) ** 2 for value, times in at_value.items()
    )
    spread = float(((logs - logs.mean()) ** 2).sum())
    at_low, at_high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    return Effect(
        *where,
        slope,
        math.exp(means[at_low]),
        math.exp(means[at_high]),
        at_low,
        at_high,
        float(between) / spread if spread else 0.0,
    )


def elasticities(rows: Sequence[Row], facts: Sequence[str]) -> dict[str, float | None]:
    """d log time / d log fact by least squares over all facts together and the launches.

    None for facts that are no numbers above 0, or that do not vary by themselves.
    """
    usable = [fact for fact in facts if _is_scale([row[CHANGE + fact] for row in rows])]
    found: dict[str, float | None] = dict.fromkeys(facts)
    if len(rows) < len(usable) + _FEW or not usable:
        return found
    launches = {row["launch"]: number for number, row in enumerate(rows)}
    columns = [np.log([float(row[CHANGE + fact]) for row in rows]) for fact in usable]
    columns += [np.array([float(row["launch"] == launch) for row in rows]) for launch in launches]
    matrix = np.stack(columns, axis=1)
    if np.linalg.matrix_rank(matrix) < matrix.shape[1]:
        return found
    times = np.log([row["time_s"] for row in rows])
    slopes = np.linalg.lstsq(matrix, times, rcond=None)[0]
    return found | {fact: float(slopes[n]) for n, fact in enumerate(usable)}


def _is_scale(values: Sequence[Any]) -> bool:
    are_numbers = all(isinstance(item, int | float) and item > 0 for item in values)
    return are_numbers and len(set(values)) > 1


@dataclass(frozen=True, slots=True)
class Index:
    """What a design says of one fact: of `sobol` the first-order and the total index.

    Of `morris` mu* and sigma, over the mean time.
    """

    kernel: str
    launch: str
    device: str
    model: str
    fact: str
    first: float
    second: float


def indices(rows: Sequence[Row], design: Design) -> list[Index]:
    """The indices of each kernel, launch, device and model all of whose points have a time."""
    facts, found = list(design.ranges), []
    for where, group in grouped(rows, "kernel", "launch", "device", "model").items():
        drawn = [row for row in group if row["changes"]]
        per_base = len(facts) + (2 if design.method == "sobol" else 1)
        if not drawn or len(drawn) % per_base or any(row["error"] for row in drawn):
            continue
        times = np.array([row["time_s"] for row in drawn])
        if design.method == "sobol":
            pair = sobol_indices(times, len(facts))
        else:
            pair = morris_effects(_shares(drawn, design), times / times.mean())
        kernel, launch, device, model = where
        found += [
            Index(kernel, launch, device, model, fact, float(first), float(second))
            for fact, first, second in zip(facts, *pair, strict=True)
        ]
    return found


def _shares(rows: Sequence[Row], design: Design) -> Floats:
    columns = []
    for fact, (low, high, is_log) in design.ranges.items():
        values = np.array([row[CHANGE + fact] for row in rows], np.float64)
        if is_log:
            columns.append(np.log(values / low) / math.log(high / low))
        else:
            columns.append((values - low) / (high - low))
    return np.stack(columns, axis=1)


def sobol_indices(times: Floats, names: int) -> tuple[Floats, Floats]:
    """First-order and total indices of the rows of a `sobol` sample, shape (names,) each.

    The estimators of Saltelli et al. (Comput. Phys. Commun. 181, 2010), table 2, b and f. `times`:
    shape (base points x (names + 2),), in the order of the design.
    """
    parts = np.asarray(times, np.float64).reshape(names + 2, -1)
    first, second, mixed = parts[0], parts[1], parts[2:]
    variance = np.var(parts[:2])
    if not variance:
        return np.zeros(names), np.zeros(names)
    mean = parts[:2].mean()
    main = ((second - mean) * (mixed - first)).mean(axis=1) / variance
    total = ((first - mixed) ** 2).mean(axis=1) / 2 / variance
    return main, total


def morris_effects(shares: Floats, times: Floats) -> tuple[Floats, Floats]:
    """Morris's mu* and sigma: mean of absolute elementary effects, and their scatter; (names,).

    `shares` are the rows of the design, 0 to 1, `times` what was found there. Effects are of the
    time over a whole range.
    """
    names = shares.shape[1]
    trajectories = shares.reshape(-1, names + 1, names)
    steps = np.diff(trajectories, axis=1)
    rises = np.diff(times.reshape(-1, names + 1), axis=1)
    found = np.zeros((len(trajectories), names))
    for number, (moved, rise) in enumerate(zip(steps, rises, strict=True)):
        for step, gain in zip(moved, rise, strict=True):
            column = int(np.argmax(np.abs(step)))
            found[number, column] = gain / step[column]
    return np.abs(found).mean(axis=0), found.std(axis=0)
