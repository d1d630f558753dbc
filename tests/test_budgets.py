"""Times of three examples against those at the last change of the rules: an alarm, no oracle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
BUDGETS = ROOT / "validation" / "budgets.json"


@pytest.mark.parametrize("example", ["sor/sor", "sgemm/sgemm32", "reduction/reduction"])
def test_examples_are_as_fast_as_they_were(
    kernelcast_budget: Callable[..., Any], example: str
) -> None:
    """`make budgets` makes the file anew, where a rule has changed for a reason."""
    file = ROOT / "examples" / f"{example}.toml"
    kernelcast_budget(file, "h100-sxm", baseline=BUDGETS, code="source")
