"""Measured values beside what they should be."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from timing import table

__all__ = ["Target", "target_table"]


@dataclass(frozen=True, slots=True)
class Target:
    """`value` should be at most `limit`, or at least, with `at_least`; `unit` is "s" or "x"."""

    name: str
    value: float
    limit: float
    unit: str = "x"
    at_least: bool = False

    @property
    def is_met(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def record(self) -> dict[str, Any]:
        return asdict(self) | {"met": self.is_met}


def target_table(targets: list[Target]) -> str:
    rows = []
    for target in targets:
        sign = ">=" if target.at_least else "<="
        rows.append(
            (
                target.name,
                f"{target.value:.3g} {target.unit}",
                f"{sign} {target.limit:g} {target.unit}",
                "met" if target.is_met else "missed",
            )
        )
    return table(("", "measured", "target", ""), rows)
