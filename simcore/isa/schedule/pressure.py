"""How many 32-bit registers an order of a region's steps takes at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kernelcast.simcore.isa.schedule.region import Region, Value, is_slow_load

__all__ = ["Liveness", "liveness", "pressures"]


@dataclass(frozen=True, slots=True)
class Liveness:
    """`around`: registers of values that live through a region which does not touch them.

    `lasting`: values that live on after it. `uses`: how many steps read each holder.
    """

    around: int
    lasting: frozenset[int]
    uses: Mapping[int, int]
    begins: tuple[Value, ...]


def liveness(region: Region, live_after: Collection[int], words: Mapping[int, int]) -> Liveness:
    """The liveness of a region, of registers that live after it; `words` of every register."""
    known = {**region.before, **region.after}
    lasting = {
        id(value.holder)
        for register, value in known.items()
        if register in live_after and value.holder.words
    }
    uses: dict[int, int] = {}
    for step in region.steps:
        for holder in step.holders:
            uses[id(holder)] = uses.get(id(holder), 0) + 1
    around = sum(words[register] for register in live_after if register not in known)
    begins = tuple(
        value
        for value in region.before.values()
        if value.words and (uses.get(id(value)) or id(value) in lasting)
    )
    return Liveness(around, frozenset(lasting), uses, begins)


def pressures(
    region: Region, order: Sequence[int], live: Liveness, *, holds_operands: bool = False
) -> list[int]:
    """Registers in use while each step of `order` is executed, in that order.

    `holds_operands`: what a load reads is kept until something reads its result, as assemblers do
    while there are registers: a load that is on its way may not have read them yet.
    """
    left = dict(live.uses)
    held = _held(region, left) if holds_operands else {}
    alive = {id(value) for value in live.begins}
    count = live.around + sum(value.words for value in live.begins)
    found = []
    for position in order:
        step = region.steps[position]
        for holder in (*step.holders, *held.get(position, ())):
            left[id(holder)] -= 1
            if not left[id(holder)] and id(holder) not in live.lasting and id(holder) in alive:
                alive.discard(id(holder))
                count -= holder.words
        dead = 0
        for value in step.writes:
            if not value.words or value.root is not None:
                continue
            if left.get(id(value)) or id(value) in live.lasting:
                alive.add(id(value))
                count += value.words
            else:
                dead += value.words
        found.append(count + dead)
    return found


def _held(region: Region, left: dict[int, int]) -> dict[int, list[Value]]:
    """What the first reader of a load lets go of, by its position; counted as uses in `left`."""
    found: dict[int, list[Value]] = {}
    for step in region.steps:
        if not is_slow_load(step):
            continue
        readers = [reader for value in step.writes for reader in value.readers[:1]]
        if readers:
            holders = step.holders
            found.setdefault(min(readers), []).extend(holders)
            for holder in holders:
                left[id(holder)] += 1
    return found
