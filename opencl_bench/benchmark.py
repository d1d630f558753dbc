"""What a benchmark is: a name, what it needs of a device, and a function that measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from kernelcast.opencl_bench.measurement import Finding
from kernelcast.opencl_bench.target import Feature, Target

__all__ = ["Benchmark", "Effort", "Measure"]


class Effort(Enum):
    """How long measuring may take: all benchmarks in 20 s, or in 10 minutes."""

    QUICK = "quick"
    FULL = "full"


Measure: TypeAlias = Callable[[Target, Effort], Sequence[Finding]]
"""Raises BenchmarkError when a kernel's result is wrong."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """`needs`: what a device must have; one that has not loses only this benchmark."""

    name: str
    title: str
    measure: Measure
    needs: frozenset[Feature] = frozenset()
