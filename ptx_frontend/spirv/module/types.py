"""The types of a module with their LLVM spelling and their memory layout on OpenCL devices."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem

__all__ = [
    "ArrayType",
    "BoolType",
    "FloatType",
    "FunctionType",
    "ImageType",
    "IntType",
    "OpaqueType",
    "PointerType",
    "SampledImageType",
    "SamplerType",
    "SpirvType",
    "StorageClass",
    "StructType",
    "VectorType",
    "VoidType",
    "address_space",
]


class StorageClass(IntEnum):
    """The storage classes that OpenCL kernels use."""

    UNIFORM_CONSTANT = 0
    INPUT = 1
    WORKGROUP = 4
    CROSS_WORKGROUP = 5
    FUNCTION = 7
    GENERIC = 8


_ADDRESS_SPACES = {
    StorageClass.FUNCTION: 0,
    StorageClass.CROSS_WORKGROUP: 1,
    StorageClass.UNIFORM_CONSTANT: 2,
    StorageClass.INPUT: 1,
    StorageClass.WORKGROUP: 3,
    StorageClass.GENERIC: 4,
}


def address_space(storage: int) -> int:
    """LLVM's address space of a storage class."""
    if storage not in _ADDRESS_SPACES:
        raise SpirvProblem(f"storage class {storage} is not supported", is_unsupported=True)
    return _ADDRESS_SPACES[StorageClass(storage)]


@dataclass(frozen=True, slots=True, eq=False)
class SpirvType:
    """`text` is LLVM's spelling; `size` and `align` are bytes in memory."""

    text: str
    size: int = 0
    align: int = 1
    depth: int = 0
    """How many aggregates are nested."""


@dataclass(frozen=True, slots=True, eq=False)
class VoidType(SpirvType):
    """No value."""


@dataclass(frozen=True, slots=True, eq=False)
class BoolType(SpirvType):
    """A Boolean, `i1` in LLVM."""


@dataclass(frozen=True, slots=True, eq=False)
class IntType(SpirvType):
    """An integer of `bits` bits; SPIR-V types of OpenCL have no sign."""

    bits: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class FloatType(SpirvType):
    """A floating-point number of `bits` bits."""

    bits: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class VectorType(SpirvType):
    """A vector of `count` elements."""

    element: SpirvType = field(kw_only=True)
    count: int = field(kw_only=True)


@dataclass(frozen=True, slots=True, eq=False)
class ArrayType(SpirvType):
    """An array of `count` elements."""

    element: SpirvType = field(kw_only=True)
    count: int = field(kw_only=True)


@dataclass(frozen=True, slots=True, eq=False)
class StructType(SpirvType):
    """`definition` lists its members; `name` is what the module calls it."""

    name: str = field(kw_only=True)
    definition: str = field(kw_only=True)
    members: tuple[SpirvType, ...] = field(kw_only=True)


@dataclass(frozen=True, slots=True, eq=False)
class PointerType(SpirvType):
    """`pointee` is an identifier: structs may point to themselves."""

    space: int = field(kw_only=True)
    storage: int = field(kw_only=True)
    pointee: int = field(kw_only=True)


@dataclass(frozen=True, slots=True, eq=False)
class FunctionType(SpirvType):
    """The type of a function: what it returns and takes."""

    returned: SpirvType = field(kw_only=True)
    parameters: tuple[SpirvType, ...] = field(kw_only=True)


@dataclass(frozen=True, slots=True, eq=False)
class OpaqueType(SpirvType):
    """A handle of the OpenCL run time; `name` is what mangled names call it."""

    name: str = field(kw_only=True)


@dataclass(frozen=True, slots=True, eq=False)
class ImageType(OpaqueType):
    """An image of so many spatial dimensions, or an array of them."""

    dimensions: int = field(kw_only=True)
    is_array: bool = field(kw_only=True)
    is_depth: bool = field(kw_only=True)


@dataclass(frozen=True, slots=True, eq=False)
class SamplerType(OpaqueType):
    """A sampler, which OpenCL passes as an opaque pointer."""


@dataclass(frozen=True, slots=True, eq=False)
class SampledImageType(SpirvType):
    """An image with a sampler, which is no value in OpenCL C."""
