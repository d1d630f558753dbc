"""Sections of device files that belong to a model, which knows what they hold.

A model declares its sections; `kernelcast` says here where they are to be found. They are looked up
when a file has one, so that reading a device imports no model that it says nothing of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from kernelcast.simcore.device.rescaling import DependentFact

__all__ = ["Facts", "Section", "offer_sections", "section_named", "section_names"]

Facts = TypeVar("Facts")
Sections = Mapping[str, "Section[Any]"]


def _nothing(_device: object, _facts: object) -> Iterable[tuple[str, str]]:
    return ()


@dataclass(frozen=True)
class Section(Generic[Facts]):
    """`[name]` of a device file, read into `facts`, a frozen dataclass.

    Its fields are numbers, texts, switches and further dataclasses, which are sub-tables; a field
    with a default may be left out.

    All names are dotted, without that of the section: `may_be_zero` are numbers that need not be
    positive, `units` those of names by how they end, where the end itself does not tell.
    `contradictions` of a device and its facts
    yields what no GPU can be, a name and a sentence each. `rules` say how facts of
    the section, by their full names, follow other facts of a changed device (docs/whatif.md).
    """

    name: str
    facts: type[Facts]
    may_be_zero: frozenset[str] = frozenset()
    units: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[DependentFact, ...] = ()
    contradictions: Callable[[Any, Facts], Iterable[tuple[str, str]]] = _nothing

    def is_named(self, key: str) -> bool:
        """Whether the dotted name of a fact begins with the section's."""
        return key.startswith(f"{self.name}.")


_offers: list[Callable[[], Sections]] = []


def offer_sections(find: Callable[[], Sections]) -> None:
    """Says where models' sections are found by their names; `find` is called when one is needed."""
    _offers.append(find)


def section_named(name: str) -> Section[Any] | None:
    """The section of that name, None where no model has such a one.

    Raises KernelcastError, in one line, where an installed model that might have it cannot be
    imported.
    """
    return next((sections[name] for find in _offers if name in (sections := find())), None)


def section_names() -> tuple[str, ...]:
    """Names of the sections of all models; raises as `section_named`."""
    return tuple(dict.fromkeys(name for find in _offers for name in find()))
