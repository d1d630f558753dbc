"""Ends runs that do not end by themselves: by limits, or by proof that nothing will ever change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from kernelcast.errors import LimitExceeded
from kernelcast.simcore.engine.reference.lanes import Lanes
from kernelcast.simcore.engine.rules.issue_limit import issue_limit
from kernelcast.simcore.host.deadline import deadline_in
from kernelcast.simcore.isa.ir.kernel import BasicBlock, Kernel
from kernelcast.simcore.launch.launch import Limits

__all__ = ["CHECK_EVERY", "State", "Watchdog"]

CHECK_EVERY = 256
"""Runs of basic blocks between two looks."""
_LOOKS_PER_SNAPSHOT = 16

Mask: TypeAlias = npt.NDArray[np.bool_] | None


class State(NamedTuple):
    """All that the future of a batch depends on; memory by how often it was changed."""

    memory_changes: int
    pending: Mapping[int, Mask]
    registers: Mapping[int, Lanes]


class Watchdog:
    """Looks at one batch now and then."""

    def __init__(self, kernel: Kernel, limits: Limits) -> None:
        self._limits, self._most = limits, issue_limit(kernel, limits)
        self._deadline = deadline_in(limits.seconds)
        self._snapshot: State | None = None
        self._looks = 0

    def check(self, block: BasicBlock, warp_time: npt.NDArray[np.int64], state: State) -> None:
        """Raises LimitExceeded, at the place of `block`, when the run must end."""
        first = (block.body or (block.terminator,))[0]
        if self._most is not None and int(warp_time.max()) > self._most:
            raise LimitExceeded(
                f"a warp issued more than {self._limits.instructions_per_warp:,} instructions: "
                "an endless loop? "
                "(--limit-instructions)",
                first.span,
                origin=first.origin,
            )
        if self._deadline is not None and self._deadline.has_passed:
            raise LimitExceeded(
                f"still running after {self._deadline.seconds:g} s: an endless loop? "
                "(--limit-seconds)",
                first.span,
                origin=first.origin,
            )
        if self._stands_still(state):
            raise LimitExceeded(
                "endless loop: nothing changes from one round to the next",
                first.span,
                origin=first.origin,
            )

    def _stands_still(self, state: State) -> bool:
        """A state that comes back comes back for ever."""
        if self._snapshot is not None and _is_same(state, self._snapshot):
            return True
        if self._looks % _LOOKS_PER_SNAPSHOT == 0:
            registers = {index: np.copy(value) for index, value in state.registers.items()}
            self._snapshot = State(state.memory_changes, dict(state.pending), registers)
        self._looks += 1
        return False


def _is_same(one: State, other: State) -> bool:
    return (
        one.memory_changes == other.memory_changes
        and one.pending.keys() == other.pending.keys()
        and all(_same_mask(mask, other.pending[index]) for index, mask in one.pending.items())
        and all(np.array_equal(value, other.registers[i]) for i, value in one.registers.items())
    )


def _same_mask(one: Mask, other: Mask) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)
