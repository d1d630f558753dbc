"""What changed between two sets of estimates, and whether a budget of time is kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kernelcast.comparison.records import Recorded
from kernelcast.errors import KernelcastError, nearest
from kernelcast.notebook import Table, Tabular
from kernelcast.units import format_seconds

__all__ = ["Comparison", "Pair", "compared"]


@dataclass(frozen=True, slots=True)
class Pair:
    """One kernel on one device before and after; None where only the other file has it."""

    before: Recorded | None
    after: Recorded | None

    @property
    def either(self) -> Recorded:
        """The estimate after, or before where there is none after."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def growth(self) -> float | None:
        """The change of the time as a share of the time before; None where it has no partner."""
        if self.before is None or self.after is None or not self.before.time_s:
            return None
        return self.after.time_s / self.before.time_s - 1.0

    def causes(self, most: int = 3) -> tuple[tuple[str, float], ...]:
        """The parts whose seconds changed most, in the direction of the whole change first."""
        if self.before is None or self.after is None:
            return ()
        old, new = self.before.parts, self.after.parts
        changes = {name: new.get(name, 0.0) - old.get(name, 0.0) for name in {**old, **new}}
        least = 0.01 * max(self.before.time_s, self.after.time_s)
        ordered = sorted(changes.items(), key=lambda item: -abs(item[1]))
        return tuple(item for item in ordered[:most] if abs(item[1]) >= least)


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Tabular):
    """All pairs, in the order of the file of after, then what only that of before has."""

    pairs: tuple[Pair, ...]

    @property
    def label(self) -> str:
        """How many pairs."""
        return f"comparison of {len(self.pairs)} estimates"

    def table(self) -> Table:
        """The times of each pair, and the change."""
        rows = (
            (
                *pair.either.key,
                "" if pair.before is None else format_seconds(pair.before.time_s),
                "" if pair.after is None else format_seconds(pair.after.time_s),
                "" if pair.growth is None else f"{pair.growth:+.1%}",
            )
            for pair in self.pairs
        )
        return ("kernel", "device", "model", ">before", ">after", ">change"), rows

    def over(self, limit: float, devices: Sequence[str] = ()) -> tuple[Pair, ...]:
        """The pairs whose time grew by more than `limit`, a share, or that are gone.

        Of those devices only, where any are named; KernelcastError where no pair is of one.
        """
        known = {pair.either.device for pair in self.pairs}
        for name in devices:
            if name not in known:
                raise KernelcastError(f"no estimate of {name!r}{nearest(name, known)}")
        return tuple(
            pair
            for pair in self.pairs
            if (not devices or pair.either.device in devices) and _is_over(pair, limit)
        )


def _is_over(pair: Pair, limit: float) -> bool:
    if pair.after is None:
        return True
    return pair.growth is not None and pair.growth > limit


def compared(before: Iterable[Recorded], after: Iterable[Recorded]) -> Comparison:
    """Each estimate beside that of the same kernel, device and model."""
    old = {item.key: item for item in before}
    new = {item.key: item for item in after}
    pairs = [Pair(old.get(key), item) for key, item in new.items()]
    pairs += [Pair(item, None) for key, item in old.items() if key not in new]
    return Comparison(tuple(pairs))
