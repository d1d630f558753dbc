"""Pieces of DRAM that accesses begin, against counts by hand: L2 has 64 KiB, lines of 128 bytes."""

from __future__ import annotations

import pytest

from tests.simcore.memory.test_hierarchy import KIB, LOAD, STORE, Access, device, stream, traffic

QUARTER = 0xFF
"""Lanes that reach one sector."""


def pieces(accesses: list[Access]) -> tuple[int, int]:
    counts = traffic([LOAD, STORE], accesses, device()).by_instruction
    return int(counts.read_pieces.sum()), int(counts.written_pieces.sum())


@pytest.mark.parametrize("pc", [0, 1])
def test_what_lies_together_is_a_piece_every_256_bytes(pc: int) -> None:
    expected = [0, 0]
    expected[pc] = 256 * KIB // 256
    assert pieces(stream(pc, 256 * KIB)) == tuple(expected)


@pytest.mark.parametrize("pc", [0, 1])
@pytest.mark.parametrize(("step", "each"), [(64, 4), (128, 2), (256, 1), (512, 1)])
def test_however_little_of_a_piece_is_moved_it_is_one(pc: int, step: int, each: int) -> None:
    sectors = [Access(pc, at, mask=QUARTER) for at in range(0, 512 * KIB, step)]
    assert pieces(sectors)[pc] == len(sectors) // each


def test_a_piece_is_begun_again_after_many_others() -> None:
    """The other half of each is asked for 1,000 pieces later, or 8,192, when all others came."""

    def halves(count: int) -> list[Access]:
        starts = range(0, count * 256, 256)
        return [Access(0, at + half) for half in (0, 128) for at in starts]

    assert pieces(halves(1000)) == (1000, 0)
    assert pieces(halves(8192)) == (2 * 8192, 0)


def test_what_is_dirty_already_begins_nothing() -> None:
    """4 KiB fit L2: written in halves of lines, they go to DRAM together."""
    halves = [Access(1, at + part, mask=0xFFFF) for part in (0, 64) for at in range(0, 4096, 128)]
    assert pieces(halves) == (0, 16)


def test_what_l2_holds_begins_nothing() -> None:
    assert pieces(stream(0, 32 * KIB) * 3) == (128, 0)
