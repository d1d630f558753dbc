"""Payloads of fat binaries unpacked: LZ4 blocks, as older ones have them, and Zstandard frames."""

from __future__ import annotations

__all__ = ["decompress_lz4_block", "decompress_zstd_frame"]

_MOST_PER_BYTE = 255
"""No byte of an LZ4 block stands for more (LZ4 Block Format Description, lz4.org)."""


def decompress_lz4_block(data: bytes, size: int) -> bytes:
    """The `size` bytes that a block without frame holds; ValueError when it is damaged."""
    import lz4.block

    if size > _MOST_PER_BYTE * len(data) + _MOST_PER_BYTE:  # room for it is taken first
        raise ValueError(f"{size} bytes in a block of {len(data)}")
    try:
        found = bytes(lz4.block.decompress(data, uncompressed_size=size))
    except lz4.block.LZ4BlockError as error:
        raise ValueError(str(error)) from None
    return _checked(found, size)


def decompress_zstd_frame(data: bytes, size: int) -> bytes:
    """The `size` bytes of one frame; ValueError when it is damaged.

    No more than a byte beyond `size` is unpacked, whatever the frame says of itself.
    """
    import pyarrow as pa

    try:
        with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as reader:
            found = bytes(reader.read(size + 1))
    except OSError as error:
        raise ValueError(str(error)) from None
    return _checked(found, size)


def _checked(found: bytes, size: int) -> bytes:
    if len(found) != size:
        raise ValueError(f"{len(found)} bytes instead of {size}")
    return found
