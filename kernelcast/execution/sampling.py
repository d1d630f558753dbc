"""Whether large launches are sampled."""

from __future__ import annotations

from enum import Enum

__all__ = ["Sampling"]


class Sampling(Enum):
    """Whether a part of the thread blocks may stand for all; buffers are not computed then.

    AUTO: where the launch is much work, by its instructions, accesses or threads. ALWAYS: smaller
    launches too, and LaunchError where no launch of the kernel can be; arithmetic under guards that
    depend on data counts for all lanes. Buffers are computed after all where thread blocks depend
    on what others write. SKETCH: a few thread blocks alone, by which variants of a launch can be
    put in order sooner; LaunchError where they do not stand for all.
    """

    NEVER = "never"
    AUTO = "auto"
    ALWAYS = "always"
    SKETCH = "sketch"
