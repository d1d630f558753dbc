"""The times of real GPUs that others published: complete, cited, possible; one is predicted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernelcast.simcore.device.file import load_device
from kernelcast.validation.measured import MEASURED, validate_measured
from kernelcast.validation.measured_times import MeasuredRow, Publication, read_measured
from kernelcast.validation.workload_suite import SUITE
from kernelcast.workload.file import load_workload
from kernelcast.workload.workload import Sizes

ROOT = Path(__file__).parents[2]
SUFFIX = "-published"
FILES = sorted(MEASURED.glob(f"*{SUFFIX}.json"))
ROWS = [(file.stem.removesuffix(SUFFIX), row) for file in FILES for row in read_measured(file).rows]
NAMES = [f"{device} {row.workload}" for device, row in ROWS]


def published(row: MeasuredRow) -> Publication:
    assert row.published is not None
    return row.published


def test_as_many_as_the_documentation_says() -> None:
    text = (ROOT / "docs" / "published-times.md").read_text(encoding="utf-8")
    kernels = {row.workload for _, row in ROWS}
    assert f"{len(ROWS)} times of {len(kernels)} kernels on seven GPUs." in text
    assert len(FILES) == 7
    for _, row in ROWS:
        author = published(row).source.split(",")[0].removeprefix("repository ")
        assert author.split(" at ")[0] in text


@pytest.mark.parametrize(("device", "row"), ROWS, ids=NAMES)
def test_each_has_its_source_and_is_what_the_workload_launches(
    device: str, row: MeasuredRow
) -> None:
    source = published(row)
    assert source.source.count(",") >= 2
    assert "://" not in source.source
    assert source.timed
    assert source.differences
    assert 0 < source.rounding < 0.005
    workload = load_workload(SUITE / f"{row.workload}.toml")
    shape = workload.launch_shape(row.size)
    assert workload.kernel.entry == row.kernel
    assert (shape.grid, shape.thread_block) == (row.grid, row.block)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_the_device_file_is_of_that_gpu(file: Path) -> None:
    facts = read_measured(file).device
    architecture = load_device(file.stem.removesuffix(SUFFIX)).architecture
    assert facts.sm_count == architecture.sm_count
    assert facts.compute_capability == architecture.compute_capability


def least_work(row: MeasuredRow, sizes: Sizes) -> tuple[float, float]:
    """Floating-point operations, and bytes that must pass DRAM, from the algorithm alone."""
    family, kernel = row.workload.split("/")
    if family == "sgemm_steps":
        return 2.0 * sizes["m"] * sizes["n"] * sizes["k"], 4.0 * sizes["m"] * sizes["n"]
    if family == "stream":
        arrays = {"copy": 2, "mul": 2, "add": 3, "triad": 3, "dot": 2}[kernel]
        return 0.0, 8.0 * arrays * sizes["n"]
    if family == "laplace":
        return 0.0, 2 * 4.0 * sizes["imax"] * sizes["jmax"]
    return {
        "matrix_multiply": (2.0 * 320 * 320 * 640, 0.0),
        "reduction": (0.0, 0.0),  # its 64 MB may lie in the cache in part
        "nbody": (20.0 * 512_000**2, 0.0),
    }[kernel]


@pytest.mark.parametrize(("device", "row"), ROWS, ids=NAMES)
def test_none_is_faster_than_its_gpu_can_be(device: str, row: MeasuredRow) -> None:
    """Times are not a thousand times slower either: a slip of units shows."""
    facts = load_device(device)
    sizes = load_workload(SUITE / f"{row.workload}.toml").size(row.size)
    flops, moved = least_work(row, sizes)
    is_double = row.workload == "samples/nbody"
    peak = facts.peak.fp64_flops_per_s if is_double else facts.peak.fp32_flops_per_s
    assert peak is not None
    least = max(flops / peak, moved / facts.dram.bandwidth_bytes_per_s)
    assert least < row.time_s.seconds < 1000 * max(least, 1e-6)


def test_one_is_predicted(tmp_path: Path) -> None:
    """Twice 400 MB at the 152.227 GB/s that the source prints."""
    record = json.loads((MEASURED / "tesla-k20c-published.json").read_text(encoding="utf-8"))
    record["rows"] = record["rows"][:1]
    record["rows"][0]["time_s"]["mean"] = None
    (tmp_path / "tesla-k20c-published.json").write_text(json.dumps(record), encoding="utf-8")
    report = validate_measured(["interval"], tmp_path)
    (time,) = report.times
    assert time.measured_s == pytest.approx(2 * 8 * 49_999_872 / 152.227e9, rel=1e-6)
    assert time.source.startswith("UoB-HPC/BabelStream")
    assert abs(time.error) < 0.25
    assert report.notes == ()
