"""Time of an estimate against the size of the problem: flat above the sampling threshold.

    python benchmarks/growth.py          # all sizes; docs/growth.csv and docs/growth.svg
    python benchmarks/growth.py --case spmv --most 1e6 -o /tmp/growth

A case is estimated once for its code to be compiled, then three times; the median of processor time
counts, because other work on the machine does not change it much.
`make bench BENCH='--part growth'` compares sizes above the threshold with their targets.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from targets import Target

import kernelcast as kc
from kernelcast.execution.run_options import RunOptions
from kernelcast.execution.sampling import Sampling
from kernelcast.simcore.launch.lazy_buffer import ELEMENTS_PER_CHUNK, LazyBuffer

WORKLOADS = Path(__file__).parents[1] / "validation/workloads"
DOCS = Path(__file__).parents[1] / "docs"
DEVICE = "a100-40gb"
OPTIONS = RunOptions(devices=[DEVICE], sampling=Sampling.AUTO)
NONZEROS_PER_ROW = 8
RUNS = 3


@dataclass(frozen=True)
class Case:
    """`run` executes, or samples, a problem of a size, of which there are `elements`."""

    title: str
    sizes: Sequence[int]
    elements: Callable[[int], int]
    run: Callable[[int], kc.KernelTrace]


def _product(size: int) -> kc.KernelTrace:
    return _workload("gemm/tiled_16", m=size, n=size, k=size)


def _stencil(size: int) -> kc.KernelTrace:
    return _workload("stencil/star7_3d", width=size, height=size, depth=size)


def _workload(name: str, **sizes: int) -> kc.KernelTrace:
    loaded = kc.load_workload(WORKLOADS / f"{name}.toml")
    return replace(loaded, sizes={"chosen": sizes}).run(options=OPTIONS)


def _spmv(rows: int) -> kc.KernelTrace:
    """CSR with rows of 5 to 11 nonzeros, in columns anywhere: all made when they are needed."""
    kernel = kc.load_workload(WORKLOADS / "sparse/spmv_csr_scalar.toml").load_kernel()
    nonzeros = NONZEROS_PER_ROW * rows

    def starts(chunk: int, elements: int) -> npt.NDArray[Any]:
        row = chunk * ELEMENTS_PER_CHUNK + np.arange(elements)
        uneven = (row * 7919 >> 3) % 7 - 3
        return np.clip(NONZEROS_PER_ROW * row + uneven, 0, nonzeros).astype(np.int32)

    def columns(chunk: int, elements: int) -> npt.NDArray[Any]:
        return np.random.default_rng(chunk).integers(0, rows, elements, np.int32)

    arguments: list[Any] = [
        LazyBuffer((rows + 1,), np.int32, starts),
        LazyBuffer((nonzeros,), np.int32, columns),
        *(LazyBuffer((count,), np.float64) for count in (nonzeros, rows, rows)),
        np.int32(rows),
    ]
    return kernel.run(grid=-(-rows // 256), block=256, args=arguments, options=OPTIONS)


CASES = {
    "sgemm": Case(
        "tiled SGEMM, n = 256 to 16,384",
        [256 << step for step in range(7)],
        lambda size: size**3,
        _product,
    ),
    "stencil": Case(
        "7-point stencil, 64^3 to 2,048^3",
        [64 << step for step in range(6)],
        lambda size: size**3,
        _stencil,
    ),
    "spmv": Case(
        "CSR product, 10^4 to 10^8 rows",
        [10**power for power in range(4, 9)],
        lambda rows: NONZEROS_PER_ROW * rows,
        _spmv,
    ),
}


ABOVE_THRESHOLD = {"sgemm": (4096, 16384), "stencil": (512, 2048), "spmv": (10**6, 10**7)}
"""Two sizes of each case whose launches are sampled; the larger one is to take as long."""
MOST_S, MOST_GROWTH = 10.0, 1.5
"""Processor time of an estimate, 5 s of two cores, and that of the larger size over the smaller."""


def growth_targets(runs: int) -> list[Target]:
    """What estimates above the sampling threshold take, and larger ones over smaller ones."""
    found = []
    for name, sizes in ABOVE_THRESHOLD.items():
        small, large = (estimate_s(CASES[name], size, runs)[0] for size in sizes)
        what = f"estimate of {name}, n = {sizes[1]:,}"
        found.append(Target(f"{what}, processor time", large, MOST_S, "s"))
        found.append(Target(f"{what} over n = {sizes[0]:,}", large / small, MOST_GROWTH))
    return found


def estimate_s(case: Case, size: int, runs: int = RUNS) -> tuple[float, float]:
    """Processor time of an estimate, and of the sampling or execution in it, in seconds."""
    found = []
    for _ in range(runs + 1):
        began = time.process_time()
        profile = case.run(size).profile(DEVICE)
        ran = time.process_time()
        kc.estimate(profile)
        found.append((time.process_time() - began, ran - began))
    totals, executions = zip(*found[1:], strict=True)
    return statistics.median(totals), statistics.median(executions)


def main() -> None:
    """Measures, prints and draws."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", choices=CASES, action="append")
    parser.add_argument("--most", type=float, default=float("inf"), help="the largest size")
    parser.add_argument("-o", type=Path, default=DOCS / "growth", help="file, without its suffix")
    given = parser.parse_args()
    rows = []
    for name in given.case or CASES:
        case = CASES[name]
        for size in case.sizes:
            if size <= given.most:
                total, ran = estimate_s(case, size)
                rows.append((name, size, case.elements(size), total, ran))
                sys.stdout.write(f"{name} {size:,}: {total:.2f} s, {ran:.2f} s without models\n")
                sys.stdout.flush()
    lines = ["case,size,elements,estimate_s,run_s", *(",".join(map(str, row)) for row in rows)]
    given.o.with_suffix(".csv").write_text("\n".join(lines) + "\n")
    draw(rows, given.o.with_suffix(".svg"))


def draw(rows: Sequence[tuple[str, int, int, float, float]], file: Path) -> None:
    """One line a case, both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    for name in dict.fromkeys(row[0] for row in rows):
        mine = [row for row in rows if row[0] == name]
        (line,) = axes.loglog([row[2] for row in mine], [row[3] for row in mine], "o-")
        line.set_label(CASES[name].title)
    axes.set_xlabel("multiplications, points or nonzeros")
    axes.set_ylabel("processor time of an estimate, s")
    axes.set_ylim(bottom=0.1)
    axes.legend()
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


if __name__ == "__main__":
    main()
