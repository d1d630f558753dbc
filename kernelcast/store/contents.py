"""How much the store holds, and of what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kernelcast.simcore.host.disk_cache import cache_folder
from kernelcast.simcore.host.private_folder import FolderRefused, PrivateFolder
from kernelcast.store.results import folder_path, held_files, is_switched_on, limit_bytes

__all__ = ["Held", "StoreContents", "store_contents"]


@dataclass(frozen=True, slots=True)
class Held:
    """Files and their bytes."""

    files: int = 0
    size: int = 0

    def with_file(self, size: int) -> Held:
        """Counts one more file of that many bytes."""
        return Held(self.files + 1, self.size + size)


@dataclass(frozen=True, slots=True)
class StoreContents:
    """What `folder` holds of each kind of result, and what else is kept beside that folder.

    `others`: compiled code, and sources that were read before; the limit does not count them.
    """

    folder: Path
    is_switched_on: bool
    limit_bytes: int
    results: Mapping[str, Held]
    others: Held

    @property
    def total(self) -> Held:
        """All results together."""
        files = sum(item.files for item in self.results.values())
        return Held(files, sum(item.size for item in self.results.values()))


def store_contents() -> StoreContents:
    """What is there now; KernelcastError when `KERNELCAST_STORE` is no size."""
    results: dict[str, Held] = {}
    for item in sorted(held_files()):
        kind = item.name.rpartition(".")[2]
        results[kind] = results.get(kind, Held()).with_file(item.size)
    return StoreContents(
        folder_path(), is_switched_on(), limit_bytes(), dict(sorted(results.items())), _others()
    )


def _others() -> Held:
    found = Held()
    try:
        with PrivateFolder(cache_folder()).opened() as folder:
            for item in folder.files():
                found = found.with_file(item.size)
    except (FolderRefused, OSError, RuntimeError):
        pass
    return found
