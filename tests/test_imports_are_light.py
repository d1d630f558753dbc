"""`import kernelcast` and its help text must not load the heavy libraries."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
HEAVY = ("matplotlib", "pyopencl", "pyarrow", "llvmlite", "numba", "scipy", "networkx")
RARE = ("lz4", "demangle", "plotly", "jinja2")
OURS = ("simcore", "models", "traces", "ptx_frontend", "opencl_bench")


@cache
def modules_after(statement: str) -> frozenset[str]:
    """Top-level names in sys.modules after `statement` in a fresh interpreter."""
    report = "; import sys; print(*{name.split('.')[0] for name in sys.modules})"
    command = [sys.executable, "-c", statement + report]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    return frozenset(finished.stdout.split())


def test_import_loads_nothing_heavy() -> None:
    assert not modules_after("import kernelcast").intersection(
        (*HEAVY, *RARE, "numpy", "typer", "rich")
    )


@pytest.mark.parametrize("heavy", ["matplotlib", "pyopencl", "pyarrow"])
def test_the_pipeline_does_without_plots_and_files(heavy: str) -> None:
    assert heavy not in modules_after("import kernelcast as kc; kc.load; kc.estimate")


@pytest.mark.parametrize("rare", RARE)
def test_what_few_files_need_waits_for_them(rare: str) -> None:
    assert rare not in modules_after("import kernelcast as kc; kc.load; kc.estimate")


def test_the_command_line_starts_light() -> None:
    assert not modules_after("import kernelcast.cli").intersection(HEAVY)


def test_a_run_without_devices_simulates_no_memory() -> None:
    """What simulates memory is slow to import."""
    run = f"""
import sys, kernelcast as kc, numpy as np
kernel = kc.load({str(EXAMPLES / "saxpy" / "saxpy.ptx")!r})["saxpy"]
x = np.ones(256, np.float32)
kernel.run(args=[np.uint32(256), np.float32(2.0), x, x.copy()], grid=1, block=256)
assert any(name.startswith("kernelcast.simcore.engine.jit.") for name in sys.modules)
slow = [name for name in sys.modules if name.startswith("kernelcast.simcore.memory.")]
print(*(name for name in slow if name.endswith(("_memory", "_counts"))))
"""
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_folders_are_not_importable_by_their_bare_names() -> None:
    assert not modules_after("import kernelcast as kc; kc.load; kc.load_workload") & set(OURS)
