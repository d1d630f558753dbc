"""A kernel as what it loads and stores at which addresses, on which domain, in which launch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

from kernelcast.errors import KernelcastError, nearest
from kernelcast.simcore.address.expression import AddressExpression
from kernelcast.simcore.address.expression_sources import AddressSource, address_expression

__all__ = ["Access", "AccessSource", "AddressKernel", "Field", "LoopVariable"]

Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Field:
    """An array in global memory.

    `shape` in elements, x first, where it is known; rows follow each other without padding.
    `base_alignment_bytes` stands for the unknown base address.
    """

    name: str
    element_bytes: int
    shape: tuple[int, ...] = ()
    base_alignment_bytes: int = 0

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements from one index to the next, by dimension."""
        found, stride = [], 1
        for extent in self.shape:
            found.append(stride)
            stride *= extent
        return tuple(found)


@dataclass(frozen=True, slots=True)
class LoopVariable:
    """Takes the values 0 to `trips` - 1 in each thread."""

    name: str
    trips: int


@dataclass(frozen=True, slots=True)
class Access:
    """A load or a store of `access_bytes` in every cell, `offset` bytes behind the field's base.

    `loops`: those that it stands in. One expression for each cell of the domain and each trip.
    """

    field: str
    offset: AddressExpression
    access_bytes: int
    loops: tuple[str, ...] = ()


AccessSource = Access | tuple[str, AddressSource]
"""An access, or the name of a field and an index of its elements (or one for each dimension)."""


class AddressDetails(TypedDict, total=False):
    """What an AddressKernel need not be told; see its fields."""

    flops: float
    registers: int | None
    name: str
    parameters: Mapping[str, int] | Iterable[tuple[str, int]]
    loops: Iterable[LoopVariable]
    origin: tuple[int, ...]
    shared_bytes: int
    is_double: bool | None
    work_per_cell: float


_USUAL: AddressDetails = {
    "flops": 0.0,
    "registers": None,
    "name": "kernel",
    "parameters": (),
    "loops": (),
    "origin": (0, 0, 0),
    "shared_bytes": 0,
    "is_double": None,
    "work_per_cell": 1.0,
}


@dataclass(frozen=True, init=False)
class AddressKernel:
    """All that the data volumes of a kernel depend on.

    Threads work on the cells `origin` <= (x, y, z) < `domain`, `folding` of them each, in thread
    blocks of `block` threads; what lies outside does nothing. `flops`: floating-point operations
    of a cell. `registers`: of a thread; None when they are not known. `shared_bytes`: of a thread
    block. `work_per_cell`: units of work that a cell is, by which volumes are divided.
    """

    fields: tuple[Field, ...]
    loads: tuple[Access, ...]
    stores: tuple[Access, ...]
    domain: Triple
    block: Triple
    folding: Triple
    flops: float
    registers: int | None
    name: str
    parameters: tuple[tuple[str, int], ...]
    loops: tuple[LoopVariable, ...]
    origin: Triple
    shared_bytes: int
    is_double: bool
    work_per_cell: float

    def __init__(
        self,
        fields: Iterable[Field],
        loads: Iterable[AccessSource],
        stores: Iterable[AccessSource],
        domain: tuple[int, ...],
        block: tuple[int, ...],
        folding: tuple[int, ...] = (1, 1, 1),
        **details: Unpack[AddressDetails],
    ) -> None:
        """Resolves and checks what is given.

        Raises KernelcastError for unknown fields and for sizes that are not positive, TypeError for
        a keyword that is none of AddressDetails.
        """
        if unknown := details.keys() - _USUAL.keys():
            name = min(unknown)
            hint = nearest(name, _USUAL)
            raise TypeError(f"AddressKernel() got an unexpected keyword argument {name!r}{hint}")
        given: dict[str, Any] = {**_USUAL, **details}
        known = tuple(fields)
        wide = any(field.element_bytes == 8 for field in known)
        values: dict[str, object] = {
            "fields": known,
            "loads": tuple(_access(source, known) for source in loads),
            "stores": tuple(_access(source, known) for source in stores),
            "domain": _triple("domain", domain),
            "block": _triple("thread block", block),
            "folding": _triple("folding", folding),
            "flops": float(given["flops"]),
            "registers": given["registers"],
            "name": given["name"],
            "parameters": tuple(sorted(dict(given["parameters"]).items())),
            "loops": tuple(given["loops"]),
            "origin": _triple("origin", given["origin"], least=0, missing=0),
            "shared_bytes": given["shared_bytes"],
            "is_double": wide if given["is_double"] is None else given["is_double"],
            "work_per_cell": given["work_per_cell"],
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def with_block(self, *block: int) -> AddressKernel:
        """The kernel with its work in thread blocks of another size."""
        return replace(self, block=_triple("thread block", block))

    def with_folding(self, *folding: int) -> AddressKernel:
        """The kernel with another number of cells a thread."""
        return replace(self, folding=_triple("folding", folding))

    def with_domain(self, *domain: int) -> AddressKernel:
        """Another domain; expressions that hold its size as a number keep it."""
        return replace(self, domain=_triple("domain", domain))

    def field(self, name: str) -> Field:
        """The field of that name."""
        return _field(name, self.fields)

    @property
    def cells(self) -> int:
        """The number of cells in the domain."""
        x, y, z = (high - low for low, high in zip(self.origin, self.domain, strict=True))
        return x * y * z

    @property
    def tile(self) -> Triple:
        """Cells that a thread block covers along each axis."""
        (x, y, z), (fx, fy, fz) = self.block, self.folding
        return x * fx, y * fy, z * fz

    @property
    def grid(self) -> Triple:
        """Thread blocks along each axis: as many as cover the domain."""
        x, y, z = (-(-n // cells) for n, cells in zip(self.domain, self.tile, strict=True))
        return x, y, z

    @property
    def threads_per_thread_block(self) -> int:
        """The number of threads in a thread block."""
        x, y, z = self.block
        return x * y * z


def _access(source: AccessSource, fields: tuple[Field, ...]) -> Access:
    if isinstance(source, Access):
        _field(source.field, fields)
        return source
    name, given = source
    field = _field(name, fields)
    index = address_expression(given, field.strides)
    return Access(name, index * field.element_bytes, field.element_bytes)


def _field(name: str, fields: tuple[Field, ...]) -> Field:
    for field in fields:
        if field.name == name:
            return field
    known = [field.name for field in fields]
    raise KernelcastError(f"no field {name!r}{nearest(name, known)}; known are {', '.join(known)}")


def _triple(what: str, sizes: tuple[int, ...], least: int = 1, missing: int = 1) -> Triple:
    if not 1 <= len(sizes) <= 3 or any(size < least for size in sizes):
        raise KernelcastError(f"{what} must be up to three sizes of at least {least}, got {sizes}")
    x, y, z = (*sizes, missing, missing)[:3]
    return x, y, z
