"""Addresses from OpenCL C, by way of LLVM IR, equal those from the CUDA C++ twin's PTX."""

from __future__ import annotations

import itertools
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import kernelcast as kc
from kernelcast.address.extraction import address_kernel
from kernelcast.errors import LaunchError, ModelNotApplicable
from kernelcast.simcore.address.expression import AddressExpression
from kernelcast.simcore.address.kernel import Access, AddressKernel

ROOT = Path(__file__).parents[4]
WORKLOADS = ROOT / "validation" / "workloads"
TWINS = {
    "saxpy": ("../../examples/saxpy/saxpy.toml", "../../examples/saxpy/saxpy.cl"),
    "triad": ("memory/triad.toml", "memory/triad.cl"),
    "5-point star": ("stencil/star5_2d.toml", "stencil/star5_2d.cl"),
    "7-point star": ("stencil/star7_3d.toml", "stencil/star7_3d.cl"),
    "naive product of matrices": ("gemm/naive.toml", "gemm/naive.cl"),
    "product of tiles in shared memory": ("gemm/tiled.toml", "gemm/tiled.cl"),
    "transpose by way of shared memory": ("transpose/tiled.toml", "transpose/tiled.cl"),
    "convolution": ("learning/convolution2d.toml", "learning/convolution2d.cl"),
    "set of Mandelbrot": ("simulation/mandelbrot.toml", "simulation/mandelbrot.cl"),
}
WHOLE = {
    # whole tiles; few threads at the border
    "product of tiles in shared memory": {"m": 64, "n": 96, "k": 128},
    "transpose by way of shared memory": {"rows": 128, "columns": 96},
    "convolution": {"width": 1280, "height": 640},
}

pytestmark = pytest.mark.skipif(not shutil.which("clang"), reason="clang is not installed")


def workload_of(name: str) -> kc.Workload:
    workload = kc.load_workload(WORKLOADS / TWINS[name][0])
    return replace(workload, sizes={"small": WHOLE[name]}) if name in WHOLE else workload


def of_twin(source: str, workload: kc.Workload) -> AddressKernel:
    launch = workload.make_launch("small", lazy=True)
    return address_kernel(
        kc.load(WORKLOADS / source).only_kernel(),
        grid=launch.grid,
        block=launch.thread_block,
        args=launch.arguments,
        argument_names=launch.argument_names,
    )


def spread(accesses: Sequence[Access], kernel: AddressKernel) -> Counter[object]:
    trips = {loop.name: loop.trips for loop in kernel.loops}
    found: Counter[object] = Counter()
    for access in accesses:
        for point in itertools.product(*(range(trips[name]) for name in access.loops)):
            at: dict[str, AddressExpression | int] = dict(zip(access.loops, point, strict=True))
            found[access.field, access.offset.substitute(at), access.access_bytes] += 1
    return found


@pytest.mark.parametrize("name", TWINS)
def test_both_languages_have_the_same_addresses(name: str) -> None:
    workload = workload_of(name)
    ptx, other = address_kernel(workload, "small"), of_twin(TWINS[name][1], workload)
    assert spread(other.loads, other) == spread(ptx.loads, ptx)
    assert spread(other.stores, other) == spread(ptx.stores, ptx)
    assert (other.origin, other.domain, other.flops) == (ptx.origin, ptx.domain, ptx.flops)
    assert set(other.fields) == set(ptx.fields)


def test_refusals_name_the_line_of_the_source() -> None:
    workload = kc.load_workload(WORKLOADS / "sparse" / "spmv_csr_scalar.toml")
    with pytest.raises(ModelNotApplicable) as refusal:
        of_twin("sparse/spmv_csr_scalar.cl", workload)
    source = (WORKLOADS / "sparse" / "spmv_csr_scalar.cl").read_text().splitlines()
    *_, line = str(refusal.value).rstrip(")").split(":")
    assert "row_starts" in source[int(line) - 1]


def test_atomic_operations_are_refused() -> None:
    workload = kc.load_workload(WORKLOADS / "histogram" / "shared_atomics.toml")
    with pytest.raises(ModelNotApplicable, match=r"shared_atomics\.cl:23\) is an atomic operation"):
        of_twin("histogram/shared_atomics.cl", workload)


def test_a_workload_has_its_own_launch() -> None:
    workload = kc.load_workload(WORKLOADS / "memory" / "triad.toml")
    with pytest.raises(LaunchError, match="give its size only"):
        kc.address_kernel(workload, "small", grid=1, block=32)
    with pytest.raises(LaunchError, match="args must be a list"):
        kc.address_kernel(workload.load_kernel(), grid=1, block=32)
