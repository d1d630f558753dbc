"""IPC_MAX divided into parts by the thesis's equations, three levels deep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kernelcast.models.topdown import equations
from kernelcast.models.topdown.counters import IssueRates
from kernelcast.models.topdown.parts import Part

__all__ = ["PlacedStall", "divide"]

_IDLE, _UNATTRIBUTED = "Idle", "Unattributed"
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class PlacedStall:
    """STALL_x percent of all stalls; `part` is of level 2, or Idle; `node` of level 3, or empty.

    Without a part the stalls stay unattributed.
    """

    part: str
    node: str
    percent: float


def divide(rates: IssueRates, ipc_max: float, stalls: Sequence[PlacedStall]) -> tuple[Part, ...]:
    """The first level with the others below; what no stall explains of IPC_STALL comes last."""
    retire = equations.ipc_retire(rates.ipc, rates.eff_warp)
    branch = equations.ipc_branch(rates.ipc, rates.eff_warp)
    replay = equations.ipc_replay(rates.ipc_issued, rates.ipc)
    divergence = equations.ipc_divergence(branch, replay)
    stalled = _StalledIssue(ipc_max, equations.ipc_stall(ipc_max, divergence, retire), stalls)
    below = _part("Branch", branch, ipc_max), _part("Replay", replay, ipc_max)
    parts = [
        _part("Retire", retire, ipc_max),
        _part("Divergence", divergence, ipc_max, below),
        stalled.frontend(),
        stalled.backend(),
    ]
    if any(stall.part == _IDLE for stall in stalls):
        parts.append(stalled.part(_IDLE))
    rest = ipc_max - math.fsum(part.ipc for part in parts)
    if rest > _ROUNDING * ipc_max:
        parts.append(_part(_UNATTRIBUTED, rest, ipc_max))
    return tuple(parts)


@dataclass(frozen=True, slots=True)
class _StalledIssue:
    """IPC_STALL, and by which stalls."""

    ipc_max: float
    ipc_stall: float
    stalls: Sequence[PlacedStall]

    def frontend(self) -> Part:
        fetch, decode = self.part("Fetch Bound"), self.part("Decode Bound")
        percent = equations.stall_frontend(self._percent(fetch.name), self._percent(decode.name))
        return self._of_stall("Frontend", percent, (fetch, decode))

    def backend(self) -> Part:
        memory, core = self.part("Memory Bound"), self.part("Core Bound")
        percent = equations.stall_backend(self._percent(memory.name), self._percent(core.name))
        return self._of_stall("Backend", percent, (memory, core))

    def part(self, name: str) -> Part:
        """The part with its nodes in the order in which their reasons come."""
        nodes = dict.fromkeys(item.node for item in self.stalls if item.part == name and item.node)
        below = tuple(self._of_stall(node, self._percent(name, node)) for node in nodes)
        return self._of_stall(name, self._percent(name), below)

    def _of_stall(self, name: str, percent: float, below: tuple[Part, ...] = ()) -> Part:
        return _part(name, equations.ipc_of_stall(percent, self.ipc_stall), self.ipc_max, below)

    def _percent(self, part: str, node: str | None = None) -> float:
        return math.fsum(
            item.percent for item in self.stalls if item.part == part and node in (None, item.node)
        )


def _part(name: str, ipc: float, ipc_max: float, below: tuple[Part, ...] = ()) -> Part:
    return Part(name, ipc, 100 * ipc / ipc_max, below)
