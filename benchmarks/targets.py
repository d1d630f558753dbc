"""Measured values beside what they should be."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from timing import table

__all__ = ["Target", "target_table"]


@dataclass(frozen=True, slots=True)
class Target:
    """`value` should be at most `limit`, or at least, with `at_least`; `unit` is "s" or "x".

    A value of None could not be measured; a limit of None asks for nothing.
    """

    name: str
    value: float | None
    limit: float | None
    unit: str = "x"
    at_least: bool = False

    @property
    def is_met(self) -> bool | None:
        """None without a value or a limit."""
        if self.value is None or self.limit is None:
            return None
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    @property
    def verdict(self) -> str:
        """Whether the target is met, in words; empty without a limit."""
        if self.value is None:
            return "not measured"
        return {None: "", True: "met", False: "missed"}[self.is_met]

    def record(self) -> dict[str, Any]:
        """The target and whether it is met, as a record."""
        return asdict(self) | {"met": self.is_met}


def target_table(targets: list[Target]) -> str:
    """Targets with their values, limits and verdicts as a table."""
    rows = []
    for target in targets:
        sign = ">=" if target.at_least else "<="
        rows.append(
            (
                target.name,
                "" if target.value is None else f"{target.value:.3g} {target.unit}",
                "" if target.limit is None else f"{sign} {target.limit:g} {target.unit}",
                target.verdict,
            )
        )
    return table(("", "measured", "target", ""), rows)
