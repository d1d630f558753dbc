"""Whether large launches are sampled."""

from __future__ import annotations

from enum import Enum

__all__ = ["Sampling"]


class Sampling(Enum):
    """Whether a part of the thread blocks may stand for all; buffers are not computed then.

    AUTO: where the launch has 10^8 threads or more and its paths and addresses do not depend on
    data. ALWAYS: smaller launches too, and LaunchError where it cannot be.
    """

    NEVER = "never"
    AUTO = "auto"
    ALWAYS = "always"
