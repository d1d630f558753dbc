"""The layer-condition calculator: up to which domain a cache keeps what the next layer reuses.

Ernst et al. 2022, sections 4.4.2 and 5.7.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from kernelcast.address.extraction import address_kernel
from kernelcast.address.file import (
    domain_names,
    is_address_file,
    is_address_line,
    load_address_kernel,
)
from kernelcast.errors import (
    KernelcastError,
    LaunchError,
    ModelNotApplicable,
    WorkloadError,
    nearest,
)
from kernelcast.models.warpspeed.volumes.layer_condition import (
    LayerAxis,
    critical_extent,
    layer_conditions,
)
from kernelcast.models.warpspeed.volumes.volumes import volumes
from kernelcast.notebook import Tabular
from kernelcast.ranking.variations import (
    Configuration,
    ShapeLimits,
    configurations,
    read_foldings,
    read_shapes,
)
from kernelcast.simcore.address.expression import AXES
from kernelcast.simcore.address.kernel import AddressKernel
from kernelcast.simcore.device.device import Device
from kernelcast.workload.file import load_workload
from kernelcast.workload.workload import Workload

__all__ = ["LayerRow", "LayerTable", "ScaledKernel", "layer_table", "scaled_kernel"]

Shape: TypeAlias = tuple[int, int, int]

_LARGEST = 1 << 16


@dataclass(frozen=True, slots=True)
class LayerRow:
    """One layer condition.

    `layer_bytes` are what a cache must keep between two uses of a datum, `overlap_bytes` what a
    unit of work loads again where it cannot. `wave_cells`: what runs at a time. `largest_extent`:
    of the scaled sizes, up to which the condition holds; 0 where it never does, None where it
    always does.
    """

    device: str
    configuration: Configuration
    level: str
    axis: LayerAxis
    wave_cells: Shape
    layer_bytes: float
    capacity_bytes: float
    overlap_bytes: float
    oversubscription: float
    holds: bool
    largest_extent: int | None


@dataclass(frozen=True, repr=False)
class LayerTable(Tabular):
    """Layer conditions by device, thread block and level.

    `scaled`: the sizes that `largest_extent` counts, all equal. `refused`: what does not run.
    """

    kernel: str
    scaled: tuple[str, ...]
    rows: tuple[LayerRow, ...]
    refused: tuple[tuple[Configuration, str], ...]

    @property
    def label(self) -> str:
        """How many there are, of which kernel."""
        return f"{len(self.rows)} layer conditions of {self.kernel}"


@dataclass(frozen=True)
class ScaledKernel:
    """A kernel for any value of the sizes `scaled`; `given` is the one of the source."""

    given: AddressKernel
    scaled: tuple[str, ...]
    of_extent: Callable[[int], AddressKernel]


def scaled_kernel(
    source: str | os.PathLike[str] | Workload,
    size: str | None = None,
    scaled: Sequence[str] = (),
) -> ScaledKernel:
    """The kernel with the sizes that the calculator varies.

    `scaled` names sizes; by default all of the domain but the last one with several cells: width
    and height of a volume. KernelcastError where that leaves none.
    """
    if isinstance(source, Workload) or not (is_address_line(source) or is_address_file(source)):
        workload = source if isinstance(source, Workload) else load_workload(source)
        return _scaled_workload(workload, size, tuple(scaled))
    given = load_address_kernel(source, size)
    names = tuple(scaled) or _usual(given, domain_names(source))

    def of_extent(extent: int) -> AddressKernel:
        return load_address_kernel(source, size, dict.fromkeys(names, extent))

    return ScaledKernel(given, names, of_extent)


def layer_table(
    kernel: ScaledKernel,
    devices: Sequence[Device],
    varied: Mapping[str, str] | None = None,
) -> LayerTable:
    """`varied`: texts by `block` and `folding`, as `kernelcast rank --vary` takes them."""
    texts = varied or {}
    given = kernel.given
    limits = ShapeLimits(given.domain)
    shapes = read_shapes(texts["block"], limits) if "block" in texts else (given.block,)
    foldings = read_foldings(texts["folding"]) if "folding" in texts else (given.folding,)
    rows: list[LayerRow] = []
    refused: list[tuple[Configuration, str]] = []
    for device in devices:
        for item in configurations(shapes, foldings):
            try:
                rows += _rows(kernel, item, device)
            except (ModelNotApplicable, LaunchError) as reason:
                refused.append((item, reason.message))
    return LayerTable(given.name, kernel.scaled, tuple(rows), tuple(refused))


def _rows(kernel: ScaledKernel, item: Configuration, device: Device) -> Iterator[LayerRow]:
    def shaped(found: AddressKernel) -> AddressKernel:
        return found.with_block(*item.thread_block).with_folding(*item.folding)

    chosen = shaped(kernel.given)
    wave = volumes(chosen, device).wave_cells
    for found in layer_conditions(chosen, device):
        yield LayerRow(
            device.name,
            item,
            found.level,
            found.axis,
            wave,
            found.layer_bytes,
            found.capacity_bytes,
            found.overlap_bytes,
            found.oversubscription,
            found.holds,
            _largest(lambda extent: shaped(kernel.of_extent(extent)), device, found.axis),
        )


def _largest(
    of_extent: Callable[[int], AddressKernel], device: Device, axis: LayerAxis
) -> int | None:
    try:
        found = critical_extent(of_extent, device, axis, _LARGEST)
    except (ModelNotApplicable, WorkloadError):
        raise
    except KernelcastError:  # it holds nowhere
        return 0
    return None if found >= _LARGEST else found


def _scaled_workload(workload: Workload, size: str | None, names: tuple[str, ...]) -> ScaledKernel:
    sizes = workload.size(size)
    if not names:
        raise KernelcastError(
            f"name the sizes of the workload that are to grow with --scale: {', '.join(sizes)}"
        )
    for name in names:
        if name not in sizes:
            raise KernelcastError(f"no size {name!r}{nearest(name, sizes)}")

    def of_extent(extent: int) -> AddressKernel:
        grown = {**sizes, **dict.fromkeys(names, extent)}
        return address_kernel(replace(workload, sizes={"scaled": grown}))

    return ScaledKernel(address_kernel(workload, size), names, of_extent)


def _usual(kernel: AddressKernel, names: Sequence[str]) -> tuple[str, ...]:
    wide = [axis for axis, cells in zip(range(len(AXES)), kernel.domain, strict=True) if cells > 1]
    found = tuple(names[axis] for axis in wide[:-1])
    if not found:
        raise KernelcastError("a domain of one dimension has no layers")
    return found
