"""The cheapest change that reaches a target, where closed forms and exhaustive search know it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import kernelcast as kc
from kernelcast.architectures import StoredKernel
from kernelcast.cli import main
from kernelcast.errors import InputError
from kernelcast.simcore.device.changed import changed_device
from kernelcast.studies.search import Bounds, find_change
from tests.kernelcast.studies.conftest import SAXPY

ROOFLINE = "quantitative-roofline"


@pytest.fixture(scope="module")
def saxpy() -> kc.KernelTrace:
    return kc.load_workload(SAXPY).run("small", code="source", record_paths=True)


def test_a_kernel_of_memory_needs_twice_the_bandwidth_to_be_twice_as_fast(
    saxpy: kc.KernelTrace,
) -> None:
    device = kc.device("a100-40gb")
    vary = [Bounds("sm.count"), Bounds("dram.bandwidth")]
    found = find_change(StoredKernel(saxpy), device, 2.0, vary, ROOFLINE)
    assert found.cheapest is not None
    assert dict(found.cheapest.changes) == {"dram.bandwidth": 2 * device.dram.bandwidth_bytes_per_s}
    assert found.cheapest.cost == 1.0
    assert found.cheapest.speedup == pytest.approx(2.0)
    assert "measured.dram_bandwidth_bytes_per_s" in [item.name for item in found.followed]


def test_what_cannot_be_reached_is_said_so(saxpy: kc.KernelTrace) -> None:
    vary = [Bounds("sm.count", 4)]
    found = find_change(StoredKernel(saxpy), kc.device("a100-40gb"), 2.0, vary, ROOFLINE)
    assert found.cheapest is None
    assert [item.cost for item in found.frontier] == [0.0]


def test_nothing_on_the_grid_is_cheaper_than_what_is_found(saxpy: kc.KernelTrace) -> None:
    """Every change of two facts by eighths of a doubling, up to twice."""
    device = kc.device("gtx-480")
    names = "sm.clock_hz", "dram.bandwidth"
    found = find_change(
        StoredKernel(saxpy), device, 1.15, [Bounds(name, 2) for name in names], "interval"
    )
    bases = device.architecture.clock_hz, device.dram.bandwidth_bytes_per_s
    costs = []
    for steps in itertools.product(range(9), repeat=2):
        changes = {
            name: base * 2 ** (step / 8)
            for name, base, step in zip(names, bases, steps, strict=True)
            if step
        }
        changed = changed_device(device, changes)
        made = kc.estimate(saxpy.profile(changed), "interval", changed, explained="no")
        if found.time_s / made.time_s >= 1.15:
            costs.append(sum(steps) / 8)
    assert found.cheapest is not None
    assert found.cheapest.cost == min(costs)


def test_the_frontier_rises(saxpy: kc.KernelTrace) -> None:
    vary = [Bounds("l2.capacity", 2), Bounds("dram.bandwidth", 4)]
    found = find_change(StoredKernel(saxpy), kc.device("a100-40gb"), 1.5, vary, "interval")
    costs = [item.cost for item in found.frontier]
    gains = [item.speedup for item in found.frontier]
    assert costs == sorted(set(costs))
    assert gains == sorted(set(gains))
    assert (costs[0], gains[0]) == (0.0, 1.0)
    cache = kc.device("a100-40gb").l2
    for item in found.frontier:
        size = item.changes.get("l2.capacity", 0)
        assert size % (cache.line_bytes * cache.ways) == 0


def test_bounds_are_factors_above_one(saxpy: kc.KernelTrace) -> None:
    with pytest.raises(InputError, match="by a factor above 1"):
        Bounds("sm.count", 1)
    with pytest.raises(InputError, match="a target is a factor above 1"):
        find_change(StoredKernel(saxpy), kc.device("gtx-480"), 1.0, [Bounds("sm.count")])


def test_the_command_answers_in_25_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["whatif", str(SAXPY), "--size", "small", "--device", "a100-40gb", "--target", "2x"]
    common += ["--vary", "dram.bandwidth,sm.count:2", "--model", ROOFLINE, "--code", "source"]
    assert main(common) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) <= 25
    assert sum("measured.dram_bandwidth_bytes_per_s" in line for line in shown) == 1
    page = tmp_path / "search.html"
    assert main([*common, "--json", "--html", str(page)]) == 0
    assert json.loads(capsys.readouterr().out)["cheapest"]["cost"] == 1.0
    assert "What each doubling buys" in page.read_text()
    assert "measured.dram_bandwidth_bytes_per_s" in page.read_text()
    assert main([*common[:-6], "--vary", "sm.count", "--model", ROOFLINE]) == 1
    assert "nothing within the bounds" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--target", "2x"), "give both"),
        (("--vary", "sm.count"), "give both"),
        (("--target", "fast", "--vary", "sm.count"), "a factor such as 2x"),
        (("--target", "2x", "--vary", "sm.count:much"), "NAME or NAME:MOST"),
        (("--target", "2x", "--vary", "sm.coun"), "no fact 'sm.coun'"),
        (("--target", "2x", "--vary", "coalescing"), "is no number"),
        (("--target", "2x", "--vary", "sm.count", "--set", "l1=none"), "does not go with"),
    ],
)
def test_what_is_wrong_with_a_search(
    error: Callable[..., str], arguments: tuple[str, ...], message: str
) -> None:
    command = ("whatif", str(SAXPY), "--size", "small", "--device", "a100-40gb")
    assert message in error(*command, *arguments)
