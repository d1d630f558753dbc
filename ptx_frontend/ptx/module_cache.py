"""Modules kept on disk: loading one takes a tenth of the time of reading its source again.

The name of a file is a hash of the source, of its path, which the spans hold, and of the code of
everything that decides what a source means. Opcodes are kept by name, for they hold functions.
"""

from __future__ import annotations

import copyreg
import hashlib
import io
import pickle
import sys
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

import kernelcast.errors
import kernelcast.simcore
from kernelcast.errors import SourceSpan
from kernelcast.simcore.host.disk_cache import read_checked, write_checked
from kernelcast.simcore.isa.ir import kernel
from kernelcast.simcore.isa.ir.kernel import Module
from kernelcast.simcore.isa.opcodes.table import OPCODES, Opcode
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES, WarpOpcode

__all__ = [
    "SMALLEST_CACHED_BYTES",
    "cached_ir_name",
    "cached_name",
    "load_module",
    "store_module",
]

SMALLEST_CACHED_BYTES = 100_000
"""The size from which on modules are kept: reading less PTX takes a tenth of a second."""

_FRONT_ENDS = Path(__file__).parents[1]
_SIMCORE = Path(kernelcast.simcore.__file__).parent
_CONTROL = _SIMCORE.parent / "traces" / "issue_control.py"
"""The control bits of machine code, which traces have, too."""
_IR_READERS = (_SIMCORE / "host" / "ir_process.py", _SIMCORE / "host" / "llvm.py")
"""What stands between a file of LLVM IR and the front end."""
_OWN_PACKAGES = (
    *("kernelcast.errors", "kernelcast.ptx_frontend.", "kernelcast.simcore."),
    "kernelcast.traces.issue_control",
)
_UNUSABLE = (pickle.PickleError, AttributeError, ImportError, LookupError, TypeError, ValueError)
"""What pickle raises when classes have changed in a way that no source tells."""


def cached_name(source: str | bytes, path: str) -> str:
    """The name of the file that holds the module of `source`."""
    digest = hashlib.sha256(_sources())
    for part in (path, source):
        data = part.encode(errors="surrogatepass") if isinstance(part, str) else part
        digest.update(hashlib.sha256(data).digest())
    return f"{digest.hexdigest()}.module"


def cached_ir_name(content: bytes, path: str) -> str:
    """The name of a kept module of LLVM IR or SPIR-V, which another LLVM may read otherwise."""
    try:
        llvm = version("llvmlite")
    except PackageNotFoundError:
        llvm = ""
    return cached_name(content, f"{path} {llvm}")


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


def _source_files() -> list[Path]:
    files = [Path(kernelcast.errors.__file__), _CONTROL, *_IR_READERS]
    for folder in (_FRONT_ENDS, _SIMCORE / "isa"):
        for pattern in ("*.py", "*.csv"):
            files.extend(sorted(folder.rglob(pattern)))
    return files


@cache
def _sources() -> bytes:
    """A digest of the interpreter's version and of all sources that make modules."""
    digest = hashlib.sha256(repr(sys.version_info).encode())
    for file in _source_files():
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


def _is_of_values(type_: type[Any]) -> bool:
    if not type_.__module__.startswith(_OWN_PACKAGES):
        return issubclass(type_, np.generic)
    return is_dataclass(type_) or issubclass(type_, Enum | Exception)


class _Pickler(pickle.Pickler):
    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self.dispatch_table = {**copyreg.dispatch_table, **dict.fromkeys(_SLOTTED, _reduced)}

    def persistent_id(self, obj: Any) -> tuple[str, str] | None:
        """The table and the name of an opcode."""
        if isinstance(obj, Opcode):
            return "scalar", obj.name
        if isinstance(obj, WarpOpcode) and obj.name in WARP_OPCODES:
            return "warp", obj.name
        return None


class _Unpickler(pickle.Unpickler):
    """Takes nothing but values: dataclasses, enumerations, errors and NumPy's types of numbers.

    The dataclasses are those that modules consist of. `read_checked` vouches for the file; this
    needs no vouching.
    """

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        if module_name.startswith(_OWN_PACKAGES) or module_name == "numpy":
            found = super().find_class(module_name, global_name)
            if found is _rebuilt or (isinstance(found, type) and _is_of_values(found)):
                return found
        raise pickle.UnpicklingError(f"{module_name}.{global_name} is no part of a module")

    def persistent_load(self, pid: tuple[str, str]) -> Opcode | WarpOpcode:
        table, name = pid
        return WARP_OPCODES[name] if table == "warp" else OPCODES[name]
