"""Words among the parameters of a launch that hold pointers, and what these point to by now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.launch.allocations import ROW_WORDS, Allocation
from kernelcast.simcore.launch.device_memory import DeviceMemory

__all__ = ["POINTER_BYTES", "PointerWords", "words"]

POINTER_BYTES = 8


def words(content: bytes, offset: int) -> Iterator[tuple[int, int]]:
    """(place, number) of the 8-byte words of what stands at an offset; words are aligned."""
    for at in range(-offset % POINTER_BYTES, len(content) - POINTER_BYTES + 1, POINTER_BYTES):
        yield offset + at, int.from_bytes(content[at : at + POINTER_BYTES], "little")


@dataclass(slots=True)
class _Word:
    """A word of a replaceable argument."""

    place: int
    name: str
    number: int


class PointerWords:
    """Pointers among the parameters, each a row that compiled code reads.

    Those of arrays and images stay; words of numbers and structs may be replaced.
    """

    def __init__(self, memory: DeviceMemory) -> None:
        self._memory = memory
        self._found: dict[int, Allocation] = {}
        self._words: list[_Word] = []
        self._rows: npt.NDArray[np.int64] | None = None

    @property
    def found(self) -> tuple[tuple[int, Allocation], ...]:
        """Places in the memory of parameters that hold pointers, and to what."""
        return tuple(self._found.items())

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """`Allocation.row` of each pointer, shape (pointers, ROW_WORDS), changed in place."""
        if self._rows is not None:
            return self._rows
        known = self._found.values()
        rows = np.array([allocation.row for allocation in known], np.int64)
        rows = rows.reshape(-1, ROW_WORDS)
        if all(allocation.is_materialised for allocation in known):  # else contents come later
            self._rows = rows
        return rows

    def add(self, place: int, allocation: Allocation) -> None:
        """Notes a pointer."""
        self._found[place] = allocation

    def add_word(self, place: int, name: str, number: int) -> None:
        """Notes a word that may be a pointer of an argument `name`."""
        self._words.append(_Word(place, name, number))
        self._memory.note_argument(number, name)
        allocation = self._memory.find(number)
        if allocation is not None:
            self._found[place] = allocation

    def replace(self, block: bytes) -> bool:
        """Takes the words of a block of parameters.

        False, with nothing done, where others than before are pointers.
        """
        changed: list[tuple[_Word, int, Allocation | None]] = []
        for word in self._words:
            number = int.from_bytes(block[word.place : word.place + POINTER_BYTES], "little")
            if number != word.number:
                allocation = self._memory.find(number)
                if (allocation is None) == (word.place in self._found):
                    return False
                changed.append((word, number, allocation))
        for word, number, allocation in changed:
            word.number = number
            if allocation is not None:
                self._point(word.place, allocation)
        return True

    def look_again(self) -> bool:
        """Finds what words point to by now; False where others than before are pointers."""
        now = [(word.place, self._memory.find(word.number)) for word in self._words]
        if any((found is None) == (place in self._found) for place, found in now):
            return False
        for place, found in now:
            if found is not None:
                self._point(place, found)
        return True

    def name_arguments(self) -> None:
        """Makes messages name the arguments that point to allocations by now."""
        self._memory.forget_arguments([word.name for word in self._words])
        for word in self._words:
            self._memory.note_argument(word.number, word.name)

    def _point(self, place: int, allocation: Allocation) -> None:
        if self._found[place] is not allocation:
            self._found[place] = allocation
            if self._rows is not None:
                self._rows[list(self._found).index(place)] = allocation.row
