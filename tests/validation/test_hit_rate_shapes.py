"""Hit rates are fitted on thread blocks that the validation of volumes never looks at."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from kernelcast.validation.volumes import CONFIGURATIONS


def test_fitted_and_validated_thread_blocks_are_disjoint() -> None:
    file = Path(__file__).parents[2] / "benchmarks" / "hit_rates.py"
    spec = importlib.util.spec_from_file_location("hit_rates", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    fitted = [*module.L1_CASES, *module.PLANES, *module.ROWS]
    assert len(fitted) >= 30
    validated = {(item.twin, item.thread_block, item.folding) for item in CONFIGURATIONS}
    assert not validated & {(item.twin, item.thread_block, item.folding) for item in fitted}
