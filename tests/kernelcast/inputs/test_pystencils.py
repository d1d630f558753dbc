"""Kernels of pystencils: addresses from the syntax tree, and values.

Addresses are compared with those of the generated CUDA, values with NumPy.
"""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.errors import InputError, LaunchError
from kernelcast.inputs.cuda.nvrtc_library import load_nvrtc
from kernelcast.inputs.pystencils import PystencilsKernel
from kernelcast.ranking.variations import ShapeLimits, read_shapes
from kernelcast.simcore.address.extraction.extraction import address_kernel
from kernelcast.simcore.address.kernel import AddressKernel
from kernelcast.simcore.launch.launch import Argument, Launch

ps = pytest.importorskip("pystencils")
sp = pytest.importorskip("sympy")

EXAMPLES = Path(__file__).parents[3] / "examples" / "pystencils"
DOMAIN = (72, 40, 36)
RANKED = (320, 128, 96)
"""Larger than a wave, so that shapes differ."""
SHAPES = ("256", "64x4", "32x8", "32x4x2", "16x4x4", "8x8x4", "4x8x8", "2x2x64", "1x256", "16x16")
HALO = {"star25": 4, "average7": 1, "interface_tracking": 1}
REGISTERS = 40


def _stencils() -> ModuleType:
    spec = importlib.util.spec_from_file_location("example_stencils", EXAMPLES / "stencils.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


stencils = _stencils()


@pytest.fixture
def _needs_nvrtc() -> None:
    try:
        load_nvrtc()
    except InputError as error:
        pytest.skip(str(error))


def made(name: str, domain: tuple[int, int, int] = DOMAIN) -> PystencilsKernel:
    return kc.from_pystencils(getattr(stencils, name)(*domain), registers=REGISTERS)


def arguments(
    name: str, domain: tuple[int, int, int] = DOMAIN
) -> dict[str, npt.NDArray[np.float64] | float]:
    """Random fields, zeros in a large domain, and every scalar at some value."""
    random = np.random.default_rng(5)
    shape = tuple(n + 2 * HALO[name] for n in reversed(domain))
    found: dict[str, npt.NDArray[np.float64] | float] = {}
    for parameter, value in made(name).parameters:
        components = (15,) if value in ("pulled", "collided") else ()
        if value is None:
            found[parameter] = float(random.uniform(0.1, 0.4))
        elif domain == DOMAIN:
            found[str(value)] = random.random((*components, *shape))
        else:
            found[str(value)] = np.zeros((*components, *shape))
    return found


def star_offsets(reach: int) -> set[tuple[int, int, int]]:
    steps = range(-reach, reach + 1)
    return {tuple(s * (a == b) for b in range(3)) for s in steps for a in range(3)}  # type: ignore[misc]


@pytest.mark.parametrize(("name", "reach"), [("star25", 4), ("average7", 1)])
def test_addresses_of_stars(name: str, reach: int) -> None:
    """The offsets are worked out by hand from the shape of the array."""
    kernel = made(name).address_kernel
    width, height = (n + 2 * reach for n in DOMAIN[:2])
    expected = {
        8 * ((x + reach) + width * ((y + reach) + height * (z + reach)))
        for x, y, z in star_offsets(reach)
    }
    for access in (*kernel.loads, *kernel.stores):
        terms = dict(access.offset.terms)
        assert {key: terms[key] for key in terms if key} == {
            ("x",): 8,
            ("y",): 8 * width,
            ("z",): 8 * width * height,
        }
    assert {dict(access.offset.terms)[()] for access in kernel.loads} == expected
    assert len(kernel.loads) == len(expected)
    (store,) = kernel.stores
    assert dict(store.offset.terms)[()] == 8 * reach * (1 + width + width * height)
    assert kernel.domain == DOMAIN
    assert kernel.registers == REGISTERS


def test_operations_of_the_mean() -> None:
    # as generated: each of the seven is multiplied by a seventh, then they are added
    assert made("average7").address_kernel.flops == 7 + 6


def test_loads_and_stores_of_lattice_boltzmann() -> None:
    """Pull: loads at x - c, one component a direction; stores in the cell."""
    kernel = made("interface_tracking").address_kernel
    width, height, depth = (n + 2 for n in DOMAIN)
    cells = width * height * depth

    def place(x: int, y: int, z: int) -> int:
        return 8 * (x + 1 + width * (y + 1 + height * (z + 1)))

    loads: dict[str, set[int]] = {}
    for access in kernel.loads:
        loads.setdefault(access.field, set()).add(dict(access.offset.terms)[()])
    assert loads["pulled"] == {
        8 * q * cells + place(-x, -y, -z) for q, (x, y, z) in enumerate(stencils.DIRECTIONS)
    }
    assert loads["phase"] == {place(*offset) for offset in star_offsets(1)}
    assert loads.keys() == {"pulled", "phase"}
    stores = {(item.field, dict(item.offset.terms)[()]) for item in kernel.stores}
    assert stores == {("phase_to", place(0, 0, 0))} | {
        ("collided", 8 * q * cells + place(0, 0, 0)) for q in range(15)
    }


def by_code(kernel: PystencilsKernel, values: Mapping[str, Argument]) -> Callable[..., Any]:
    """Addresses of the generated CUDA, extracted anew for every thread block."""
    compiled = kernel.compiled()

    def extracted(shape: tuple[int, int, int]) -> Any:
        chosen = kernel.address_kernel.with_block(*shape)
        launch = Launch(
            chosen.grid,
            shape,
            tuple(kernel.arguments(values)),
            argument_names=tuple(name for name, _ in kernel.parameters),
        )
        return replace(address_kernel(compiled.kernel, launch), registers=REGISTERS)

    return extracted


def in_order_of(code: AddressKernel, kernel: AddressKernel) -> AddressKernel:
    """The kernel with its loads in the order of the code, which decides on hits in L1.

    Fields have the names of arguments there, and addresses are values of the same polynomial.
    """
    place = {access.offset: number for number, access in enumerate(code.loads)}
    return replace(kernel, loads=tuple(sorted(kernel.loads, key=lambda at: place[at.offset])))


@pytest.mark.usefixtures("_needs_nvrtc")
@pytest.mark.parametrize("name", HALO)
def test_the_same_ranking_by_addresses_and_by_the_generated_cuda(name: str) -> None:
    kernel = made(name, RANKED)
    shapes = read_shapes(",".join(SHAPES), ShapeLimits(RANKED))
    extracted = by_code(kernel, arguments(name, RANKED))
    ordered = in_order_of(extracted(shapes[0]), kernel.address_kernel)
    (by_addresses,) = kc.rank(ordered, "a100-40gb", block=",".join(SHAPES))
    times = {}
    for shape in shapes:
        (ranking,) = kc.rank(extracted(shape), "a100-40gb", block="x".join(map(str, shape)))
        times[shape] = ranking.rows[0].time_s
    assert len(by_addresses.rows) == len(shapes)
    assert len(set(times.values())) > len(shapes) // 2
    for row in by_addresses.rows:
        assert times[row.configuration.thread_block] == pytest.approx(row.time_s, rel=1e-12)
    order = sorted(times.values())
    assert [row.rank for row in by_addresses.rows] == [
        1 + next(i for i, t in enumerate(order) if t == pytest.approx(row.time_s, rel=1e-12))
        for row in by_addresses.rows
    ]


@pytest.mark.usefixtures("_needs_nvrtc")
@pytest.mark.parametrize("name", HALO)
def test_the_order_of_loads_does_not_change_who_is_faster(name: str) -> None:
    """Compilers order loads as they like; shapes that differ by 1 % stay in their order."""
    kernel = made(name, RANKED)
    shapes = read_shapes(",".join(SHAPES), ShapeLimits(RANKED))
    extracted = by_code(kernel, arguments(name, RANKED))
    (ranking,) = kc.rank(kernel, "a100-40gb", block=",".join(SHAPES))
    here = {row.configuration.thread_block: row.time_s for row in ranking.rows}
    there = {}
    for shape in shapes:
        (of_code,) = kc.rank(extracted(shape), "a100-40gb", block="x".join(map(str, shape)))
        there[shape] = of_code.rows[0].time_s
    for one, other in itertools.combinations(shapes, 2):
        if here[one] < 0.99 * here[other]:
            assert there[one] < there[other], (one, other)


@pytest.mark.usefixtures("_needs_nvrtc")
def test_the_generated_cuda_computes_the_mean() -> None:
    values = arguments("average7")
    source, target = values["source"], values["target"]
    assert isinstance(source, np.ndarray)
    assert isinstance(target, np.ndarray)
    before = target.copy()
    expected = target.copy()
    inner = (slice(1, -1),) * 3
    expected[inner] = (
        sum(
            source[1 + z : DOMAIN[2] + 1 + z, 1 + y : DOMAIN[1] + 1 + y, 1 + x : DOMAIN[0] + 1 + x]
            for x, y, z in star_offsets(1)
        )
        / 7
    )
    trace = made("average7").run(values, block=(16, 4, 4))
    np.testing.assert_allclose(target, expected, rtol=1e-14)
    assert (target[0] == before[0]).all()
    assert trace.data.grid == (5, 10, 9)


@pytest.mark.usefixtures("_needs_nvrtc")
def test_a_missing_scalar_is_named() -> None:
    values = arguments("star25")
    del values["w_3"]
    with pytest.raises(LaunchError, match="w_3"):
        made("star25").run(values)


def symbolic() -> Any:
    source, target = ps.fields("source, target: float32[3D]", layout="fzyx")
    assignment = ps.Assignment(target.center(), source[1, 0, 0] + source[0, 0, -2])
    return ps.create_kernel(assignment, ps.CreateKernelConfig(target=ps.Target.CUDA))


def test_fields_without_sizes_take_those_of_arrays() -> None:
    array = np.empty((20, 18, 16), np.float32).transpose(2, 1, 0)
    kernel = kc.from_pystencils(symbolic(), {"source": array, "target": array}).address_kernel
    assert kernel.domain == (12, 14, 16)
    assert {str(access.offset) for access in kernel.loads} == {
        str(index)
        for index in (
            _offset(array.strides, (2 + 1, 2, 2)),
            _offset(array.strides, (2, 2, 2 - 2)),
        )
    }
    assert not kernel.is_double
    with pytest.raises(InputError, match="source has no sizes"):
        kc.from_pystencils(symbolic(), {"target": array})


def _offset(strides: tuple[int, ...], first: tuple[int, int, int]) -> Any:
    from kernelcast.simcore.address.expression import constant, variable

    return sum(
        (
            (variable(axis) + at) * stride
            for axis, at, stride in zip("xyz", first, strides, strict=True)
        ),
        constant(0),
    )


def test_what_is_no_kernel_for_a_gpu() -> None:
    source, target = ps.fields("source, target: double[20, 20]")
    assignment = ps.Assignment(target.center(), source[1, 0])
    with pytest.raises(InputError, match="CUDA"):
        kc.from_pystencils(ps.create_kernel(assignment))
    with pytest.raises(InputError, match="CUDA"):
        kc.from_pystencils(assignment)


def test_addresses_that_are_loaded_are_refused() -> None:
    index = np.dtype([("x", np.int64), ("value", np.float64)], align=True)
    cells = ps.Field.create_fixed_size("cells", (20,), dtype=index, field_type=ps.FieldType.INDEXED)
    target = ps.fields("target: double[50]")
    config = ps.CreateKernelConfig(target=ps.Target.CUDA, index_field=cells)
    kernel = ps.create_kernel(ps.Assignment(target.center(), cells("value")), config)
    with pytest.raises(InputError, match=r"an address|pointer that is no field"):
        kc.from_pystencils(kernel)


def test_loads_under_a_condition_are_refused() -> None:
    source, target = ps.fields("source, target: double[20, 20]")
    chosen = sp.Piecewise((source[1, 0], source.center() > 0), (source[-1, 0], True))
    config = ps.CreateKernelConfig(target=ps.Target.CUDA)
    kernel = ps.create_kernel(ps.Assignment(target.center(), chosen), config)
    with pytest.raises(InputError, match="condition"):
        kc.from_pystencils(kernel)
