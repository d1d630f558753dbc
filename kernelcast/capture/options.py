"""How a program is captured, or a recording answered again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kernelcast.capture.session import BeforeLaunch, Session
from kernelcast.execution.code import Code

__all__ = ["CaptureOptions"]


@dataclass(frozen=True, kw_only=True)
class CaptureOptions:
    """How a program is captured.

    `is_host_timed`: the host's own time counts. `every`: no launch stands for another.
    `recording`: the file of a recording to write. `tell` gets lines for people, `step` each session
    after each request. `is_quiet`: the program's standard output goes to standard error.
    """

    code: Code | str | None = None
    is_host_timed: bool = False
    every: bool = False
    is_quiet: bool = False
    recording: Path | None = None
    tell: Callable[[str], None] = print
    step: Callable[[Session], None] = lambda _session: None
    before_launch: BeforeLaunch | None = None
