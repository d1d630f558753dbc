"""What compilers made, on disk under a hash of all that it was made from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from kernelcast.simcore.disk_cache import read_checked, write_checked

__all__ = ["CompileCache"]


class CompileCache:
    """One entry: the text made from `ingredients`."""

    def __init__(self, ingredients: Iterable[object]) -> None:
        digest = hashlib.sha256(repr(tuple(ingredients)).encode()).hexdigest()
        self._name = f"{digest}.ptx.json"

    def read(self) -> str | None:
        """None when there is no such entry."""
        data = read_checked(self._name)
        return None if data is None else data.decode()

    def write(self, text: str) -> None:
        """A full disk is no error."""
        write_checked(self._name, text.encode())
