"""The header of a stored trace as JSON: launch, resources, static instructions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from kernelcast.errors import TraceFormatError
from kernelcast.traces.issue_control import IssueControl
from kernelcast.traces.static_schedule import StaticSchedule
from kernelcast.traces.stored.schedule import read_schedule
from kernelcast.traces.trace import SOURCE_CODE, InstructionRow, ResourceNeeds, Trace

__all__ = ["FORMAT_VERSION", "StoredHeader", "header_json", "read_header"]

FORMAT_VERSION = 3
_SIZES = 3
_WIDE_INSTRUCTION_BYTES = 16
"""The length of instructions in files that do not say it."""
_LARGEST = (1 << 31) - 1
"""The largest of sizes and of numbers of launches."""
_MOST_OF_REASON = 120
_ABSENT: Mapping[str, Any] = {
    "is_source": True,
    "is_part": False,
    "operand_kind": "",
    "tensor_type": "",
    "tensor_operations": 0,
    "sequence": "",
    "special_register": "",
    "text": "",
    "ptx_line": 0,
    "ptx_text": "",
}
_TYPES: Mapping[str, tuple[type, ...]] = {
    "int": (int,),
    "str": (str,),
    "bool": (bool,),
    "int | None": (int, type(None)),
    "tuple[int, ...]": (tuple,),
    "IssueControl | None": (IssueControl, type(None)),
    "tuple[tuple[str, int], ...]": (tuple,),
}

_Row = TypeVar("_Row", InstructionRow, IssueControl, ResourceNeeds)


@dataclass(frozen=True)
class StoredHeader:
    """What a trace says once; fields as in Trace, `repeats` launches make up the reported time."""

    kernel: str
    grid: tuple[int, int, int]
    thread_block: tuple[int, int, int]
    warp_width: int
    repeats: int
    engine: str
    elapsed_s: float
    resources: ResourceNeeds
    instructions: tuple[InstructionRow, ...]
    pairs_agree: bool = False
    no_paths: str = ""
    paths_are_complete: bool = True
    code: str = SOURCE_CODE
    schedule: StaticSchedule | None = None
    longest_is_complete: bool = True

    @classmethod
    def of(cls, trace: Trace, repeats: int) -> StoredHeader:
        """The header of a trace."""
        longest = None if trace.paths is None else trace.paths.longest
        return cls(
            trace.kernel,
            trace.grid,
            trace.thread_block,
            trace.warp_width,
            repeats,
            trace.engine,
            trace.elapsed_s,
            trace.resources,
            trace.instructions,
            trace.pairs_agree,
            trace.no_paths,
            trace.paths is None or trace.paths.is_complete,
            trace.code,
            trace.schedule,
            longest is None or longest.is_complete,
        )


def header_json(header: StoredHeader) -> str:
    """The header as JSON, with the format's version."""
    return json.dumps({"version": FORMAT_VERSION, **asdict(header)}, allow_nan=False)


def read_header(path: Path, text: bytes | None) -> StoredHeader:
    """Reads the header; TraceFormatError when it is missing, newer, or of wrong types."""
    if text is None:
        raise TraceFormatError(f"{path} is a Parquet file, but no kernelcast trace")
    try:
        found = json.loads(text)
        version = found["version"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise TraceFormatError(f"{path}: the header cannot be read") from None
    if type(version) is not int or version < 1:
        raise TraceFormatError(f"{path}: {version!r} is no version of the format")
    if version > FORMAT_VERSION:
        raise TraceFormatError(
            f"{path} has version {version} of the format; this kernelcast reads version "
            f"{FORMAT_VERSION}: update it"
        )
    try:
        return _header(found)
    except KeyError as error:
        raise TraceFormatError(f"{path}: the header lacks {error}") from None
    except (ValueError, TypeError) as error:
        reason = ascii(str(error))[1:-1][:_MOST_OF_REASON]
        raise TraceFormatError(f"{path}: the header cannot be read: {reason}") from None


def _header(found: Mapping[str, Any]) -> StoredHeader:
    instructions = tuple(_build(InstructionRow, _row(row)) for row in found["instructions"])
    if not instructions or any(row.pc != pc for pc, row in enumerate(instructions)):
        raise ValueError("instructions are not numbered by pc")
    elapsed = found["elapsed_s"]
    if type(elapsed) not in (int, float) or not math.isfinite(elapsed):
        raise ValueError(f"elapsed_s is {elapsed!r}")
    return StoredHeader(
        kernel=_text(found, "kernel"),
        grid=_sizes(found, "grid"),
        thread_block=_sizes(found, "thread_block"),
        warp_width=_positive(found["warp_width"], "warp_width"),
        repeats=_positive(found["repeats"], "repeats"),
        engine=_text(found, "engine"),
        elapsed_s=float(elapsed),
        resources=_resources(found["resources"]),
        instructions=instructions,
        pairs_agree=_flag(found, "pairs_agree", absent=False),
        no_paths=_text({"no_paths": "", **found}, "no_paths"),
        paths_are_complete=_flag(found, "paths_are_complete", absent=True),
        code=_text({"code": SOURCE_CODE, **found}, "code"),
        schedule=read_schedule(found.get("schedule"), len(instructions)),
        longest_is_complete=_flag(found, "longest_is_complete", absent=True),
    )


def _row(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """A static instruction from its JSON, with defaults for old files.

    Files of the first releases have no instructions that native code adds, no parts, no registers,
    no kinds of operands, no tensor operations and no control bits.
    """
    registers = {name: _numbers(found.get(name, ()), "registers") for name in ("reads", "writes")}
    return {**_ABSENT, **found, **registers, "control": _control(found.get("control"))}


def _control(found: Any) -> IssueControl | None:
    if found is None:
        return None
    if not isinstance(found, Mapping):
        raise ValueError(f"control is {found!r}")
    lists = {name: _numbers(found.get(name), name) for name in ("waits", "bank_reads")}
    lists |= {name: _numbers(found.get(name, ()), name) for name in ("counters", "left")}
    absent = {"bytes": _WIDE_INSTRUCTION_BYTES, "is_interlocked": False}
    return _build(IssueControl, {**absent, **found, **lists})


def _numbers(found: Any, name: str) -> tuple[int, ...]:
    if not isinstance(found, (list, tuple)) or any(type(item) is not int for item in found):
        raise ValueError(f"{name} {found!r}")
    if any(item < 0 for item in found):
        raise ValueError(f"{name} {found!r}")
    return tuple(found)


def _resources(found: Mapping[str, Any]) -> ResourceNeeds:
    """What a launch needs; files of the first releases do not say all of it."""
    values = {"fewest_registers": None, "compiled_registers": [], "scalar_registers": 0, **found}
    counts = tuple((name, count) for name, count in values.pop("compiled_registers"))
    if any(type(name) is not str or type(count) is not int for name, count in counts):
        raise ValueError(f"compiled_registers {counts!r}")
    return _build(ResourceNeeds, {**values, "compiled_registers": counts})


def _build(kind: type[_Row], values: Mapping[str, Any]) -> _Row:
    """Every field of the dataclass present, of its type, and no other."""
    names = {field.name: str(field.type) for field in fields(kind)}
    if set(values) != set(names):
        raise ValueError(f"fields {', '.join(sorted(set(values) ^ set(names)))}")
    for name, type_name in names.items():
        if type(values[name]) not in _TYPES[type_name]:
            raise ValueError(f"{name} is {values[name]!r}")
    return kind(**values)


def _flag(found: Mapping[str, Any], name: str, *, absent: bool) -> bool:
    """`absent`: what files of the first releases mean, which do not say it."""
    value = found.get(name, absent)
    if type(value) is not bool:
        raise ValueError(f"{name} is {value!r}")
    return value


def _text(found: Mapping[str, Any], name: str) -> str:
    if not isinstance(found[name], str):
        raise ValueError(f"{name} is {found[name]!r}")
    return str(found[name])


def _positive(value: Any, name: str) -> int:
    if type(value) is not int or not 1 <= value <= _LARGEST:
        raise ValueError(f"{name} is {value!r}")
    return value


def _sizes(found: Mapping[str, Any], name: str) -> tuple[int, int, int]:
    sizes = [_positive(size, name) for size in found[name]]
    if len(sizes) != _SIZES:
        raise ValueError(f"{name} has {len(sizes)} sizes")
    return sizes[0], sizes[1], sizes[2]
