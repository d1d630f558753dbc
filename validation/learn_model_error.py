"""Learns how far measured times lie outside of what the facts of a device explain.

    kernelcast validate measured --model interval --json > measured.json
    kernelcast validate thesis --model interval --json > thesis.json
    python validation/learn_model_error.py measured.json thesis.json
    python validation/learn_model_error.py

With files it takes their times of the model `interval` into `validation/model_error_times.csv`, and
without the model's present factors. Then it learns of that table the two factors of
`models/interval/model_error.csv`: on the lowest and on the highest time of a simulation whose facts
are off. They are the narrowest quantiles, the same share of times on either side, for which 80 % of
the measured times lie inside when the factors are learned without any time of their kernel.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from kernelcast.models.interval.model_error import ModelError, model_error

_ROOT = Path(__file__).resolve().parents[1]
TIMES = _ROOT / "validation" / "model_error_times.csv"
FACTORS = _ROOT / "models" / "interval" / "model_error.csv"
COVERAGE = 0.8
_MODEL = "interval"


@dataclass(frozen=True, slots=True)
class Point:
    """A measured time beside the predicted one, and what its facts allow; seconds."""

    source: str
    kernel: str
    device: str
    predicted_s: float
    low_s: float
    high_s: float
    measured_s: float

    @property
    def group(self) -> str:
        """What is left out with it: the kernel at all sizes and on all devices."""
        return self.kernel.split()[0]


@dataclass(frozen=True, slots=True)
class Learned:
    """The factors, and how wide the bars are: half of their median width over the prediction."""

    error: ModelError
    half_width: float


def learned(points: Sequence[Point], coverage: float = COVERAGE) -> Learned:
    """The narrowest factors that cover enough times of kernels that were left out.

    ValueError without times of two kernels, or where nothing covers as many.
    """
    groups = {point.group for point in points}
    if len(groups) < 2:
        raise ValueError("times of two kernels are needed, one of them to be left out")
    for outside in range(len(points) // 2, -1, -1):
        share = outside / len(points)
        inside = sum(
            _covers(_factors([p for p in points if p.group != group], share), point)
            for group in groups
            for point in points
            if point.group == group
        )
        if inside >= coverage * len(points):
            low, high = _factors(points, share)
            error = ModelError(low, high, inside / len(points), len(points), len(groups))
            widths = ((high * p.high_s - low * p.low_s) / (2 * p.predicted_s) for p in points)
            return Learned(error, statistics.median(widths))
    raise ValueError(f"no factors cover {coverage:.0%} of the times that were left out")


def _factors(points: Sequence[Point], share: float) -> tuple[float, float]:
    """Factors outside of which `share` of the times lie on either side; facts stay inside."""
    low = _quantile([point.measured_s / point.low_s for point in points], share, math.floor)
    high = _quantile([point.measured_s / point.high_s for point in points], 1 - share, math.ceil)
    return min(1.0, low), max(1.0, high)


def _quantile(values: Sequence[float], share: float, whole: Callable[[float], int]) -> float:
    at = whole(round(share * (len(values) - 1), 9))
    return sorted(values)[at]


def _covers(factors: tuple[float, float], point: Point) -> bool:
    low, high = factors
    return low * point.low_s <= point.measured_s <= high * point.high_s


def points_of(files: Iterable[Path]) -> list[Point]:
    """The model's times in results of `kernelcast validate`, without its present factors."""
    error, rows = model_error(), list[dict[str, Any]]()
    for file in files:
        rows += json.loads(file.read_text("utf-8"))["times"]
    return [
        Point(
            source=row["source"],
            kernel=row["kernel"],
            device=row["device"],
            predicted_s=row["predicted_s"],
            low_s=row["time_low_s"] / error.low,
            high_s=row["time_high_s"] / error.high,
            measured_s=row["measured_s"],
        )
        for row in rows
        if row["model"] == _MODEL and not row["calibration"]
    ]


def read_points(file: Path = TIMES) -> list[Point]:
    """The points of a table that `write_points` wrote."""
    with file.open(encoding="utf-8", newline="") as lines:
        return [
            Point(*(row[:3]), *map(float, row[3:]))  # type: ignore[arg-type]
            for row in list(csv.reader(lines))[1:]
        ]


def write_points(points: Sequence[Point], file: Path = TIMES) -> None:
    """One row for each point, times with six digits."""
    with file.open("w", encoding="utf-8", newline="") as lines:
        table = csv.writer(lines, lineterminator="\n")
        table.writerow([field.name for field in fields(Point)])
        for point in points:
            texts = [f"{item:.6g}" if isinstance(item, float) else item for item in astuple(point)]
            table.writerow(texts)


def table(found: Learned) -> str:
    """The text of the model's table: where it is from, and the factors."""
    error = found.error
    return (
        "# Written by validation/learn_model_error.py from validation/model_error_times.csv: "
        f"{error.times} times of\n"
        f"# {error.kernels} kernels that others published. Each kernel left out in turn, "
        f"{error.coverage:.1%} of its times lie inside.\n"
        f"# Median half width of the bars: {found.half_width:.1%} of the estimate.\n"
        "low,high,coverage,times,kernels\n"
        f"{error.low:.4f},{error.high:.4f},{error.coverage:.3f},{error.times},{error.kernels}\n"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the table of times where files are given, then that of the factors."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("results", type=Path, nargs="*", help="JSON of kernelcast validate")
    given = parser.parse_args(arguments)
    if given.results:
        write_points(points_of(given.results))
    text = table(learned(read_points()))
    FACTORS.write_text(text, "utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
