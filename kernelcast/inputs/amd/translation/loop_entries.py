"""Loops that are entered at several places, as loops with one entry.

Ways to the entries of such a loop go through a place of its own, which goes on to the entry that a
number names. LLVM has a pass for that, which of LLVM 22 loses values in some loops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kernelcast.simcore.isa.analysis.flow_graph import depth_first, strong_components

__all__ = ["gates_of"]


def gates_of(successors: Sequence[Sequence[int]]) -> Mapping[int, int]:
    """The numbers of gates by the basic blocks behind them, entries of loops with several."""
    reached = depth_first(successors, 0).places
    pending = [({block: list(successors[block]) for block in reached}, {0})]
    gates: dict[int, int] = {}
    count = 0
    while pending:
        graph, entries = pending.pop()
        if len(entries) > 1:
            gates.update(dict.fromkeys(sorted(entries), count))
            count += 1
        inner = {
            block: [target for target in targets if target not in entries]
            for block, targets in graph.items()
        }
        for component in strong_components(inner):
            members = set(component)
            if len(component) == 1 and component[0] not in inner[component[0]]:
                continue
            found = {
                target
                for block, targets in inner.items()
                if block not in members
                for target in targets
                if target in members
            }
            part = {b: [t for t in inner[b] if t in members] for b in component}
            pending.append((part, found))
    return gates
