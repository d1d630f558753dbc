"""Random kernels do the same on every engine: counts, masks, accesses and memory, bit for bit.

The kernels are free of races, so that nothing but the warp width may change what they record.
"""

from __future__ import annotations

import runpy
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.traces.trace import Trace
from tests.simcore.random_kernels import BUFFERS, GRAMMAR, SHAPES, KernelMaker, random_buffers

comparison: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[1] / "trace_comparison.py"))
)
OTHERS = sorted(set(ENGINES) - {"reference"})


def _kernel(text: str) -> Kernel:
    module = read_ptx(text, "random.ptx")
    for reasons in module.rejected.values():
        raise reasons[0]
    return module.kernels["k"]


def _run(
    kernel: Kernel, shape: int, width: int, engine: str
) -> tuple[Trace, list[npt.NDArray[np.uint8]]]:
    """The trace and the contents of all buffers after the run."""
    buffers = random_buffers()
    launch = Launch(*SHAPES[shape], (*buffers, 9, 3))
    return execute(kernel, launch, warp_width=width, engine=engine), buffers


_RANDOM = st.randoms(use_true_random=False)
_SHAPES = st.integers(0, len(SHAPES) - 1)
_QUICK = settings(
    max_examples=8,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.large_base_example,
    ],
)


def _random_kernel(random: Random, *, knows_lanes: bool = True, exchanges: bool = True) -> Kernel:
    text = KernelMaker(random, knows_lanes=knows_lanes, exchanges=exchanges).text()
    note(text)
    return _kernel(text)


@pytest.mark.parametrize("engine", OTHERS)
@_QUICK
@given(random=_RANDOM, shape=_SHAPES, width=st.sampled_from((8, 16, 32, 64)))
def test_engines_do_the_same(engine: str, random: Random, shape: int, width: int) -> None:
    kernel = _random_kernel(random, exchanges=width >= 32)
    expected, memory = _run(kernel, shape, width, "reference")
    found, other_memory = _run(kernel, shape, width, engine)
    for name, one, other in zip(BUFFERS, memory, other_memory, strict=True):
        np.testing.assert_array_equal(other, one, f"buffer {name} differs")
    comparison.assert_same_trace(expected, found)


@pytest.mark.parametrize("engine", sorted(ENGINES))
@_QUICK
@given(random=_RANDOM, shape=_SHAPES)
def test_the_warp_width_changes_no_result(engine: str, random: Random, shape: int) -> None:
    """Threads execute as many instructions, too; wide warps issue less, never more."""
    kernel = _random_kernel(random, knows_lanes=False)
    narrow, memory = _run(kernel, shape, 8, engine)
    wide, other_memory = _run(kernel, shape, 64, engine)
    for name, one, other in zip(BUFFERS, memory, other_memory, strict=True):
        np.testing.assert_array_equal(other, one, f"buffer {name} differs")
    narrow_counts, wide_counts = map(comparison.by_thread_block, (narrow, wide))
    np.testing.assert_array_equal(narrow_counts["lane executions"], wide_counts["lane executions"])
    assert (narrow_counts["warp issues"] >= wide_counts["warp issues"]).all()


def test_random_kernels_contain_everything() -> None:
    """Every statement, divergence in most kernels, several barrier stages and every space."""
    made: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for seed in range(60):
        maker = KernelMaker(Random(seed))
        kernel = _kernel(maker.text())
        made += maker.made
        trace, _ = _run(kernel, seed % len(SHAPES), 32, "reference")
        rows = trace.instructions
        seen.update({row.space for row in rows} | {row.kind for row in rows})
        seen["stages"] += len(trace.stage_warp_issues) > 2
        seen["divergence"] += bool(
            (trace.patterns.mask != trace.patterns.mask.max(initial=0)).any()
        )
    structures = {
        "branch",
        "loop",
        "uniform branch",
        "uniform loop",
        "tangle",
        "exchange",
        "return",
    }
    assert structures | set(GRAMMAR["simple"]) | set(GRAMMAR["needs_set_up"]) <= set(made)
    assert {"global", "shared", "local", "const", "generic", "atomic", "barrier"} <= set(seen)
    assert seen["stages"] > 5
    assert seen["divergence"] > 20


def test_a_comparison_finds_what_differs() -> None:
    """One warp issue more, another address, another mask: each is seen."""
    trace, _ = _run(_kernel(KernelMaker(Random(1)).text()), 1, 32, "reference")
    address = trace.accesses.address.copy()
    address[-1] += 4
    wrong = (
        (replace(trace, warp_time=trace.warp_time + 1), "warp times"),
        (replace(trace, accesses=replace(trace.accesses, address=address)), "accesses"),
        (
            replace(
                trace, patterns=replace(trace.patterns, mask=trace.patterns.mask ^ np.uint64(1))
            ),
            "lacks",
        ),
        (replace(trace, warp_width=16), "warp_width"),
    )
    comparison.assert_same_trace(trace, replace(trace, engine="other", elapsed_s=0.0))
    for other, what in wrong:
        with pytest.raises(AssertionError, match=what):
            comparison.assert_same_trace(trace, other)
