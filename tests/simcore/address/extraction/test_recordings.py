"""Address expressions found once for many thread-block shapes are those of a fresh extraction."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import kernelcast as kc
from kernelcast.errors import ModelNotApplicable
from kernelcast.simcore.address.extraction import (
    execution as extraction_execution,
)
from kernelcast.simcore.address.extraction import (
    recording as extraction_recording,
)
from kernelcast.simcore.address.extraction.extraction import extract_addresses
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch

WORKLOADS = Path(__file__).parents[4] / "validation" / "workloads"
SHAPES = ((32, 1, 1), (256, 1, 1), (16, 16, 1), (96, 1, 1), (1, 32, 1), (4, 4, 8), (2, 64, 1))
# by workload: how many of the shapes need an execution of their own
KERNELS = {
    "warpspeed/interface_tracking_2z.toml": 1,  # tests of each index against the domain
    "stencil/box27_3d.toml": 1,
    "gemm/tiled.toml": 1,  # a loop, tiles in shared memory
    "transpose/tiled.toml": 1,
    "zhang_owens/matmul_8.toml": None,  # refused for some shapes
    "stencil/star25_3d.toml": None,
    "reduction/sum.toml": None,  # a loop over the thread block
    "physics/hotspot.toml": None,  # whether halos are loaded depends on the shape
    "learning/softmax.toml": None,
    "relaxation/jacobi.toml": None,
    "sparse/spmv_csr_scalar.toml": 1,  # refused
}


def in_shape(launch: Launch, shape: tuple[int, int, int]) -> Launch:
    """The launch in another shape, with about as many threads along each axis."""
    threads = (a * b for a, b in zip(launch.grid, launch.thread_block, strict=True))
    x, y, z = (-(-n // side) for n, side in zip(threads, shape, strict=True))
    return replace(launch, grid=(x, y, z), thread_block=shape)


def found(kernel: Kernel, launch: Launch) -> object:
    try:
        return extract_addresses(kernel, launch)
    except ModelNotApplicable as refusal:
        return refusal.message


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[Kernel]:
    """Kernels in the order in which they were executed."""
    kernels: list[Kernel] = []
    execute = extraction_execution.execute

    def counted(kernel: Kernel, *rest: object) -> object:
        kernels.append(kernel)
        return execute(kernel, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(extraction_recording, "execute", counted)
    return kernels


@pytest.mark.drawn(3)
@pytest.mark.parametrize("file", KERNELS)
def test_a_recording_says_what_a_fresh_execution_says(file: str, executed: list[Kernel]) -> None:
    workload = kc.load_workload(WORKLOADS / file)
    kernel, launch = workload.load_kernel().kernel, workload.make_launch("small", lazy=True)
    for shape in (*SHAPES, *SHAPES[::-1]):
        there = in_shape(launch, shape)
        assert found(kernel, there) == found(replace(kernel), there)
    times = sum(item is kernel for item in executed)
    assert times <= len(SHAPES)
    assert KERNELS[file] in (None, times)


def test_other_arguments_are_other_questions(executed: list[Kernel]) -> None:
    """A parameter that trips depend on is asked for; one that only scales an index is not."""
    workload = kc.load_workload(WORKLOADS / "gemm" / "naive.toml")
    kernel, launch = workload.load_kernel().kernel, workload.make_launch("small", lazy=True)
    position = [parameter.name for parameter in kernel.parameters]
    names = list(launch.argument_names) or position
    for name, value, times in (("n", 24, 1), ("k", 17, 2), ("k", 40, 3)):
        arguments = list(launch.arguments)
        found(kernel, launch)
        arguments[names.index(name)] = value
        there = replace(launch, arguments=tuple(arguments))
        assert found(kernel, there) == found(replace(kernel), there)
        assert sum(item is kernel for item in executed) == times


def test_a_recording_keeps_no_buffers() -> None:
    """Kernels live long, the arrays of one launch need not."""
    import gc
    import weakref

    import numpy as np

    workload = kc.load_workload(WORKLOADS / "memory" / "triad.toml")
    kernel, launch = workload.load_kernel().kernel, workload.make_launch("small", lazy=True)
    arrays = [np.zeros(4096), np.zeros(4096), np.zeros(4096)]
    watched = weakref.ref(arrays[0])
    arguments = (*arrays, *launch.arguments[3:])
    extract_addresses(kernel, replace(launch, arguments=arguments))
    del arrays, arguments
    gc.collect()
    assert watched() is None
