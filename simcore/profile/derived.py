"""What is made of a simulated launch only when a model asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from kernelcast.simcore.host.shared_tables import SharedTables

if TYPE_CHECKING:
    from kernelcast.simcore.device.device import Device
    from kernelcast.simcore.memory.simulated_memory import MemoryResult
    from kernelcast.traces.trace import Trace

__all__ = ["DerivedInputs", "ProfileSource", "Value"]

Value = TypeVar("Value")


@dataclass(frozen=True)
class ProfileSource:
    """What a simulated profile is made of: the launch, and what it did to the device's memory.

    `tables`: what is made of the launch for several devices alike.
    """

    trace: Trace
    device: Device
    memory: MemoryResult
    tables: SharedTables = field(default_factory=SharedTables)


class DerivedInputs:
    """The inputs that models' functions make of a source, each made once.

    `source` is called when it is first needed. Without one there are none but those that are
    `given`, by the functions that make them. `key`: equal for inputs of equal sources, in whatever
    process; empty where that is not known.
    """

    def __init__(
        self,
        source: Callable[[], ProfileSource] | None = None,
        given: Mapping[Callable[[ProfileSource], Any], Any] | None = None,
        key: str = "",
    ) -> None:
        self._source = None if source is None else cache(source)
        self._made = dict(given or {})
        self.key = key

    def of(self, make: Callable[[ProfileSource], Value]) -> Value | None:
        """None without a source."""
        if make not in self._made and self._source is not None:
            self._made[make] = make(self._source())
        found: Value | None = self._made.get(make)
        return found
