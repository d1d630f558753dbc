"""How a kernel that streams through an array is spread over work-items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.memory.rates import Seconds
from kernelcast.opencl_bench.target import DeviceFacts

__all__ = ["WORD_BYTES", "WorkShape", "fastest", "plain_shape", "scalar_shape", "vector_shapes"]

WORD_BYTES = 4
_CPU_LANES = 16
_GPU_LANES = 4


@dataclass(frozen=True, slots=True)
class WorkShape:
    """Vectors of `lanes` words, `per_item` of them to each work-item.

    A work-item's vectors are neighbours when `is_contiguous`; otherwise those of neighbouring
    work-items are, which GPUs coalesce. `has_int_indices`: their numbers are computed as `int`.
    """

    lanes: int
    work_group: int
    per_item: int
    is_contiguous: bool
    has_int_indices: bool = False

    @property
    def vector_bytes(self) -> int:
        """Bytes of a vector."""
        return WORD_BYTES * self.lanes

    def defines(self, words: str = "uint") -> Mapping[str, object]:
        """Macros of the kernels: ELEMENT, a vector of `words`, and CONTIGUOUS."""
        element = words if self.lanes == 1 else f"{words}{self.lanes}"
        flags = {"CONTIGUOUS": self.is_contiguous, "INT_INDICES": self.has_int_indices}
        return {"ELEMENT": element} | {name: 1 for name, is_set in flags.items() if is_set}

    def work_items(self, vectors: int) -> int:
        """How many work-items go through at most that many vectors: whole work-groups."""
        return vectors // (self.per_item * self.work_group) * self.work_group

    def vectors(self, size_bytes: int) -> int:
        """How many vectors of an array of that size they touch."""
        return self.work_items(size_bytes // self.vector_bytes) * self.per_item

    def __str__(self) -> str:
        order = "neighbouring" if self.is_contiguous else "interleaved"
        indices = ", indices of type int" if self.has_int_indices else ""
        return (
            f"work-groups of {self.work_group}, {self.per_item} {order} "
            f"{8 * self.vector_bytes}-bit elements each{indices}"
        )


def vector_shapes(facts: DeviceFacts, effort: Effort) -> Sequence[WorkShape]:
    """The shapes of which the best counts."""
    group = min(256, facts.max_work_group)
    if facts.is_cpu:
        few = [WorkShape(_CPU_LANES, 1, 8192, True)]
        more = [
            WorkShape(_CPU_LANES, group, 16, True),
            WorkShape(1, min(1024, facts.max_work_group), 8, False),
            WorkShape(_CPU_LANES, min(64, group), 16, False),
            WorkShape(_CPU_LANES, min(64, group), 64, True),
            WorkShape(_CPU_LANES, 1, 65536, True),
        ]
    else:
        few = [WorkShape(_GPU_LANES, group, 16, False)]
        more = [
            WorkShape(1, group, 16, False),
            WorkShape(_GPU_LANES, min(64, group), 16, False),
            WorkShape(_GPU_LANES, facts.max_work_group, 16, False),
            WorkShape(_GPU_LANES, group, 64, False),
        ]
    return few if effort is Effort.QUICK else [*few, *more]


def plain_shape(facts: DeviceFacts) -> WorkShape:
    """A word for each work-item, as kernels for GPUs are usually written.

    A processor pays for each work-group that it starts.
    """
    return WorkShape(1, min(256, facts.max_work_group), 1, False)


def scalar_shape(facts: DeviceFacts, per_item: int) -> WorkShape:
    """Single words, in the order that suits the device."""
    group = 1 if facts.is_cpu else min(256, facts.max_work_group)
    return WorkShape(1, group, per_item, facts.is_cpu)


def fastest(rates: Mapping[WorkShape, Seconds]) -> WorkShape:
    """The one with the highest median."""
    return max(rates, key=lambda shape: float(np.median(rates[shape])))
