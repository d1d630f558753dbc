"""Which sectors of a line a cache has: two masks in as few bytes as hold them.

A simulation waits for the host's memory more than for anything else; what takes a byte for each
line stays in the host's cache, where words of masks do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.compiled import inlined

__all__ = [
    "Masks",
    "add_dirty",
    "add_valid",
    "dirty_of",
    "dirty_sectors",
    "drop_all",
    "drop_valid",
    "keep_sectors",
    "no_sectors",
    "valid_of",
    "valid_sectors",
]

Masks = npt.NDArray[Any]
"""The valid sectors of each slot, and above them the dirty ones: half of the bits each."""
Ints = npt.NDArray[np.int64]
SectorMasks = npt.NDArray[np.uint64]


def no_sectors(slots: int, sectors_per_line: int) -> Masks:
    """Slots without sectors, shape (slots,)."""
    bits = max(8, 1 << (2 * sectors_per_line - 1).bit_length())
    return np.zeros(slots, np.dtype(f"u{bits // 8}"))


def _half(masks: Masks) -> int:
    return masks.itemsize * 4


def valid_sectors(masks: Masks) -> SectorMasks:
    """The mask of each slot's valid sectors."""
    return masks.astype(np.uint64) & np.uint64((1 << _half(masks)) - 1)


def dirty_sectors(masks: Masks) -> SectorMasks:
    """The mask of each slot's dirty sectors."""
    return masks.astype(np.uint64) >> np.uint64(_half(masks))


def keep_sectors(masks: Masks, which: Ints, kept: Ints) -> None:
    """Takes all sectors but the masks `kept` from the slots `which`."""
    low = kept.astype(np.uint64) & np.uint64((1 << _half(masks)) - 1)
    masks[which] &= (low | low << np.uint64(_half(masks))).astype(masks.dtype)


@inlined
def valid_of(masks: Masks, slot: int) -> int:
    """The mask of a slot's valid sectors."""
    return int(np.int64(masks[np.uint64(slot)]) & ((1 << (masks.itemsize * 4)) - 1))


@inlined
def dirty_of(masks: Masks, slot: int) -> int:
    """The mask of a slot's dirty sectors."""
    return int(np.int64(np.uint64(masks[np.uint64(slot)]) >> np.uint64(masks.itemsize * 4)))


@inlined
def _word(masks: Masks, slot: int) -> int:
    return int(np.int64(masks[np.uint64(slot)]))


@inlined
def _set(masks: Masks, slot: int, word: int) -> None:
    masks[np.uint64(slot)] = word


@inlined
def add_valid(masks: Masks, slot: int, sectors: int) -> None:
    """Makes sectors valid."""
    _set(masks, slot, _word(masks, slot) | sectors)


@inlined
def drop_valid(masks: Masks, slot: int, sectors: int) -> None:
    """Makes sectors invalid; those that are dirty stay so."""
    _set(masks, slot, _word(masks, slot) & ~sectors)


@inlined
def add_dirty(masks: Masks, slot: int, sectors: int) -> None:
    """Makes sectors dirty."""
    _set(masks, slot, _word(masks, slot) | (sectors << (masks.itemsize * 4)))


@inlined
def drop_all(masks: Masks, slot: int) -> None:
    """Takes all sectors, the dirty ones too."""
    _set(masks, slot, 0)
