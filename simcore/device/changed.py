"""A device with some facts changed, and with what depends on them rescaled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kernelcast.errors import DeviceFileError, KernelcastError, nearest
from kernelcast.simcore.device.device import Device, MeasuredCurve, Provenance, Source
from kernelcast.simcore.device.file import read_device
from kernelcast.simcore.device.named_facts import (
    absent_facts,
    device_facts,
    device_table,
    optional_sections,
)
from kernelcast.simcore.device.rescaling import (
    ABSENT,
    RULES,
    DependentFact,
    Facts,
    Scalar,
    ceiling_factor,
    curve_factor,
    follow,
)
from kernelcast.simcore.device.section import section_named
from kernelcast.units import parse_si

__all__ = [
    "ABSENT",
    "ALIASES",
    "Changes",
    "FollowedFact",
    "changed_device",
    "followed_facts",
    "numeric_fact",
    "typed_changes",
]

Changes = Mapping[str, Scalar]

ALIASES: Mapping[str, str] = {
    "sm.max_blocks": "sm.max_thread_blocks",
    "sm.max_threads_per_block": "sm.max_threads_per_thread_block",
    "sm.max_shared_bytes_per_block": "sm.max_shared_bytes_per_thread_block",
    "sm.shared_banks": "shared.banks",
    "sm.count": "architecture.sm_count",
    "sm.clock_hz": "architecture.clock_hz",
    "sm.warp_size": "architecture.warp_width",
    "sm.warp_width": "architecture.warp_width",
    "sm.early_release": "early_release",
    "memory.min_segment_bytes": "segments.min_segment_bytes",
    "memory.bandwidth_bytes_per_s": "dram.bandwidth_bytes_per_s",
    "l1.bytes": "l1.capacity_bytes",
    "l2.bytes": "l2.capacity_bytes",
    "dram.bytes": "dram.capacity_bytes",
}
"""Names of papers and manuals for facts of the device file."""

_SWITCH = "early_release"
_WORDS: Mapping[str, bool] = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True, slots=True)
class FollowedFact:
    """A fact that was not set but follows one that was."""

    name: str
    before: Scalar
    after: Scalar


def changed_device(device: Device, changes: Changes) -> Device:
    """The device with `changes` made, by dotted names or ALIASES, and all that follows from them.

    Values are in the units of the names; texts are read as the fact's type, `1.2G` and `64Ki`
    among them. DeviceFileError, in one line, for unknown names with the nearest known ones, and for
    a device that its checks refuse.
    """
    old = device_facts(device)
    explicit = _explicit(device, old, changes)
    if not explicit:
        return device
    new = _present(follow(old, explicit, _rules(device)))
    label = _label(device, changes)
    table = device_table(new, lambda name: _provenance(name, device, old, new, explicit))
    table["title"] = f"{device.title}, changed"
    made = read_device(label, device.name, table)
    return replace(
        made,
        fitted_on=device.fitted_on,
        curves={name: _curve(name, curve, old, new) for name, curve in device.curves.items()},
        ceilings={
            name: rate * ceiling_factor(name, old, new) for name, rate in device.ceilings.items()
        },
    )


def numeric_fact(device: Device, name: str) -> float:
    """The number that a fact has; DeviceFileError when the device has no such number."""
    old = device_facts(device)
    value = old.get(_known(device, old, name))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DeviceFileError(f"{device.name}: {name} is no number")
    return float(value)


def followed_facts(device: Device, changes: Changes) -> tuple[FollowedFact, ...]:
    """What `changed_device` rescales or limits besides what `changes` say."""
    old = device_facts(device)
    explicit = _explicit(device, old, changes)
    new = follow(old, explicit, _rules(device))
    return tuple(
        FollowedFact(name, old[name], value)
        for name, value in new.items()
        if name in old and name not in explicit and value != old[name]
    )


def typed_changes(device: Device, changes: Changes) -> dict[str, Scalar]:
    """The changes under the names they were given by, their values as the device has them.

    DeviceFileError, with the nearest known names, when the device has no such fact.
    """
    old = device_facts(device)
    return {
        given: _typed(given, value, old.get(_known(device, old, given)))
        for given, value in changes.items()
    }


def _rules(device: Device) -> tuple[DependentFact, ...]:
    """All rules, those of the models whose sections the device has included."""
    sections = (section_named(name) for name in device.sections)
    return (*RULES, *(rule for section in sections if section for rule in section.rules))


def _explicit(device: Device, old: Facts, changes: Changes) -> dict[str, Scalar]:
    """The changes by the device file's names and in its types."""
    explicit: dict[str, Scalar] = {}
    for given, value in changes.items():
        name = _known(device, old, given)
        if name in explicit:
            raise DeviceFileError(f"{device.name}: {name} is set twice")
        if name in old or "." in name:
            explicit[name] = _typed(given, value, old.get(name))
        elif value == ABSENT:
            explicit.update({fact: ABSENT for fact in old if fact.startswith(f"{name}.")})
        else:
            raise DeviceFileError(f"{device.name}: {name} is a section, set one of its facts")
    return explicit


def _known(device: Device, old: Facts, given: str) -> str:
    name = ALIASES.get(given, given)
    if name in old:
        return name
    absent = absent_facts(device)
    if name in absent or name in _sections(old):
        return name
    if name.partition(".")[0] in optional_sections(device):
        return name
    longer = [item for item in (*old, *absent) if item.startswith(f"{name}_")]
    if len(longer) == 1:
        return longer[0]
    known = [*old, *absent, *(alias for alias, fact in ALIASES.items() if fact in old)]
    raise DeviceFileError(f"{device.name}: no fact {given!r}{nearest(given, known)}")


def _sections(facts: Facts) -> set[str]:
    return {name.partition(".")[0] for name in facts if "." in name}


def _typed(given: str, value: Scalar, old: Scalar | None) -> Scalar:
    """A text as the type of the present value; other values as they are, whole numbers as whole."""
    if value == ABSENT:
        return value
    if isinstance(old, bool) or (old is None and str(value).lower() in _WORDS):
        return _WORDS.get(str(value).lower(), value)
    if isinstance(old, str):
        return value
    if isinstance(value, str):
        try:
            value = parse_si(value)
        except KernelcastError as error:
            if old is None:
                return value
            raise DeviceFileError(f"{given}: {error}") from None
    if isinstance(value, float) and value.is_integer() and not isinstance(old, float):
        return int(value)
    return value


def _present(facts: Facts) -> dict[str, Scalar]:
    """What a device file would hold: no sections set to ABSENT, no switch that is off."""
    return {
        name: value
        for name, value in facts.items()
        if not (value == ABSENT and "." in name) and not (name == _SWITCH and value is False)
    }


def _label(device: Device, changes: Changes) -> str:
    """What messages call the device: its name and up to three changes."""
    shown = [f"{name}={value}" for name, value in changes.items()]
    more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
    return f"{device.name} with {', '.join(shown[:3])}{more}"


def _provenance(name: str, device: Device, old: Facts, new: Facts, explicit: Facts) -> Provenance:
    before = device.provenance.get(name, Provenance(Source.ASSUMED, "not known"))
    if name in explicit:
        return Provenance(Source.ASSUMED, f"set; {device.name} has {old.get(name, 'none')}")
    if new[name] == old.get(name):
        return before
    causes = [
        source
        for rule in _rules(device)
        if rule.name == name
        for source in rule.sources
        if new.get(source) != old.get(source)
    ]
    return Provenance(
        Source.DERIVED,
        f"{old[name]} rescaled with {', '.join(dict.fromkeys(causes))}; {before.source.value}: "
        f"{before.reference}",
    )


def _curve(name: str, curve: MeasuredCurve, old: Facts, new: Facts) -> MeasuredCurve:
    factor, causes = curve_factor(name, curve.y_unit, old, new)
    if not causes:
        return curve
    where = curve.provenance
    return replace(
        curve,
        y=tuple(factor * value for value in curve.y),
        provenance=Provenance(
            Source.DERIVED,
            f"rescaled with {', '.join(causes)}; {where.source.value}: {where.reference}",
        ),
    )
