"""The estimates of a report one after the other, with the words and colours that stand for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernelcast.simcore.isa.ir.source_names import source_name

__all__ = ["COLORS", "Entry", "drawn", "entries"]

Record = Mapping[str, Any]

COLORS = (
    *("blue", "orange", "green", "purple", "red"),
    *("teal", "brown", "pink", "olive", "gray"),
)
"""Colours of a page that tell estimates, kernels and the like apart, in the order of use."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One estimate of a record: `label` tells it from the others in as few words as that takes."""

    number: int
    kernel: str
    label: str
    item: Record

    @property
    def details(self) -> Record:
        """The details that the estimate stands on."""
        found: Record = self.item["details"]
        return found

    @property
    def drawn_label(self) -> str:
        """The label as plotly.js shows it, which would take tags for more than text."""
        return drawn(self.label)

    @property
    def drawn_kernel(self) -> str:
        """The kernel's name as plotly.js shows it."""
        return drawn(self.kernel)

    @property
    def color(self) -> str:
        """The colour of the estimate in every chart, as `Chart` takes it."""
        return f"var:{COLORS[self.number % len(COLORS)]}"

    @property
    def launches(self) -> int:
        """How many launches the time is for."""
        return int(self.details["launch"]["repeats"])


def drawn(text: str) -> str:
    """Text as plotly.js shows it."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def entries(records: Sequence[Record]) -> list[Entry]:
    """The estimates of all records in their order."""
    found = [
        (source_name(record["kernel"]), item) for record in records for item in record["estimates"]
    ]
    kernels = {kernel for kernel, _ in found}
    models = {item["model"] for _, item in found}
    labels = []
    for kernel, item in found:
        label = f"{kernel} on {item['device']}" if len(kernels) > 1 else item["device"]
        labels.append(f"{label}, {item['model']}" if len(models) > 1 else label)
    return [
        Entry(number, kernel, label, item)
        for number, ((kernel, item), label) in enumerate(zip(found, labels, strict=True))
    ]
