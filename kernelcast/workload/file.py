"""The workload file: TOML -> `Workload`. The format is described in docs/workloads.md."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from kernelcast.errors import InputError, WorkloadError
from kernelcast.execution.caches import Caches
from kernelcast.inputs.compiler_options import CompilerOptions, check_options
from kernelcast.trust import Trust, file_of, refuse_python
from kernelcast.workload.arguments import ArgumentSpec
from kernelcast.workload.image_arguments import AnyArgumentSpec, read_any_argument
from kernelcast.workload.memory_snapshot import MemorySnapshot
from kernelcast.workload.sparse_matrix import MATRIX_SIZES, MatrixSpec, read_matrix_spec
from kernelcast.workload.toml_table import TomlTable, read_toml
from kernelcast.workload.workload import CheckSpec, KernelSpec, LaunchSpec, Sizes, Workload

__all__ = ["load_workload"]

_TEMPLATE_ARGUMENTS = "<"


def load_workload(path: str | os.PathLike[str], trust: Trust = Trust.OWN) -> Workload:
    """Reads a workload file; WorkloadError, in one line, naming the file and the line or key.

    A FOREIGN one is refused if it has Python functions, files outside of its folder, or compiler
    options that do more than change the code.
    """
    file = Path(path)
    document = read_toml(file, trust)
    document.allow("kernel", "sizes", "launch", "args", "check", "matrix", "memory")
    for required in ("kernel", "launch"):
        if required not in document:
            raise WorkloadError(f"{document.where(required)} is missing")
    matrix = None
    if "matrix" in document:
        matrix = read_matrix_spec(document.table("matrix"), file.parent)
    return Workload(
        path=file,
        kernel=_read_kernel(document.table("kernel"), file.parent),
        sizes=_read_sizes(document.table("sizes"), MATRIX_SIZES if matrix else ()),
        launch=_read_launch(document),
        arguments=_read_arguments(document, file.parent, matrix),
        check=_read_check(document.table("check")) if "check" in document else None,
        matrix=matrix,
        memory=_read_memory(document, file.parent),
    )


def _read_memory(document: TomlTable, folder: Path) -> MemorySnapshot | None:
    if "memory" not in document:
        return None
    table = document.table("memory")
    table.allow("file")
    where = table.where("file")
    return MemorySnapshot(file_of(table.trust, folder, table.text("file"), where), where)


def _read_kernel(table: TomlTable, folder: Path) -> KernelSpec:
    table.allow("source", "entry", "registers", "arch", "options", "include")
    registers = table.integer("registers") if "registers" in table else None
    if registers is not None and registers < 1:
        raise WorkloadError(f"{table.where('registers')} must be positive, got {registers}")
    entry = table.text("entry", "")
    where = table.where("include")
    compilation = CompilerOptions(
        architecture=table.text("arch", ""),
        options=tuple(table.texts("options")),
        include=tuple(file_of(table.trust, folder, name, where) for name in table.texts("include")),
        names=(entry,) if _TEMPLATE_ARGUMENTS in entry else (),
        confined_to=folder if table.trust is Trust.FOREIGN else None,
    )
    try:
        check_options(compilation)
    except InputError as error:
        raise WorkloadError(f"{table.where('options')}: {error}") from None
    source = file_of(table.trust, folder, table.text("source"), table.where("source"))
    return KernelSpec(source, entry, registers, compilation)


def _read_sizes(table: TomlTable, taken: Collection[str]) -> dict[str, Sizes]:
    """`taken`: names that have a meaning already."""
    sizes: dict[str, Sizes] = {}
    for name in table.entries:
        named = table.table(name)
        sizes[name] = {key: named.integer(key) for key in named.entries}
        for key in named.entries:
            if not key.isidentifier():
                raise WorkloadError(f"{named.where(key)}: a size must be named like a variable")
            if key in taken:
                raise WorkloadError(f"{named.where(key)}: the matrix has {', '.join(taken)}")
    first = next(iter(sizes.values()), {})
    for name, values in sizes.items():
        if values.keys() != first.keys():
            raise WorkloadError(
                f"{table.where(name)} names {', '.join(values) or 'nothing'}, "
                f"the first size names {', '.join(first) or 'nothing'}"
            )
    return sizes


def _read_launch(document: TomlTable) -> LaunchSpec:
    if isinstance(document.entries["launch"], list):
        launches = list(document.tables("launch"))
        if len(launches) != 1:
            raise WorkloadError(
                f"{document.where('launch')}: {len(launches)} launches in sequence are not "
                "supported yet, write one workload for each"
            )
        table = launches[0]
    else:
        table = document.table("launch")
    table.allow(
        *("grid", "block", "global_size", "local_size", "shared_bytes", "cluster", "repeats"),
        "caches",
    )
    is_opencl = "global_size" in table or "local_size" in table
    extent, thread_block = ("global_size", "local_size") if is_opencl else ("grid", "block")
    if is_opencl and ("grid" in table or "block" in table):
        raise WorkloadError(f"{table.where()}: either grid and block or global_size and local_size")
    repeats = table.integer("repeats", 1)
    if repeats < 1:
        raise WorkloadError(f"{table.where('repeats')} must be positive, got {repeats}")
    caches = table.text("caches") if "caches" in table else Caches.COLD.value
    if caches not in (known := [item.value for item in Caches]):
        raise WorkloadError(f"{table.where('caches')} must be {' or '.join(known)}, got {caches!r}")
    return LaunchSpec(
        extent=table.expressions(extent),
        thread_block=table.expressions(thread_block),
        extent_is_threads=is_opencl,
        shared_bytes=table.expression("shared_bytes", 0),
        repeats=repeats,
        where=table.where(),
        caches=caches,
        cluster=table.expressions("cluster") if "cluster" in table else (),
    )


def _read_arguments(
    document: TomlTable, folder: Path, matrix: MatrixSpec | None
) -> tuple[AnyArgumentSpec, ...]:
    arguments = tuple(read_any_argument(table, folder) for table in document.tables("args"))
    arguments = tuple(
        replace(item, matrix=matrix) if isinstance(item, ArgumentSpec) else item
        for item in arguments
    )
    counts = Counter(argument.name for argument in arguments)
    for name, count in counts.items():
        if count > 1:
            raise WorkloadError(f"{document.where('args')}: two arguments are called {name!r}")
    return arguments


def _read_check(table: TomlTable) -> CheckSpec:
    table.allow("reference", "rtol", "atol")
    refuse_python(table.trust, table.where("reference"))
    spec = CheckSpec(
        table.text("reference"), table.number("rtol", 0.0), table.number("atol", 0.0), table.where()
    )
    if not all(math.isfinite(tolerance) and tolerance >= 0 for tolerance in (spec.rtol, spec.atol)):
        raise WorkloadError(f"{table.where()}: tolerances must be finite and not negative")
    return spec
