"""What a browser asks: a text, its launch, and devices; everything is checked and bounded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernelcast.errors import InputError

__all__ = ["LANGUAGES", "MOST_SOURCE", "Argument", "Request"]

LANGUAGES = {
    "cuda": ".cu",
    "hip": ".hip",
    "opencl": ".cl",
    "ptx": ".ptx",
    "triton": ".py",
    "addresses": "",
}
"""Suffixes of files, by what the page calls a language."""
MOST_SOURCE = 100_000
_MOST_ARGUMENTS, _MOST_DEVICES, _MOST_TEXT = 64, 8, 200
_INITS = ("uniform", "zeros", "ones", "arange", "normal")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_DEVICE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument as the page shows it: `f32[n]` with an init, or `s32` with a value."""

    name: str
    type: str
    value: str


@dataclass(frozen=True, slots=True)
class Request:
    """One question. `arguments` None: they are to be guessed from the signature."""

    language: str
    source: str
    devices: tuple[str, ...]
    size: int | None
    grid: str
    block: str
    arguments: tuple[Argument, ...] | None

    @classmethod
    def read(cls, found: Any) -> Request:
        """The request that JSON stands for; InputError, in one line, for anything else."""
        if not isinstance(found, Mapping):
            raise InputError("a request is a JSON object")
        language = _text(found, "language")
        if language not in LANGUAGES:
            raise InputError(f"unknown language: it is one of {', '.join(LANGUAGES)}")
        source = found.get("source")
        if not isinstance(source, str) or not source.strip():
            raise InputError("paste a kernel first")
        if len(source) > MOST_SOURCE:
            raise InputError(f"the text has {len(source):,} characters, more than {MOST_SOURCE:,}")
        size = found.get("size")
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
            raise InputError("n is a whole number from 1 on")
        return cls(
            language,
            source,
            _devices(found.get("devices")),
            size,
            _text(found, "grid"),
            _text(found, "block"),
            _arguments(found.get("arguments")),
        )


def _text(found: Mapping[str, Any], name: str) -> str:
    text = found.get(name, "")
    if not isinstance(text, str) or len(text) > _MOST_TEXT or "\n" in text:
        raise InputError(f"{name} is a text of one line")
    return text.strip()


def _devices(found: Any) -> tuple[str, ...]:
    if not isinstance(found, Sequence) or isinstance(found, str) or not found:
        raise InputError("choose a GPU")
    if len(found) > _MOST_DEVICES:
        raise InputError(f"at most {_MOST_DEVICES} GPUs at once")
    for name in found:
        # A name is never a path of a device file here.
        if not isinstance(name, str) or not _DEVICE.fullmatch(name):
            raise InputError("GPUs are chosen by name")
    return tuple(found)


def _arguments(found: Any) -> tuple[Argument, ...] | None:
    if found is None:
        return None
    if not isinstance(found, Sequence) or isinstance(found, str) or len(found) > _MOST_ARGUMENTS:
        raise InputError(f"arguments are a list of {_MOST_ARGUMENTS} at most")
    made = []
    for item in found:
        if not isinstance(item, Mapping):
            raise InputError("an argument has a name, a type and a value")
        argument = Argument(*(_text(item, name) for name in ("name", "type", "value")))
        if not _NAME.fullmatch(argument.name):
            raise InputError("an argument's name is a name of C")
        if "[" in argument.type and argument.value not in _INITS:
            raise InputError(f"{argument.name}: a buffer is filled with one of {', '.join(_INITS)}")
        made.append(argument)
    return tuple(made)
