"""What a census of compiled kernels met lowers, or stands on a list with its reason."""

from __future__ import annotations

import pytest

from kernelcast.ptx_frontend.sass.lowering.families import SASS_OPCODES
from tests.drawn_cases import ALL_CASES
from tests.ptx_frontend.sass import census
from tests.ptx_frontend.sass.native_programs import needs_tools

STATEMENTS = ("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a")
FORMS = ("75", "80", "86", "89", "90", "90a", "100", "100a", "120")
REFUSED_STATEMENTS = census.listed_refusals("statements")
REFUSED_FORMS = census.listed_refusals("forms")


def test_opcodes_that_cover_nearly_all_kernels_lower() -> None:
    assert census.uncovered(SASS_OPCODES) == set()


@pytest.mark.drawn(1)
@pytest.mark.parametrize("architecture", STATEMENTS)
def test_every_statement_lowers_or_is_listed(architecture: str) -> None:
    needs_tools(architecture)
    reasons = census.statement_reasons(architecture)
    assert len(reasons) > 300
    unknown = {what: why for what, why in reasons.items() if why and what not in REFUSED_STATEMENTS}
    assert not unknown


@pytest.mark.drawn(1)
@pytest.mark.parametrize("architecture", FORMS)
def test_every_form_lowers_or_is_listed(architecture: str) -> None:
    reasons = census.form_reasons(architecture)
    assert len(reasons) > 200
    unknown = {what: why for what, why in reasons.items() if why and what not in REFUSED_FORMS}
    assert not unknown


def test_lists_have_reasons() -> None:
    assert all((REFUSED_STATEMENTS | REFUSED_FORMS).values())


if ALL_CASES:  # all architectures are asked: make test-all

    def test_lists_have_nothing_that_lowers() -> None:
        """An entry that lowers everywhere is taken off the list."""
        refused = {what for name in FORMS for what, why in census.form_reasons(name).items() if why}
        assert set(REFUSED_FORMS) <= refused
