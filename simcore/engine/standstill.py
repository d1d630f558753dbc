"""Recognises loops that provably never end: a round that changes neither memory nor registers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.lanes import Lanes

__all__ = ["Snapshot"]


class Snapshot:
    """The whole state of a batch at one moment: equal states must have equal futures."""

    def __init__(
        self,
        memory_changes: int,
        pending: Mapping[int, npt.NDArray[np.bool_] | None],
        registers: Mapping[int, Lanes],
    ) -> None:
        self._memory_changes = memory_changes
        self._pending = dict(pending)
        self._registers = {index: np.copy(value) for index, value in registers.items()}

    def is_same(
        self,
        memory_changes: int,
        pending: Mapping[int, npt.NDArray[np.bool_] | None],
        registers: Mapping[int, Lanes],
    ) -> bool:
        return (
            memory_changes == self._memory_changes
            and pending.keys() == self._pending.keys()
            and all(_same_mask(mask, self._pending[index]) for index, mask in pending.items())
            and all(np.array_equal(value, self._registers[i]) for i, value in registers.items())
        )


def _same_mask(one: npt.NDArray[np.bool_] | None, other: npt.NDArray[np.bool_] | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)
