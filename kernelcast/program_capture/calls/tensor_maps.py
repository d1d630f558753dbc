"""Tensor maps that a program makes for copies of tensors."""

from __future__ import annotations

from kernelcast.program_capture.protocol import Kind, words
from kernelcast.program_capture.session import Session
from kernelcast.simcore.launch.tensor_map_words import TensorMapWords
from kernelcast.simcore.launch.tensor_maps import TensorElement

__all__ = ["CALLS"]

_WORDS = 33
_ELEMENTS = (
    TensorElement.U8,
    TensorElement.U16,
    TensorElement.U32,
    TensorElement.S32,
    TensorElement.U64,
    TensorElement.S64,
    TensorElement.F16,
    TensorElement.F32,
    TensorElement.F64,
    TensorElement.BF16,
    TensorElement.F32_FTZ,
    TensorElement.TF32,
    TensorElement.TF32_FTZ,
)
"""Each at its number of CUtensorMapDataType."""


def _tensor_map(_session: Session, payload: bytes) -> bytes:
    found = words(payload, _WORDS)
    address, rank, element, interleave, swizzle, fill, channels, pixels = found[:8]
    return TensorMapWords(
        address=address,
        strides=found[8:12],
        sizes=found[12:17],
        box=found[17:22],
        steps=found[22:27],
        rank=rank,
        element=_ELEMENTS[element].number,
        interleave=interleave,
        swizzle=swizzle,
        fill=fill,
        lower=tuple(_signed(corner) for corner in found[27:30]),
        upper=tuple(_signed(corner) for corner in found[30:33]),
        channels=channels,
        pixels=pixels,
    ).packed()


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


CALLS = {Kind.TENSOR_MAP: _tensor_map}
