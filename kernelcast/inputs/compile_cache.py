"""What compilers made, on disk under a hash of all that it was made from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from kernelcast.simcore.host.disk_cache import read_checked, write_checked

__all__ = ["CompileCache"]


class CompileCache:
    """One entry: what was made from `ingredients`, of the `kind` that ends the file's name."""

    def __init__(self, ingredients: Iterable[object], kind: str) -> None:
        digest = hashlib.sha256(repr(tuple(ingredients)).encode()).hexdigest()
        self._name = f"{digest}.{kind}"

    def read(self) -> bytes | None:
        """What the cache holds under a key; None when there is no such entry."""
        return read_checked(self._name)

    def write(self, content: bytes) -> None:
        """A full disk is no error."""
        write_checked(self._name, content)
