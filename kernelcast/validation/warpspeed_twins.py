"""The kernels of Ernst et al. 2022 in two forms: CUDA C++ to execute, and address expressions.

`validation/workloads/warpspeed` has the CUDA C++. The expressions are written by hand beside it:
what compares the two must not get one from the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from kernelcast.simcore.address.kernel import AddressKernel, Field
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.workload.file import load_workload

__all__ = ["PAPER_DOMAIN", "Configuration", "Folding", "Twin"]

_FOLDER = Path(__file__).resolve().parents[2] / "validation" / "workloads" / "warpspeed"
PAPER_DOMAIN = (640, 512, 512)
"""Section 5.2."""
_LEAD = 16
"""Elements of a row before its first cell, and behind its last one."""
_ELEMENT_BYTES = 8
_ALIGNMENT_BYTES = 256
_STAR_RADIUS = 4
_HALF_D3Q15 = (
    *((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    *((1, 1, 1), (1, 1, -1), (1, -1, 1), (-1, 1, 1)),
)
_D3Q15 = ((0, 0, 0), *((s * x, s * y, s * z) for x, y, z in _HALF_D3Q15 for s in (1, -1)))
_STAR_FLOPS = 25.0
"""Ernst et al. 2022, section 5.2."""
_TRACKING_FLOPS = 260.0
"""Flops of the compiled kernel without folding, fused multiply-adds twice."""

Point = tuple[int, int, int]


class Folding(Enum):
    """Cells that one thread updates along x, y and z; the value is the suffix of the kernel."""

    NONE = ""
    TWO_Y = "_2y"
    TWO_Z = "_2z"

    @property
    def cells(self) -> Point:
        """Cells that one thread updates along each axis."""
        return {"": (1, 1, 1), "_2y": (1, 2, 1), "_2z": (1, 1, 2)}[self.value]


class Twin(Enum):
    """The value is the name of the workload."""

    STENCIL = "star25_fp64"
    INTERFACE_TRACKING = "interface_tracking"

    def registers(self, folding: Folding) -> int:
        """A thread, so that thread blocks of 1024 (stencil) and 512 have room; section 5.1."""
        if self is Twin.INTERFACE_TRACKING:
            return 128
        return 32 if folding is Folding.NONE else 64

    @property
    def compulsory_bytes(self) -> int:
        """What one cell reads and writes at least: each array once."""
        arrays = 2 if self is Twin.STENCIL else 2 * len(_D3Q15) + 2
        return arrays * _ELEMENT_BYTES


@dataclass(frozen=True, slots=True)
class Configuration:
    """One launch; `domain` are the cells along x, y and z."""

    twin: Twin
    thread_block: Point
    folding: Folding = Folding.NONE
    domain: Point = PAPER_DOMAIN

    @property
    def title(self) -> str:
        """The configuration as text: kernel, folding and thread block."""
        return f"{self.twin.value}{self.folding.value} {self.thread_block}".replace(", ", "x")

    @property
    def cells(self) -> int:
        """The number of cells of the domain."""
        width, height, depth = self.domain
        return width * height * depth

    @property
    def grid(self) -> Point:
        """Thread blocks along each axis."""
        x, y, z = (
            -(-cells // (threads * folded))
            for cells, threads, folded in zip(
                self.domain, self.thread_block, self.folding.cells, strict=True
            )
        )
        return x, y, z

    @property
    def tiles_domain(self) -> bool:
        """Whether no thread block reaches over an edge of the domain."""
        return all(
            blocks * threads * folded == cells
            for blocks, threads, folded, cells in zip(
                self.grid, self.thread_block, self.folding.cells, self.domain, strict=True
            )
        )

    def kernel_and_launch(self) -> tuple[Kernel, Launch]:
        """The CUDA twin; its buffers are never filled, since only addresses are wanted."""
        workload = load_workload(_FOLDER / f"{self.twin.value}{self.folding.value}.toml")
        width, height, depth = self.domain
        sizes: Mapping[str, int] = {
            "width": width,
            "height": height,
            "depth": depth,
            "pitch": width + 2 * _LEAD,
        }
        arguments = tuple(argument.make(sizes) for argument in workload.arguments)
        launch = Launch(
            self.grid,
            self.thread_block,
            arguments,
            registers=self.twin.registers(self.folding),
        )
        return workload.load_kernel().kernel, launch

    def address_kernel(self) -> AddressKernel:
        """The launch by its address expressions."""
        build = _stencil if self.twin is Twin.STENCIL else _tracking
        return build(self)


def _index(halo: int, at: Point, *component: int) -> tuple[str, ...]:
    """The index of cell (x, y, z) + `at` in an array with halo, x first."""
    shifts = (_LEAD + at[0], halo + at[1], halo + at[2])
    return (
        *(f"{axis} + {shift}" for axis, shift in zip("xyz", shifts, strict=True)),
        *map(str, component),
    )


def _field(name: str, domain: Point, halo: int, *components: int) -> Field:
    width, height, depth = domain
    shape = (width + 2 * _LEAD, height + 2 * halo, depth + 2 * halo, *components)
    return Field(name, _ELEMENT_BYTES, shape, _ALIGNMENT_BYTES)


def _star(radius: int) -> tuple[Point, ...]:
    """Points in the order in which the CUDA C++ names them: rings from the centre outwards."""
    rings = (
        ((-k, 0, 0), (k, 0, 0), (0, -k, 0), (0, k, 0), (0, 0, -k), (0, 0, k))
        for k in range(1, radius + 1)
    )
    return ((0, 0, 0), *(point for ring in rings for point in ring))


def _stencil(at: Configuration) -> AddressKernel:
    halo = _STAR_RADIUS
    return AddressKernel(
        fields=tuple(_field(name, at.domain, halo) for name in ("to", "from")),
        loads=tuple(("from", _index(halo, point)) for point in _star(halo)),
        stores=(("to", _index(halo, (0, 0, 0))),),
        domain=at.domain,
        block=at.thread_block,
        folding=at.folding.cells,
        flops=_STAR_FLOPS,
        registers=at.twin.registers(at.folding),
        name=at.twin.value,
    )


def _tracking(at: Configuration) -> AddressKernel:
    here, count = (0, 0, 0), len(_D3Q15)
    pulled = (("from", _index(1, (-x, -y, -z), number)) for number, (x, y, z) in enumerate(_D3Q15))
    return AddressKernel(
        fields=(
            *(_field(name, at.domain, 1, count) for name in ("to", "from")),
            *(_field(name, at.domain, 1) for name in ("phase_to", "phase")),
        ),
        loads=(*(("phase", _index(1, point)) for point in _star(1)), *pulled),
        stores=(
            *(("to", _index(1, here, number)) for number in range(count)),
            ("phase_to", _index(1, here)),
        ),
        domain=at.domain,
        block=at.thread_block,
        folding=at.folding.cells,
        flops=_TRACKING_FLOPS,
        registers=at.twin.registers(at.folding),
        name=at.twin.value,
    )
