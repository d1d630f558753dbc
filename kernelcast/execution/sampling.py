"""Whether large launches are sampled."""

from __future__ import annotations

from enum import Enum

__all__ = ["Sampling"]


class Sampling(Enum):
    """Whether a part of the thread blocks may stand for all; buffers are not computed then.

    AUTO: where the launch is much work, by its instructions, accesses or threads. ALWAYS: smaller
    launches too, and LaunchError where no launch of the kernel can be. Buffers are computed after
    all where thread blocks depend on what others write.
    """

    NEVER = "never"
    AUTO = "auto"
    ALWAYS = "always"
