"""Every planted bug is found with the right kind, and the right forms are clean."""

from __future__ import annotations

import pytest

from tests.drawn_cases import drawn
from tests.kernelcast.checking.planted_kernels import Planted, checked, planted_kernels

KERNELS = tuple(planted_kernels())


def test_the_suite_is_as_large_as_it_should_be() -> None:
    right = [kernel for kernel in KERNELS if not kernel.kind]
    assert len(KERNELS) - len(right) >= 150
    assert len(right) >= 30
    assert len({kernel.name for kernel in KERNELS}) == len(KERNELS)


@pytest.mark.parametrize("kernel", drawn(KERNELS, 40), ids=lambda kernel: kernel.name)
def test_planted_bugs_are_found_and_right_forms_are_clean(kernel: Planted) -> None:
    report = checked(kernel)
    kinds = {finding.kind.value for finding in report.findings}
    if kernel.kind:
        assert kernel.kind in kinds
    else:
        assert report.is_clean, report.findings


RACING = [kernel for kernel in KERNELS if kernel.kind == "race" and kernel.schedules == 1]


@pytest.mark.parametrize("kernel", drawn(RACING, 8), ids=lambda kernel: kernel.name)
def test_a_race_is_found_whichever_warp_goes_first(kernel: Planted) -> None:
    """Happens-before of the executed schedule; the order of warps alone hides nothing."""
    from dataclasses import replace

    report = checked(replace(kernel, schedules=3))
    assert report.schedules == ("in order", "reversed", "random 1")
    assert "race" in {finding.kind.value for finding in report.findings}
