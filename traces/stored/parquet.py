"""Traces on disk: one Parquet file, one row a warp access; docs/traces.md has the schema.

All other tables stand as Arrow streams between the last row group and the footer, where readers of
Parquet never look; the footer's metadata says where.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from kernelcast.errors import TraceFormatError
from kernelcast.input_files import open_input
from kernelcast.partial_files import ReplacedFile
from kernelcast.traces.stored.embedded_tables import read_tables, write_tables
from kernelcast.traces.stored.header import StoredHeader, header_json, read_header
from kernelcast.traces.stored.paths import path_tables, paths_of
from kernelcast.traces.stored.tables import SideTables, trace_of, trace_tables
from kernelcast.traces.trace import AccessTable, InstructionRow, Trace
from kernelcast.traces.trace_checks import check_trace

__all__ = ["StoredTrace", "TraceWriter", "read_trace", "write_trace"]

ROW_GROUP_ACCESSES = 1 << 20
_HEADER_KEY, _TABLES_KEY = "kernelcast.trace", "kernelcast.tables"
_CHECKSUM_KEY = "kernelcast.crc32"
_COLUMNS = ("pc", "warp", "time", "stage", "address", "pattern")
_REPETITIVE = ["mnemonic", "pc", "stage", "pattern"]
_RISING = dict.fromkeys(("thread_block", "warp", "time", "address"), "DELTA_BINARY_PACKED")


@dataclass(frozen=True)
class StoredTrace:
    """A trace and how many launches of it the reported time is to cover."""

    trace: Trace
    repeats: int = 1


class TraceWriter:
    """Takes accesses in batches, then `finish` with the rest; a context manager.

    `instructions` and `warps_per_thread_block` are those of the trace. The file appears when it is
    complete: a run that fails leaves none. TraceFormatError when it cannot be written.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        instructions: tuple[InstructionRow, ...],
        warps_per_thread_block: int,
    ) -> None:
        self._path = Path(path)
        self._warps = warps_per_thread_block
        mnemonics = [row.mnemonic for row in instructions]
        self._mnemonics = sorted(set(mnemonics))
        self._mnemonic_of_pc = np.array([self._mnemonics.index(m) for m in mnemonics], np.int32)
        self._waiting: list[AccessTable] = []
        self._is_finished = False

    def __enter__(self) -> TraceWriter:
        import pyarrow.parquet as pq

        try:
            self._file = ReplacedFile(self._path)
        except OSError as error:
            raise _cannot_write(self._path, error) from None
        self._writer: Any = pq.ParquetWriter(
            self._file.stream,
            _access_schema(),
            compression="zstd",
            use_dictionary=_REPETITIVE,
            column_encoding=_RISING,
            write_page_checksum=True,
        )
        return self

    def write(self, accesses: AccessTable) -> None:
        """More accesses; a row group is written whenever enough of them have come together."""
        self._waiting.append(accesses)
        if sum(map(len, self._waiting)) >= ROW_GROUP_ACCESSES:
            self._flush()

    def finish(self, trace: Trace, repeats: int = 1) -> None:
        """All of `trace` but its accesses."""
        try:
            self._flush()
            tables = trace_tables(trace) | path_tables(trace.paths)
            places = write_tables(self._file.stream, tables)
            header = header_json(StoredHeader.of(trace, repeats))
            texts = {_HEADER_KEY: header, _TABLES_KEY: places}
            checksum = str(zlib.crc32((header + places).encode()))
            self._writer.add_key_value_metadata({**texts, _CHECKSUM_KEY: checksum})
            self._writer.close()
            self._file.publish()
        except OSError as error:
            raise _cannot_write(self._path, error) from None
        self._is_finished = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._is_finished:
            return
        with contextlib.suppress(OSError):  # the disk may be what failed
            self._writer.close()
        self._file.discard()

    def _flush(self) -> None:
        if not self._waiting:
            return
        columns = [
            np.concatenate([getattr(table, name) for table in self._waiting]) for name in _COLUMNS
        ]
        self._waiting = []
        try:
            self._writer.write_table(
                self._arrow(AccessTable(*columns)), row_group_size=ROW_GROUP_ACCESSES
            )
        except OSError as error:
            raise _cannot_write(self._path, error) from None

    def _arrow(self, accesses: AccessTable) -> Any:
        import pyarrow as pa

        mnemonic = pa.DictionaryArray.from_arrays(
            pa.array(self._mnemonic_of_pc[accesses.pc]), pa.array(self._mnemonics, pa.string())
        )
        columns = [getattr(accesses, name) for name in _COLUMNS]
        thread_block = accesses.warp // np.int32(self._warps)
        return pa.Table.from_arrays(
            [mnemonic, pa.array(thread_block), *map(pa.array, columns)], schema=_access_schema()
        )


def write_trace(path: str | os.PathLike[str], trace: Trace, repeats: int = 1) -> None:
    """One file at once; TraceFormatError when it cannot be written."""
    if not trace.has_memory:
        raise TraceFormatError("the trace holds no memory accesses: execute again and record them")
    with TraceWriter(path, trace.instructions, trace.warps_per_thread_block) as writer:
        writer.write(trace.accesses)
        writer.finish(trace, repeats)


def read_trace(path: str | os.PathLike[str]) -> StoredTrace:
    """Reads a trace; TraceFormatError for a file that is none, damaged, newer or inconsistent."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = Path(path)
    try:
        with open_input(file) as source:
            parquet = pq.ParquetFile(source, page_checksum_verification=True)
            metadata = parquet.metadata.metadata or {}
            header = read_header(file, metadata.get(_HEADER_KEY.encode()))
            _check_metadata(file, metadata)
            rest = SideTables(file, read_tables(file, source, metadata[_TABLES_KEY.encode()]))
            accesses = _read_accesses(file, parquet)
    except MemoryError:
        raise TraceFormatError(f"{file}: no memory for a trace of that size") from None
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.strerror:
            raise TraceFormatError(f"{file}: {error.strerror}") from None
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise TraceFormatError(f"{file} is no Parquet file, or it is damaged: {reason}") from None
    trace = trace_of(header, rest, accesses)
    paths = paths_of(
        rest,
        trace,
        is_complete=header.paths_are_complete,
        longest_is_complete=header.longest_is_complete,
    )
    trace = replace(trace, paths=paths)
    check_trace(file, trace)
    return StoredTrace(trace, header.repeats)


def _check_metadata(path: Path, metadata: Mapping[bytes, bytes]) -> None:
    texts = [metadata.get(key.encode(), b"") for key in (_HEADER_KEY, _TABLES_KEY, _CHECKSUM_KEY)]
    if str(zlib.crc32(texts[0] + texts[1])).encode() != texts[2]:
        raise TraceFormatError(f"{path}: the header is damaged")


def _read_accesses(path: Path, parquet: Any) -> AccessTable:
    schema = parquet.schema_arrow
    for name, kind in zip(_access_schema().names, _access_schema().types, strict=True):
        if name in _COLUMNS and (schema.names.count(name) != 1 or schema.field(name).type != kind):
            raise TraceFormatError(f"{path}: the column {name} of {kind} is missing")
    table = parquet.read(columns=list(_COLUMNS))
    table.validate(full=True)
    if any(column.null_count for column in table.columns):
        raise TraceFormatError(f"{path}: an access lacks a value")
    columns = [np.require(table[name].to_numpy(), requirements=("C", "W")) for name in _COLUMNS]
    return AccessTable(*columns)


def _access_schema() -> Any:
    import pyarrow as pa

    number = pa.int32()
    fields = [("mnemonic", pa.dictionary(number, pa.string())), ("thread_block", number)]
    fields += [(name, pa.int64() if name == "address" else number) for name in _COLUMNS]
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in fields])


def _cannot_write(path: Path, error: OSError) -> TraceFormatError:
    return TraceFormatError(f"cannot write {path}: {error.strerror or error}")
