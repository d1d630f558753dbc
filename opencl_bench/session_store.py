"""Finished benchmarks on disk, so that an interrupted session goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.finding_record import finding_of, finding_record
from kernelcast.opencl_bench.measurement import Finding
from kernelcast.opencl_bench.target import DeviceFacts
from kernelcast.simcore.host.disk_cache import read_checked, write_checked

__all__ = ["SessionStore", "StoredBenchmark"]

_SOURCES = (".py", ".cl")


@dataclass(frozen=True, slots=True)
class StoredBenchmark:
    """`date` is the ISO date of the measurement."""

    findings: tuple[Finding, ...]
    date: str


class SessionStore:
    """One file in the cache folder for each device, driver, effort and version of this package."""

    def __init__(self, facts: DeviceFacts, effort: Effort) -> None:
        parts = (facts.platform, facts.name, facts.driver, effort.value, _code_digest())
        self._file = f"bench-{hashlib.sha256('|'.join(parts).encode()).hexdigest()[:32]}.json"
        self._benchmarks = self._read()

    def get(self, name: str) -> StoredBenchmark | None:
        """A finished benchmark; None where it is missing."""
        return self._benchmarks.get(name)

    def put(self, name: str, findings: Sequence[Finding], date: str) -> None:
        """Stores a finished benchmark at once; after a full disk nothing can be resumed."""
        self._benchmarks[name] = StoredBenchmark(tuple(findings), date)
        record = {
            key: {"date": item.date, "findings": [finding_record(f) for f in item.findings]}
            for key, item in self._benchmarks.items()
        }
        write_checked(self._file, json.dumps(record).encode())

    def _read(self) -> dict[str, StoredBenchmark]:
        content = read_checked(self._file)
        return {} if content is None else _stored(json.loads(content))


def _stored(record: dict[str, Any]) -> dict[str, StoredBenchmark]:
    return {
        name: StoredBenchmark(
            tuple(finding_of(finding) for finding in item["findings"]), item["date"]
        )
        for name, item in record.items()
    }


@cache
def _code_digest() -> str:
    """A digest of all sources of this package: a changed benchmark measures again."""
    digest = hashlib.sha256()
    for file in _sources(resources.files("kernelcast.opencl_bench")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _sources(folder: Traversable) -> list[Traversable]:
    found: list[Traversable] = []
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if entry.is_dir():
            found += _sources(entry)
        elif entry.name.endswith(_SOURCES):
            found.append(entry)
    return found
