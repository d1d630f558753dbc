"""Damaged cubins, listings and fat binaries end in kernels or refusals; the harness sees others."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from kernelcast.errors import KernelcastError
from kernelcast.ptx_frontend.sass.container.cubin import read_cubin
from kernelcast.ptx_frontend.sass.lowering.module import lower_cubin
from kernelcast.ptx_frontend.sass.text.statements import read_listing
from tests.drawn_cases import ALL_CASES
from tests.ptx_frontend.sass import fuzz_cubins as fuzz
from tests.ptx_frontend.sass.native_programs import needs_tools

DAMAGED = 200 if ALL_CASES else 60


def test_damaged_cubins_are_read_or_refused() -> None:
    needs_tools()
    kinds = Counter(fuzz.KINDS)
    for kind, times in kinds.items():
        for number in range(times * DAMAGED // len(fuzz.KINDS)):
            escape = fuzz.escape_of(kind, 1000 + number)
            assert escape is None, escape


def test_damaged_cubins_are_disassembled_or_refused() -> None:
    needs_tools()
    for number in range(6):
        escape = fuzz.escape_of(fuzz.DISASSEMBLED, number)
        assert escape is None, escape


def test_the_harness_reaches_kernels_and_refusals() -> None:
    """A harness whose files all fail at their headers would find nothing."""
    needs_tools()
    ends: Counter[str] = Counter()
    for number in range(30):
        for kind in ("file", "listing"):
            try:
                module = fuzz.damaged_module(kind, number)
            except KernelcastError:
                ends["refused file"] += 1
            else:
                ends["kernel"] += bool(module.kernels)
                ends["refused kernel"] += bool(module.rejected)
    assert min(ends["refused file"], ends["kernel"], ends["refused kernel"]) > 2, ends


def test_an_escape_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_tools()

    def broken(*_: object) -> None:
        raise KeyError("broken")

    fuzz.seeds()
    monkeypatch.setattr(fuzz, "read_listing", broken)
    escape = fuzz.escape_of("listing", 1)
    assert escape is not None
    assert "KeyError: 'broken'" in escape.reason


def test_a_huge_listing_takes_linear_time() -> None:
    """Ten times the lines take about ten times as long, and no more than a limit allows."""
    needs_tools()
    seed = fuzz.seeds()[0]
    cubin = read_cubin(seed.content, "k.cubin")
    codes = {name: function.code for name, function in cubin.functions.items()}
    comments = "        // a line that says nothing of any instruction, as long as one that does\n"
    seconds = []
    for size in (20_000, 200_000):
        start = time.process_time()
        listing = read_listing(comments * size + seed.listing, codes, "k.cubin")
        seconds.append(time.process_time() - start)
        assert lower_cubin(cubin, listing).kernels
    assert seconds[1] < 40 * seconds[0] + 1
