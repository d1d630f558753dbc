"""Random kernels as machine code of AMD's GPUs against their PTX.

`python -m tests.ptx_frontend.amdgcn.fuzz_random_programs COUNT [FIRST]` compares COUNT of them for
each architecture on all cores, from the seed FIRST on: it shows what differs, counts what is
refused by its reason, and fails where anything differs or less than four of five are translated.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.ptx_frontend.amdgcn.random_programs import LANES, Comparison, compared

__all__ = ["run"]

_LEAST_TRANSLATED = 0.8
_TOGETHER = 8
"""Kernels that a process is given at once."""


def run(count: int, first: int = 0, jobs: int | None = None) -> Iterator[Comparison]:
    """Compares so many kernels for each architecture, as they are done."""
    pairs = [(seed, name) for seed in range(first, first + count) for name in LANES]
    workers = jobs or os.cpu_count() or 1
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(compared, *zip(*pairs, strict=True), chunksize=_TOGETHER)


def _main() -> int:
    count = int(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    started, wrong = time.monotonic(), 0
    refused: Counter[str] = Counter()
    for comparison in run(count, first):
        if comparison.refused:
            refused[f"{comparison.architecture}: {comparison.refused}"] += 1
        elif comparison.different:
            wrong += 1
            sys.stdout.write(f"{comparison}\n")
            sys.stdout.flush()
    for reason, times in refused.most_common():
        sys.stdout.write(f"{times} refused, {reason}\n")
    runs, took = count * len(LANES), time.monotonic() - started
    equal = runs - refused.total() - wrong
    sys.stdout.write(
        f"{count} random kernels as code of {' and '.join(LANES)}: {equal} of {runs} equal, "
        f"{refused.total()} refused, {wrong} differ, {took:.0f} s\n"
    )
    return 1 if wrong or refused.total() > (1 - _LEAST_TRANSLATED) * runs else 0


if __name__ == "__main__":
    raise SystemExit(_main())
