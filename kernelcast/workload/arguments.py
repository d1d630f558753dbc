"""Arguments of a workload: buffers, scalars, structs and OpenCL's local arrays.

These are written `f64[n + 2, 4112]`, `s32`, `bytes[48]` and `local f32[n]`. A specification holds
texts only; `make` computes the shape for one problem size, so that nothing large exists before it
is needed, and `make_whole` the contents, too.
"""

from __future__ import annotations

import math
import re
import sys
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import LaunchError, WorkloadError
from kernelcast.input_files import open_input
from kernelcast.simcore.host.limits import MOST_DIMENSIONS
from kernelcast.simcore.isa.types import Kind, ScalarType
from kernelcast.simcore.launch.launch import Argument, LocalBytes
from kernelcast.simcore.launch.lazy_buffer import LazyBuffer
from kernelcast.trust import file_of, refuse_python
from kernelcast.workload.buffer_contents import Contents, Generator
from kernelcast.workload.expressions import evaluate, evaluate_integers, shown_number
from kernelcast.workload.python_functions import call, load_function
from kernelcast.workload.sparse_matrix import MatrixSpec, check_part
from kernelcast.workload.toml_table import Expression, TomlTable

__all__ = ["CONTENTS_KEYS", "ArgumentSpec", "read_argument"]

_MOST_ELEMENT_BYTES, _SPARE_BYTES = 16, 1 << 20
"""A file may hold elements of another type than the buffer, and has a header; but no more."""
_OF_NUMPY_HEADERS = (OverflowError, TypeError, RecursionError, SyntaxError, tokenize.TokenError)
"""What NumPy raises for damaged ones besides ValueError."""
Array = npt.NDArray[Any]
_TYPE = re.compile(
    r"^\s*(?P<local>local\s+)?(?P<element>[a-z]+\d*)\s*(?:\[(?P<shape>.*)\])?\s*$", re.DOTALL
)
_OTHER_NAMES = {
    **{f"{sign}{bits}": f"s{bits}" for sign in ("i", "int") for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
    **{f"{name}{bits}": f"f{bits}" for name in ("fp", "float") for bits in (16, 32, 64)},
    "char": "s8",
    "short": "s16",
    "int": "s32",
    "half": "f16",
    "float": "f32",
    "double": "f64",
    "bfloat16": "bf16",
}
"""PTX's names for those that Triton, NumPy, torch and CUDA C++ have for the same types."""
CONTENTS_KEYS = ("init", "seed", "low", "high", "file", "python")
_KEYS = ("name", "type", "value", *CONTENTS_KEYS)


@dataclass(frozen=True, slots=True)
class ArgumentSpec:
    """One kernel argument. `element` None: a struct of raw bytes; `shape` None: a scalar.

    `is_local`: a `__local` array of OpenCL, which has a size and no contents.
    """

    name: str
    element: ScalarType | None
    shape: str | None
    value: Expression | None
    contents: Contents
    where: str
    folder: Path
    is_local: bool = False
    matrix: MatrixSpec | None = None

    @property
    def is_buffer(self) -> bool:
        """Whether the argument is an array in global memory."""
        return self.element is not None and self.shape is not None and not self.is_local

    def make_whole(self, names: Mapping[str, int]) -> Argument:
        """The argument for the sizes `names`: an array, a NumPy scalar or bytes."""
        made = self.make(names)
        return self._materialised(made) if isinstance(made, LazyBuffer) else made

    def make(self, names: Mapping[str, int]) -> Argument:
        """The argument; a generated buffer gets its contents when they are first needed.

        Files and functions are read at once: what is wrong with them shows before a run.
        """
        if self.is_local:
            element_bytes = 1 if self.element is None else self.element.bytes
            return LocalBytes(math.prod(self._sizes(names)) * element_bytes)
        if self.element is None:
            return self._make_struct(names)
        if self.shape is None:
            return self._make_scalar(self.element, names)
        shape = self._sizes(names)
        if self.contents.is_generated:
            return self._lazy(shape, self.element.dtype)
        array = self._given(shape, self.element.dtype, names)
        if array.shape != shape:
            raise WorkloadError(f"{self.where}: contents of shape {array.shape}, not {shape}")
        if array.dtype.kind not in "biuf":
            raise WorkloadError(f"{self.where}: contents of type {array.dtype}, not numbers")
        return np.ascontiguousarray(array, self.element.dtype)

    def _lazy(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> LazyBuffer:
        if math.prod(shape) * dtype.itemsize > sys.maxsize:
            raise WorkloadError(f"{self.where}: no memory for shape {shape}")
        return self.contents.lazy_buffer(shape, dtype)

    def _materialised(self, buffer: LazyBuffer) -> Array:
        try:
            return buffer.materialise()
        except LaunchError as error:
            raise WorkloadError(f"{self.where}: {error}") from None

    def _sizes(self, names: Mapping[str, int]) -> tuple[int, ...]:
        assert self.shape is not None
        sizes = evaluate_integers(self.shape, names, f"{self.where}.type")
        if not sizes or min(sizes) < 1:
            raise WorkloadError(f"{self.where}.type: sizes must be positive, got {list(sizes)}")
        if len(sizes) > MOST_DIMENSIONS:
            raise WorkloadError(
                f"{self.where}.type: {len(sizes)} dimensions, more than {MOST_DIMENSIONS}"
            )
        return sizes

    def _make_scalar(self, element: ScalarType, names: Mapping[str, int]) -> np.generic:
        if self.value is None:
            raise WorkloadError(f"{self.where}.value is missing")
        value = evaluate(self.value, names, f"{self.where}.value")
        if element.is_float:
            try:
                return element.dtype.type(float(value))  # type: ignore[no-any-return]
            except OverflowError:
                raise WorkloadError(
                    f"{self.where}.value: {element.ptx_name} cannot hold it"
                ) from None
        if value.denominator != 1:
            raise WorkloadError(f"{self.where}.value is {shown_number(value)}, not an integer")
        number, limits = int(value), np.iinfo(element.dtype)
        lowest = -(2 ** (element.bits - 1))  # -1 is the customary spelling of an all-ones mask
        if not lowest <= number <= limits.max:
            raise WorkloadError(f"{self.where}.value: {element.ptx_name} cannot hold {number}")
        bits = number & (2**element.bits - 1)
        return element.storage.type(bits).view(element.dtype)  # type: ignore[no-any-return]

    def _make_struct(self, names: Mapping[str, int]) -> bytes:
        (size,) = self._sizes(names) if self.shape else (0,)
        if self.value is not None:
            try:
                data = bytes.fromhex(str(self.value).removeprefix("0x"))
            except ValueError:
                raise WorkloadError(f"{self.where}.value must be hexadecimal digits") from None
        else:
            data = self._struct_contents(size, names).tobytes()
        if len(data) != size:
            raise WorkloadError(f"{self.where}: {len(data)} bytes of contents, not {size}")
        return data

    def _struct_contents(self, size: int, names: Mapping[str, int]) -> Array:
        dtype = np.dtype(np.uint8)
        if self.contents.is_generated:
            return self._materialised(self._lazy((size,), dtype))
        return self._given((size,), dtype, names)

    def _given(
        self, shape: tuple[int, ...], dtype: np.dtype[Any], names: Mapping[str, int]
    ) -> Array:
        """What a file holds, a function returns or the workload's matrix has."""
        chosen = self.contents
        try:
            if chosen.generator is Generator.FILE:
                return self._read(self.folder / chosen.source, shape, dtype)
            where = f"{self.where}.init"
            if chosen.generator is Generator.MATRIX:
                return self._of_matrix(where, names, shape)
            made = call(load_function(self.folder, chosen.source, where), where, dict(names))
        except MemoryError:
            raise WorkloadError(f"{self.where}: no memory for shape {shape}") from None
        try:
            return np.asarray(made)
        except ValueError:
            raise WorkloadError(f"{where}: {chosen.source} returns no array") from None

    def _of_matrix(self, where: str, names: Mapping[str, int], shape: tuple[int, ...]) -> Array:
        """Tiles of one element need no dimensions of their own."""
        if self.matrix is None:
            raise WorkloadError(f"{where}: the workload has no [matrix]")
        array = self.matrix.array(self.contents.source, names)
        return array.reshape(shape) if array.size == math.prod(shape) else array

    def _read(self, path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """A NumPy file, or raw bytes of the element type."""
        try:
            with open_input(path, _SPARE_BYTES + _MOST_ELEMENT_BYTES * math.prod(shape)) as source:
                if path.suffix == ".npy":
                    return np.asarray(np.lib.format.read_array(source, allow_pickle=False))
                raw = np.fromfile(source, dtype)
        except (OSError, ValueError, *_OF_NUMPY_HEADERS) as error:
            reason = error.strerror if isinstance(error, OSError) else "not a NumPy file"
            raise WorkloadError(f"{self.where}.init: {path}: {reason}") from None
        return raw.reshape(shape) if raw.size == np.prod(shape) else raw


def read_argument(table: TomlTable, folder: Path) -> ArgumentSpec:
    """One `[[args]]` table; WorkloadError naming the key that is wrong."""
    table.allow(*_KEYS)
    name, text = table.text("name"), table.text("type")
    match = _TYPE.match(text)
    element = match and _OTHER_NAMES.get(match["element"], match["element"])
    known = {item.ptx_name: item for item in ScalarType if item.kind is not Kind.PREDICATE}
    if match is None or (element != "bytes" and element not in known):
        raise WorkloadError(
            f"{table.where('type')}: {text!r} is not a type such as 's32', 'f64[n, 16]', "
            "'bytes[8]', 'local f32[n]'"
        )
    if match["local"]:
        _check_local(table, match["shape"])
    if element == "bytes" and match["shape"] is None:
        raise WorkloadError(f"{table.where('type')}: bytes needs a size, 'bytes[48]'")
    spec = ArgumentSpec(
        name=name,
        element=known.get(str(element)),
        shape=match["shape"],
        value=table.expression("value") if "value" in table else None,
        contents=_read_contents(table, known.get(str(element)), folder),
        where=table.where(),
        folder=folder,
        is_local=match["local"] is not None,
    )
    if spec.is_buffer and spec.value is not None:
        raise WorkloadError(f"{table.where('value')}: a buffer is filled with init, not value")
    return spec


def _check_local(table: TomlTable, shape: str | None) -> None:
    if shape is None:
        raise WorkloadError(f"{table.where('type')}: a local array needs a size, 'local f32[64]'")
    for key in ("value", *CONTENTS_KEYS):
        if key in table:
            raise WorkloadError(f"{table.where(key)}: a local array has no contents")


def _read_contents(table: TomlTable, element: ScalarType | None, folder: Path) -> Contents:
    generator, source = _read_source(table)
    if generator is Generator.PYTHON:
        refuse_python(table.trust, table.where("init"))
    if generator is Generator.FILE:
        file_of(table.trust, folder, source, table.where("init"))
    contents = Contents(
        generator,
        source,
        table.integer("seed", 0),
        table.number("low") if "low" in table else None,
        table.number("high") if "high" in table else None,
    )
    if contents.seed < 0:
        raise WorkloadError(f"{table.where('seed')} must not be negative, got {contents.seed}")
    if generator is Generator.UNIFORM:
        _check_bounds(table.where(), contents, element)
    return contents


def _check_bounds(where: str, contents: Contents, element: ScalarType | None) -> None:
    """Raises WorkloadError unless `element` (None: a byte) has numbers within the bounds."""
    is_float = element is not None and element.is_float
    low = 0.0 if contents.low is None else contents.low
    high = (1.0 if is_float else 100.0) if contents.high is None else contents.high
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise WorkloadError(f"{where}: low must be below high, got {low:g} and {high:g}")
    if element is not None and is_float:
        if max(-low, high) > float(np.finfo(element.dtype).max):
            raise WorkloadError(f"{where}: {element.ptx_name} cannot hold {low:g} to {high:g}")
        return
    limits = np.iinfo(np.uint8 if element is None else element.dtype)
    first, last = math.ceil(low), math.ceil(high) - 1
    if first > last or first < limits.min or last > limits.max:
        name = "a byte" if element is None else element.ptx_name
        raise WorkloadError(f"{where}: {name} holds no whole numbers from {low:g} to {high:g}")


def _read_source(table: TomlTable) -> tuple[Generator, str]:
    """What fills a buffer: `init = "ones"`, `init = { file = "x" }`, or `file = "x"` alone."""
    chosen = table.entries.get("init")
    given = {key: table.entries[key] for key in ("file", "python") if key in table}
    if isinstance(chosen, dict):
        inner = table.table("init")
        inner.allow("file", "python", "matrix")
        given |= chosen
    elif chosen is not None and list(given) != [chosen]:  # `init = "file"` beside `file = "x"`
        given[table.text("init")] = ""
    if len(given) > 1:
        raise WorkloadError(f"{table.where('init')}: only one of {', '.join(given)} can fill it")
    generator, source = next(iter(given.items()), (Generator.ZEROS.value, ""))
    names = [item.value for item in Generator]
    needs_source = generator in names[-3:]
    if generator not in names or not isinstance(source, str) or needs_source != bool(source):
        raise WorkloadError(
            f"{table.where('init')}: {chosen!r} is not one of {', '.join(names[:5])}, "
            "{ file = ... }, { python = ... }, { matrix = ... }"
        )
    if generator == Generator.MATRIX.value:
        check_part(source, table.where("init"))
    return Generator(generator), source
