"""Machine code that reads what LDGSTS or UBLKCP brings before a wait is an error, as with PTX."""

from __future__ import annotations

import numpy as np
import pytest

from kernelcast.errors import MemoryAccessError
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Fence, Load
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.native_programs import machine_kernel
from tests.simcore.engine.asynchronous.missing_waits import (
    COPY,
    MESSAGE,
    NOT_WAITED,
    SHARED,
    START,
    WAITED,
)

ARCHITECTURES = ("sm_80", "sm_90")
_PTX = f"""
.version 8.0
.target TARGET
.address_size 64
{SHARED}
.visible .entry k(.param .u64 from, .param .u64 to) {{
.reg .pred %p<10>; .reg .b32 %r<40>; .reg .b64 %rd<20>;
{START}
BODY
}}
"""
_ZFILL = COPY.replace(", 16;", ", 16, %r1;")
"""A copy of so many bytes as a register says, with zeros behind them."""


def _text(body: str, architecture: str) -> str:
    """The kernel; only Hopper has `try_wait`."""
    look = "try_wait" if architecture == "sm_90" else "test_wait"
    body = body.replace("try_wait", look)
    return _PTX.replace("TARGET", architecture).replace("BODY", body)


def _run(body: str, architecture: str) -> np.ndarray:
    given, found = np.arange(256, dtype=np.uint32) + 1, np.zeros(64, np.uint32)
    kernel = machine_kernel(_text(body, architecture), architecture)
    execute(kernel, Launch((1, 1, 1), (64, 1, 1), (given, found)), engine="reference")
    return found


def _runs_on(name: str, architecture: str) -> bool:
    return architecture == "sm_90" or not name.startswith("bulk")


@pytest.mark.drawn(1)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_who_waited_may_read(architecture: str) -> None:
    for name, body in WAITED.items():
        if _runs_on(name, architecture):
            found = _run(body, architecture)
            assert name == "another place" or (found == np.arange(64) * 4 + 1).all(), name


@pytest.mark.drawn(1)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_who_did_not_may_not(architecture: str) -> None:
    for name, body in NOT_WAITED.items():
        if _runs_on(name, architecture):
            with pytest.raises(MemoryAccessError, match=MESSAGE):
                _run(body, architecture)


def test_a_partial_copy_has_to_be_waited_for() -> None:
    body = NOT_WAITED["nothing"].replace(COPY, _ZFILL.replace("%r1", "%r6"))
    count = "and.b32 %r6, %r1, 15;"
    with pytest.raises(MemoryAccessError, match=MESSAGE):
        _run(count + body, "sm_80")
    waited = WAITED["group"].replace(COPY, _ZFILL.replace("%r1", "%r6"))
    found = _run(count + waited, "sm_80")
    first = np.arange(64) % 16
    whole = np.arange(64, dtype=np.uint64) * 4 + 1
    kept = (np.uint64(1) << np.minimum(first, 4).astype(np.uint64) * np.uint64(8)) - np.uint64(1)
    assert (found == (whole & kept)).all()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_copies_and_groups_have_names_that_the_check_knows(architecture: str) -> None:
    kernel = machine_kernel(_text(WAITED["first of two"], architecture), architecture)
    copies = [i for i in kernel.instructions if isinstance(i, Load) and "LDGSTS" in i.mnemonic]
    groups = [i.groups_left for i in kernel.instructions if isinstance(i, Fence)]
    assert len(copies) == 2
    assert 1 in groups
