"""The plan of a sweep: TOML -> `Plan`. The format is described in docs/sweep.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from kernelcast.errors import InputError, KernelcastError, nearest
from kernelcast.execution.code import code_named
from kernelcast.execution.sampling import Sampling
from kernelcast.simcore.device.changed import typed_changes
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import known_devices, load_device
from kernelcast.studies.plan import Plan, SweptKernel, What
from kernelcast.studies.values import Interval, Sample, Scalar, Space, number, range_values
from kernelcast.workload.toml_table import TomlTable, read_toml

__all__ = ["read_plan"]

_RANGE = ("from", "to", "count", "step", "scale")
_SAMPLING = {"auto": Sampling.AUTO, "exact": Sampling.NEVER, "always": Sampling.ALWAYS}
_PATTERN = "*?["


def read_plan(path: Path) -> Plan:
    """The plan in a file; KernelcastError, in one line, naming file and key."""
    document = read_toml(path)
    try:
        return _plan(document, path)
    except KernelcastError as error:
        known = str(error)
        raise InputError(known if known.startswith(str(path)) else f"{path}: {known}") from None


def _plan(document: TomlTable, path: Path) -> Plan:
    document.allow(
        *("kernels", "devices", "models", "architecture", "code", "sampling"),
        *("explained", "ranges"),
    )
    sampling = document.text("sampling", "auto")
    if sampling not in _SAMPLING:
        raise InputError(f"{document.where('sampling')} must be one of {', '.join(_SAMPLING)}")
    code = document.text("code") if "code" in document else None
    code_named(code)
    plan = Plan(
        kernels=tuple(_kernel(table, path.parent) for table in document.tables("kernels")),
        devices=tuple(_devices(document, path.parent)),
        models=document.texts("models") or ("interval",),
        changes=_space(document.table("architecture")),
        code=code,
        sampling=_SAMPLING[sampling],
        explained=_switch(document, "explained"),
        ranges=_switch(document, "ranges"),
    )
    _check_changes(plan)
    return plan


def _switch(table: TomlTable, name: str) -> bool:
    value = table.entries.get(name, False)
    if not isinstance(value, bool):
        raise InputError(f"{table.where(name)} must be true or false, got {value!r}")
    return value


def _check_changes(plan: Plan) -> None:
    """Raises for a fact that a device does not have, before anything runs."""
    names = plan.changes.names
    first = next(plan.changes.points())
    for device in plan.devices:
        assert isinstance(device, Device)
        if names:
            typed_changes(device, first)


def _kernel(table: TomlTable, folder: Path) -> SweptKernel:
    kinds = [item for item in What if item.value in table]
    table.allow("name", "size", "vary", "sample", *(item.value for item in What))
    if len(kinds) != 1:
        known = ", ".join(item.value for item in What)
        raise InputError(f"{table.where()} must have one of {known}")
    what = kinds[0]
    text = table.text(what.value)
    source, colon, function = text.rpartition(":") if what is What.PYTHON else (text, "", "")
    if what is What.PYTHON and not function.isidentifier():
        raise InputError(f"{table.where('python')}: {text!r} is not of the form file.py:function")
    file = folder / source
    if not file.is_file():
        raise InputError(f"{table.where(what.value)}: no file {file}")
    return SweptKernel(
        name=table.text("name", function or Path(source).stem),
        source=f"{file}{colon}{function}",
        what=what,
        size=table.text("size") if "size" in table else None,
        launches=_space(table, others=("name", "size", *(item.value for item in What))),
    )


def _devices(document: TomlTable, folder: Path) -> Iterator[Device]:
    """Devices by name, pattern or file, each once."""
    seen: set[str] = set()
    for text in document.texts("devices"):
        names = [text]
        if any(sign in text for sign in _PATTERN):
            names = [name for name in known_devices() if fnmatchcase(name, text)]
            if not names:
                raise InputError(f"{document.where('devices')}: no device is like {text!r}")
        for name in names:
            given = folder / name if name.endswith(".toml") else name
            device = load_device(given)
            if device.name not in seen:
                seen.add(device.name)
                yield device


def _space(table: TomlTable, others: tuple[str, ...] = ()) -> Space:
    """What is varied and sampled; without `others`, of an architecture, `4Mi` is a number."""
    table.allow("vary", "sample", *others)
    axes = {
        name: _values(value, f"{table.where('vary')}.{name}")
        for name, value in _flat(table.table("vary").entries)
    }
    if not others:
        axes = {name: tuple(map(_number, values)) for name, values in axes.items()}
    try:
        return Space(axes, _sample(table.table("sample")) if "sample" in table else None)
    except InputError as error:
        raise InputError(f"{table.where()}: {error}") from None


def _sample(table: TomlTable) -> Sample:
    table.allow("method", "count", "seed", "of")
    of: dict[str, Interval | tuple[Scalar, ...]] = {}
    for name, value in _flat(table.table("of").entries):
        where = f"{table.where('of')}.{name}"
        if isinstance(value, Mapping):
            if "count" in value:
                raise InputError(f"{where}: the count is that of the sample")
            of[name] = _interval(value, where)
        else:
            of[name] = _values(value, where)
    method = table.text("method", "latin-hypercube")
    return Sample(of, table.integer("count"), method, table.integer("seed", 0))


def _flat(entries: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Entries by dotted names: TOML takes `l2.capacity = 1` for a table."""
    for key, value in entries.items():
        name = f"{before}{key}"
        if isinstance(value, dict) and not {"from", "to"} & set(value):
            yield from _flat(value, f"{name}.")
        else:
            yield name, value


def _values(value: Any, where: str) -> tuple[Scalar, ...]:
    """The values of a list, of a range, or the one that stands alone."""
    if isinstance(value, Mapping):
        interval = _interval(value, where)
        count = value.get("count")
        if count is not None and (isinstance(count, bool) or not isinstance(count, int)):
            raise InputError(f"{where}.count must be a whole number, got {count!r}")
        try:
            return range_values(interval, count)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
    items = value if isinstance(value, list) else [value]
    found = [_scalar(item, where) for item in items]
    if not found:
        raise InputError(f"{where}: there are no values")
    return tuple(dict.fromkeys(found))


def _scalar(value: Any, where: str) -> Scalar:
    """A value; thread blocks such as [64, 4] become `64x4`."""
    if isinstance(value, list) and value and all(type(item) is int for item in value):
        return "x".join(map(str, value))
    if not isinstance(value, bool | int | float | str):
        raise InputError(f"{where}: {value!r} is no value")
    return value


def _number(value: Scalar) -> Scalar:
    """The number that a text stands for, else the text: `none`."""
    try:
        found = number(value, "") if isinstance(value, str) else value
    except InputError:
        return value
    return int(found) if isinstance(found, float) and found.is_integer() else found


def _interval(value: Mapping[str, Any], where: str) -> Interval:
    for key in value:
        if key not in _RANGE:
            raise InputError(f"{where}.{key} is not a known key{nearest(key, _RANGE)}")
    for key in ("from", "to"):
        if key not in value:
            raise InputError(f"{where}.{key} is missing")
    scale = value.get("scale", "linear")
    if scale not in ("linear", "log"):
        raise InputError(f"{where}.scale must be linear or log, got {scale!r}")
    step = number(value["step"], f"{where}.step") if "step" in value else None
    low, high = (number(value[key], f"{where}.{key}") for key in ("from", "to"))
    try:
        return Interval(low, high, scale == "log", step)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
