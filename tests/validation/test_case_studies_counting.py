"""What the case studies of Zhang and Owens (HPCA 2011) count, from our own kernels.

Rows of `data/zhang_owens_*.csv` are printed in the paper or, where `basis` says so, derived.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.simcore.device.device import CoalescingRule, SegmentFacts, SharedMemoryFacts
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.launch.launch import Limits
from kernelcast.simcore.memory.hierarchy import TrafficResult
from kernelcast.simcore.memory.simulated_memory import simulate_memory
from kernelcast.simcore.profile.occupancy import occupancy
from kernelcast.simcore.profile.profile import LaunchShape
from kernelcast.traces.trace import Trace
from kernelcast.validation.zhang_owens.reduction import conflict_series
from kernelcast.validation.zhang_owens.sparse import (
    EntryBytes,
    entry_bytes,
    gpu_with_segments,
    gpu_with_textures,
    sparse_trace,
    texture_vector_bytes,
)
from kernelcast.workload.file import load_workload

DATA = Path(__file__).parent / "data"
WORKLOADS = Path(__file__).parents[2] / "validation" / "workloads"
GTX_285 = load_device("gtx-285")
FIXED, SHRINKING = CoalescingRule.FIXED_SEGMENTS, CoalescingRule.SEGMENTS
STEPS = 9


def rows_of(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(newline="") as file:
        return list(csv.DictReader(file))


PAPER = {row["id"]: row["value"] for row in rows_of("zhang_owens_case_studies.csv")}
SERIES = rows_of("zhang_owens_conflict_series.csv")


@cache
def executed(kernel: str, size: str) -> Trace:
    return load_workload(WORKLOADS / f"{kernel}.toml").run(size).data


@cache
def traffic(kernel: str, size: str, rule: CoalescingRule, smallest: int) -> TrafficResult:
    device = replace(GTX_285, coalescing=rule, segments=SegmentFacts(16, smallest))
    return simulate_memory(executed(kernel, size), device, 8).traffic


# ---- matrix multiply ----


def matmul_bytes(order: int, side: int) -> int:
    """A once for each tile of C across, B once for each down, C written once."""
    return 4 * order * order * (order // side + order // 64 + 1)


@pytest.mark.drawn(2)
@pytest.mark.parametrize("side", [8, 16, 32])
def test_matmul_moves_what_its_tiles_need(side: int) -> None:
    found = traffic(f"zhang_owens/matmul_{side}", "small", SHRINKING, 32)
    transactions = found.dram_read_transactions + found.dram_write_transactions
    assert transactions * found.transaction_bytes == matmul_bytes(192, side)


@pytest.mark.parametrize(("larger", "smaller"), [(16, 8), (32, 16)])
def test_matmul_transactions_fall_with_the_sub_matrix(larger: int, smaller: int) -> None:
    """Transactions in units of 64 bytes, at the paper's size, fall by 44.1 and 39.5 %."""
    fall = 100 * (1 - matmul_bytes(1024, larger) / matmul_bytes(1024, smaller))
    printed = float(PAPER[f"matmul_gmem_trans_reduction_{smaller}_to_{larger}"])
    assert fall == pytest.approx(printed, abs=2)


@pytest.mark.parametrize("side", [8, 16, 32])
def test_matmul_multiplies_and_adds_once_for_each_product(side: int) -> None:
    trace = executed(f"zhang_owens/matmul_{side}", "small")
    warps = trace.classes.totals()[0]
    found = sum(int(warps[row.pc]) for row in trace.instructions if row.opcode.startswith("fma"))
    assert found == 192**3 // 32


# ---- cyclic reduction ----


def words_of(kernel: str, access: str, step: int) -> list[int]:
    """Words of one array that the active threads touch: the kernel's indices once more."""
    stride = 2 ** (step - 1)
    own = [2 * stride * (thread + 1) - 1 for thread in range(256 // stride)]
    moved = {"own": own, "left": [i - stride for i in own]}
    moved["right"] = [min(i + stride, 511) for i in own]
    is_padded = kernel.endswith("padded")
    return [i + i // 16 if is_padded else i for i in moved[access]]


def half_warp_passes(words: list[int], banks: int) -> int:
    halves = (words[first : first + 16] for first in range(0, len(words), 16))
    return sum(max(Counter(word % banks for word in half).values()) for half in halves)


@pytest.mark.parametrize("row", SERIES, ids=lambda row: f"{row['kernel']}-{row['banks']}")
def test_the_series_follow_from_the_indices(row: dict[str, str]) -> None:
    for access in row["access"].split(" and "):
        for step in range(1, STEPS + 1):
            words = words_of(row["kernel"], access, step)
            assert half_warp_passes(words, int(row["banks"])) == int(row[f"step_{step}"])


@pytest.mark.parametrize("kernel", ["cyclic_reduction", "cyclic_reduction_padded"])
@pytest.mark.parametrize("banks", [16, 17])
def test_conflicts_of_each_array_and_step(kernel: str, banks: int) -> None:
    """A system has 4 loads and 4 stores of its own equation, 4 loads of each neighbour's."""
    trace = executed(f"zhang_owens/{kernel}", "small")
    found = conflict_series(trace, replace(GTX_285, shared=SharedMemoryFacts(banks, 4)))
    expected: Counter[tuple[float, ...]] = Counter()
    for access, uses in (("own", 8), ("left", 4), ("right", 4)):
        steps = range(1, STEPS + 1)
        passes = (half_warp_passes(words_of(kernel, access, step), banks) for step in steps)
        expected[tuple(passes)] += uses
    assert found == expected


@pytest.mark.parametrize("kernel", ["cyclic_reduction", "cyclic_reduction_padded"])
def test_one_thread_block_fills_an_sm(kernel: str) -> None:
    trace = executed(f"zhang_owens/{kernel}", "small")
    shape = LaunchShape((512, 1, 1), trace.thread_block)
    found = occupancy(trace.resources, shape, GTX_285).thread_blocks_per_sm
    assert found == int(PAPER["cr_blocks_per_sm"])


# ---- sparse matrix and vector ----


@cache
def read_bytes(form: str, rule: CoalescingRule, smallest: int) -> EntryBytes:
    return entry_bytes(kept(form), gpu_with_segments(rule, smallest))


@cache
def kept(form: str) -> KernelTrace:
    return sparse_trace(form)


@pytest.mark.parametrize(
    ("form", "rule", "smallest", "vector", "tolerance"),
    [
        ("ell", FIXED, 32, float(PAPER["spmv_vector_bytes_32"]), 0.005),
        ("ell", FIXED, 16, float(PAPER["spmv_vector_bytes_16"]), 0.005),
        ("ell", SHRINKING, 32, 8.00, 0.01),
        ("ell", SHRINKING, 16, 7.43, 0.01),
        ("bell_im", FIXED, 32, 5.01, 0.005),
        ("bell_im", FIXED, 16, 3.63, 0.005),
        ("bell_imiv", FIXED, 32, 2.00, 0.005),
        ("bell_imiv", FIXED, 16, 1.81, 0.005),
    ],
)
def test_bytes_for_each_vector_entry(
    form: str, rule: CoalescingRule, smallest: int, vector: float, tolerance: float
) -> None:
    found = read_bytes(form, rule, smallest)
    assert found.vector == pytest.approx(vector, rel=tolerance)
    assert found.values == pytest.approx(4)
    assert found.index == pytest.approx(4 if form == "ell" else 4 / 9)


@pytest.mark.parametrize(
    ("form", "total"), [("ell", 14.69), ("bell_im", 9.46), ("bell_imiv", 6.44)]
)
def test_bytes_for_each_element(form: str, total: float) -> None:
    assert read_bytes(form, FIXED, 32).total == pytest.approx(total, abs=0.005)


@pytest.mark.parametrize("form", ["ell", "bell_im", "bell_imiv"])
def test_the_texture_cache_serves_the_vector(form: str) -> None:
    """The second-level cache of 256 KB holds the vector of 192 KB: it is read once."""
    trace = sparse_trace(form, is_texture=True)
    assert texture_vector_bytes(trace, gpu_with_textures()) == 49_152 * 4
    assert texture_vector_bytes(trace, GTX_285) > 49_152 * 4


@pytest.mark.drawn(6)
@pytest.mark.parametrize(
    "name",
    sorted(
        str(file.relative_to(WORKLOADS).with_suffix(""))
        for folder in ("zhang_owens", "sparse_formats")
        for file in (WORKLOADS / folder).glob("*.toml")
    ),
)
def test_results(name: str) -> None:
    workload = load_workload(WORKLOADS / f"{name}.toml")
    assert workload.run_check("small", limits=Limits()).passed
