"""What a time line consists of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["Span", "SpanKind"]


class SpanKind(Enum):
    """What a GPU is busy with."""

    KERNEL = "kernel"
    TO_DEVICE = "copy to device"
    TO_HOST = "copy to host"
    ON_DEVICE = "copy on device"
    FILL = "fill"

    @property
    def is_copy(self) -> bool:
        """Whether bytes go between host and GPU."""
        return self in (SpanKind.TO_DEVICE, SpanKind.TO_HOST)


@dataclass(frozen=True, slots=True)
class Span:
    """Something from `start_s` to `end_s`, seconds since the program began on the GPU.

    `number`: which launch or copy of the program it is, from 0 on.
    """

    kind: SpanKind
    number: int
    stream: int
    start_s: float
    end_s: float
    is_in_graph: bool = False

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return self.end_s - self.start_s
