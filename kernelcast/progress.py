"""How long operations tell how far they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Progress", "StageProgress"]

Progress: TypeAlias = Callable[[float], None]
"""Is told the share that is done."""
StageProgress: TypeAlias = Callable[[str, float], None]
"""Is told what is being done, too."""
