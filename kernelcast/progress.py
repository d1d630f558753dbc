"""How long operations tell how far they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TypeAlias

__all__ = [
    "LONG_S",
    "Progress",
    "StageProgress",
    "lasting_stage",
    "of_stage",
    "stages_told_to",
    "tell",
]

LONG_S = 10.0
"""Whoever waits longer is told how long beforehand."""

Progress: TypeAlias = Callable[[float], None]
"""Is told the share that is done."""
StageProgress: TypeAlias = Callable[[str, float], None]
"""Is told what is being done, too."""

_listener: ContextVar[StageProgress | None] = ContextVar("listener", default=None)


@contextmanager
def stages_told_to(listener: StageProgress | None) -> Iterator[None]:
    """Has a listener told, while the context lasts, what is being done in it."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(stage: str, share: float) -> None:
    """Tells whoever listens that so much of a stage is done."""
    listener = _listener.get()
    if listener is not None:
        listener(stage, share)


def lasting_stage(stage: str, expected_s: float) -> str:
    """The name of a stage, with how long it will take where that is long."""
    return f"{stage}, {expected_s:.0f} s to be expected" if expected_s > LONG_S else stage


def of_stage(stage: str) -> Progress:
    """Tells of one stage."""
    return partial(tell, stage)
