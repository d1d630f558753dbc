"""Coalescing against set arithmetic on the bytes that lanes touch."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelcast.simcore.memory.coalescer import coalesce

WARP = np.arange(32, dtype=np.int64)
ALL = 2**32 - 1


def bytes_by_sector(
    addresses: list[int], mask: int, access_bytes: int, sector_bytes: int
) -> dict[int, int]:
    """The oracle: one bit per touched byte, sector by sector."""
    touched: dict[int, int] = defaultdict(int)
    for lane, address in enumerate(addresses):
        if mask >> lane & 1:
            for byte in range(address, address + access_bytes):
                touched[byte // sector_bytes] |= 1 << byte % sector_bytes
    return dict(sorted(touched.items()))


@settings(deadline=None)  # the first example compiles
@given(
    addresses=st.lists(st.integers(0, 2000), min_size=1, max_size=64),
    mask=st.integers(0, 2**64 - 1),
    access_bytes=st.sampled_from([1, 2, 4, 8, 16]),
    sector_bytes=st.sampled_from([4, 16, 32, 64]),
    base=st.sampled_from([0, 0x7F00_0000_0000]),
)
def test_sectors_and_bytes_are_those_of_the_set_of_bytes(
    addresses: list[int], mask: int, access_bytes: int, sector_bytes: int, base: int
) -> None:
    lanes = [base + address for address in addresses]
    found = coalesce(np.array(lanes), mask & (2 ** len(lanes) - 1), access_bytes, sector_bytes)
    expected = bytes_by_sector(lanes, mask, access_bytes, sector_bytes)
    assert found.sectors.tolist() == list(expected)
    assert found.byte_masks.tolist() == list(expected.values())
    assert found.requested_bytes == sum(bits.bit_count() for bits in expected.values())


@pytest.mark.parametrize(
    ("stride", "access_bytes", "offset", "sectors", "lines"),
    [
        (4, 4, 0, 4, 1),
        (4, 4, 4, 5, 2),
        (8, 8, 0, 8, 2),
        (8, 8, 8, 9, 3),
        (16, 16, 0, 16, 4),
        (128, 4, 0, 32, 32),
        (-4, 4, 128, 5, 2),
        (0, 8, 24, 1, 1),
        (32, 8, 28, 33, 9),
    ],
)
def test_strides(stride: int, access_bytes: int, offset: int, sectors: int, lines: int) -> None:
    found = coalesce(4096 + offset + stride * WARP, ALL, access_bytes)
    assert len(found.sectors) == sectors
    assert len(found.lines(128)) == lines


def test_ideal_sectors_hold_the_distinct_bytes() -> None:
    assert coalesce(128 * WARP, ALL, 4).ideal_sectors == 4
    assert coalesce(0 * WARP, ALL, 4).ideal_sectors == 1
