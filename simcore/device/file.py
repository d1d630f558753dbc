"""Reads device files: `devices/<name>.toml`, or a file of the user's own (docs/devices.md)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cache, cached_property
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints

from kernelcast.errors import DeviceFileError, UnknownDevice, UnknownModel, nearest
from kernelcast.input_files import MOST_TEXT_BYTES, read_text_input
from kernelcast.simcore.device.atomic_facts import AtomicFacts
from kernelcast.simcore.device.checks import (
    QUANTITIES,
    Observation,
    contradictions,
    is_quantity,
)
from kernelcast.simcore.device.curves import read_curves
from kernelcast.simcore.device.device import (
    ArchitectureFacts,
    CacheFacts,
    CoalescingRule,
    ConstantFacts,
    Device,
    DramFacts,
    MeasuredThroughput,
    PeakThroughput,
    Provenance,
    SegmentFacts,
    SharedMemoryFacts,
    SmFacts,
    Source,
)
from kernelcast.simcore.device.host_link_facts import HostLinkFacts
from kernelcast.simcore.device.memory_side_facts import MemorySideFacts
from kernelcast.simcore.device.section import Facts, Section, section_named, section_names
from kernelcast.simcore.device.tensor_facts import TensorFacts
from kernelcast.simcore.device.texture_facts import TextureFacts
from kernelcast.simcore.device.timing_facts import TimingFacts

__all__ = ["known_devices", "load_device", "load_observations", "read_device"]

_FOLDER = Path(__file__).parents[1] / "devices"

_SECTIONS: dict[str, type] = {
    "architecture": ArchitectureFacts,
    "sm": SmFacts,
    "l1": CacheFacts,
    "l2": CacheFacts,
    "shared": SharedMemoryFacts,
    "constant": ConstantFacts,
    "dram": DramFacts,
    "peak": PeakThroughput,
    "measured": MeasuredThroughput,
    "timing": TimingFacts,
    "segments": SegmentFacts,
    "tensor": TensorFacts,
    "atomics": AtomicFacts,
    "texture": TextureFacts,
    "host_link": HostLinkFacts,
    "memory_side": MemorySideFacts,
}
"""Sections that no model owns."""
_TOP_LEVEL = ("title", "coalescing", "early_release", "fitted_on", "observed", "curves")
_ENTRY_KEYS = ("value", "source", "ref")

_MAY_BE_ZERO = frozenset(
    (
        "sm.fp64_lanes",
        "peak.fp64_flops_per_s",
        "measured.fp64_ops_per_s",
        "timing.store_retire_cycles",
        "l1.fetch_bytes",
        "l2.fetch_bytes",
        "timing.warp_launch_cycles",
        "timing.dispatch_cycles",
        "atomics.request_cycles",
        "timing.dram_queue_cycles",
        "timing.dram_mixed_queue_cycles",
        "timing.dram_latency_deviation_cycles",
        "timing.dram_queue_deviation_cycles",
        "timing.dram_mixed_deviation_cycles",
        "timing.l2_requests_per_s",
        "timing.l2_write_bandwidth_bytes_per_s",
        "timing.dram_turn_cycles",
        "timing.dram_pieces_per_s",
        "timing.l2_partial_writes_per_s",
        "timing.barrier_warp_cycles",
        "timing.load_store_lanes",
        "timing.scalar_issue_cycles",
        "timing.reconvergence_latency_cycles",
        "timing.scalar_latency_cycles",
        "timing.mixed_issues",
    )
)
_RATE_SUFFIXES = ("_bytes_per_s", "_ops_per_s")
_CHOICES: dict[str, tuple[str, ...]] = {
    "sm.register_allocation_per": ("warp", "thread block"),
    "l1.index": ("modulo", "hashed"),
    "l2.index": ("modulo", "hashed"),
}
"""Closed sets of names; replacement policies are an open set that the cache simulator checks."""

Member = TypeVar("Member", bound=Enum)


def known_devices() -> tuple[str, ...]:
    """Names of the devices that come with kernelcast, in alphabetical order."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def load_device(name_or_path: str | Path) -> Device:
    """A device by its name (`gtx-480`) or from a file whose name ends in `.toml`.

    Parts of a name do where they are those of one device only: `4090`, but not `h100`.
    Raises UnknownDevice, and DeviceFileError naming the file and the dotted key.
    """
    if _is_path(name_or_path):
        path = Path(name_or_path)
        return _open(path).device(path.stem)
    return _read_shipped(_known(str(name_or_path)))


def read_device(label: str, name: str, table: Mapping[str, Any]) -> Device:
    """A device from the tables of a device file; messages call them `label`."""
    return _Reader(label, table).device(name)


def load_observations(name_or_path: str | Path) -> tuple[Observation, ...]:
    """Published figures of a device that no section holds.

    These are latencies and bandwidths by level and access pattern, and may disagree with each
    other. Raises as `load_device` does.
    """
    if _is_path(name_or_path):
        return _open(Path(name_or_path)).observations()
    return _open(_FOLDER / f"{_known(str(name_or_path))}.toml").observations()


def _is_path(name_or_path: str | Path) -> bool:
    return isinstance(name_or_path, Path) or name_or_path.endswith(".toml")


def _known(name: str) -> str:
    """The full name of a device; some of its parts do where no other device has them so."""
    if name in known_devices():
        return name
    found = [known for known in known_devices() if f"-{name}-" in f"-{known}-"]
    if len(found) > 1:
        raise UnknownDevice(f"device {name!r} may be {' or '.join(found)}")
    if not found:
        raise UnknownDevice(
            f"no device {name!r}{nearest(name, known_devices())}; "
            f"known are {', '.join(known_devices())}, or give the path of a .toml file"
        )
    return found[0]


@cache
def _read_shipped(name: str) -> Device:
    return _open(_FOLDER / f"{name}.toml").device(name)


def _open(path: Path) -> _Reader:
    try:
        table = tomllib.loads(read_text_input(path, MOST_TEXT_BYTES))
    except OSError as error:
        raise DeviceFileError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DeviceFileError(f"{path}: is not UTF-8 text") from error
    except (ValueError, RecursionError) as error:
        raise DeviceFileError(f"{path}: is not TOML: {error}") from error
    return _Reader(str(path), table)


@dataclass(frozen=True)
class _Reader:
    """One file while it is read; `provenance` fills up as its entries are taken."""

    file: str
    table: Mapping[str, Any]
    provenance: dict[str, Provenance] = field(default_factory=dict)

    def device(self, name: str) -> Device:
        of_models = self._of_models  # refuses unknown names before anything else
        title = self.table.get("title")
        if not isinstance(title, str) or not title:
            raise self._error("title", "must be a text")
        rule = self._entry("coalescing", self.table, str)
        observations = self.observations()
        device = Device(
            name=name,
            title=title,
            architecture=self._section("architecture", ArchitectureFacts),
            sm=self._section("sm", SmFacts),
            coalescing=self._member("coalescing", CoalescingRule, rule),
            l1=self._optional_section("l1", CacheFacts),
            l2=self._section("l2", CacheFacts),
            shared=self._section("shared", SharedMemoryFacts),
            constant=self._section("constant", ConstantFacts),
            dram=self._section("dram", DramFacts),
            peak=self._section("peak", PeakThroughput),
            measured=self._optional_section("measured", MeasuredThroughput),
            timing=self._optional_section("timing", TimingFacts),
            segments=self._optional_section("segments", SegmentFacts),
            sections={key: self._section(key, item.facts) for key, item in of_models.items()},
            tensor=self._optional_section("tensor", TensorFacts),
            atomics=self._optional_section("atomics", AtomicFacts) or AtomicFacts(),
            texture=self._optional_section("texture", TextureFacts),
            host_link=self._optional_section("host_link", HostLinkFacts),
            memory_side=self._optional_section("memory_side", MemorySideFacts),
            provenance=self.provenance,
            early_release=self._flag("early_release"),
            fitted_on=self._fitted_on(),
            curves=read_curves(self.file, self.table.get("curves", {})),
            ceilings=_ceilings(observations),
        )
        self._check(device, observations)
        return device

    def observations(self) -> tuple[Observation, ...]:
        """The figures of `[observed]`: for each quantity a list of entries."""
        table = self.table.get("observed", {})
        if not isinstance(table, Mapping):
            raise self._error("observed", "must be a section [observed]")
        unknown = {name: entry for name, entry in table.items() if not is_quantity(name)}
        self._reject_unknown(unknown, QUANTITIES, "observed.")
        return tuple(
            self._observation(quantity, number, entry)
            for quantity, entries in table.items()
            for number, entry in enumerate(self._list(f"observed.{quantity}", entries))
        )

    def _observation(self, quantity: str, number: int, entry: Any) -> Observation:
        key = f"observed.{quantity}[{number}]"
        provenance = self._provenance(key, entry)
        return Observation(quantity, self._value(key, entry["value"], float), provenance)

    def _list(self, key: str, entries: Any) -> list[Any]:
        if not isinstance(entries, list) or not entries:
            raise self._error(key, "must be a list of { value = ..., source = ..., ref = ... }")
        return entries

    def _flag(self, name: str) -> bool:
        return name in self.table and bool(self._entry(name, self.table, bool))

    def _fitted_on(self) -> tuple[str, ...]:
        found = self.table.get("fitted_on", [])
        if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
            raise self._error("fitted_on", "must be a list of texts")
        return tuple(found)

    @cached_property
    def _of_models(self) -> dict[str, Section[Any]]:
        """The sections of the file that belong to models, by name.

        Raises DeviceFileError for keys that no model has either.
        """
        known = (*_TOP_LEVEL, *_SECTIONS)
        return {name: self._of_model(name) for name in self.table if name not in known}

    def _of_model(self, name: str) -> Section[Any]:
        try:
            found = section_named(name)
            if found is None:
                self._reject_unknown((name,), (*_TOP_LEVEL, *_SECTIONS, *section_names()), "")
        except UnknownModel as error:
            raise self._error(name, f"is unknown, and {error}") from None
        assert found is not None
        return found

    def _optional_section(self, name: str, kind: type[Facts]) -> Facts | None:
        return self._section(name, kind) if name in self.table else None

    def _section(self, name: str, kind: type[Facts]) -> Facts:
        entries = self.table.get(name)
        if entries is None:
            raise self._error(name, "section is missing")
        return kind(**self._values(name, entries, kind))

    def _values(self, name: str, entries: Any, facts: type) -> dict[str, Any]:
        """The value of each field of `facts` that has no default or is given.

        A field that is a dataclass is a sub-table.
        """
        if not isinstance(entries, Mapping):
            raise self._error(name, f"must be a section [{name}]")
        known = _fields_of(facts)
        self._reject_unknown(entries, known, f"{name}.")
        return {
            key: self._field(f"{name}.{key}", entries, kind)
            for key, (kind, is_needed) in known.items()
            if is_needed or key in entries
        }

    def _field(self, key: str, entries: Mapping[str, Any], expected: type) -> Any:
        if not is_dataclass(expected):
            return self._entry(key, entries, expected)
        inner = entries.get(key.rpartition(".")[2])
        if inner is None:
            raise self._error(key, "section is missing")
        return expected(**self._values(key, inner, expected))

    def _entry(self, key: str, entries: Mapping[str, Any], expected: type) -> Any:
        entry = entries.get(key.rpartition(".")[2])
        if entry is None:
            raise self._error(key, "is missing")
        self.provenance[key] = self._provenance(key, entry)
        return self._value(key, entry["value"], expected)

    def _provenance(self, key: str, entry: Any) -> Provenance:
        """Checks the form of an entry, all but its value."""
        if not isinstance(entry, Mapping):
            raise self._error(key, "must be { value = ..., source = ..., ref = ... }")
        self._reject_unknown(entry, _ENTRY_KEYS, f"{key}.")
        for needed in _ENTRY_KEYS:
            if needed not in entry:
                raise self._error(f"{key}.{needed}", "is missing")
        reference = entry["ref"]
        if not isinstance(reference, str) or not reference:
            raise self._error(f"{key}.ref", "must be a text that says where the value is from")
        source = self._member(f"{key}.source", Source, entry["source"])
        return Provenance(source, reference)

    def _value(self, key: str, value: Any, expected: type) -> Any:
        if expected is float and type(value) is int:
            value = float(value)
        if type(value) is not expected:
            raise self._error(key, f"must be {_KIND_NAMES[expected]}, got {value!r}")
        if isinstance(value, str):
            choices = _CHOICES.get(key)
            if choices and value not in choices:
                raise self._error(key, f"must be one of {', '.join(choices)}, got {value!r}")
            if not value:
                raise self._error(key, "must not be empty")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            at_least_zero = value == 0 and self._may_be_zero(key)
            if not (0 < value < float("inf") or at_least_zero):
                raise self._error(key, f"must be positive and finite, got {value!r}")
        return value

    def _may_be_zero(self, key: str) -> bool:
        section, _, name = key.partition(".")
        of_model = self._of_models.get(section)
        return key in _MAY_BE_ZERO if of_model is None else name in of_model.may_be_zero

    def _member(self, key: str, kind: type[Member], value: Any) -> Member:
        try:
            return kind(value)
        except ValueError:
            known = ", ".join(member.value for member in kind)
            raise self._error(key, f"must be one of {known}, got {value!r}") from None

    def _reject_unknown(self, found: Iterable[str], known: Any, prefix: str) -> None:
        for key in found:
            if key not in known:
                raise self._error(f"{prefix}{key}", f"is unknown{nearest(key, known)}")

    def _check(self, device: Device, observations: Sequence[Observation]) -> None:
        for key, message in contradictions(device, observations):
            raise self._error(key, message)
        for name, section in self._of_models.items():
            for key, message in section.contradictions(device, device.sections[name]):
                raise self._error(f"{name}.{key}", message)

    def _error(self, key: str, message: str) -> DeviceFileError:
        return DeviceFileError(f"{self.file}: {key}: {message}")


@cache
def _fields_of(facts: type[Any]) -> dict[str, tuple[Any, bool]]:
    """The type of each field, `float` of `float | None`, and whether it must be given."""
    types = {
        name: next(kind for kind in (*get_args(hint), hint) if kind is not NoneType)
        for name, hint in get_type_hints(facts).items()
    }
    return {item.name: (types[item.name], item.default is MISSING) for item in fields(facts)}


def _ceilings(observations: Sequence[Observation]) -> dict[str, float]:
    """Access patterns differ, and a ceiling is what the best of them reached."""
    found: dict[str, float] = {}
    for item in observations:
        if item.quantity.endswith(_RATE_SUFFIXES):
            found[item.quantity] = max(item.value, found.get(item.quantity, 0.0))
    return found


_KIND_NAMES: dict[type, str] = {
    int: "an integer",
    float: "a number",
    bool: "true or false",
    str: "a text",
}
