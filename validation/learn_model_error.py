"""Learns how far measured times lie from the estimates of model `interval`.

    python validation/learn_model_error.py

Reads the model's times of docs/errors.md, which `kernelcast validate thesis` and `measured` write
with `--markdown`, and writes `models/interval/model_error.csv`: two factors on the estimate,
between which measured times lie. They are the narrowest quantiles, the same share of times on
either side, for which 80 % of the times lie inside when the factors are learned without any time of
their kernel or of one of its family.
Run it again when errors.md was written anew.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelcast.models.interval.model_error import ModelError

_ROOT = Path(__file__).resolve().parents[1]
ERRORS = _ROOT / "docs" / "errors.md"
FACTORS = _ROOT / "models" / "interval" / "model_error.csv"
COVERAGE = 0.8
_TABLES = ("**Times: thesis**", "**Times: measured**")
_MODEL = "interval"


@dataclass(frozen=True, slots=True)
class Point:
    """A time of a kernel at a size on a device: measured over estimated."""

    kernel: str
    device: str
    ratio: float

    @property
    def group(self) -> str:
        """What is left out with it: the kernel and its family at all sizes and on all devices."""
        return self.kernel.split()[0].split("/")[0]


def learned(points: Sequence[Point], coverage: float = COVERAGE) -> ModelError:
    """The narrowest factors that cover enough times of families that were left out.

    ValueError without times of two families, or where nothing covers as many.
    """
    groups = {point.group for point in points}
    if len(groups) < 2:
        raise ValueError("times of two families are needed, one of them to be left out")
    for outside in range(len(points) // 2, -1, -1):
        share = outside / len(points)
        inside = 0
        for group in groups:
            low, high = _factors([point for point in points if point.group != group], share)
            inside += sum(low <= p.ratio <= high for p in points if p.group == group)
        if inside >= coverage * len(points):
            low, high = _factors(points, share)
            kernels = {point.kernel.split()[0] for point in points}
            return ModelError(low, high, inside / len(points), len(points), len(kernels))
    raise ValueError(f"no factors cover {coverage:.0%} of the times that were left out")


def _factors(points: Sequence[Point], share: float) -> tuple[float, float]:
    """Factors outside of which `share` of the times lie on either side; the estimate is inside."""
    ratios = sorted(point.ratio for point in points)
    return min(1.0, _at(ratios, share, math.floor)), max(1.0, _at(ratios, 1 - share, math.ceil))


def _at(ratios: Sequence[float], share: float, whole: Callable[[float], int]) -> float:
    return ratios[whole(round(share * (len(ratios) - 1), 9))]


def points_of(text: str) -> list[Point]:
    """The model's times in the tables of docs/errors.md."""
    found, is_inside = list[Point](), False
    for line in text.splitlines():
        if line.startswith("**"):
            is_inside = line in _TABLES
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if is_inside and len(cells) > 5 and cells[2] == _MODEL:
            error = float(cells[5].removesuffix("%")) / 100
            found.append(Point(cells[0], cells[1], 1 / (1 + error)))
    return found


def table(error: ModelError) -> str:
    """The text of the model's table: where it is from, and the factors."""
    return (
        f"# Written by validation/learn_model_error.py from docs/errors.md: {error.times} measured "
        f"times of {error.kernels} kernels.\n"
        f"# Each family of kernels left out in turn, {error.coverage:.1%} of the times are in.\n"
        "low,high,coverage,times,kernels\n"
        f"{error.low:.3f},{error.high:.3f},{error.coverage:.3f},{error.times},{error.kernels}\n"
    )


def main() -> None:
    """Writes the table of the factors, and shows it."""
    text = table(learned(points_of(ERRORS.read_text("utf-8"))))
    FACTORS.write_text(text, "utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
