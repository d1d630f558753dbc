"""Forges stored traces: changes what a file holds and makes all of its checksums fit again."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["Forger", "forge"]

_HEADER, _TABLES, _CHECKSUM = b"kernelcast.trace", b"kernelcast.tables", b"kernelcast.crc32"
_NUMBERS = (-(2**63), -(2**31), -7, -1, 0, 1, 2, 3, 15, 16, 31, 33, 64, 65, 255, 1000)
_LARGE = (2**15, 2**16, 2**24, 2**31 - 1, 2**31, 2**32, 2**40, 2**52, 2**62, 2**63 - 1)
_JSON: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 7, 2**31, 2**63, 10**30, 0.5, -2.5, 1e308, float("nan"), float("inf")),
    *("", "x", "global", "shared", "load", "tensor", "\x1b[2J", "\n", "\ud800", "wait_group.x"),
    *("commit_group", "wait_group.99999999999", "mbarrier_wait", "div.rn.f32", "fp16"),
    *([], [1], [-1], [2**40], ["a"], {}, {"a": 1}, [[1]]),
)


class Forger:
    """The parts of one stored trace, to change and to write anew."""

    def __init__(self, path: Path) -> None:
        content = path.read_bytes()
        parquet = pq.ParquetFile(path)
        metadata = parquet.metadata.metadata
        self.accesses = parquet.read()
        self.header: Any = json.loads(metadata[_HEADER])
        self.tables: dict[str, Any] = {}
        for name, place in json.loads(metadata[_TABLES]).items():
            stream = content[place["offset"] : place["offset"] + place["bytes"]]
            self.tables[name] = pa.ipc.open_stream(stream).read_all()

    def write(self, path: Path, change_places: Callable[[Any], Any] | None = None) -> None:
        with path.open("wb") as sink:
            writer = pq.ParquetWriter(sink, self.accesses.schema, write_page_checksum=True)
            writer.write_table(self.accesses)
            places: Any = {}
            for name, table in self.tables.items():
                stream = pa.BufferOutputStream()
                with pa.ipc.new_stream(stream, table.schema) as ipc:
                    ipc.write_table(table)
                content = stream.getvalue().to_pybytes()
                crc32 = zlib.crc32(content)
                places[name] = {"offset": sink.tell(), "bytes": len(content), "crc32": crc32}
                sink.write(content)
            places = change_places(places) if change_places else places
            header, text = json.dumps(self.header).encode(), json.dumps(places).encode()
            checksum = str(zlib.crc32(header + text)).encode()
            writer.add_key_value_metadata({_HEADER: header, _TABLES: text, _CHECKSUM: checksum})
            writer.close()


def forge(source: Path, target: Path, seed: int) -> None:
    """Makes one to three changes.

    Half of the forgeries change numbers within columns only, which is what passes the first checks.
    """
    turn, forger = random.Random(seed), Forger(source)
    kinds: tuple[Callable[[random.Random, Forger], None], ...]
    kinds = (_numbers, _swapped, _plausible) if turn.random() < 0.6 else _KINDS
    for _ in range(turn.choice((1, 1, 1, 2, 3))):
        turn.choice(kinds)(turn, forger)
    change = _places if turn.random() < 0.03 else None
    forger.write(target, None if change is None else lambda places: change(turn, places))


def _column(turn: random.Random, forger: Forger) -> tuple[str, str]:
    """A table, empty for the accesses, and one of its columns."""
    name = turn.choice(["", "", *forger.tables])
    names = (forger.tables[name] if name else forger.accesses).column_names
    return name, turn.choice(names) if names else ""


def _put(forger: Forger, name: str, table: Any) -> None:
    if name:
        forger.tables[name] = table
    else:
        forger.accesses = table


def _set(forger: Forger, name: str, column: str, values: Any) -> None:
    table = forger.tables[name] if name else forger.accesses
    if column in table.column_names and table.column_names.count(column) == 1:
        index = table.column_names.index(column)
        _put(forger, name, table.set_column(index, column, values))


def _values(forger: Forger, name: str, column: str) -> tuple[Any, int]:
    """The numbers and, of a matrix, how many are in a row; None where they are no numbers."""
    table = forger.tables[name] if name else forger.accesses
    if table.column_names.count(column) != 1 or not table.num_rows:
        return None, 0
    found = table[column].combine_chunks()
    width = 0
    if pa.types.is_fixed_size_list(found.type):
        width, found = found.type.list_size, found.flatten()
    if not pa.types.is_integer(found.type) or found.null_count:
        return None, 0
    return found.to_numpy(zero_copy_only=False).copy(), width


def _arrow(values: Any, width: int) -> Any:
    flat = pa.array(values)
    return pa.FixedSizeListArray.from_arrays(flat, width) if width else flat


def _numbers(turn: random.Random, forger: Forger) -> None:
    """Some numbers of a column become others."""
    name, column = _column(turn, forger)
    values, width = _values(forger, name, column)
    if values is None or not len(values):
        return
    limits = np.iinfo(values.dtype)
    fitting = [n for n in (*_NUMBERS, *_LARGE) if limits.min <= n <= limits.max]
    for _ in range(turn.choice((1, 1, 5, 50))):
        values[turn.randrange(len(values))] = turn.choice(fitting)
    if turn.random() < 0.2:
        values[:] = turn.choice(fitting)
    _set(forger, name, column, _arrow(values, width))


def _swapped(turn: random.Random, forger: Forger) -> None:
    """The numbers of a column change places."""
    name, column = _column(turn, forger)
    values, width = _values(forger, name, column)
    if values is not None:
        np.random.default_rng(turn.randrange(2**32)).shuffle(values)
        _set(forger, name, column, _arrow(values, width))


def _plausible(turn: random.Random, forger: Forger) -> None:
    """Numbers from the range that the column has already, up to its ends and one beyond."""
    name, column = _column(turn, forger)
    values, width = _values(forger, name, column)
    if values is None or not len(values):
        return
    low, high = int(values.min()), int(values.max())
    limits = np.iinfo(values.dtype)
    for _ in range(turn.choice((1, 10, 200))):
        number = turn.randint(low, min(high + 1, int(limits.max)))
        values[turn.randrange(len(values))] = number
    _set(forger, name, column, _arrow(values, width))


def _types(turn: random.Random, forger: Forger) -> None:
    name, column = _column(turn, forger)
    table = forger.tables[name] if name else forger.accesses
    if not column or table.column_names.count(column) != 1:
        return
    rows = table.num_rows
    _set(
        forger,
        name,
        column,
        turn.choice(
            [
                pa.array([float("nan")] * rows, pa.float64()),
                pa.array([None] * rows, pa.int32()),
                pa.array(["x"] * rows, pa.string()),
                pa.array([[1]] * rows, pa.list_(pa.int64())),
                pa.array([{"a": 1}] * rows, pa.struct([("a", pa.int64())])),
                pa.array([1] * rows, pa.int64()),
                pa.array([1] * rows, pa.uint64()),
                pa.array([1] * rows, pa.int8()),
                pa.array([[1] * 32] * rows, pa.list_(pa.int64(), 32)),
                pa.nulls(rows),
            ]
        ),
    )


def _lengths(turn: random.Random, forger: Forger) -> None:
    name, _ = _column(turn, forger)
    table = forger.tables[name] if name else forger.accesses
    rows = turn.choice([0, 1, table.num_rows // 2, max(0, table.num_rows - 1)])
    longer = pa.concat_tables([table, table])
    _put(forger, name, turn.choice([table.slice(0, rows), longer, table.slice(rows)]))


def _columns(turn: random.Random, forger: Forger) -> None:
    name, column = _column(turn, forger)
    table = forger.tables[name] if name else forger.accesses
    if not column:
        return
    if turn.random() < 0.7 and table.column_names.count(column) == 1:
        _put(forger, name, table.drop_columns([column]))
    else:
        _put(forger, name, table.append_column(column, table.column(0)))


def _missing_table(turn: random.Random, forger: Forger) -> None:
    if forger.tables:
        del forger.tables[turn.choice(list(forger.tables))]


def _json(turn: random.Random, forger: Forger) -> None:
    """A value somewhere in the header becomes another, goes, or changes places with one like it."""
    inner = turn.choice([forger.header, *(forger.header.get("instructions") or [])])
    if turn.random() < 0.2 and isinstance(forger.header.get("resources"), dict):
        inner = forger.header["resources"]
    if not isinstance(inner, dict) or not inner:
        return
    key = turn.choice(list(inner))
    rows = [row for row in forger.header.get("instructions") or [] if isinstance(row, dict)]
    match turn.randrange(6):
        case 0:
            del inner[key]
        case 1 if rows and key in rows[0]:
            inner[key] = turn.choice(rows).get(key)
        case 2 if type(inner[key]) is int:
            inner[key] = turn.choice((*_NUMBERS, *_LARGE))
        case 3 if isinstance(inner[key], list):
            inner[key] = [turn.choice((*_NUMBERS, *_LARGE)) for _ in inner[key]]
        case _:
            inner[key] = turn.choice(_JSON)


def _places(turn: random.Random, places: Any) -> Any:
    name = turn.choice(list(places) or ["x"])
    match turn.randrange(4):
        case 0:
            places[name] = turn.choice(_JSON)
        case 1 if isinstance(places.get(name), dict):
            places[name][turn.choice(["offset", "bytes", "crc32"])] = turn.choice(_JSON)
        case 2 if isinstance(places.get(name), dict):
            places[name]["bytes"] = turn.choice([2**40, 2**63, 0, 5])
        case _:
            return turn.choice(_JSON)
    return places


_KINDS = (_numbers, _plausible, _types, _lengths, _columns, _missing_table, _json, _json, _json)
