"""Pytest fixtures: `kernelcast_budget` and `kernelcast_check`.

A test fails when a kernel gets slower on a GPU, or when a launch races or does other wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kernelcast.checking.check import CheckReport
    from kernelcast.models.estimate import Estimate

__all__ = ["kernelcast_budget", "kernelcast_check"]


@pytest.fixture
def kernelcast_check() -> Callable[..., CheckReport]:
    """A function that takes what `kc.check` takes and fails the test where a launch is not clean.

    It returns the report.
    """
    return _checked


def _checked(*checked: Any, **options: Any) -> CheckReport:
    __tracebackhide__ = True
    import kernelcast as kc
    from kernelcast.report.checks.text import check_text

    report = kc.check(*checked, **options)
    if not report.is_clean:
        pytest.fail(check_text(report), pytrace=False)
    return report


@pytest.fixture
def kernelcast_budget() -> Callable[..., Estimate]:
    """A function that estimates a workload and fails the test where it takes too long.

    `kernelcast_budget("saxpy.toml", "h100-sxm", at_most_s=70e-6)` has a limit in seconds, of all
    launches together; `baseline="saxpy.json"` in its place, a file of `kernelcast estimate --json`,
    has the time of that device there, which may grow by `growth`, 0.05 for 5 %. `size`, `code` and
    `model` are as on the command line. It returns the estimate.
    """
    return _within_budget


def _within_budget(
    workload: str | Path,
    device: str,
    *,
    at_most_s: float | None = None,
    baseline: str | Path | None = None,
    growth: float = 0.05,
    **options: Any,
) -> Estimate:
    __tracebackhide__ = True
    found = _estimated(workload, device, **options)
    limit, where = _limit(found, at_most_s, baseline, growth)
    if found.time_s > limit:
        from kernelcast.units import format_seconds

        lines = "\n".join((found.headline, *found.breakdown(formulas=False)))
        pytest.fail(
            f"over its budget of {format_seconds(limit)} ({where}):\n{lines}", pytrace=False
        )
    return found


def _estimated(
    workload: str | Path,
    device: str,
    *,
    size: str | None = None,
    code: str | None = None,
    model: str | None = None,
) -> Estimate:
    import kernelcast as kc

    target = kc.device(device)
    trace = kc.load_workload(workload).run(size, devices=[target], code=code)
    return kc.estimate(trace.profile(target), model, target)


def _limit(
    found: Estimate, at_most_s: float | None, baseline: str | Path | None, growth: float
) -> tuple[float, str]:
    """The budget in seconds, and where it comes from."""
    from kernelcast.comparison.records import read_records
    from kernelcast.errors import KernelcastError

    if (at_most_s is None) == (baseline is None):
        raise KernelcastError("a budget is either at_most_s or a baseline")
    if at_most_s is not None:
        return at_most_s, "at_most_s"
    path = Path(str(baseline))
    key = found.kernel, found.device, found.model
    for item in read_records(path):
        if item.key == key:
            return (1 + growth) * item.time_s, f"{path.name} and {growth:.1%}"
    raise KernelcastError(f"{path}: no estimate of {' '.join(key)}")
