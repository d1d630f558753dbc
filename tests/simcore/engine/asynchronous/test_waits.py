"""Reading what an asynchronous copy brings before anybody waited for it is an error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import MemoryAccessError
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from tests.simcore.engine.asynchronous.missing_waits import (
    BULK,
    LOOK,
    MESSAGE,
    NOT_WAITED,
    READ,
    READ_OTHER,
    SHARED,
    START,
    WAITED,
)

Compile = Callable[..., Kernel]
Words = npt.NDArray[np.uint32]


def run(compile_ptx: Compile, body: str) -> tuple[Words, Words]:
    given, found = np.arange(256, dtype=np.uint32) + 1, np.zeros(64, np.uint32)
    kernel = compile_ptx(START + body, "u64 from, u64 to", SHARED)
    execute(kernel, Launch((1, 1, 1), (64, 1, 1), (given, found)), engine="reference")
    return given, found


@pytest.mark.parametrize("name", sorted(WAITED))
def test_who_waited_may_read(compile_ptx: Compile, name: str) -> None:
    given, found = run(compile_ptx, WAITED[name])
    if name != "another place":
        assert (found == given[::4]).all()


@pytest.mark.parametrize("name", sorted(NOT_WAITED))
def test_who_did_not_may_not(compile_ptx: Compile, name: str) -> None:
    thread = r"thread \(1, 0, 0\)" if name == "another's wait" else r"thread \(0, 0, 0\)"
    with pytest.raises(MemoryAccessError, match=f"(?s){MESSAGE}.*{thread}"):
        run(compile_ptx, NOT_WAITED[name])


def test_phases_one_after_the_other(compile_ptx: Compile) -> None:
    """Two copies through one mbarrier: the second one is not there when the first one is."""
    twice = f"""{BULK} {LOOK} bar.sync 0; {BULK.replace("[%r2]", "[%r2+1024]")}"""
    second = LOOK.replace("W:", "X:").replace("bra W", "bra X").replace("], 0;", "], 1;")
    _, found = run(compile_ptx, f"{twice} {second} {READ_OTHER}")
    assert found.any()
    with pytest.raises(MemoryAccessError, match=MESSAGE):
        run(compile_ptx, f"{twice} {READ_OTHER}")
    run(compile_ptx, f"{twice} {READ}")
