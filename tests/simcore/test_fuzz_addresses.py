"""Kernels whose addresses wrap around stay within their memory; both engines agree on them."""

from __future__ import annotations

import importlib
import random
import re
from collections import Counter
from typing import Any

import pytest

KERNELS = 80


@pytest.fixture(scope="module")
def fuzz() -> Any:
    return importlib.import_module("tests.simcore.fuzz_addresses")


@pytest.mark.parametrize("seed", [2, 5, 8])
def test_wild_addresses_stay_within_memory(fuzz: Any, seed: int) -> None:
    assert fuzz.run_child(seed, seed + 1, KERNELS) == ""


def test_the_fuzzer_sees_what_is_written_outside(
    fuzz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checks that let everything pass would go unnoticed otherwise."""
    released = fuzz.GuardedMemory.release
    clean = Counter[bool]()

    def release(memory: Any) -> bool:
        piece = memory._used[0]
        piece._room[piece._first - 1] ^= 1  # before it, or where it begins at a page, far behind
        found = bool(released(memory))
        clean[found] += 1
        return found

    monkeypatch.setattr(fuzz.GuardedMemory, "release", release)
    found = list(fuzz.run(1, 4))
    assert found
    assert "written outside" in found[0]
    assert not clean[True]


def test_programs_reach_all_kinds_of_memory(fuzz: Any) -> None:
    text = "".join(fuzz.ptx_module(random.Random(seed), 8)[0] for seed in range(20))
    for part in ("ld.const", "st.shared", "atom.shared", "red.add", "ld.local", "st.u", "ld.v4"):
        assert part in text
    offsets = [int(offset) for offset in re.findall(r"[+-][0-9]+(?=\])", text)]
    assert min(offsets) < -(1 << 60)
    assert max(offsets) > 1 << 60
    text = "".join(fuzz.ir_module(random.Random(seed), 8)[0] for seed in range(20))
    for part in ("addrspacecast", "atomicrmw", "load i64, ptr addrspace(3)", "store i8 90"):
        assert part in text
