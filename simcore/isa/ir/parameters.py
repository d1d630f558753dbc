"""What a kernel takes and the variables that it has: names with places in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernelcast.simcore.isa.ir.image_formats import ImageKind
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["Parameter", "Symbol"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel parameter at byte `offset` of the parameter space; `size` bytes (structs too).

    `is_local_array`: it holds the address of an array in shared memory, whose size is the argument
    (`__local` of OpenCL). `image`, `is_sampler`: what the source says that a pointer stands for.
    `is_texture`, `is_surface`: it is one that the source declares, not the number of any object.
    `element`: what the source says that a pointer points to, `float`; empty where nobody says it.
    """

    name: str
    type: ScalarType
    offset: int
    size: int
    is_struct: bool = False
    is_pointer: bool = False
    is_local_array: bool = False
    image: ImageKind | None = None
    is_sampler: bool = False
    is_texture: bool = False
    is_surface: bool = False
    element: str = ""

    @property
    def is_opaque(self) -> bool:
        """Whether only objects of one kind can be its argument."""
        is_described = self.image is not None or self.is_sampler
        return is_described or self.is_texture or self.is_surface


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable with an address.

    `relocations` maps byte positions of `data` to other symbols, whose generic address is to be
    added to the 8 bytes there. SHARED and LOCAL `offset`s are within the thread block's and the
    thread's own memory; `size` 0 in SHARED is the dynamic array (`.extern .shared`), placed after
    the static ones. `variables`: of a bank of constants, which belongs to one kernel, the module's
    variables in it, name and bytes by position; None of what is a variable itself.
    """

    name: str
    space: AddressSpace
    size: int
    align: int
    offset: int
    data: bytes = b""
    relocations: Mapping[int, str] = field(default_factory=dict)
    variables: Mapping[int, tuple[str, int]] | None = None
    holds_functions: bool = False
    """Whether `data` has addresses of functions, which machine code has others for."""
