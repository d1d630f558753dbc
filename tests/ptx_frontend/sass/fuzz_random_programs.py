"""Random kernels as machine code of two architectures, on both engines, against their PTX.

`python -m tests.ptx_frontend.sass.fuzz_random_programs COUNT [FIRST]` runs COUNT of them on all
cores, from the seed FIRST on, and shows what differs.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.ptx_frontend.sass.random_programs import (
    Difference,
    architectures_of,
    differences,
    programs,
)

__all__ = ["run"]

_TOGETHER = 8
"""Programs that are assembled at once."""


def _batch(first: int, count: int) -> list[Difference]:
    return differences(programs(first, count), architectures_of(first // _TOGETHER))


def run(count: int, first: int = 0, jobs: int | None = None) -> Iterator[Difference]:
    """What differs in so many programs, as it is found."""
    starts = range(first, first + count, _TOGETHER)
    sizes = [min(_TOGETHER, first + count - start) for start in starts]
    workers = jobs or os.cpu_count() or 1
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for found in pool.map(_batch, starts, sizes):
            yield from found


def _main() -> int:
    count = int(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    started, wrong = time.monotonic(), 0
    for difference in run(count, first):
        wrong += 1
        sys.stdout.write(f"{difference}\n")
        sys.stdout.flush()
    took = time.monotonic() - started
    sys.stdout.write(f"{count} random kernels as machine code: {wrong} differ, {took:.0f} s\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(_main())
