"""Arrow streams inside a Parquet file, between its last row group and its footer."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from kernelcast.errors import TraceFormatError

__all__ = ["read_tables", "write_tables"]


def write_tables(sink: Any, tables: Mapping[str, Any]) -> str:
    """Appends Arrow tables to `sink`; their places as JSON: {name: {offset, bytes, crc32}}."""
    import pyarrow as pa

    places = {}
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    for name, table in tables.items():
        stream = pa.BufferOutputStream()
        with pa.ipc.new_stream(stream, table.schema, options=options) as writer:
            writer.write_table(table)
        content = stream.getvalue()
        places[name] = {"offset": sink.tell(), "bytes": content.size, "crc32": zlib.crc32(content)}
        sink.write(content)
    return json.dumps(places)


def read_tables(path: Path, source: BinaryIO, places: bytes) -> dict[str, Any]:
    """The Arrow tables by name; TraceFormatError when they are not where they ought to be."""
    import pyarrow as pa

    tables = {}
    end = source.seek(0, os.SEEK_END)
    for name, (offset, size, crc32) in _places(path, places).items():
        if offset + size > end:
            raise _damaged(path, name)
        source.seek(offset)
        content = source.read(size)
        if len(content) != size or zlib.crc32(content) != crc32:
            raise _damaged(path, name)
        tables[name] = pa.ipc.open_stream(content).read_all()
        tables[name].validate(full=True)
    return tables


def _damaged(path: Path, name: str) -> TraceFormatError:
    return TraceFormatError(
        f"{path}: the table {name!r} is damaged, or another program rewrote the file"
    )


def _places(path: Path, text: bytes) -> dict[str, tuple[int, int, int]]:
    try:
        found = json.loads(text)
        places = {
            str(name): (place["offset"], place["bytes"], place["crc32"])
            for name, place in found.items()
        }
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        places = {}
    numbers = [number for place in places.values() for number in place]
    if not numbers or any(type(number) is not int or number < 0 for number in numbers):
        raise TraceFormatError(f"{path}: the places of the tables cannot be read")
    return places
