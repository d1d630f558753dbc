"""Variants of a workload: what they change, their order, and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kernelcast as kc
from kernelcast.cli import main
from kernelcast.errors import InputError
from kernelcast.ranking.variants import split_variants, with_values

SOURCE = """
extern "C" __global__ void fill(float *out)
{
    __shared__ float kept[TILE * 1024];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    kept[threadIdx.x] = i;
    for (int step = 0; step < TILE; ++step)
        out[step * STRIDE + i] = kept[threadIdx.x] + TILE;
}
"""
WORKLOAD = """
[kernel]
source = "fill.cu"
options = ["-DSTRIDE=1024", "-DTILE=1"]
[sizes.full]
TILE = 1
[launch]
grid = "1024 / block.x"
block = 128
[[args]]
name = "out"
type = "f32[TILE * 1024]"
init = "zeros"
[check]
reference = "reference.py:fill"
rtol = 0
"""
REFERENCE = """
import numpy as np


def fill(arguments, sizes):
    return {"out": np.tile(np.arange(1024, dtype=np.float32) + sizes["TILE"], sizes["TILE"])}
"""
DEVICE = "v100-pcie"


@pytest.fixture
def workload(nvrtc: None, tmp_path: Path) -> Path:
    (tmp_path / "fill.cu").write_text(SOURCE)
    (tmp_path / "reference.py").write_text(REFERENCE)
    path = tmp_path / "fill.toml"
    path.write_text(WORKLOAD)
    return path


def test_values_by_name() -> None:
    assert split_variants(["TILE=1,2,block=16x16,32x8", "TILE=4"]) == {
        "TILE": ["1", "2", "4"],
        "block": ["16x16", "32x8"],
    }
    for text in ("TILE", "TILE=", "=3", "1x=2", "TILE=1,,2"):
        with pytest.raises(InputError, match="NAME=V1,V2"):
            split_variants([text])


def test_a_variant_computes_what_its_reference_does(workload: Path) -> None:
    """The define reaches the kernel, the size the arguments, the thread block the grid."""
    changed = with_values(kc.load_workload(workload), {"TILE": "3", "block": "256"})
    assert changed.launch_shape().grid == (4, 1, 1)
    result = changed.run_check()
    assert result.passed
    assert result.comparisons[0].elements == 3072


def test_variants_are_ranked(workload: Path) -> None:
    vary = {"TILE": ["32", "8", "2"], "block": ["64", "2048"]}
    told: list[float] = []
    found = kc.tune_workload(workload, DEVICE, vary, progress=told.append)
    assert told == [number / 6 for number in range(1, 7)]
    assert [dict(row.configuration) for row in found.rows] == [
        {"TILE": "2", "block": "64"},
        {"TILE": "8", "block": "64"},
    ]
    times = [row.estimate.time_s for row in found.rows]
    assert times == sorted(times)
    reasons = {tuple(values.values()): reason for values, reason in found.refused}
    assert set(reasons) == {("32", "64"), ("32", "2048"), ("8", "2048"), ("2", "2048")}
    assert "shared" in reasons["32", "64"]
    assert all(row.registers for row in found.rows)


def test_a_few_thread_blocks_tell_which_one_is_estimated(workload: Path) -> None:
    """The model finds the same one the fastest among all."""
    vary = {"TILE": ["32", "8", "2", "4"], "block": ["64"]}
    told: list[float] = []
    options = kc.VariantOptions(exhaustive=False)
    quick = kc.tune_workload(workload, DEVICE, vary, options, progress=told.append)
    every = kc.tune_workload(workload, DEVICE, vary)
    assert told == sorted(told)
    assert told[-1] == 1
    assert quick.rows == every.rows[:1]
    assert [dict(row.configuration) for row in quick.passed_over] == [
        dict(row.configuration) for row in every.rows[1:]
    ]
    assert quick.refused == every.refused
    assert every.passed_over == ()


def test_the_command(workload: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vary = ["--vary", "TILE=1,4", "--device", DEVICE, "--processes", "1"]
    assert main(["tune", str(workload), *vary, "--json"]) == 0
    record: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert [row["rank"] for row in record["rows"]] == [1, 2]
    assert record["rows"][0].keys() >= {"configuration", "time_s", "bottleneck", "registers"}
    assert main(["tune", str(workload), *vary, "--quick"]) == 0
    table = capsys.readouterr().out
    assert "TILE=4" in table
    assert "without a rank" in table
    block = ["--vary", "block=4096", "--device", DEVICE, "--csv"]
    assert main(["tune", str(workload), *block]) == 1
    assert main(["tune", str(workload), "--vary", "TILE", "--device", DEVICE]) == 2


def test_names_that_nothing_depends_on(tmp_path: Path) -> None:
    path = Path(__file__).parents[3] / "examples" / "saxpy" / "saxpy.toml"
    saxpy = kc.load_workload(path)
    assert with_values(saxpy, {"n": "512"}).size() == {"n": 512}
    with pytest.raises(InputError, match="nothing depends on 'TILE'"):
        with_values(saxpy, {"TILE": "2"})
    with pytest.raises(InputError, match="shapes are such as"):
        with_values(saxpy, {"block": "wide"})
