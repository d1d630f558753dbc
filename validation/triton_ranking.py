"""Ranks all configurations of matrix products by `kc.tune`, beside times measured on a GPU.

    python validation/triton_ranking.py [--device h200] [--size 0] [--sketches]

Prints Kendall's tau of the 24 configurations of `triton_kernels`, and how much slower than the best
measured one the configuration is that is predicted to be the fastest. All are estimated; or put in
order by sketches, of which the first one is estimated.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import triton
from scipy.stats import kendalltau
from triton_kernels import kernels
from triton_kernels.cases import Array, TritonCase, all_cases

import kernelcast as kc

MEASURED = Path(__file__).parent / "measured" / "triton"


def products() -> list[list[TritonCase]]:
    """The configurations of each size of the matrix product."""
    sizes: dict[tuple[int, ...], list[TritonCase]] = {}
    for case in all_cases():
        if case.kernel == "matmul":
            sizes.setdefault(tuple(case.size.values()), []).append(case)
    return list(sizes.values())


def measured_s(case: TritonCase, device: str) -> float:
    """The measured time of a case on a device."""
    rows = json.loads((MEASURED / f"{device}.json").read_text(encoding="utf-8"))["rows"]
    wanted = ("matmul", dict(case.size), dict(case.constants), dict(case.options))
    for row in rows:
        if (row["kernel"], row["size"], row["constants"], row["options"]) == wanted:
            return float(row["time_s"]["median"])
    raise LookupError(f"{case} was not measured on {device}")


def tuning(cases: list[TritonCase], device: str, *, sketches: bool) -> kc.Tuning:
    """The ranking of the configurations of one size; each carries its number as `number`."""
    case = cases[0]
    args = [np.zeros(a.shape, a.dtype) if isinstance(a, Array) else a for a in case.arguments]
    configs = [triton.Config(dict(item.constants), **item.options) for item in cases]
    m, n = case.size["m"], case.size["n"]

    def grid(constants: Any) -> tuple[int]:
        return (-(-m // constants["BLOCK_M"]) * -(-n // constants["BLOCK_N"]),)

    options = kc.TuneOptions(exhaustive=not sketches, processes=1)
    return kc.tune(kernels.matmul, grid, args, configs=configs, device=device, options=options)


def main() -> None:
    """Prints a row for each configuration, and the figures of the ranking."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--device", default="h200")
    parser.add_argument("--size", type=int, default=0, help="0 to 2, as cases.py lists them")
    parser.add_argument("--sketches", action="store_true", help="the order that sketches give")
    options = parser.parse_args()
    cases = products()[options.size]
    times = {
        str(triton.Config(dict(case.constants), **case.options)): measured_s(case, options.device)
        for case in cases
    }
    began = time.process_time()
    found = tuning(cases, options.device, sketches=options.sketches)
    spent = time.process_time() - began
    ranked = (*found.rows, *found.passed_over)
    for row in ranked:
        measured = times[str(row.config)] * 1e6
        write(f"{row.time_s * 1e6:9.1f} us, measured {measured:9.1f}  {row.config}")
    for config, reason in found.refused:
        write(f"refused: {config}: {reason}")
    actual = [times[str(row.config)] for row in ranked]
    tau = float(kendalltau(range(len(ranked)), actual).statistic)
    write(f"tau {tau:.3f} of {len(actual)}, first {actual[0] / min(actual):.3f}x the best measured")
    write(f"processor time {spent:.0f} s")


def write(line: str) -> None:
    """Prints a line."""
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
