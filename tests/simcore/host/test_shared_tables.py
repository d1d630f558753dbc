"""Tables that are made once: by equal arrays, and for all GPUs that are told the same."""

from __future__ import annotations

import pickle
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.errors import KernelcastError
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.device.named_facts import device_facts
from kernelcast.simcore.host.shared_tables import Known, SharedTables
from kernelcast.simcore.memory.simulated_memory import simulate_memory
from kernelcast.simcore.timing.kernel.from_trace import timed_kernel
from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel

WORKLOADS = Path(__file__).parents[3] / "validation" / "workloads"


def test_tables_are_made_once_for_equal_arrays_and_the_same_objects() -> None:
    tables, made = SharedTables(), list[float]()

    def total(values: npt.NDArray[Any], factor: float) -> float:
        made.append(factor)
        return float(factor * values.sum())

    small, large = np.arange(4.0), np.ones(5000)
    for _ in range(2):
        assert tables.once(total, np.arange(4.0), 2.0) == 12
        assert tables.once(total, small + 1, 2.0) == 20
        assert tables.once(total, large, 2.0) == 10_000
    assert tables.once(total, large, 3.0) == 15_000
    assert made == [2, 2, 2, 3]
    assert tables.once(total, large.copy(), 3.0) == 15_000
    assert made == [2, 2, 2, 3, 3]


def test_tables_are_made_once_for_what_is_known_by_a_key() -> None:
    tables, made = SharedTables(), list[str]()

    def told(text: str) -> str:
        made.append(text)
        return text

    assert [tables.once(told, Known(text, len(text))) for text in ("one", "two", "four")] == [
        *("one", "one", "four")
    ]
    assert made == ["one", "four"]


def test_tables_that_were_not_asked_for_are_made_again() -> None:
    tables, made = SharedTables(), list[int]()

    def square(number: int) -> int:
        made.append(number)
        return number * number

    for number in (0, 1, 0, *range(2, 33), 0, 1):
        assert tables.once(square, number) == number * number
    assert made == [0, 1, *range(2, 33), 1]


def test_a_trace_goes_to_another_process_without_its_tables() -> None:
    trace = kc.load_workload(WORKLOADS / "gemm/tiled.toml").run("small")
    found = kc.estimate(trace.profile("gtx-480"), "interval")
    copied = pickle.loads(pickle.dumps(trace))
    assert kc.estimate(copied.profile("gtx-480"), "interval").time_s == found.time_s


@pytest.mark.drawn(4)
@pytest.mark.parametrize("device", ["a100-80gb", "gtx-480", "mi210"])
@pytest.mark.parametrize(
    "workload",
    [
        *("gemm/tiled.toml", "gemm/fp64.toml", "histogram/shared_atomics.toml"),
        "sparse_formats/spmv_ell_texture.toml",
    ],
)
def test_whatever_changes_of_a_gpu_it_shares_only_what_is_the_same(
    workload: str, device: str
) -> None:
    """What other GPUs have left in the tables does not change what a GPU is told."""
    usual, tables = load_device(device), SharedTables()
    width = usual.architecture.warp_width
    trace = kc.load_workload(WORKLOADS / workload).run("small", warp_width=width).data
    memory = simulate_memory(trace, usual, 1)
    timed_kernel(trace, usual, memory, tables)
    for name, value in device_facts(usual).items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        try:
            other = usual.changed({name: 2 * value})
        except KernelcastError:
            continue  # no GPU can be so
        shared = timed_kernel(trace, other, memory, tables)
        np.testing.assert_equal(content(shared), content(timed_kernel(trace, other, memory)), name)


PRODUCT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry product()
{
    .reg .f32 %d<4>; .reg .b32 %a<4>; .reg .b32 %b<2>;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
        {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%d0, %d1, %d2, %d3};
    ret;
}
"""


def test_gpus_of_equal_pipelines_have_the_events_of_a_kernel_in_common() -> None:
    """What a product takes is counted for each: an H100 has the faster tensor unit."""
    kernel = kc.load_ptx(PRODUCT)["product"]
    trace = kernel.run(grid=1, block=32, args=[], record_paths=True).data
    tables = SharedTables()
    one, same, other = (
        timed_kernel(trace, gpu, simulate_memory(trace, gpu, 1), tables)
        for gpu in map(load_device, ("a100-40gb", "a100-80gb", "h100-sxm"))
    )
    assert one.paths is same.paths is other.paths
    assert one.wavefronts is same.wavefronts
    assert (one.wavefronts > other.wavefronts).any()


def content(kernel: TimedKernel) -> dict[str, Any]:
    return asdict(replace(kernel, instructions=()))
