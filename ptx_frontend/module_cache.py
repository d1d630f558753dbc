"""Modules kept on disk: loading one takes a tenth of the time of reading its text again.

The name of a file is a hash of the text, of its path, which the spans hold, and of the sources of
everything that decides what a text means. Opcodes are kept by name, for they hold functions.
"""

from __future__ import annotations

import copyreg
import hashlib
import io
import pickle
import sys
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import kernelcast.errors
import kernelcast.ptx_frontend
import kernelcast.simcore.isa
from kernelcast.errors import SourceSpan
from kernelcast.simcore.disk_cache import read_checked, write_checked
from kernelcast.simcore.isa import kernel
from kernelcast.simcore.isa.kernel import Module
from kernelcast.simcore.isa.opcodes import OPCODES, Opcode
from kernelcast.simcore.isa.warp_opcodes import WARP_OPCODES, WarpOpcode

__all__ = ["SMALLEST_CACHED_BYTES", "cached_name", "load_module", "store_module"]

SMALLEST_CACHED_BYTES = 100_000
"""Below it, reading the text takes a tenth of a second at most."""

_UNUSABLE = (pickle.PickleError, AttributeError, ImportError, LookupError, TypeError, ValueError)
"""What pickle raises when classes have changed in a way that no source tells."""


def cached_name(text: str, path: str) -> str:
    """The name of the file that holds the module of `text`."""
    digest = hashlib.sha256(_sources())
    for part in (path, text):
        digest.update(hashlib.sha256(part.encode(errors="surrogatepass")).digest())
    return f"{digest.hexdigest()}.module"


def load_module(name: str) -> Module | None:
    """The module; None when it was never stored or the file is damaged."""
    data = read_checked(name)
    if data is None:
        return None
    try:
        module = _Unpickler(io.BytesIO(data)).load()
    except _UNUSABLE:
        return None
    return module if isinstance(module, Module) else None


def store_module(name: str, module: Module) -> None:
    """Keeps a module; a full disk is no error."""
    stream = io.BytesIO()
    _Pickler(stream).dump(module)
    write_checked(name, stream.getvalue())


@cache
def _sources() -> bytes:
    """A digest of the interpreter's version and of all sources that make modules."""
    digest = hashlib.sha256(repr(sys.version_info).encode())
    files = [Path(kernelcast.errors.__file__)]
    for package in (kernelcast.ptx_frontend, kernelcast.simcore.isa):
        for folder in package.__path__:
            files.extend(sorted(Path(folder).glob("*.py")))
    for file in files:
        digest.update(file.read_bytes())
    return digest.digest()


_SLOTTED: tuple[type[Any], ...] = (
    SourceSpan,
    *(
        value
        for value in vars(kernel).values()
        if isinstance(value, type) and is_dataclass(value) and "__slots__" in vars(value)
    ),
)
_FIELDS = {type_: tuple(field.name for field in fields(type_)) for type_ in _SLOTTED}


def _reduced(instance: Any) -> tuple[Any, ...]:
    type_ = type(instance)
    return _rebuilt, (type_, *[getattr(instance, name) for name in _FIELDS[type_]])


def _rebuilt(type_: type[Any], *values: Any) -> Any:
    """A frozen instance; in half the time that its own way to be unpickled takes."""
    instance = object.__new__(type_)
    for name, value in zip(_FIELDS[type_], values, strict=True):
        object.__setattr__(instance, name, value)
    return instance


class _Pickler(pickle.Pickler):
    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self.dispatch_table = {**copyreg.dispatch_table, **dict.fromkeys(_SLOTTED, _reduced)}

    def persistent_id(self, obj: Any) -> tuple[str, str] | None:
        """The table and the name of an opcode."""
        if isinstance(obj, Opcode):
            return "scalar", obj.name
        if isinstance(obj, WarpOpcode):
            return "warp", obj.name
        return None


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, pid: tuple[str, str]) -> Opcode | WarpOpcode:
        table, name = pid
        return WARP_OPCODES[name] if table == "warp" else OPCODES[name]
