"""All requests that a session answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from kernelcast.program_capture.calls import code, graphs, memory, opencl, streams, tensor_maps
from kernelcast.program_capture.protocol import Kind
from kernelcast.program_capture.session import Session

__all__ = ["CALLS", "Call"]

Call: TypeAlias = Callable[[Session, bytes], bytes]
"""Answers a request with words and bytes; CallError says why it cannot."""

CALLS: Mapping[Kind, Call] = {
    **memory.CALLS,
    **code.CALLS,
    **streams.CALLS,
    **graphs.CALLS,
    **tensor_maps.CALLS,
    **opencl.CALLS,
}
