"""Predictions of a sweep in a file, a JSON object a line, so that a sweep may be resumed.

A line is named by a hash of all that its prediction depends on: lines of another kernel, device or
model in the same file are left alone.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelcast.errors import KernelcastError
from kernelcast.input_files import read_text_input
from kernelcast.partial_files import ReplacedFile
from kernelcast.ranking.ranking import Outcome, Prediction, Refusal
from kernelcast.ranking.variations import Configuration
from kernelcast.simcore.device.device import Device

__all__ = ["RankStore", "outcome_key"]


def outcome_key(fingerprint: str, configuration: Configuration, device: Device) -> str:
    """`fingerprint` says what the kernel and the model are."""
    text = "\n".join((fingerprint, repr(configuration), repr(device)))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass
class RankStore:
    """What the file at `path` holds, and where further outcomes are appended at once.

    KernelcastError when the file is something else, or cannot be written. A last line that was cut
    off, by a crash or a full disk, is as good as none.
    """

    path: Path
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            text = read_text_input(self.path) if self.path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not a text file"
            raise KernelcastError(f"{self.path}: {reason}") from None
        whole, _, cut = text.rpartition("\n")
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                key, outcome = _read(line)
            except (ValueError, KeyError, TypeError, AttributeError):
                raise KernelcastError(
                    f"{self.path}:{number}: not a line of a sweep; name another file"
                ) from None
            self.outcomes[key] = outcome
        if cut and not whole and not cut.startswith("{"):
            raise KernelcastError(f"{self.path}:1: not a line of a sweep; name another file")
        if cut:
            self._keep_whole(f"{whole}\n" if whole else "")

    def add(self, found: Mapping[str, Outcome]) -> None:
        """Appends outcomes by their keys."""
        self.outcomes.update(found)
        try:
            with self.path.open("a", encoding="utf-8") as stream:
                stream.write("".join(f"{_line(key, item)}\n" for key, item in found.items()))
        except OSError as error:
            raise KernelcastError(f"{self.path}: {error.strerror}") from None

    def _keep_whole(self, text: str) -> None:
        try:
            with ReplacedFile(self.path) as stream:
                stream.write(text.encode())
        except OSError as error:
            raise KernelcastError(f"{self.path}: {error.strerror}") from None


def _line(key: str, outcome: Outcome) -> str:
    record: dict[str, Any] = {"key": key, "seconds": outcome.seconds}
    if isinstance(outcome, Refusal):
        record["refused"] = outcome.reason
    else:
        record |= {
            "time_s": outcome.time_s,
            "limiter": outcome.limiter,
            "volumes": dict(outcome.volumes),
        }
    return json.dumps(record)


def _read(line: str) -> tuple[str, Outcome]:
    record = json.loads(line)
    key, seconds = str(record["key"]), float(record["seconds"])
    if "refused" in record:
        return key, Refusal(str(record["refused"]), seconds)
    time_s = float(record["time_s"])
    if not math.isfinite(time_s):
        raise ValueError("no time")
    volumes = {str(name): float(value) for name, value in record["volumes"].items()}
    return key, Prediction(time_s, str(record["limiter"]), volumes, seconds)
