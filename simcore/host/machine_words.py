"""Arguments and results of compiled functions as words of 64 bits, as they take and give them.

A number is a word. An array is what numba passes for one: two words for its owner, which are 0, the
number of its items, their size, where they lie, its shape and its strides. A tuple is its parts.
The *layout* says of what types arguments are; code is compiled for one layout.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["ResultReader", "Words", "layout_of"]

_SIGNED, _UNSIGNED, _DOUBLE, _SINGLE = "q", "Q", "d", "f4x"
_KINDS = "biuf"
_LARGEST = {_SIGNED: (1 << 63) - 1, _UNSIGNED: (1 << 64) - 1}
_RESULTS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "bool": (_SIGNED, bool),
    "int32": (_SIGNED, int),
    "int64": (_SIGNED, int),
    "uint32": (_UNSIGNED, int),
    "uint64": (_UNSIGNED, int),
    "float32": (_SINGLE, float),
    "float64": (_DOUBLE, float),
}


class Words:
    """The words of some arguments, in order, and how each is packed."""

    def __init__(self) -> None:
        self.formats: list[str] = []
        self.values: list[Any] = []

    def packed(self) -> bytes:
        """The words one after the other."""
        return struct.pack(f"={''.join(self.formats)}", *self.values)

    def add(self, value: Any) -> str:
        """Appends a value and returns its type; TypeError for what compiled code cannot take."""
        if isinstance(value, np.ndarray):
            return self._add_array(value)
        if isinstance(value, tuple):
            parts = ",".join([self.add(part) for part in value])
            return f"{type(value).__name__}({parts})"
        return self._add_number(value)

    def _add_array(self, array: Any) -> str:
        if array.dtype.kind not in _KINDS:
            raise TypeError(f"compiled code takes no arrays of {array.dtype}")
        shape, strides, flags = array.shape, array.strides, array.flags
        self.formats.append(f"{5 + 2 * len(shape)}q")
        data = array.__array_interface__["data"][0]
        self.values += (0, 0, array.size, array.itemsize, data, *shape, *strides)
        order = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return f"{array.dtype.str}{len(shape)}{order}{'' if flags.writeable else 'r'}"

    def _add_number(self, value: Any) -> str:
        if isinstance(value, (bool, np.bool_)):
            return self._add_word(_SIGNED, int(value), "bool")
        if isinstance(value, int):
            code = _SIGNED if value <= _LARGEST[_SIGNED] else _UNSIGNED
            return self._add_word(code, value, "int64" if code == _SIGNED else "uint64")
        if isinstance(value, np.integer):
            code = _UNSIGNED if isinstance(value, np.unsignedinteger) else _SIGNED
            return self._add_word(code, int(value), value.dtype.name)
        if isinstance(value, np.float32):
            return self._add_word(_SINGLE, float(value), "float32")
        if isinstance(value, float):
            return self._add_word(_DOUBLE, value, "float64")
        raise TypeError(f"compiled code takes no {type(value).__name__}")

    def _add_word(self, code: str, value: Any, name: str) -> str:
        self.formats.append(code)
        self.values.append(value)
        return name


def layout_of(arguments: Sequence[Any]) -> tuple[str, Words]:
    """The layout of arguments and their words."""
    words = Words()
    return ";".join([words.add(argument) for argument in arguments]), words


class ResultReader:
    """Reads results, numbers of some types; KeyError for a type that is not a number's."""

    def __init__(self, types: Sequence[str], is_tuple: bool) -> None:
        self._made_by = [_RESULTS[name][1] for name in types]
        self._form = struct.Struct("=" + "".join(_RESULTS[name][0] for name in types))
        self._is_tuple = is_tuple
        self.room = ctypes.c_int64 * len(types)
        """Makes room for the words."""

    def read(self, words: Any) -> Any:
        """One number, a tuple of them, or None where there is none."""
        if not self._made_by:
            return () if self._is_tuple else None
        numbers = self._form.unpack(words)
        found = [make(number) for make, number in zip(self._made_by, numbers, strict=True)]
        return tuple(found) if self._is_tuple else found[0]
