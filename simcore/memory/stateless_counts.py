"""What no cache has a part in, counted once for all devices that count it the same."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from kernelcast.simcore.device.banked_l1 import has_banked_l1
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.memory.atomic_contention import AtomicContention, ContentionCounter
from kernelcast.simcore.memory.pattern_wavefronts import PatternWavefronts, WavefrontCounter
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import InstructionRow

__all__ = ["StatelessCounts", "stateless_counts"]


class StatelessCounts:
    """An AccessSink: wavefronts of shared and constant memory, and contention of atomics."""

    def __init__(self, instructions: Sequence[InstructionRow], device: Device) -> None:
        self._wavefronts = WavefrontCounter(instructions, device)
        self._atomics = ContentionCounter(instructions, device)

    def accept(self, batch: AccessBatch) -> None:
        """Counts a batch, whatever came before."""
        self._wavefronts.accept(batch)
        self._atomics.accept(batch)

    @property
    def wavefronts(self) -> PatternWavefronts:
        """Totals until now."""
        return self._wavefronts.totals

    @property
    def atomics(self) -> AtomicContention:
        """Operations on the busiest addresses until now."""
        return self._atomics.found


def stateless_counts(
    instructions: Sequence[InstructionRow], devices: Sequence[Device]
) -> list[StatelessCounts]:
    """The counts of each device, one object for all that count the same."""
    has_atomics = any(row.kind == "atomic" for row in instructions)
    made: dict[Hashable, StatelessCounts] = {}
    found = []
    for device in devices:
        constant = device.constant.words_per_pass, device.constant.word_bytes
        facts = device.shared, constant, device.segments, has_banked_l1(device)
        key = facts, device.atomics if has_atomics else None
        if key not in made:
            made[key] = StatelessCounts(instructions, device)
        found.append(made[key])
    return found
