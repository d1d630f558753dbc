"""What the instructions of tensor memory do: 128 lanes of 512 columns of 32 bits each.

PTX ISA 9.0, "Tensor Core 5th Generation Family Instructions" (`tcgen05`). Which lane of a warp
holds which column is as its figures of matrix fragments say; those of `.16x64b` to `.16x256b` and
`.16x32bx2` were read off the copy traits of CUTLASS, which state them as formulas.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "TENSOR_COLUMNS",
    "TENSOR_LANES",
    "Allocation",
    "AllocationStep",
    "CopyIn",
    "ProductKind",
    "RegisterAccess",
    "RegisterShape",
    "RowShift",
    "TensorMemoryAction",
    "TensorMemoryFault",
    "TensorProduct",
]

Array = npt.NDArray[Any]
TENSOR_LANES, TENSOR_COLUMNS = 128, 512
_THREAD = np.arange(32)


class TensorMemoryFault(Exception):
    """What an instruction asks of tensor memory does not fit, as half a sentence."""


class AllocationStep(Enum):
    """The three instructions that manage the allocation of tensor memory, and what they become.

    In machine code columns come in units of 32: `find` takes so many neighbours and gives the
    number of the first, `keep` gives back the units whose bits a mask lacks. Any lanes of a warp
    ask for these at once.
    """

    ALLOCATE = "alloc"
    DEALLOCATE = "dealloc"
    RELINQUISH = "relinquish_alloc_permit"
    FIND = "find"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Allocation:
    """Columns come and go. Sources: `alloc` how many; `dealloc` address and how many.

    Of `find` how many units, of `keep` the mask. `is_pair`: `find` looks for units that both
    thread blocks of a pair have left.
    """

    step: AllocationStep
    is_pair: bool = False


class RegisterShape(Enum):
    """Lanes and bits that a warp moves at once, and the registers of each thread that take them."""

    LANES_32_BITS_32 = ("32x32b", 1)
    LANES_16_BITS_64 = ("16x64b", 1)
    LANES_16_BITS_128 = ("16x128b", 2)
    LANES_16_BITS_256 = ("16x256b", 4)
    LANES_16_TWICE_32 = ("16x32bx2", 1)

    def __init__(self, ptx_name: str, registers: int) -> None:
        self.ptx_name = ptx_name
        self.registers = registers

    def places(self, count: int, split: int) -> tuple[Array, Array]:
        """(lane, column) of the registers, `count` times over; shape (registers, 32) each.

        `split`: how many columns the second half of `.16x32bx2` is away.
        """
        register = np.arange(count * self.registers)[:, None]
        thread = _THREAD[None, :]
        row = thread // 4
        match self:
            case RegisterShape.LANES_32_BITS_32:
                return thread + 0 * register, register + 0 * thread
            case RegisterShape.LANES_16_BITS_64:
                return row + 8 * (thread % 2) + 0 * register, 2 * register + thread // 2 % 2
            case RegisterShape.LANES_16_BITS_128:
                return row + 8 * (register % 2), 4 * (register // 2) + thread % 4
            case RegisterShape.LANES_16_BITS_256:
                column = 8 * (register // 4) + 2 * (thread % 4) + register % 2
                return row + 8 * (register // 2 % 2), column
        return thread % 16 + 0 * register, register + thread // 16 * split


@dataclass(frozen=True, slots=True)
class RegisterAccess:
    """`tcgen05.ld` and `.st`. `is_packed`: a register holds the lower halves of two columns.

    `half`: only the first or the second 16 threads store, as machine code does `.16x32bx2`.
    Sources: the address, and of a store the registers.
    """

    shape: RegisterShape
    count: int
    is_store: bool
    is_packed: bool = False
    split: int = 0
    half: int | None = None

    @property
    def registers(self) -> int:
        """Registers per lane that the access moves."""
        return self.shape.registers * self.count


@dataclass(frozen=True, slots=True)
class CopyIn:
    """`tcgen05.cp`: copies `rows` of `bits` from shared to tensor memory, `height` rows a part.

    Each of the `lanes` begins a part, whose first row `first_rows` says. `element_bits`: of what is
    spread to a byte each, 0 for none. `is_pair`: in both thread blocks of a pair, each from its own
    shared memory. Sources: the address, the descriptor.
    """

    rows: int
    bits: int
    height: int
    lanes: tuple[int, ...]
    first_rows: tuple[int, ...]
    element_bits: int = 0
    is_pair: bool = False


@dataclass(frozen=True, slots=True)
class RowShift:
    """`tcgen05.shift.down`: moves eight columns of each of 32 lanes one lane up.

    Every lane but the first takes those of the lane before it. Source: the address.
    """

    is_pair: bool = False


class ProductKind(Enum):
    """`.kind` of `tcgen05.mma`; the depth in bytes of what shared memory holds is 32 for all."""

    F16 = "f16"
    TF32 = "tf32"
    F8F6F4 = "f8f6f4"
    I8 = "i8"
    MXF8F6F4 = "mxf8f6f4"
    MXF4 = "mxf4"
    MXF4NVF4 = "mxf4nvf4"

    @property
    def is_scaled(self) -> bool:
        """Whether the product takes block scales."""
        return self in (ProductKind.MXF8F6F4, ProductKind.MXF4, ProductKind.MXF4NVF4)

    @property
    def depth(self) -> int:
        """The depth of one instruction in elements."""
        return {"f16": 16, "tf32": 8, "mxf4": 64, "mxf4nvf4": 64}.get(self.value, 32)


@dataclass(frozen=True, slots=True)
class TensorProduct:
    """`tcgen05.mma`. `scale_blocks`: scales of a row; `scale_shift`: D is divided by two so often.

    Sources: addresses or descriptors of D, A, B, the instruction descriptor, whether D is added;
    where A `is_sparse` the address of its metadata; then either addresses of the scales of A and B,
    or four masks of lanes that are left alone, for each thread block, or the descriptor of the
    columns of B that are zero. `is_pair`: two of a cluster bring half the rows of A and of the
    columns of B each, and have half the rows of D. `is_stationary`: with `.ws`, lanes that no row
    takes have a part of the columns. `is_left_out`: it is asked for, and nothing happens.
    `is_described`: the instruction descriptor says whether f16 is tf32 and whether A is sparse, as
    it does in machine code; the address of metadata is always there.
    """

    kind: ProductKind
    target: str
    a_in_tensor_memory: bool
    scale_blocks: int = 0
    scale_shift: int = 0
    has_masks: bool = False
    has_exact_sums: bool = False
    is_pair: bool = False
    is_left_out: bool = False
    is_stationary: bool = False
    is_sparse: bool = False
    has_zero_columns: bool = False
    is_described: bool = False


TensorMemoryAction: TypeAlias = Allocation | RegisterAccess | CopyIn | RowShift | TensorProduct
