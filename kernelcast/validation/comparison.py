"""What is predicted beside what was measured: times, and counters."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.models.estimate import Estimate

__all__ = ["CounterComparison", "TimeComparison"]


@dataclass(frozen=True, slots=True)
class TimeComparison:
    """One predicted time, with the model's interval, and the measured one; seconds.

    `source` says where the measured time is from, `published_s` what the source itself predicted.
    `is_calibration`: the device file was fitted on this very point.
    """

    kernel: str
    device: str
    model: str
    predicted_s: float
    low_s: float
    high_s: float
    measured_s: float
    source: str
    published_s: float | None = None
    is_calibration: bool = False

    @classmethod
    def of(
        cls,
        kernel: str,
        found: Estimate,
        measured_s: float,
        source: str,
        *,
        published_s: float | None = None,
        is_calibration: bool = False,
    ) -> TimeComparison:
        """An estimate beside the time that was measured on its device."""
        return cls(
            kernel=kernel,
            device=found.device,
            model=found.model,
            predicted_s=found.time_s,
            low_s=found.time_low_s,
            high_s=found.time_high_s,
            measured_s=measured_s,
            source=source,
            published_s=published_s,
            is_calibration=is_calibration,
        )

    @property
    def error(self) -> float:
        """(predicted - measured) / measured, Konstantinidis 2017, eq 5.12."""
        return self.predicted_s / self.measured_s - 1

    @property
    def published_error(self) -> float | None:
        """The relative error of the published prediction; None where there is none."""
        return None if self.published_s is None else self.published_s / self.measured_s - 1

    @property
    def difference_from_published(self) -> float | None:
        """The relative difference from the published prediction; None where there is none."""
        return None if self.published_s is None else self.predicted_s / self.published_s - 1

    @property
    def ratio(self) -> float:
        """How many times too long or too short, at least 1."""
        return max(self.predicted_s / self.measured_s, self.measured_s / self.predicted_s)

    @property
    def is_in_interval(self) -> bool:
        """Whether the measured time is in the model's interval."""
        return self.low_s <= self.measured_s <= self.high_s


@dataclass(frozen=True, slots=True)
class CounterComparison:
    """One simulated counter and the profiler's; `lowest` and `highest` are relative tolerances.

    A tolerance of None asks for nothing: the figure is shown.
    """

    kernel: str
    device: str
    metric: str
    simulated: float
    measured: float
    source: str
    lowest: float | None = None
    highest: float | None = None
    is_calibration: bool = False

    @property
    def error(self) -> float:
        """The relative error of the simulated counter."""
        return self.simulated / self.measured - 1 if self.measured else float(self.simulated != 0)

    @property
    def is_within_tolerance(self) -> bool:
        """Whether the error is between the tolerances; true where there are none."""
        if self.lowest is None or self.highest is None:
            return True
        return self.lowest - 1e-12 <= self.error <= self.highest + 1e-12
