"""Names of overloaded functions as C++ compilers write them (Itanium C++ ABI, 5.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kernelcast.simcore.isa.types import ScalarType

__all__ = ["MangledName", "ParameterType", "demangled"]

_SCALARS = {
    "b": ScalarType.U8,
    "a": ScalarType.S8,
    "c": ScalarType.S8,
    "h": ScalarType.U8,
    "s": ScalarType.S16,
    "t": ScalarType.U16,
    "i": ScalarType.S32,
    "j": ScalarType.U32,
    "l": ScalarType.S64,
    "m": ScalarType.U64,
    "x": ScalarType.S64,
    "y": ScalarType.U64,
    "Dh": ScalarType.F16,
    "f": ScalarType.F32,
    "d": ScalarType.F64,
}
_QUALIFIERS = "KVr"
_ATOMIC = "U7_Atomic"
"""C11's, which makes a type of its own where the other qualifiers make one together."""
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LENGTH = re.compile(r"\d+")
_VECTOR = re.compile(r"Dv(\d+)_")
_SUBSTITUTION = re.compile(r"S([0-9A-Z]*)_")
_SPACE = re.compile(r"AS(\d+)")


@dataclass(frozen=True, slots=True)
class ParameterType:
    """A scalar or vector of `element`; a pointer to `pointee`; or a type known by `name` alone."""

    element: ScalarType | None = None
    count: int = 1
    pointee: ParameterType | None = None
    space: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class MangledName:
    """The name and parameter types of an overloaded function."""

    name: str
    parameters: tuple[ParameterType, ...]


def demangled(symbol: str) -> MangledName | None:
    """The function and its parameters; None for a symbol that is no such name."""
    start = _LENGTH.match(symbol, 2)
    if not symbol.startswith("_Z") or start is None:
        return None
    end = start.end() + int(start.group())
    reader = _Reader(symbol, end)
    try:
        return MangledName(symbol[start.end() : end], reader.parameters())
    except _Malformed:
        return None


class _Malformed(Exception):
    """What follows is no type."""


class _Reader:
    """Reads types from a position on; compound ones can be referred to by number afterwards."""

    def __init__(self, symbol: str, position: int) -> None:
        self._symbol = symbol
        self._position = position
        self._known: list[ParameterType] = []

    def parameters(self) -> tuple[ParameterType, ...]:
        found = []
        while self._position < len(self._symbol):
            if self._accept("v") or self._accept("z"):
                continue
            found.append(self._type())
        return tuple(found)

    def _accept(self, text: str) -> bool:
        is_there = self._symbol.startswith(text, self._position)
        self._position += len(text) if is_there else 0
        return is_there

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self._symbol, self._position)
        if found is not None:
            self._position = found.end()
        return found

    def _type(self) -> ParameterType:
        substitution = self._match(_SUBSTITUTION)
        if substitution is not None:
            return self._known_type(substitution[1])
        is_qualified, space = self._qualifiers()
        if is_qualified:
            inner = self._type()
            found = ParameterType(
                inner.element, inner.count, inner.pointee, space or inner.space, inner.name
            )
        elif self._accept(_ATOMIC):
            found = self._type()
        elif self._accept("P"):
            inner = self._type()
            found = ParameterType(pointee=inner, space=inner.space)
        else:
            vector = self._match(_VECTOR)
            if vector is None:
                return self._plain()
            found = ParameterType(self._type().element, int(vector[1]))
        self._known.append(found)
        return found

    def _known_type(self, number: str) -> ParameterType:
        """`S_` is the first, `S0_` the second, ..., in base 36."""
        index = 0
        for digit in number:
            index = index * len(_DIGITS) + _DIGITS.index(digit)
        index += bool(number)
        if index >= len(self._known):
            raise _Malformed
        return self._known[index]

    def _qualifiers(self) -> tuple[bool, int]:
        """Whether there were any, and the address space among them."""
        start, space = self._position, 0
        while True:
            if self._symbol.startswith(_ATOMIC, self._position):
                return self._position > start, space
            if self._accept("U"):
                address_space = _SPACE.fullmatch(self._source_name())
                space = space if address_space is None else int(address_space[1])
            elif not any(self._accept(letter) for letter in _QUALIFIERS):
                return self._position > start, space

    def _plain(self) -> ParameterType:
        for length in (2, 1):
            letters = self._symbol[self._position : self._position + length]
            if letters in _SCALARS and len(letters) == length:
                self._position += length
                return ParameterType(_SCALARS[letters])
        if self._accept("v"):
            return ParameterType(name="void")
        named = ParameterType(name=self._source_name())
        self._known.append(named)
        return named

    def _source_name(self) -> str:
        length = self._match(_LENGTH)
        if length is None:
            raise _Malformed
        start = self._position
        self._position += int(length.group())
        if self._position > len(self._symbol):
            raise _Malformed
        return self._symbol[start : self._position]
