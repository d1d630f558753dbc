"""The parallel-degree benchmark on a synthetic device that executes its kernel step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.measurement import Curve, Measurement
from kernelcast.opencl_bench.parallel_degree import (
    PARALLEL_DEGREE_BENCHMARKS,
    degree_curve_name,
    mix_of,
    share_name,
)
from kernelcast.opencl_bench.target import DeviceFacts

UNITS, WIDTH = 2, 4
LOAD_S, STEP_S = 1e-4, 1e-6
AT_ONCE = 8
"""Warps that the device works on side by side."""
(BENCHMARK,) = PARALLEL_DEGREE_BENCHMARKS


@dataclass
class Device:
    """A `Target` that executes `mixed_chain` item by item of a round; `breaks` one result."""

    breaks: bool = False
    launches: list[int] = field(default_factory=list)

    @property
    def facts(self) -> DeviceFacts:
        return DeviceFacts(
            name="synthetic",
            vendor="",
            platform="",
            driver="",
            is_cpu=False,
            compute_units=UNITS,
            clock_hz=1e9,
            global_bytes=2**30,
            max_buffer_bytes=2**30,
            local_bytes=2**15,
            constant_bytes=2**16,
            cache_bytes=2**20,
            cache_line_bytes=64,
            max_work_group=16 * WIDTH,
            preferred_work_group_multiple=WIDTH,
            features=frozenset(),
        )

    def kernel(self, file: str, name: str, defines: Mapping[str, object]) -> Any:
        assert (file, name) == ("degree.cl", "mixed_chain")
        return defines

    def buffer(self, content: npt.NDArray[Any]) -> Any:
        return content.copy()

    def empty(self, size_bytes: int) -> Any:
        return np.empty(size_bytes, np.uint8)

    def read(self, buffer: Any, like: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.asarray(buffer).copy()

    def seconds(
        self,
        kernel: Any,
        global_size: Sequence[int],
        local_size: Sequence[int],
        arguments: Sequence[Any],
        repeats: int,
    ) -> npt.NDArray[np.float64]:
        places, result, factor, none, rounds = arguments
        at = np.arange(global_size[0], dtype=np.uint32)
        x = np.ones(global_size[0], np.uint32)
        for _ in range(int(rounds)):
            at = places[at] + (x & none)
            for _ in range(kernel["MIX"] + 1):
                x = x * factor + at
        result[:] = x + np.uint32(self.breaks)
        warps = local_size[0] // WIDTH
        self.launches.append(warps)
        alone = int(rounds) * (LOAD_S + kernel["MIX"] * STEP_S)
        return np.full(repeats, alone * max(1.0, warps / AT_ONCE))

    def transfer_seconds(self, size_bytes: int, to_device: bool, repeats: int) -> Any:
        raise NotImplementedError

    def launch_seconds(self, kernel: Any, arguments: Sequence[Any], launches: int) -> float:
        raise NotImplementedError


def test_degrees_and_shares_are_those_of_the_device() -> None:
    findings = {finding.name: finding for finding in BENCHMARK.measure(Device(), Effort.FULL)}
    mixes = [mix for name in findings if (mix := mix_of(name)) is not None]
    assert len(mixes) > 2
    for mix in mixes:
        curve, share = findings[degree_curve_name(mix)], findings[share_name(mix)]
        assert isinstance(curve, Curve)
        assert isinstance(share, Measurement)
        assert curve.y == pytest.approx(np.minimum(curve.x, AT_ONCE))
        assert share.value == pytest.approx(mix * STEP_S / (LOAD_S + mix * STEP_S))


def test_no_more_warps_than_a_work_group_may_have() -> None:
    device = Device()
    BENCHMARK.measure(device, Effort.FULL)
    assert max(device.launches) == 16


def test_a_quick_session_leaves_it_out() -> None:
    device = Device()
    assert BENCHMARK.measure(device, Effort.QUICK) == ()
    assert device.launches == []


def test_a_wrong_result_is_refused() -> None:
    with pytest.raises(BenchmarkError, match="mixed_chain"):
        BENCHMARK.measure(Device(breaks=True), Effort.FULL)


def test_names_of_other_findings_are_no_mixes() -> None:
    assert mix_of("global_read_bandwidth") is None
    assert mix_of(degree_curve_name(12)) == 12
