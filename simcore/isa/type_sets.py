"""The groups of scalar types that PTX instructions accept."""

from kernelcast.simcore.isa.types import ScalarType as T

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
    "WORDS",
    "WORD_BITS",
]

BITS = (T.B16, T.B32, T.B64)
UNSIGNED = (T.U16, T.U32, T.U64)
SIGNED = (T.S16, T.S32, T.S64)
INTEGERS = UNSIGNED + SIGNED
WORDS = (T.U32, T.U64, T.S32, T.S64)
WORD_BITS = (T.B32, T.B64)
WIDE_FLOATS = (T.F32, T.F64)
FLOATS = (T.F16, *WIDE_FLOATS)
HALVES = (T.BF16, T.F16X2, T.BF16X2)
"""What computes in 16 bits besides f16."""
REALS = (*FLOATS, *HALVES, T.F32X2)
SHORT_PAIRS = (T.S16X2, T.U16X2)
VALUES = BITS + INTEGERS + FLOATS
"""What a register other than a predicate can hold."""
