"""Waits at branches: found again in made-up counters, and in those that device facts come from."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelcast.simcore.device.file import load_device

ROOT = Path(__file__).parents[3]
_script: dict[str, Any] = runpy.run_path(str(ROOT / "validation" / "reconvergence.py"))
waited_cycles, WAITS, COUNTS = (_script[name] for name in ("waited_cycles", "_WAITS", "_COUNTS"))
_STALL = 5
"""What the assembler lets a warp stall at `BRA` and `BSYNC`."""


def _row(counts: dict[str, float], waits: float) -> dict[str, Any]:
    return {"metrics": {**{COUNTS + name: count for name, count in counts.items()}, WAITS: waits}}


def test_waits_are_laid_on_the_opcodes_that_cause_them() -> None:
    """Three of forty workloads wait much longer for other reasons."""
    rng = np.random.default_rng(3)
    rows = []
    for number in range(40):
        branches, syncs, exits = rng.integers(0, 100, 3).tolist()
        counts = {"BRA": branches - 1, "BRA.U": 1, "BSYNC": syncs, "EXIT": exits, "FFMA": 1000}
        waits = (3 * branches + 9 * syncs + 4 * exits) / sum(counts.values())
        rows.append(_row(counts, waits + (2.0 if number in (5, 20, 33) else 0.0)))
    rows.append({"metrics": {WAITS: 1.0}})
    rows.append({"metrics": None})
    found = waited_cycles({"rows": rows})
    assert found == pytest.approx({"BRA": 3, "BSYNC": 9, "EXIT": 4}, abs=1e-6)


@pytest.mark.parametrize("name", ["h100-sxm", "h200"])
def test_facts_of_devices_follow_from_their_counters(name: str) -> None:
    table = json.loads((ROOT / f"validation/measured/{name}.json").read_text(encoding="utf-8"))
    waits, timing = waited_cycles(table), load_device(name).timing
    assert timing is not None
    assert timing.branch_latency_cycles == pytest.approx(_STALL + waits["BRA"], abs=0.1)
    assert timing.reconvergence_latency_cycles == pytest.approx(_STALL + waits["BSYNC"], abs=0.06)
