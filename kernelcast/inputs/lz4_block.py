"""LZ4 blocks, as older fat binaries hold them (LZ4 Block Format Description, lz4.org)."""

from __future__ import annotations

__all__ = ["decompress_lz4_block"]

_LONGEST_SHORT_LENGTH = 15
_SHORTEST_MATCH = 4


def decompress_lz4_block(data: bytes, size: int) -> bytes:
    """The `size` bytes that a block without frame holds; ValueError when it is damaged."""
    found = bytearray()
    position = 0
    try:
        while len(found) < size:
            token = data[position]
            literals, position = _length(data, position + 1, token >> 4)
            if position + literals > len(data):
                raise ValueError("literals beyond the end")
            found += data[position : position + literals]
            position += literals
            if len(found) >= size:
                break
            distance = int.from_bytes(data[position : position + 2], "little")
            matched, position = _length(data, position + 2, token & 15)
            _repeat(found, distance, matched + _SHORTEST_MATCH)
    except IndexError:
        raise ValueError("the block ends too early") from None
    if len(found) != size:
        raise ValueError(f"{len(found)} bytes instead of {size}")
    return bytes(found)


def _length(data: bytes, position: int, nibble: int) -> tuple[int, int]:
    """A length and the position behind its further bytes."""
    length = nibble
    if nibble == _LONGEST_SHORT_LENGTH:
        more = 255
        while more == 255:
            more = data[position]
            length += more
            position += 1
    return length, position


def _repeat(found: bytearray, distance: int, length: int) -> None:
    """Appends `length` bytes from `distance` back; they may overlap what they append."""
    if not 0 < distance <= len(found):
        raise ValueError("a match before the beginning")
    pattern = bytes(found[-distance:][:length])
    found += (pattern * (length // len(pattern) + 1))[:length]
