"""The longest launch of each kernel of a program, with the profiles that its page is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kernelcast.models.estimate import Estimate
from kernelcast.simcore.profile.profile import KernelProfile

__all__ = ["Explained", "LongestLaunches", "most_explained"]

_MOST_SECTIONS = 24

Explained = tuple[Estimate, KernelProfile]
"""An estimate with the profile that it is of."""


def most_explained(devices: int) -> int:
    """Of how many kernels a page tells all, so that it stays below six megabytes."""
    return max(1, _MOST_SECTIONS // devices)


@dataclass
class LongestLaunches:
    """Keeps estimates and profiles of `most` kernels, those that take most of the time so far.

    Of each kernel the launch is kept that takes longest on the first device, of all that were
    estimated. A profile holds what its launch accessed, so that not all of them can be kept.
    """

    most: int = 0
    total_s: dict[str, float] = field(default_factory=dict)
    """Seconds of all launches by kernel, on the first device."""
    kept: dict[str, tuple[Explained, ...]] = field(default_factory=dict)
    """By kernel, one for each device."""

    def count(self, kernel: str, seconds: float) -> None:
        """Another launch of the kernel, estimated or not."""
        self.total_s[kernel] = self.total_s.get(kernel, 0.0) + seconds

    def note(
        self, kernel: str, estimates: Sequence[Estimate], profiles: Sequence[KernelProfile]
    ) -> None:
        """A launch that was estimated on the devices."""
        known = self.kept.get(kernel)
        if not self.most or (known is not None and known[0][0].time_s >= estimates[0].time_s):
            return
        self.kept[kernel] = tuple(zip(estimates, profiles, strict=True))
        if len(self.kept) > self.most:
            del self.kept[min(self.kept, key=self._seconds)]

    def _seconds(self, kernel: str) -> float:
        """Of the kernel so far; its first launch is noted before it is counted."""
        return max(self.total_s.get(kernel, 0.0), self.kept[kernel][0][0].time_s)
