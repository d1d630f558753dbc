"""Values of kernelcast as bytes, small and fast, with arrays beside them.

What is not an array is a pickle that may name nothing but dataclasses, enumerations and named
tuples of kernelcast, whose constructors it calls: reading one runs no other code, whoever wrote it.
Arrays of integers are kept as differences; what is large is compressed (LZ4).
"""

from __future__ import annotations

import io
import math
import pickle
import struct
from dataclasses import is_dataclass
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["CodecError", "decoded", "encoded"]

Array = npt.NDArray[Any]
_OWN = "kernelcast."
_SMALLEST_COMPRESSED = 512
_LENGTH = struct.Struct("<Q")
_UNREADABLE = (
    *(pickle.PickleError, struct.error, AttributeError, EOFError, ImportError, IndexError),
    *(KeyError, MemoryError, OverflowError, RuntimeError, TypeError, ValueError),
)


class CodecError(Exception):
    """Bytes that are no encoded value, or a value that is none of those above."""


def encoded(value: object) -> bytes:
    """The bytes of a value; CodecError for one that holds other things than those named above."""
    stream = io.BytesIO()
    pickler = _Pickler(stream)
    try:
        pickler.dump(value)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise CodecError(f"{type(value).__name__}: {error}") from None
    parts = [_packed(stream.getbuffer()), *map(_packed_array, pickler.arrays)]
    return b"".join(piece for part in parts for piece in (_LENGTH.pack(len(part)), part))


def decoded(data: bytes | memoryview) -> Any:
    """The value of `encoded`; CodecError for anything else."""
    try:
        parts = _parts(memoryview(data))
        return _Unpickler(io.BytesIO(_unpacked(parts[0])), parts[1:]).load()
    except _UNREADABLE as error:
        raise CodecError(f"{type(error).__name__}: {error}") from None


def _parts(data: memoryview) -> list[memoryview]:
    found = []
    at = 0
    while at < len(data):
        (length,) = _LENGTH.unpack_from(data, at)
        at += _LENGTH.size
        if at + length > len(data):
            raise ValueError("cut off")
        found.append(data[at : at + length])
        at += length
    return found


def _packed(data: bytes | memoryview) -> bytes:
    """The data behind a byte that says whether it is compressed."""
    if len(data) < _SMALLEST_COMPRESSED:
        return b"\0" + bytes(data)
    import lz4.frame  # only where something is stored

    small: bytes = lz4.frame.compress(data)
    return b"\1" + small


def _unpacked(part: memoryview) -> bytes | memoryview:
    if part[0] == 0:
        return part[1:]
    import lz4.frame

    whole: bytes = lz4.frame.decompress(part[1:])
    return whole


def _packed_array(array: Array) -> bytes:
    """Rising numbers, as addresses and warps are, have differences that repeat."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if _has_differences(flat.dtype) and len(flat):
        flat = np.concatenate([flat[:1], np.subtract(flat[1:], flat[:-1])])
    return _packed(flat.view(np.uint8).data)


def _unpacked_array(part: memoryview, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    flat = np.frombuffer(_unpacked(part), np.uint8).view(dtype)
    if len(flat) != math.prod(shape):
        raise ValueError("an array of another size")
    whole = np.cumsum(flat, dtype=dtype) if _has_differences(dtype) else flat.copy()
    return whole.reshape(shape)


def _has_differences(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iu" and dtype.itemsize > 1


class _Pickler(pickle.Pickler):
    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self.arrays: list[Array] = []

    def persistent_id(self, obj: Any) -> tuple[Any, ...] | None:
        """The number, type and shape of an array; the type and bytes of a NumPy number."""
        if isinstance(obj, np.ndarray):
            if obj.dtype.hasobject:
                raise pickle.PicklingError(f"an array of {obj.dtype}")
            self.arrays.append(obj)
            return len(self.arrays) - 1, obj.dtype.str, obj.shape
        if isinstance(obj, np.generic):
            return obj.dtype.str, obj.tobytes()
        return None


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, arrays: list[memoryview]) -> None:
        super().__init__(stream)
        self._arrays = arrays

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        if module_name.startswith(_OWN):
            found = super().find_class(module_name, global_name)
            if isinstance(found, type) and _is_of_values(found):
                return found
        raise pickle.UnpicklingError(f"{module_name}.{global_name} is no value")

    def persistent_load(self, pid: tuple[Any, ...]) -> Any:
        if isinstance(pid[0], int):
            number, dtype, shape = pid
            return _unpacked_array(self._arrays[number], np.dtype(dtype), shape)
        dtype, data = pid
        return np.frombuffer(data, np.dtype(dtype))[0]


def _is_of_values(kind: type) -> bool:
    return is_dataclass(kind) or issubclass(kind, Enum) or hasattr(kind, "_fields")
