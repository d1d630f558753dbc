"""Which of a device's assumed facts matter for a launch: those whose change moves its time."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from kernelcast.errors import DeviceFileError
from kernelcast.models.estimate import DecisiveFact
from kernelcast.simcore.device.changed import changed_device
from kernelcast.simcore.device.named_facts import device_facts
from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel

if TYPE_CHECKING:
    from kernelcast.simcore.host.shared_tables import SharedTables
    from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming

__all__ = ["CHANGE", "LEAST_EFFECT", "decisive_facts"]

CHANGE = 0.25
"""How far a fact is changed, up and down."""
LEAST_EFFECT = 0.05
"""The share of the time that a change of a decisive fact moves it by."""

_TRIED = ("timing.", "atomics.", "texture.", "tensor.", "constant.pass_cycles")
"""What facts begin with that change no traffic of caches."""
_RATES = ("_per_s", "_per_cycle", "lanes", "_bytes", "_sectors", "_efficiency")
"""What facts end with of which less is worse; of others, latencies and overheads, more is."""


def decisive_facts(
    kernel: TimedKernel, timing: LaunchTiming, tables: SharedTables
) -> tuple[DecisiveFact, ...]:
    """The assumed facts whose change by 25 % moves the time by more than 5 %, most first.

    All are made worse at once, then each half of them, and so on where that matters; then better.
    `tables` are of `timing`. Facts that change the traffic of caches are not tried: they would take
    another simulation of memory.
    """
    search = _Search(kernel, timing, tables)
    names = [name for name in timing.device.assumed if name.startswith(_TRIED)]
    for is_worse in (True, False):
        search.narrow(names, is_worse=is_worse)
    facts = (DecisiveFact(name, effect, CHANGE) for name, effect in search.effects.items())
    return tuple(sorted(facts, key=lambda fact: -fact.effect))


class _Search:
    """Group tests: what moves nothing together moves nothing alone, as far as walks are monotonic.

    `effects`: the facts that were found to matter, by the larger of their effects.
    """

    def __init__(self, kernel: TimedKernel, timing: LaunchTiming, tables: SharedTables) -> None:
        self.effects: dict[str, float] = {}
        self._kernel, self._timing, self._tables = kernel, timing, tables
        self._values = device_facts(timing.device)

    def narrow(self, names: Sequence[str], *, is_worse: bool) -> None:
        """Finds those of the facts that matter when they are worse, or better."""
        groups = [[name for name in names if _is_number(self._values.get(name))]]
        while groups:
            groups = [group for group in groups if group]
            # The compiled simulator leaves the interpreter to others.
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                effects = list(pool.map(partial(self._effect, is_worse=is_worse), groups))
            pairs = zip(groups, effects, strict=True)
            moving = [item for item in pairs if item[1] > LEAST_EFFECT]
            groups = []
            for group, effect in moving:
                if len(group) == 1:
                    self.effects[group[0]] = max(effect, self.effects.get(group[0], 0.0))
                else:
                    middle = len(group) // 2
                    groups += [group[:middle], group[middle:]]

    def _effect(self, names: Sequence[str], *, is_worse: bool) -> float:
        """The share of the time that the facts move together; infinite where no device has them."""
        from kernelcast.simcore.timing.launch.launch_timing import launch_timing

        changes = {name: self._changed(name, is_worse=is_worse) for name in names}
        try:
            device = changed_device(self._timing.device, changes)
        except DeviceFileError:
            return math.inf if len(names) > 1 else 0.0
        found = launch_timing(self._kernel, device, tables=self._tables, only_time=True)
        return abs(found.seconds / self._timing.seconds - 1.0)

    def _changed(self, name: str, *, is_worse: bool) -> int | float:
        value = self._values[name]
        assert isinstance(value, int | float)
        other = value * (1 - CHANGE if name.endswith(_RATES) is is_worse else 1 + CHANGE)
        return round(other) if isinstance(value, int) else other


def _is_number(value: object) -> bool:
    """Whether a fact can be changed: a number other than zero, which stands for what is not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and bool(value)
