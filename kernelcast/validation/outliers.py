"""Errors beyond 25 %, each with the numbered deviation that explains it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kernelcast.errors import KernelcastError
from kernelcast.validation.comparison import TimeComparison
from kernelcast.workload.toml_table import TomlTable, read_toml

__all__ = ["EXPLANATIONS", "Explanation", "explain", "read_explanations"]

_ROOT = Path(__file__).resolve().parents[2]
EXPLANATIONS = _ROOT / "validation" / "outliers.toml"
_DEVIATIONS = _ROOT / "docs" / "deviations.md"
_NUMBERED_HEADING = re.compile(r"^### ([A-Z]+\d+): ", re.MULTILINE)
_ANY = "*"


@dataclass(frozen=True, slots=True)
class Explanation:
    """The deviation that explains a kernel's errors by one model, on one or all (`*`) devices.

    A kernel that ends with ` *` stands for all its sizes.
    """

    suite: str
    kernel: str
    device: str
    model: str
    deviation: str

    def covers(self, suite: str, point: TimeComparison) -> bool:
        """Whether the explanation is for that comparison."""
        kernels = (point.kernel, f"{point.kernel.split()[0]} {_ANY}")
        return (
            (self.suite, self.model) == (suite, point.model)
            and self.kernel in kernels
            and self.device in (_ANY, point.device)
        )


def read_explanations(
    file: Path = EXPLANATIONS, deviations: Path = _DEVIATIONS
) -> tuple[Explanation, ...]:
    """Reads the explanations; KernelcastError for one without a numbered deviation."""
    numbers = set(_NUMBERED_HEADING.findall(deviations.read_text(encoding="utf-8")))
    return tuple(_read(table, numbers, deviations) for table in read_toml(file).tables("outlier"))


def _read(table: TomlTable, numbers: set[str], deviations: Path) -> Explanation:
    table.allow("suite", "kernel", "device", "model", "deviation")
    found = Explanation(
        *(table.text(key) for key in ("suite", "kernel", "device", "model", "deviation"))
    )
    if found.deviation not in numbers:
        raise KernelcastError(
            f"{table.where('deviation')}: {deviations.name} has no deviation {found.deviation}"
        )
    return found


def explain(
    suite: str, outliers: Iterable[TimeComparison], explanations: Iterable[Explanation]
) -> dict[TimeComparison, str]:
    """The deviation's number of each outlier; an empty text where there is none."""
    known = list(explanations)
    return {
        point: next((item.deviation for item in known if item.covers(suite, point)), "")
        for point in outliers
    }
