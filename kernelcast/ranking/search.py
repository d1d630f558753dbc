"""Which variants of a launch are estimated: those that a few of their thread blocks find fast.

`kc.tune` and `kc.tune_workload` search so. All are put in order by sketches of them; the model
estimates the first, and goes on as long as patience with slower ones lasts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, Protocol, TypeVar

from kernelcast.errors import KernelcastError

__all__ = ["Outcomes", "Search", "Timed"]


class Timed(Protocol):
    """Something with a predicted time."""

    @property
    def time_s(self) -> float:
        """The predicted time of one launch."""


Found = TypeVar("Found", bound=Timed)
Outcomes = Callable[[Sequence[int], bool], Iterable[Found | KernelcastError]]
"""What is predicted of variants with these numbers, or why not: by sketches where that is true."""


class Search(Generic[Found]):
    """Variants, by their numbers, on their way from a sketch to an estimate.

    `quick` is what sketches tell, `found` what the model does, `errors` why others cannot be
    launched. With `patience` the model goes on after so many in a row that were no faster.
    """

    def __init__(
        self, count: int, outcomes: Outcomes[Found], *, patience: int, sketches: bool
    ) -> None:
        self._numbers = range(count)
        self._outcomes = outcomes
        self._patience = patience
        self.quick: dict[int, Found] = {}
        self.found: dict[int, Found] = {}
        self.errors: dict[int, KernelcastError] = {}
        self._search(sketches=sketches and count > patience + 1)

    @property
    def ranked(self) -> list[int]:
        """The variants that the model estimated, fastest first."""
        return sorted(self.found, key=lambda number: self.found[number].time_s)

    @property
    def passed_over(self) -> list[int]:
        """The variants that it did not estimate, in the order of their sketches."""
        return [n for n in self._order() if n not in self.found and n not in self.errors]

    def _search(self, *, sketches: bool) -> None:
        if sketches:
            for number, outcome in self._predicted(self._numbers, sketches=True):
                if not isinstance(outcome, KernelcastError):
                    self.quick[number] = outcome
        # first come those that cannot be sketched, or not be launched
        self._estimate([number for number in self._numbers if number not in self.quick])
        self._estimate_while_faster(self._order())

    def _order(self) -> list[int]:
        return sorted(self.quick, key=lambda number: self.quick[number].time_s)

    def _estimate(self, numbers: Sequence[int]) -> None:
        for number, outcome in self._predicted(numbers, sketches=False):
            if isinstance(outcome, KernelcastError):
                self.errors[number] = outcome
            else:
                self.found[number] = outcome

    def _estimate_while_faster(self, order: Sequence[int]) -> None:
        """Estimates in that order until patience has run out, no more at once than are needed."""
        fastest_s = min((item.time_s for item in self.found.values()), default=math.inf)
        at, in_vain = 0, -1
        while at < len(order) and (fastest_s == math.inf or in_vain < self._patience):
            chosen = order[at : at + max(1, self._patience - in_vain)]
            self._estimate(chosen)
            for number in chosen:
                time_s = self.found[number].time_s if number in self.found else math.inf
                in_vain = 0 if time_s < fastest_s else in_vain + 1
                fastest_s = min(fastest_s, time_s)
            at += len(chosen)

    def _predicted(
        self, numbers: Sequence[int], *, sketches: bool
    ) -> Iterable[tuple[int, Found | KernelcastError]]:
        return zip(numbers, self._outcomes(numbers, sketches), strict=False)
