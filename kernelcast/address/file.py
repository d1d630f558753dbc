"""Kernels that people type by hand as what they load and store: a TOML file, or one line.

docs/rank.md describes both forms.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from kernelcast.address.text import (
    IndexNames,
    element_bytes,
    expanded,
    index_bounds,
    make_access,
    split_indices,
)
from kernelcast.errors import KernelcastError, WorkloadError, nearest
from kernelcast.ranking.variations import NO_FOLDING, read_folding
from kernelcast.simcore.address.expression import AXES
from kernelcast.simcore.address.kernel import Access, AddressKernel, Field, LoopVariable
from kernelcast.workload.expressions import evaluate_integer, evaluate_integers
from kernelcast.workload.toml_table import TomlTable, read_toml

__all__ = ["domain_names", "is_address_file", "is_address_line", "load_address_kernel"]

_KIND = "address_kernel"
_DEFAULT_THREAD_BLOCK = (256, 1, 1)
_TYPE = re.compile(r"\s*(?P<element>\w+)\s*\[(?P<shape>.*)\]\s*", re.DOTALL)
_ACCESS = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*\[(?P<indices>[^\[\]]*)\]")
_SETTING = re.compile(r"\s*(?P<name>\w+)\s*=\s*(?P<value>[^\[\]]+?)\s*")
_SHAPE = re.compile(r"\s*(?P<name>\w+)\s*:\s*(?P<type>\w+\s*\[.*\])\s*")
_SETTINGS = ("name", "domain", "block", "folding", "type", "flops", "registers")


def load_address_kernel(
    source: str | os.PathLike[str],
    size: str | None = None,
    changed: Mapping[str, int] | None = None,
) -> AddressKernel:
    """Reads a file, or a line such as `b[y, x] = a[y, x - 1..1]; domain = 512x512`.

    `size` names one of the file's sizes, by default its first. `changed` gives sizes other values,
    those of a line being `x`, `y` and `z` of its domain. WorkloadError, in one line.
    """
    if is_address_line(source):
        if size is not None:
            raise WorkloadError("a line of text has no sizes")
        return _read_line(str(source), changed or {})
    document = read_toml(Path(source))
    document.allow(_KIND, "sizes", "loops", "fields")
    return _read_file(document, size, changed or {})


def domain_names(source: str | os.PathLike[str]) -> tuple[str, ...]:
    """The sizes that the domain consists of, x first; WorkloadError where it has numbers."""
    if is_address_line(source):
        return AXES
    table = read_toml(Path(source)).table(_KIND)
    names = table.expressions("domain")
    for name in names:
        if not isinstance(name, str) or not name.isidentifier():
            raise WorkloadError(f"{table.where('domain')}: {name!r} is not the name of a size")
    return tuple(map(str, names))


def is_address_line(source: str | os.PathLike[str]) -> bool:
    """Whether the source is a kernel in one line and not the name of a file."""
    return isinstance(source, str) and "=" in source and bool(_ACCESS.search(source))


def is_address_file(path: str | os.PathLike[str]) -> bool:
    """Whether the TOML file describes addresses and not a workload."""
    return _KIND in read_toml(Path(path))


def _read_file(document: TomlTable, size: str | None, changed: Mapping[str, int]) -> AddressKernel:
    table = document.table(_KIND)
    table.allow(
        "name", "domain", "origin", "block", "folding", "flops", "registers", "shared_bytes",
        "work_per_cell",
    )  # fmt: skip
    sizes = _sizes(document.table("sizes"), size, changed)
    loops = document.table("loops")
    trips = {
        name: evaluate_integer(loops.expression(name), sizes, loops.where(name))
        for name in loops.entries
    }
    names = IndexNames(sizes, trips)
    fields = [_field(item, sizes) for item in document.tables("fields")]
    accesses = {
        key: [
            access
            for item, field in zip(document.tables("fields"), fields, strict=True)
            for access in _accesses(item, key, field, names)
        ]
        for key in ("loads", "stores")
    }
    block = _integers(table, "block", sizes) if "block" in table else _DEFAULT_THREAD_BLOCK
    where = table.where()
    try:
        return AddressKernel(
            fields,
            accesses["loads"],
            accesses["stores"],
            _integers(table, "domain", sizes),
            block,
            read_folding(table.text("folding", "none")),
            flops=table.number("flops", 0.0),
            registers=table.integer("registers") if "registers" in table else None,
            name=table.text("name", Path(document.file).stem),
            parameters=dict(sizes),
            loops=[LoopVariable(name, count) for name, count in trips.items()],
            origin=_integers(table, "origin", sizes) if "origin" in table else (0, 0, 0),
            shared_bytes=table.integer("shared_bytes", 0),
            work_per_cell=table.number("work_per_cell", 1.0),
        )
    except KernelcastError as error:
        raise (
            error
            if isinstance(error, WorkloadError)
            else WorkloadError(f"{where}: {error.message}")
        ) from None


def _sizes(table: TomlTable, name: str | None, changed: Mapping[str, int]) -> Mapping[str, int]:
    if name is not None and name not in table:
        raise WorkloadError(f"{table.where()}: no size {name!r}{nearest(name, table.entries)}")
    chosen = name or next(iter(table.entries), None)
    named = table.table(chosen) if chosen is not None else table
    found = {key: named.integer(key) for key in named.entries}
    for key in changed:
        if key not in found:
            raise WorkloadError(f"{named.where()}: no size is called {key!r}{nearest(key, found)}")
    return {**found, **changed}


def _integers(table: TomlTable, key: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(evaluate_integer(item, sizes, table.where(key)) for item in table.expressions(key))


def _field(table: TomlTable, sizes: Mapping[str, int]) -> Field:
    table.allow("name", "type", "loads", "stores", "alignment")
    return _typed_field(
        table.text("name"),
        table.text("type"),
        sizes,
        table.where("type"),
        table.integer("alignment", 0),
    )


def _typed_field(
    name: str, text: str, sizes: Mapping[str, int], where: str, alignment: int = 0
) -> Field:
    match = _TYPE.fullmatch(text)
    if match is None:
        raise WorkloadError(f"{where}: {text!r} is not a type such as f64[ny + 2, nx + 2]")
    shape = evaluate_integers(match["shape"], sizes, where)
    if any(extent < 1 for extent in shape):
        raise WorkloadError(f"{where}: a dimension of {text!r} has no elements")
    wide = element_bytes(match["element"], where)
    return Field(name, wide, tuple(reversed(shape)), alignment)


def _accesses(table: TomlTable, key: str, field: Field, names: IndexNames) -> Iterator[Access]:
    """Each once, in the order of the file."""
    where = table.where(key)
    found = {
        make_access(field, indices, names, where): None
        for text in table.texts(key)
        for indices in expanded(split_indices(text, where), where)
    }
    yield from found


def _read_line(text: str, changed: Mapping[str, int]) -> AddressKernel:
    """Fields without sizes are as large as the cells reach, and begin where they begin."""
    statements: list[tuple[str, str]] = []
    settings: dict[str, str] = {}
    types: dict[str, str] = {}
    for part in filter(str.strip, text.split(";")):
        if shape := _SHAPE.fullmatch(part):
            types[shape["name"]] = shape["type"]
        elif (setting := _SETTING.fullmatch(part)) and setting["name"] in _SETTINGS:
            settings[setting["name"]] = setting["value"]
        else:
            left, equals, right = part.partition("=")
            if not equals or not _ACCESS.search(left):
                raise WorkloadError(
                    f"{part.strip()!r} is neither target[...] = source[...], nor field: type[...], "
                    f"nor one of {', '.join(f'{name} = ...' for name in _SETTINGS)}"
                )
            statements.append((left, right))
    if "domain" not in settings or not statements:
        raise WorkloadError(f"{text!r}: target[...] = source[...] and domain = ... are needed")
    given = (*_product(settings["domain"], "domain"), 1, 1)[: len(AXES)]
    for name in changed:
        if name not in AXES:
            raise WorkloadError(f"a line has the sizes {', '.join(AXES)}, not {name!r}")
    domain = tuple(changed.get(axis, n) for axis, n in zip(AXES, given, strict=True))
    return _from_line(statements, settings, types, domain)


def _from_line(
    statements: list[tuple[str, str]],
    settings: Mapping[str, str],
    types: Mapping[str, str],
    domain: tuple[int, ...],
) -> AddressKernel:
    names = IndexNames({}, {})
    stored = [item for left, _ in statements for item in _typed_accesses(left)]
    loaded = [item for _, right in statements for item in _typed_accesses(right)]
    fields: dict[str, Field] = {}
    shifts: dict[str, tuple[int, ...]] = {}
    for name in dict.fromkeys(name for name, _ in (*loaded, *stored)):
        if name in types:
            fields[name] = _typed_field(name, types[name], {}, name)
            shifts[name] = (0,) * len(fields[name].shape)
            continue
        uses = [indices for used, indices in (*loaded, *stored) if used == name]
        low, high = _reach(name, uses, domain, names)
        wide = element_bytes(settings.get("type", "f64"), "type")
        shape = tuple(last - first + 1 for first, last in zip(low, high, strict=True))
        fields[name] = Field(name, wide, tuple(reversed(shape)))
        shifts[name] = tuple(-first for first in low)
    loads, stores = (
        list(
            dict.fromkeys(
                make_access(fields[name], _shifted(indices, shifts[name]), names, name)
                for name, indices in accesses
            )
        )
        for accesses in (loaded, stored)
    )
    registers = _whole(settings["registers"], "registers") if "registers" in settings else None
    return AddressKernel(
        fields.values(),
        loads,
        stores,
        domain,
        _product(settings["block"], "block") if "block" in settings else _DEFAULT_THREAD_BLOCK,
        read_folding(settings["folding"]) if "folding" in settings else NO_FOLDING,
        flops=_whole(settings.get("flops", "0"), "flops"),
        registers=registers,
        name=settings.get("name", stored[0][0]),
    )


def _typed_accesses(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for match in _ACCESS.finditer(text):
        where = match[0]
        for indices in expanded(split_indices(match["indices"], where), where):
            yield match["name"], indices


def _reach(
    name: str, uses: list[tuple[str, ...]], domain: tuple[int, ...], names: IndexNames
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The least and the greatest index of a field along each dimension."""
    if len({len(indices) for indices in uses}) > 1:
        raise WorkloadError(f"{name} is used with different numbers of indices")
    bounds = [
        [index_bounds(index, domain, names, name) for index in dimension]
        for dimension in zip(*uses, strict=True)
    ]
    low = tuple(min(first for first, _ in items) for items in bounds)
    return low, tuple(max(last for _, last in items) for items in bounds)


def _shifted(indices: tuple[str, ...], shifts: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(f"({item})+({by})" for item, by in zip(indices, shifts, strict=True))


def _product(text: str, what: str) -> tuple[int, ...]:
    return tuple(_whole(part, what) for part in text.split("x"))


def _whole(text: str, what: str) -> int:
    if not text.strip().isdecimal():
        raise WorkloadError(f"{what} = {text.strip()!r} is not a whole number")
    return int(text)
