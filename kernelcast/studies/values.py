"""What is varied, and which combinations: lists and ranges in full, samples drawn from a seed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kernelcast.errors import InputError, KernelcastError, nearest
from kernelcast.units import parse_si

__all__ = ["METHODS", "Interval", "Sample", "Scalar", "Space", "number", "range_values"]

Scalar: TypeAlias = int | float | str | bool
Drawn: TypeAlias = "Interval | Sequence[Scalar]"

METHODS = ("latin-hypercube", "random", "sobol", "morris")
_MOST_POINTS = 10_000_000


def number(value: Scalar, where: str) -> float:
    """The number of a value or of a text such as `1.5T`; InputError for what is none."""
    if isinstance(value, bool):
        raise InputError(f"{where}: {value} is not a number")
    if isinstance(value, int | float):
        return float(value)
    try:
        return parse_si(value)
    except KernelcastError as error:
        raise InputError(f"{where}: {error}") from None


def _plain(value: float) -> int | float:
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else value


@dataclass(frozen=True, slots=True)
class Interval:
    """Numbers from `low` to `high`, at equal distances of their logarithms if `is_log`.

    With a `step` values are multiples of it.
    """

    low: float
    high: float
    is_log: bool = False
    step: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise InputError(f"a range goes from a number to a larger one, not {self._text}")
        if self.is_log and self.low <= 0:
            raise InputError(f"a logarithmic range begins above 0, not {self._text}")
        if self.step is not None and self.step <= 0:
            raise InputError(f"a step is larger than 0, got {self.step:g}")

    @property
    def _text(self) -> str:
        return f"from {self.low:g} to {self.high:g}"

    def at(self, share: float) -> int | float:
        """The value at a share of the way from the one end to the other."""
        if self.is_log:
            value = self.low * (self.high / self.low) ** share
        else:
            value = self.low + (self.high - self.low) * share
        if self.step is not None:
            value = self.step * round(value / self.step)
        return _plain(value)


def range_values(interval: Interval, count: int | None) -> tuple[Scalar, ...]:
    """`count` values from end to end, or without one the `low` end and all steps behind it."""
    if count is not None:
        if count < 1:
            raise InputError(f"a range has at least 1 value, not {count}")
        shares = [0.0] if count == 1 else [n / (count - 1) for n in range(count)]
        return tuple(dict.fromkeys(interval.at(share) for share in shares))
    if interval.step is None:
        raise InputError("a range needs a count or a step")
    steps = math.floor((interval.high - interval.low) / interval.step * (1 + 1e-12))
    if steps > _MOST_POINTS:
        raise InputError(f"a range of {steps} steps is too long")
    return tuple(_plain(interval.low + n * interval.step) for n in range(steps + 1))


@dataclass(frozen=True, slots=True)
class Sample:
    """`count` points over all of `of` together, the same for the same `seed`.

    `sobol` and `morris` lay points as the indices of those names want them: `count` are base points
    then, of which each becomes len(of) + 2, or len(of) + 1, points.
    """

    of: Mapping[str, Drawn]
    count: int
    method: str = METHODS[0]
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            known = ", ".join(METHODS)
            raise InputError(
                f"no sampling is called {self.method!r}{nearest(self.method, METHODS)}; "
                f"known: {known}"
            )
        if self.count < 1 or not self.of:
            raise InputError("a sample needs a count of 1 at least, and names to draw values of")

    @property
    def size(self) -> int:
        """How many points there are."""
        factor = {"sobol": len(self.of) + 2, "morris": len(self.of) + 1}.get(self.method, 1)
        return self.count * factor

    def points(self) -> Iterator[dict[str, Scalar]]:
        """Values by name, `size` times."""
        for row in self._shares():
            yield {
                name: _drawn(spec, float(share))
                for (name, spec), share in zip(self.of.items(), row, strict=True)
            }

    def _shares(self) -> npt.NDArray[np.float64]:
        from kernelcast.studies.designs import DESIGNS

        return DESIGNS[self.method](len(self.of), self.count, self.seed)


def _drawn(spec: Drawn, share: float) -> Scalar:
    if isinstance(spec, Interval):
        return spec.at(share)
    return spec[min(int(share * len(spec)), len(spec) - 1)]


@dataclass(frozen=True, slots=True)
class Space:
    """All combinations of the values of `axes`, each with every point of the `sample`."""

    axes: Mapping[str, Sequence[Scalar]] = field(default_factory=dict)
    sample: Sample | None = None

    def __post_init__(self) -> None:
        for name, values in self.axes.items():
            if not values:
                raise InputError(f"{name} is varied over no values")
            if self.sample is not None and name in self.sample.of:
                raise InputError(f"{name} is both varied and sampled")
        if self.size > _MOST_POINTS:
            raise InputError(f"{self.size} combinations are more than {_MOST_POINTS}")

    @property
    def names(self) -> tuple[str, ...]:
        """What is varied, in order."""
        return (*self.axes, *(() if self.sample is None else self.sample.of))

    @property
    def size(self) -> int:
        """How many combinations there are; 1 where nothing is varied."""
        drawn = 1 if self.sample is None else self.sample.size
        return drawn * math.prod(len(values) for values in self.axes.values())

    def points(self) -> Iterator[dict[str, Scalar]]:
        """Values by name; one empty point where nothing is varied."""
        for values in product(*self.axes.values()):
            fixed = dict(zip(self.axes, values, strict=True))
            if self.sample is None:
                yield fixed
                continue
            for drawn in self.sample.points():
                yield {**fixed, **drawn}
