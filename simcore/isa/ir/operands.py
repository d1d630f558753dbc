"""What instructions work on: registers, constants, special registers, addresses, guards."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from kernelcast.simcore.isa.types import AddressSpace

__all__ = [
    "CALL_STACK",
    "GRID",
    "HEAP",
    "Address",
    "Guard",
    "Immediate",
    "Operand",
    "Register",
    "Special",
    "SpecialRegister",
    "SymbolAddress",
]


_ADDRESS_BITS = 64


def _wrapped(offset: int) -> int:
    """A signed number of 64 bits."""
    half = 1 << (_ADDRESS_BITS - 1)
    return ((offset + half) & ((1 << _ADDRESS_BITS) - 1)) - half


@dataclass(frozen=True, slots=True)
class Register:
    """A per-thread register: `index` is unique in its kernel, `bits` is 1, 16, 32 or 64."""

    index: int
    bits: int
    name: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Immediate:
    """A constant as raw bits; the instruction's operand type says how to read them."""

    bits: int


class Special(Enum):
    """The special registers of PTX that need no device state."""

    TID_X = "%tid.x"
    TID_Y = "%tid.y"
    TID_Z = "%tid.z"
    NTID_X = "%ntid.x"
    NTID_Y = "%ntid.y"
    NTID_Z = "%ntid.z"
    CTAID_X = "%ctaid.x"
    CTAID_Y = "%ctaid.y"
    CTAID_Z = "%ctaid.z"
    NCTAID_X = "%nctaid.x"
    NCTAID_Y = "%nctaid.y"
    NCTAID_Z = "%nctaid.z"
    CLUSTERID_X = "%clusterid.x"
    CLUSTERID_Y = "%clusterid.y"
    CLUSTERID_Z = "%clusterid.z"
    NCLUSTERID_X = "%nclusterid.x"
    NCLUSTERID_Y = "%nclusterid.y"
    NCLUSTERID_Z = "%nclusterid.z"
    CLUSTER_CTAID_X = "%cluster_ctaid.x"
    CLUSTER_CTAID_Y = "%cluster_ctaid.y"
    CLUSTER_CTAID_Z = "%cluster_ctaid.z"
    CLUSTER_NCTAID_X = "%cluster_nctaid.x"
    CLUSTER_NCTAID_Y = "%cluster_nctaid.y"
    CLUSTER_NCTAID_Z = "%cluster_nctaid.z"
    CLUSTER_CTARANK = "%cluster_ctarank"
    CLUSTER_NCTARANK = "%cluster_nctarank"
    LANEID = "%laneid"
    WARPID = "%warpid"
    NWARPID = "%nwarpid"
    WARP_WIDTH = "%warp_width"
    """No register of PTX, where warps have 32 lanes: the size of sub-groups in OpenCL."""
    SMID = "%smid"
    NSMID = "%nsmid"
    GRIDID = "%gridid"
    LANEMASK_EQ = "%lanemask_eq"
    LANEMASK_LT = "%lanemask_lt"
    LANEMASK_LE = "%lanemask_le"
    LANEMASK_GT = "%lanemask_gt"
    LANEMASK_GE = "%lanemask_ge"
    CLOCK = "%clock"
    CLOCK64 = "%clock64"
    GLOBALTIMER = "%globaltimer"
    DYNAMIC_SMEM_SIZE = "%dynamic_smem_size"
    TOTAL_SMEM_SIZE = "%total_smem_size"


@dataclass(frozen=True, slots=True)
class SpecialRegister:
    """A special register as an operand: `%tid.x`, `%laneid`, ..."""

    which: Special


@dataclass(frozen=True, slots=True)
class SymbolAddress:
    """The address of a module or kernel variable within its own space, plus a constant."""

    symbol: str
    offset: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", _wrapped(self.offset))


CALL_STACK = "%stack"
"""The register with the address of what the running function keeps, where some are recursive."""
HEAP = "%heap"
"""The variable that `malloc` takes memory from, in kernels that call it."""
GRID = "%grid"
"""The variable by which all thread blocks wait for each other, in kernels that do: the launch is a
cooperative one, so all of them are under way at once."""

Operand: TypeAlias = Register | Immediate | SpecialRegister | SymbolAddress


@dataclass(frozen=True, slots=True)
class Guard:
    """`@p` or `@!p`: lanes where it is false do not execute the instruction."""

    register: Register
    negated: bool


@dataclass(frozen=True, slots=True)
class Address:
    """[base + offset] in bytes; base is a register, a variable, or absent for PARAM offsets.

    The offset counts modulo 2**64, as addresses do, and is kept signed.
    """

    space: AddressSpace
    base: Register | SymbolAddress | None
    offset: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", _wrapped(self.offset))
