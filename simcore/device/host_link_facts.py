"""How a host and its GPU talk: section [host_link] of a device file."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["HostLinkFacts"]


@dataclass(frozen=True, slots=True)
class HostLinkFacts:
    """Copies between host and GPU, and what a launch costs the host.

    `bandwidth_bytes_per_s`: that of copies of page-locked memory, each way;
    `pageable_bandwidth_bytes_per_s` that of other memory, which goes through a buffer. `latency_s`:
    of a copy of a few bytes. `launch_call_s`: time of the host for giving a kernel to a stream.
    """

    bandwidth_bytes_per_s: float
    pageable_bandwidth_bytes_per_s: float
    latency_s: float
    launch_call_s: float
