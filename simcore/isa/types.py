"""Closed sets of the instruction set: scalar types and their groups, address spaces, units."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

__all__ = [
    "BITS",
    "FLOATS",
    "HALVES",
    "INTEGERS",
    "REALS",
    "SHORT_PAIRS",
    "SIGNED",
    "UNSIGNED",
    "VALUES",
    "WIDE_FLOATS",
    "WINDOWS",
    "WINDOW_BYTES",
    "WORDS",
    "WORD_BITS",
    "AddressSpace",
    "Kind",
    "ScalarType",
    "Unit",
]


class Kind(Enum):
    """How the bits of a value are read."""

    PREDICATE = "pred"
    BITS = "b"
    UNSIGNED = "u"
    SIGNED = "s"
    FLOAT = "f"
    ALTERNATE = "alternate"
    """A floating-point format that NumPy lacks: the bits are held as an unsigned integer."""
    PACKED = "x2"
    """Two elements side by side, the first in the low half, held as an unsigned integer."""
    FOURFOLD = "x4"
    """Four elements side by side, the first in the lowest bits, held as an unsigned integer."""


class ScalarType(Enum):
    """A PTX scalar type: how an instruction reads the untyped bits of a register."""

    PRED = ("pred", Kind.PREDICATE, 1, np.bool_)
    B8 = ("b8", Kind.BITS, 8, np.uint8)
    B16 = ("b16", Kind.BITS, 16, np.uint16)
    B32 = ("b32", Kind.BITS, 32, np.uint32)
    B64 = ("b64", Kind.BITS, 64, np.uint64)
    U8 = ("u8", Kind.UNSIGNED, 8, np.uint8)
    U16 = ("u16", Kind.UNSIGNED, 16, np.uint16)
    U32 = ("u32", Kind.UNSIGNED, 32, np.uint32)
    U64 = ("u64", Kind.UNSIGNED, 64, np.uint64)
    S8 = ("s8", Kind.SIGNED, 8, np.int8)
    S16 = ("s16", Kind.SIGNED, 16, np.int16)
    S32 = ("s32", Kind.SIGNED, 32, np.int32)
    S64 = ("s64", Kind.SIGNED, 64, np.int64)
    F16 = ("f16", Kind.FLOAT, 16, np.float16)
    F32 = ("f32", Kind.FLOAT, 32, np.float32)
    F64 = ("f64", Kind.FLOAT, 64, np.float64)
    BF16 = ("bf16", Kind.ALTERNATE, 16, np.uint16)
    TF32 = ("tf32", Kind.ALTERNATE, 32, np.uint32)
    E4M3 = ("e4m3", Kind.ALTERNATE, 8, np.uint8)
    E5M2 = ("e5m2", Kind.ALTERNATE, 8, np.uint8)
    E2M3 = ("e2m3", Kind.ALTERNATE, 8, np.uint8)
    E3M2 = ("e3m2", Kind.ALTERNATE, 8, np.uint8)
    E2M1 = ("e2m1", Kind.ALTERNATE, 4, np.uint8)
    UE8M0 = ("ue8m0", Kind.ALTERNATE, 8, np.uint8)
    S16X2 = ("s16x2", Kind.PACKED, 32, np.uint32)
    U16X2 = ("u16x2", Kind.PACKED, 32, np.uint32)
    F16X2 = ("f16x2", Kind.PACKED, 32, np.uint32)
    BF16X2 = ("bf16x2", Kind.PACKED, 32, np.uint32)
    F32X2 = ("f32x2", Kind.PACKED, 64, np.uint64)
    E4M3X2 = ("e4m3x2", Kind.PACKED, 16, np.uint16)
    E5M2X2 = ("e5m2x2", Kind.PACKED, 16, np.uint16)
    E2M3X2 = ("e2m3x2", Kind.PACKED, 16, np.uint16)
    E3M2X2 = ("e3m2x2", Kind.PACKED, 16, np.uint16)
    E2M1X2 = ("e2m1x2", Kind.PACKED, 8, np.uint8)
    UE8M0X2 = ("ue8m0x2", Kind.PACKED, 16, np.uint16)
    E4M3X4 = ("e4m3x4", Kind.FOURFOLD, 32, np.uint32)
    E5M2X4 = ("e5m2x4", Kind.FOURFOLD, 32, np.uint32)
    E2M3X4 = ("e2m3x4", Kind.FOURFOLD, 32, np.uint32)
    E3M2X4 = ("e3m2x4", Kind.FOURFOLD, 32, np.uint32)
    E2M1X4 = ("e2m1x4", Kind.FOURFOLD, 16, np.uint16)

    def __init__(self, ptx_name: str, kind: Kind, bits: int, dtype: Any) -> None:
        self.ptx_name = ptx_name
        self.kind = kind
        self.bits = bits
        self.dtype: np.dtype[Any] = np.dtype(dtype)

    @property
    def bytes(self) -> int:
        """The size in bytes; a predicate takes one."""
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        """Whether values are IEEE floating-point numbers: f16, f32 or f64."""
        return self.kind is Kind.FLOAT

    @property
    def is_packed(self) -> bool:
        """Whether a register holds several elements."""
        return self.kind is Kind.PACKED

    @property
    def element(self) -> ScalarType:
        """What a packed type holds two or four of; any other type itself."""
        if self.kind not in (Kind.PACKED, Kind.FOURFOLD):
            return self
        return ScalarType.named(self.ptx_name.removesuffix(self.kind.value))

    @property
    def holds_floats(self) -> bool:
        """Floating-point numbers in any format, alone or packed."""
        return self.element.kind in (Kind.FLOAT, Kind.ALTERNATE)

    @property
    def is_signed(self) -> bool:
        """Whether values are signed integers."""
        return self.kind is Kind.SIGNED

    @property
    def is_integer(self) -> bool:
        """Whether values are integers or untyped bits."""
        return self.kind in (Kind.BITS, Kind.UNSIGNED, Kind.SIGNED)

    @property
    def storage(self) -> np.dtype[Any]:
        """The type of a register that holds such a value: bool, or unsigned bits of its width."""
        return _STORAGE[self.bits]

    @property
    def doubled(self) -> ScalarType:
        """The type of twice the width: the result of `mul.wide`."""
        return ScalarType.named(f"{self.kind.value}{self.bits * 2}")

    @staticmethod
    def named(ptx_name: str) -> ScalarType:
        """The scalar type of a PTX name; KeyError for a name that is none."""
        return _BY_NAME[ptx_name]


_STORAGE: dict[int, np.dtype[Any]] = {
    1: np.dtype(np.bool_),
    4: np.dtype(np.uint8),
    8: np.dtype(np.uint8),
    16: np.dtype(np.uint16),
    32: np.dtype(np.uint32),
    64: np.dtype(np.uint64),
}
_BY_NAME = {member.ptx_name: member for member in ScalarType}


class AddressSpace(Enum):
    """Where an address points to. GENERIC is resolved per lane by the address windows."""

    GENERIC = "generic"
    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"
    CONST = "const"
    PARAM = "param"


class Unit(Enum):
    """The functional unit that executes an instruction: all that a throughput model must know."""

    FP16 = "fp16"
    FP32 = "fp32"
    FP64 = "fp64"
    INTEGER = "integer"
    CONVERSION = "conversion"
    SPECIAL_FUNCTION = "special function"
    LOAD_STORE = "load/store"
    TEXTURE = "texture"
    TENSOR = "tensor"
    CONTROL = "control"
    BARRIER = "barrier"
    MOVE = "move"


_T = ScalarType

BITS = (_T.B16, _T.B32, _T.B64)
UNSIGNED = (_T.U16, _T.U32, _T.U64)
SIGNED = (_T.S16, _T.S32, _T.S64)
INTEGERS = UNSIGNED + SIGNED
WORDS = (_T.U32, _T.U64, _T.S32, _T.S64)
WORD_BITS = (_T.B32, _T.B64)
WIDE_FLOATS = (_T.F32, _T.F64)
FLOATS = (_T.F16, *WIDE_FLOATS)
HALVES = (_T.BF16, _T.F16X2, _T.BF16X2)
"""What computes in 16 bits besides f16."""
REALS = (*FLOATS, *HALVES, _T.F32X2)
SHORT_PAIRS = (_T.S16X2, _T.U16X2)
VALUES = BITS + INTEGERS + FLOATS
"""What a register other than a predicate can hold."""


WINDOW_BYTES = 1 << 32
WINDOWS: dict[AddressSpace, int] = {
    AddressSpace.SHARED: 1 << 40,
    AddressSpace.LOCAL: 2 << 40,
    AddressSpace.CONST: 3 << 40,
    AddressSpace.PARAM: 4 << 40,
}
"""Where the generic address space keeps shared, local and constant memory.

A generic address in [window, window + WINDOW_BYTES) is that space's address plus its window; all
other generic addresses are global. The values are ours: hardware places its windows elsewhere.
"""
