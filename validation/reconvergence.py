"""Cycles that a warp waits at branches and where its lanes come together, by measured counters.

Nsight Compute says how many cycles warps wait for the target of a branch, called branch_resolving,
and how many instructions of each opcode were executed. Of all workloads of a GPU's table that have
both, the waits are laid on `BRA`, `BSYNC` and `EXIT` with the least absolute error, which a few
workloads of which most branches part the lanes do not move.

    python validation/reconvergence.py validation/measured/h200.json
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

OPCODES = ("BRA", "BSYNC", "EXIT")
_WAITS = "smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio"
_COUNTS = "sass__inst_executed_per_opcode_with_modifier_all."

Floats = npt.NDArray[np.float64]


def shares(metrics: dict[str, float]) -> list[float] | None:
    """The share of each opcode in all warp instructions, then waits an instruction, if known."""
    counts = {name: count for name, count in metrics.items() if name.startswith(_COUNTS)}
    issued = sum(counts.values())
    if _WAITS not in metrics or not issued:
        return None
    of_opcode = dict.fromkeys(OPCODES, 0.0)
    for name, count in counts.items():
        opcode = name.removeprefix(_COUNTS).split(".")[0]
        if opcode in of_opcode:
            of_opcode[opcode] += count / issued
    return [*of_opcode.values(), metrics[_WAITS]]


def waited_cycles(table: dict[str, Any]) -> dict[str, float]:
    """Cycles of waiting for each executed instruction of OPCODES, of a table of measurements."""
    found = [shares(row.get("metrics") or {}) for row in table["rows"]]
    rows = np.array([row for row in found if row is not None])
    counts, waits = rows[:, :-1], rows[:, -1]
    cycles = _least_absolute(counts, waits)
    return dict(zip(OPCODES, cycles.tolist(), strict=True))


def _least_absolute(counts: Floats, waits: Floats) -> Floats:
    """The factors x with the least sum of |counts @ x - waits|, as a linear program."""
    rows, columns = counts.shape
    each = np.eye(rows)
    found = linprog(
        np.concatenate([np.zeros(columns), np.ones(rows)]),
        A_ub=np.block([[counts, -each], [-counts, -each]]),
        b_ub=np.concatenate([waits, -waits]),
        bounds=[(0, None)] * (columns + rows),
    )
    return np.asarray(found.x[:columns])


def main() -> None:
    """Prints the cycles of each table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="+", type=Path)
    for path in parser.parse_args().tables:
        cycles = waited_cycles(json.loads(path.read_text(encoding="utf-8")))
        text = ", ".join(f"{opcode} {each:.1f}" for opcode, each in cycles.items())
        sys.stdout.write(f"{path.stem}: {text} cycles beyond the stall\n")


if __name__ == "__main__":
    main()
