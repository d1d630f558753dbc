"""How long thread blocks that reside together take to touch as much as a cache holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.sampling.footprint import Footprint
from kernelcast.simcore.sampling.pilot import SampleSource
from kernelcast.simcore.sampling.windows import Timeline
from kernelcast.traces.stream import GridPart

__all__ = ["Turnovers"]

_STEPS = 64
_GROWTH = 4


@dataclass(frozen=True)
class Turnovers:
    """Times, in instructions of a warp, of the thread blocks in the middle of a launch."""

    source: SampleSource
    device: Device
    timeline: Timeline

    def of_l1(self, most: int) -> int:
        """How long the thread blocks of an SM take to touch what L1 holds, at most `most`.

        They are one in each round of the SMs.
        """
        facts, line = self.device.l1, self.timeline
        capacity = self.device.l2.capacity_bytes if facts is None else facts.capacity_bytes
        step = self.device.architecture.sm_count
        end = min(line.thread_blocks, self._first + line.wave)
        length = min(most, line.duration)
        return self._time(range(self._first, end, step), capacity, length) or length

    def of_l2(self, capacities: float, most: int) -> int | None:
        """How long a wave takes to touch so many capacities of L2; None for longer than `most`."""
        line = self.timeline
        end = min(line.thread_blocks, self._first + line.wave)
        wanted = capacities * self.device.l2.capacity_bytes
        return self._time(range(self._first, end), wanted, min(most, line.duration))

    @property
    def _first(self) -> int:
        """The first thread block of a wave in the middle that is whole, if there is one."""
        line = self.timeline
        return line.thread_blocks // line.wave // 2 * line.wave % line.thread_blocks

    def _time(self, thread_blocks: Sequence[int], wanted: float, most: int) -> int | None:
        """Repeated loads touch nothing new: they are left out, most of them."""
        footprint = Footprint(self.device.l2.sector_bytes)
        reached, step = 0, max(2, most // _STEPS)
        while reached < most:
            end = min(most, reached + step)
            parts = _parts(thread_blocks, reached, end, max(1, step // _GROWTH))
            self.source.stream(parts, [footprint])
            if footprint.touched_bytes >= wanted:
                return max(1, int(end * wanted / footprint.touched_bytes))
            reached, step = end, max(step, end // _GROWTH)
        return None


def _parts(thread_blocks: Sequence[int], after: int, before: int, period: int) -> list[GridPart]:
    """Neighbours as one."""
    if thread_blocks[-1] - thread_blocks[0] + 1 == len(thread_blocks):
        return [GridPart(thread_blocks[0], thread_blocks[-1] + 1, after, before, period, True)]
    return [GridPart(number, number + 1, after, before, period, True) for number in thread_blocks]
