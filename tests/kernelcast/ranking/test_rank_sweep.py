"""Sweeps over configurations: across processes, interrupted, resumed, executed."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

import kernelcast as kc
from kernelcast.address.file import load_address_kernel
from kernelcast.errors import KernelcastError, LaunchError, ModelNotApplicable, WorkloadError
from kernelcast.models.warpspeed.model import warpspeed_estimate
from kernelcast.models.warpspeed.volumes.volumes import volumes
from kernelcast.ranking.addresses import AddressedKernel
from kernelcast.ranking.execution import with_thread_block
from kernelcast.ranking.ranking import Outcome
from kernelcast.ranking.store import RankStore
from kernelcast.ranking.sweep import rank_configurations
from kernelcast.ranking.variations import Configuration, ShapeLimits, configurations, read_shapes
from kernelcast.simcore.address.kernel import AddressKernel
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device

LINE = "b[z, y, x] = a[z, y, x - 1..1] + a[z, y - 1..1, x]; domain = 96x64x48; registers = 32"
WORKLOADS = Path(__file__).parents[3] / "validation" / "workloads"


@dataclass(frozen=True)
class CountingKernel(AddressedKernel):
    """Notes what it predicts, and is interrupted after `most`."""

    kernel: AddressKernel = field(default_factory=lambda: load_address_kernel(LINE))
    most: int = 1000
    seen: list[Configuration] = field(default_factory=list)

    def outcomes(
        self, configuration: Configuration, devices: Sequence[Device]
    ) -> tuple[Outcome, ...]:
        if len(self.seen) == self.most:
            raise KeyboardInterrupt
        self.seen.append(configuration)
        return super().outcomes(configuration, devices)


def shapes(text: str) -> tuple[Configuration, ...]:
    return configurations(read_shapes(text, ShapeLimits((96, 64, 48))))


def test_times_are_those_of_the_model() -> None:
    kernel, device = load_address_kernel(LINE), load_device("v100-pcie")
    (ranking,) = kc.rank(kernel, device, block="32x4x2,8x8x4,128x2", folding="none,2y")
    assert len(ranking.rows) == 6
    assert [row.time_s for row in ranking.rows] == sorted(row.time_s for row in ranking.rows)
    for row in ranking.rows:
        chosen = kernel.with_block(*row.configuration.thread_block)
        chosen = chosen.with_folding(*row.configuration.folding)
        found = volumes(chosen, device)
        assert row.time_s == warpspeed_estimate(found, chosen, device).time_s
        assert row.volumes["dram_load_bytes_per_work"] == found.per_work("dram_load_bytes")
    assert 0 < ranking.seconds_per_configuration < 10


def test_what_does_not_fit_is_told_and_not_ranked() -> None:
    (ranking,) = kc.rank(LINE, "v100-pcie", block="32x4,2048,1x1x128")
    refused = {item.thread_block: reason for item, reason in ranking.refused}
    assert "2048 threads" in refused[(2048, 1, 1)]
    assert len(ranking.rows) + len(refused) == 3


def test_two_processes_find_what_one_does(tmp_path: Path) -> None:
    kernel = AddressedKernel(load_address_kernel(LINE))
    devices = [load_device("a100-40gb"), load_device("mi210")]
    found = shapes("product=256,product=512")
    assert len(found) > 64
    told: list[float] = []
    store = RankStore(tmp_path / "sweep.jsonl")
    both = rank_configurations(
        kernel, found, devices, processes=2, store=store, progress=told.append
    )
    alone = rank_configurations(kernel, found, devices)
    for left, right in zip(both, alone, strict=True):
        assert left.rows == right.rows
        assert left.refused == right.refused
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(RankStore(store.path).outcomes) == 2 * len(found)


def test_an_interrupted_sweep_goes_on_where_it_was(tmp_path: Path) -> None:
    path, device = tmp_path / "sweep.jsonl", load_device("a100-40gb")
    found = shapes("product=64")
    with pytest.raises(KeyboardInterrupt):
        rank_configurations(CountingKernel(most=5), found, [device], store=RankStore(path))
    assert len(RankStore(path).outcomes) == 5
    kernel = CountingKernel()
    (resumed,) = rank_configurations(kernel, found, [device], store=RankStore(path))
    assert kernel.seen == list(found[5:])
    again = CountingKernel(most=0)
    (ranking,) = rank_configurations(again, found, [device], store=RankStore(path))
    assert ranking == resumed
    (fresh,) = rank_configurations(CountingKernel(), found, [device])
    assert fresh.rows == resumed.rows


def test_another_device_in_the_same_file_is_predicted(tmp_path: Path) -> None:
    path, found = tmp_path / "sweep.jsonl", shapes("32x4,64x2")
    a100, v100 = load_device("a100-40gb"), load_device("v100-pcie")
    rank_configurations(CountingKernel(), found, [a100], store=RankStore(path))
    kernel = CountingKernel()
    both = rank_configurations(kernel, found, [a100, v100], store=RankStore(path))
    assert [len(ranking.rows) for ranking in both] == [2, 2]
    assert both == rank_configurations(CountingKernel(most=0), found, [a100, v100],
                                       store=RankStore(path))  # fmt: skip


def test_nothing_to_rank() -> None:
    with pytest.raises(KernelcastError, match="nothing to rank"):
        rank_configurations(CountingKernel(), [], [load_device("a100-40gb")])


def test_a_kernel_of_addresses_is_not_executed() -> None:
    options = kc.RankOptions(model="interval")
    with pytest.raises(KernelcastError, match="warpspeed only"):
        kc.rank(LINE, "a100-40gb", block="32", options=options)
    with pytest.raises(KernelcastError, match="no results"):
        kc.rank(LINE, "a100-40gb", block="32", options=kc.RankOptions(checked_size="small"))


def test_a_workload_is_ranked_by_its_addresses() -> None:
    """The star of seven points, against the same star typed as addresses."""
    workload = kc.load_workload(WORKLOADS / "stencil" / "star7_3d.toml")
    options = kc.RankOptions(size="small", registers=40)
    blocks = "32x4x2,16x4x4,8x8x4,64x4"
    (found,) = kc.rank(workload, "a100-40gb", block=blocks, options=options)
    width, height, depth = (workload.size("small")[name] for name in ("width", "height", "depth"))
    line = (  # in the order of the code: what lies between two uses decides on hits in L1
        "to[z + 1, y + 1, x + 1] = from[z + 1, y + 1, x + 1] + from[z + 1, y + 1, x + 2]"
        " + from[z + 1, y + 1, x] + from[z + 1, y, x + 1] + from[z + 1, y + 2, x + 1]"
        " + from[z, y + 1, x + 1] + from[z + 2, y + 1, x + 1]"
        f"; domain = {width - 2}x{height - 2}x{depth - 2};"
        f"from: f64[{depth}, {height}, {width}]; to: f64[{depth}, {height}, {width}];"
        "registers = 40; flops = 8"
    )
    (typed,) = kc.rank(line, "a100-40gb", block=blocks)
    assert [row.configuration for row in found.rows] == [row.configuration for row in typed.rows]
    for row, other in zip(found.rows, typed.rows, strict=True):
        for name, value in other.volumes.items():
            assert row.volumes[name] == pytest.approx(value, rel=1e-9)


def copied(tmp_path: Path, folder: str, name: str, old: str = "", new: str = "") -> kc.Workload:
    """A workload of the validation in a folder of its own, with a text replaced."""
    shutil.copytree(WORKLOADS / folder, tmp_path / folder)
    file = tmp_path / folder / f"{name}.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    return kc.load_workload(file)


def test_a_kernel_that_is_not_affine_is_executed_with_the_reason() -> None:
    workload = kc.load_workload(WORKLOADS / "sparse" / "spmv_csr_scalar.toml")
    options = kc.RankOptions(size="small", model="warpspeed")
    with pytest.raises(ModelNotApplicable):
        kc.rank(workload, "gtx-960", block="64", options=options)
    chosen = replace(options, model=None)
    (ranking,) = kc.rank(workload, "gtx-960", block="64,128", options=chosen)
    assert ranking.model != "warpspeed"
    assert any("does not apply" in line for line in ranking.statements)
    assert {row.configuration.thread_block[0] for row in ranking.rows} == {64, 128}
    for row in ranking.rows:
        variant = with_thread_block(workload, row.configuration.thread_block, "small")
        trace = variant.run("small", devices=["gtx-960"])
        assert kc.estimate(trace.profile("gtx-960")).time_s == row.time_s


def test_a_folding_of_code_cannot_be_varied() -> None:
    workload = kc.load_workload(WORKLOADS / "stencil" / "star7_3d.toml")
    for model in (None, "roofline"):
        options = kc.RankOptions(size="small", model=model)
        (ranking,) = kc.rank(workload, "a100-40gb", block="32x4", folding="2y", options=options)
        assert not ranking.rows
        assert "folding" in ranking.refused[0][1]


def test_a_grid_that_does_not_follow_the_thread_block_is_refused(tmp_path: Path) -> None:
    workload = copied(
        tmp_path,
        "stencil",
        "star7_3d",
        '"ceil((height - 2) / block.y)"',
        '"ceil((height - 2) / 4)"',
    )
    assert with_thread_block(workload, (64, *workload.launch_shape().thread_block[1:]))
    with pytest.raises(WorkloadError, match=r"block\.y"):
        with_thread_block(workload, (32, 64, 1))


def test_more_dimensions_than_the_launch_are_refused() -> None:
    workload = kc.load_workload(WORKLOADS / "sparse" / "spmv_csr_scalar.toml")
    with pytest.raises(WorkloadError, match="1 dimensions"):
        with_thread_block(workload, (32, 2, 1))
    with pytest.raises((WorkloadError, LaunchError)):
        with_thread_block(workload, (0, 1, 1)).launch_shape()
