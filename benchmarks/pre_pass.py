"""Times of workloads as PTX in its own order, in the order of the pre-pass, and as machine code.

`python benchmarks/pre_pass.py [--device v100-pcie] [--size small] [NAME ...]`: a row for each
workload of the validation, the time over that of its machine code, then how many lie within 10 %.
With `--without PASS` one pass is left out: hoist, unroll, predicate, fold or share.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from native_table import workload_files

import kernelcast as kc
from kernelcast.errors import KernelcastError
from kernelcast.workload.workload import Workload

__all__ = ["PASSES", "ratios", "without"]

_ROOM = "kernelcast.simcore.isa.schedule."
_CODES = ("as-written", "source", "native")
_WITHIN = 0.1


def _as_is(_region: Any, _before: Any, _live: Any, order: list[int], _limit: int) -> list[int]:
    return order


PASSES: dict[str, tuple[tuple[str, str, Callable[..., Any]], ...]] = {
    "hoist": (("register_estimate", "hoisted", _as_is),),
    "unroll": tuple(
        (module, "unrolled_loops", lambda _kernel: {})
        for module in ("register_estimate", "static_schedule")
    ),
    "predicate": tuple(
        (module, "predicated_edges", lambda _kernel: frozenset())
        for module in ("register_estimate", "static_schedule", "unroll_loops")
    ),
    "fold": tuple(
        (module, "folded_addresses", lambda _kernel: frozenset())
        for module in ("register_estimate", "region", "unroll_loops")
    ),
    "share": (("static_schedule", "shared_sequences", lambda _kernel: ()),),
}
"""The module of each pass, the name in it, and what takes its place when it is left out."""


@contextmanager
def without(name: str | None) -> Iterator[None]:
    """The pre-pass without one of its passes; with all of them for None."""
    kept = []
    for module, function, instead in PASSES[name] if name else ():
        found = importlib.import_module(_ROOM + module)
        kept.append((found, function, getattr(found, function)))
        setattr(found, function, instead)
    try:
        yield
    finally:
        for found, function, before in kept:
            setattr(found, function, before)


def ratios(workload: Workload, device: str, size: str) -> tuple[float, float]:
    """The times as written and after the pre-pass over that of the machine code."""
    times = []
    for code in _CODES:
        trace = workload.run(size, devices=[device], record_paths=True, code=code)
        times.append(kc.estimate(trace.profile(device), "interval").time_s)
    written, source, native = times
    return written / native, source / native


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--device", default="v100-pcie")
    parser.add_argument("--size", default="small")
    parser.add_argument("--without", choices=sorted(PASSES))
    options = parser.parse_args()
    found = []
    for file in workload_files():
        name = f"{file.parent.name}/{file.stem}"
        if options.names and name not in options.names:
            continue
        try:
            with without(options.without):
                both = ratios(kc.load_workload(file), options.device, options.size)
        except KernelcastError as error:
            sys.stderr.write(f"{name}: {error.message.splitlines()[0]}\n")
            continue
        found.append(both)
        sys.stdout.write(f"{name:44} {both[0]:6.2f} {both[1]:6.2f}\n")
        sys.stdout.flush()
    for title, column in zip(_CODES, np.array(found).reshape(-1, 2).T, strict=False):
        inside = 100 * np.mean(np.abs(column - 1) <= _WITHIN)
        middle = np.exp(np.mean(np.abs(np.log(column)))) - 1
        sys.stdout.write(f"{title}: {inside:.0f} % within 10 %, mean {100 * middle:.1f} % off\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(_main())
