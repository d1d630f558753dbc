"""Requests and answers, as `client/protocol.h` declares them."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

__all__ = [
    "ALL_STREAMS",
    "ANSWER_HEADER",
    "NO_ANSWER",
    "PROTOCOL_VERSION",
    "REQUEST_HEADER",
    "Action",
    "CopyRequest",
    "Kind",
    "LaunchRequest",
    "Space",
    "Status",
    "TextureRequest",
    "packed",
    "words",
]

PROTOCOL_VERSION = 1
NO_ANSWER = 0x80000000
ALL_STREAMS = (1 << 64) - 1
REQUEST_HEADER = struct.Struct("<IIQ")
"""kind, bytes that follow, nanoseconds that the program spent outside of the library."""
ANSWER_HEADER = struct.Struct("<iIII")
"""status, bytes that follow, action, unused."""
_WORD_BYTES = 8


class Action(IntEnum):
    """What the program does before its answer comes."""

    ANSWERED = 0
    ACT_COPY = 1
    ACT_CALL = 2
    ACT_PRINT = 3


class Kind(IntEnum):
    """What is asked for."""

    HELLO = 1
    DONE = 2
    ALLOCATE = 3
    FREE = 4
    REGISTER = 5
    UNREGISTER = 6
    COPY = 7
    FILL = 8
    MODULE = 9
    MODULE_UNLOAD = 10
    FUNCTION = 11
    VARIABLE = 12
    LAUNCH = 13
    LAUNCH_FAILED = 14
    SYNCHRONIZE = 15
    STREAM_CREATE = 16
    STREAM_DESTROY = 17
    STREAM_WAIT = 18
    EVENT_CREATE = 19
    EVENT_DESTROY = 20
    EVENT_RECORD = 21
    EVENT_SYNCHRONIZE = 22
    EVENT_ELAPSED = 23
    CALL = 24
    ATTRIBUTE = 25
    PROPERTIES = 26
    MEMORY_INFO = 27
    OCCUPANCY = 28
    POINTER = 29
    FUNCTION_SET = 30
    REFUSED = 31
    CAPTURE_BEGIN = 32
    CAPTURE_END = 33
    CAPTURE_STATUS = 34
    GRAPH_CREATE = 35
    GRAPH_DESTROY = 36
    GRAPH_ADD = 37
    GRAPH_INSTANTIATE = 38
    GRAPH_EXEC_DESTROY = 39
    GRAPH_LAUNCH = 40
    GRAPH_NODES = 41
    GRAPH_SET = 42
    GRAPH_DEPEND = 43
    TEXTURE_CREATE = 44
    TEXTURE_DESTROY = 45
    TIME = 46
    GOODBYE = 47
    LINK = 48
    SHARE = 49
    UNITS = 50
    TENSOR_MAP = 51
    STREAM_INFO = 52
    RESET = 53
    CL_DEVICE = 60
    CL_BUILD = 61
    CL_KERNEL = 62
    CL_MOVE = 63
    CL_EVENT = 64
    CL_IMAGE = 65
    CL_SAMPLER = 66


class Space(IntEnum):
    """What an allocation is for."""

    DEVICE = 0
    MANAGED = 1
    HOST = 2
    ARRAY = 3


class Status(IntEnum):
    """Errors of CUDA that the server returns, by their numbers."""

    SUCCESS = 0
    INVALID_VALUE = 1
    OUT_OF_MEMORY = 2
    INVALID_CONFIGURATION = 9
    INVALID_SYMBOL = 13
    INVALID_IMAGE = 200
    NO_CODE_FOR_DEVICE = 209
    INVALID_PTX = 218
    INVALID_HANDLE = 400
    NOT_FOUND = 500
    ILLEGAL_ADDRESS = 700
    LAUNCH_OUT_OF_RESOURCES = 701
    LAUNCH_TIMEOUT = 702
    ASSERT = 710
    ALREADY_REGISTERED = 712
    NOT_REGISTERED = 713
    MISALIGNED_ADDRESS = 716
    LAUNCH_FAILED = 719
    COOPERATIVE_LAUNCH_TOO_LARGE = 720
    NOT_PERMITTED = 800
    NOT_SUPPORTED = 801
    CAPTURE_INVALIDATED = 901
    UNKNOWN = 999


class CopyRequest(NamedTuple):
    """Rows of bytes; pitches and slices are distances in bytes."""

    to: int
    to_pitch: int
    to_slice: int
    source: int
    source_pitch: int
    source_slice: int
    width: int
    height: int
    depth: int
    kind: int
    stream: int
    is_async: int

    @property
    def bytes(self) -> int:
        """All that is copied."""
        return self.width * self.height * self.depth

    @property
    def to_span(self) -> int:
        """Bytes from the first that is written to behind the last."""
        return _span(self.width, self.height, self.depth, self.to_pitch, self.to_slice)

    @property
    def source_span(self) -> int:
        """Bytes from the first that is read to behind the last."""
        return _span(self.width, self.height, self.depth, self.source_pitch, self.source_slice)


class LaunchRequest(NamedTuple):
    """A launch without its parameters."""

    function: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    stream: int
    cluster: tuple[int, int, int] | None
    is_cooperative: bool

    @classmethod
    def of(cls, payload: bytes) -> tuple[LaunchRequest, bytes]:
        """A launch and its parameters."""
        found = _LAUNCH.unpack_from(payload)
        cluster = found[9:12]
        launch = cls(
            found[0],
            found[1:4],
            found[4:7],
            found[7],
            found[8],
            cluster if any(cluster) else None,
            bool(found[12]),
        )
        return launch, payload[_LAUNCH.size :]


class TextureRequest(NamedTuple):
    """A texture or surface; kinds and modes have the numbers of CUDA's enumerations."""

    is_surface: int
    address: int
    shape: int
    width: int
    height: int
    depth: int
    pitch: int
    layers: int
    channels: int
    channel_bits: int
    channel_kind: int
    address_mode_x: int
    address_mode_y: int
    address_mode_z: int
    filter_mode: int
    read_mode: int
    is_normalized: int
    levels: int
    is_cubemap: int


_LAUNCH = struct.Struct("<13Q")


def words(payload: bytes, count: int) -> tuple[int, ...]:
    """The first words of a request."""
    return struct.unpack_from(f"<{count}Q", payload)


def packed(*values: int) -> bytes:
    """Words of an answer; negative ones as two's complement."""
    return struct.pack(f"<{len(values)}Q", *(value & ALL_STREAMS for value in values))


def _span(width: int, height: int, depth: int, pitch: int, distance: int) -> int:
    return (depth - 1) * distance + (height - 1) * pitch + width
