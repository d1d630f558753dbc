"""Addresses read off the code of regular kernels equal those that people write by hand.

Others are refused with what they depend on.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import kernelcast as kc
from kernelcast.address.extraction import address_kernel, extracted_addresses
from kernelcast.errors import ModelNotApplicable
from kernelcast.simcore.address.expression_sources import address_expression
from kernelcast.simcore.address.kernel import Access

ROOT = Path(__file__).parents[4]
WORKLOADS = ROOT / "validation" / "workloads"


@dataclass(frozen=True)
class ByHand:
    """Loads and stores as (field, index of its elements); `domain` as expressions of the sizes.

    `loops`: trips by name. `element_bytes` of all fields.
    """

    file: str
    element_bytes: int
    loads: tuple[tuple[str, str], ...]
    stores: tuple[tuple[str, str], ...]
    domain: tuple[str, ...]
    loops: tuple[tuple[str, str], ...] = ()
    size: str = "small"


STAR_5 = "x + 1 + width*(y + 1)"
STAR_7 = "x + 1 + width*(y + 1 + height*(z + 1))"
TRANSPOSED = tuple((down, f"(32*blockIdx.y + threadIdx.y + {down})") for down in (0, 8, 16, 24))
COLUMN = "(32*blockIdx.x + threadIdx.x)"
BOX = tuple(
    f"x + {1 + i} + width*(y + {1 + j} + height*(z + {1 + k}))"
    for i, j, k in itertools.product((-1, 0, 1), repeat=3)
)
REGULAR = {
    "saxpy": ByHand(
        "../../examples/saxpy/saxpy.toml", 4, (("x", "x"), ("y", "x")), (("y", "x"),), ("n",)
    ),
    "triad": ByHand("memory/triad.toml", 8, (("b", "x"), ("c", "x")), (("a", "x"),), ("n",)),
    "strided read": ByHand(
        "memory/strided_read_32.toml", 4, (("from", "stride*x"),), (("to", "x"),), ("n",)
    ),
    "5-point star": ByHand(
        "stencil/star5_2d.toml",
        4,
        (
            ("from", STAR_5),
            ("from", f"{STAR_5} - 1"),
            ("from", f"{STAR_5} + 1"),
            ("from", f"{STAR_5} - width"),
            ("from", f"{STAR_5} + width"),
        ),
        (("to", STAR_5),),
        ("width - 2", "height - 2"),
    ),
    "7-point star": ByHand(
        "stencil/star7_3d.toml",
        8,
        (
            ("from", STAR_7),
            ("from", f"{STAR_7} - 1"),
            ("from", f"{STAR_7} + 1"),
            ("from", f"{STAR_7} - width"),
            ("from", f"{STAR_7} + width"),
            ("from", f"{STAR_7} - width*height"),
            ("from", f"{STAR_7} + width*height"),
        ),
        (("to", STAR_7),),
        ("width - 2", "height - 2", "depth - 2"),
    ),
    "27-point box": ByHand(
        "stencil/box27_3d.toml",
        4,
        tuple(("from", index) for index in BOX),
        (("to", STAR_7),),
        ("width - 2", "height - 2", "depth - 2"),
    ),
    "naive product of matrices": ByHand(
        "gemm/naive.toml",
        4,
        (("a", "y*k + i"), ("b", "i*n + x")),
        (("c", "y*n + x"),),
        ("n", "m"),
        (("i", "k"),),
    ),
    "transpose": ByHand(
        "transpose/naive.toml",
        4,
        tuple(("from", f"{row}*columns + {COLUMN}") for _, row in TRANSPOSED),
        tuple(("to", f"{COLUMN}*rows + {row}") for _, row in TRANSPOSED),
        ("columns", "rows // 4"),
        size="whole",
    ),
    "transpose by way of shared memory": ByHand(
        "transpose/tiled.toml",
        4,
        tuple(("from", f"{row}*columns + {COLUMN}") for _, row in TRANSPOSED),
        tuple(
            ("to", f"(32*blockIdx.x + threadIdx.y + {down})*rows + 32*blockIdx.y + threadIdx.x")
            for down, _ in TRANSPOSED
        ),
        ("columns", "rows // 4"),
        size="whole",
    ),
    "products of small matrices": ByHand(
        "gemm/batched.toml",
        4,
        tuple(
            (matrix, "((blockIdx.x*4 + threadIdx.z)*8 + threadIdx.y)*8 + threadIdx.x")
            for matrix in "ab"
        ),
        (("c", "((blockIdx.x*4 + threadIdx.z)*8 + threadIdx.y)*8 + threadIdx.x"),),
        ("8 * (products // 4)", "8", "4"),
        size="whole",
    ),
    "copy in vectors of four": ByHand(
        "memory/copy.toml", 16, (("from", "x"),), (("to", "x"),), ("n // 4",)
    ),
}
WHOLE = {
    "transpose": {"rows": 256, "columns": 320},
    "transpose by way of shared memory": {"rows": 256, "columns": 320},
    "products of small matrices": {"products": 1200},
}


def workload_of(name: str, case: ByHand) -> kc.Workload:
    workload = kc.load_workload(WORKLOADS / case.file)
    if name in WHOLE:
        return replace(workload, sizes={"whole": WHOLE[name]})
    return workload


def spread(
    accesses: Sequence[Access], trips: Mapping[str, int]
) -> Counter[tuple[str, object, int]]:
    """Field, offset and bytes of all accesses, one for each trip and each element of a vector."""
    found: Counter[tuple[str, object, int]] = Counter()
    for access in accesses:
        for point in itertools.product(*(range(trips[name]) for name in access.loops)):
            values = dict(zip(access.loops, point, strict=True))
            found[access.field, access.offset.substitute(values), access.access_bytes] += 1
    return found


def by_hand(
    case: ByHand, written: tuple[tuple[str, str], ...], sizes: Mapping[str, int]
) -> Counter[tuple[str, object, int]]:
    """All trips of all accesses."""
    trips = {name: int(eval(count, {}, dict(sizes))) for name, count in case.loops}
    found: Counter[tuple[str, object, int]] = Counter()
    for field, index in written:
        expression = address_expression(index) * case.element_bytes
        loops = [name for name in trips if name in expression.variables]
        for point in itertools.product(*(range(trips[name]) for name in loops)):
            at = expression.substitute(dict(zip(loops, point, strict=True)))
            found[field, at, case.element_bytes] += 1
    return found


@pytest.mark.parametrize("name", REGULAR)
def test_regular_kernels_have_the_addresses_that_people_write(name: str) -> None:
    case = REGULAR[name]
    workload = workload_of(name, case)
    sizes = dict(workload.size(case.size))
    found = address_kernel(workload, case.size)
    trips = {loop.name: loop.trips for loop in found.loops}
    assert spread(found.loads, trips) == by_hand(case, case.loads, sizes)
    assert spread(found.stores, trips) == by_hand(case, case.stores, sizes)
    wanted = tuple(int(eval(item, {}, sizes)) for item in case.domain)
    assert found.domain == (*wanted, 1, 1)[:3]
    assert found.origin == (0, 0, 0)


REFUSED = {
    "compressed rows": ("sparse/spmv_csr_scalar.toml", "ld.global.u32", "ld.global.u32"),
    "compressed rows, a row a warp": ("sparse/spmv_csr_vector.toml", "ld.global", "ld.global.u32"),
    "padded rows": ("sparse/spmv_ell.toml", "ld.global.f64", "ld.global.u32"),
    "breadth-first search": ("graph/bfs_level.toml", "ld.global.u32", "ld.global.u32"),
    "histogram": ("histogram/global_atomics.toml", "atom.global.add.u32", "ld.global.f32"),
    "gather": ("memory/gather.toml", "ld.global.nc.f32", "ld.global.nc.u32"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_addresses_of_data_are_refused_with_the_load_they_depend_on(name: str) -> None:
    file, access, load = REFUSED[name]
    workload = kc.load_workload(WORKLOADS / file)
    with pytest.raises(ModelNotApplicable) as refusal:
        address_kernel(workload, "small")
    found = re.search(
        r"the address of (\S+) at \S+:(\d+):\d+ depends on data that (\S+) reads at \S+:(\d+):",
        str(refusal.value),
    )
    assert found is not None, refusal.value
    assert found[1].startswith(access)
    lines = workload.kernel.source.read_text().splitlines()
    assert found[1] in lines[int(found[2]) - 1]
    assert found[3] == load
    assert load in lines[int(found[4]) - 1]


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("graph/bfs_frontier.toml", "is executed depends on data that ld.global.u32 reads at"),
        ("histogram/shared_atomics.toml", "is an atomic operation"),
        ("relaxation/sor.toml", "depends on which way threads go at"),
        ("learning/gelu_bias.toml", "depends on rem.s32 at"),
        ("learning/backprop_forward.toml", "is executed by some threads only, where tid.x == 0"),
    ],
)
def test_other_kernels_are_refused_with_the_reason(file: str, reason: str) -> None:
    with pytest.raises(ModelNotApplicable, match=re.escape(reason)):
        address_kernel(kc.load_workload(WORKLOADS / file), "small")


def test_what_a_launch_relied_on_is_known() -> None:
    free = extracted_addresses(kc.load_workload(WORKLOADS / "stencil/star7_3d.toml"), "small")
    assert not free.fixed
    bound = extracted_addresses(kc.load_workload(WORKLOADS / "gemm/naive.toml"), "small")
    assert bound.fixed == {"k"}
