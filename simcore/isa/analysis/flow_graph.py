"""Depth-first search, strongly connected components and dominators of flow graphs.

Without recursion, and in linear or nearly linear time: a file of one megabyte holds graphs of tens
of thousands of basic blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["DepthFirst", "Graph", "depth_first", "immediate_dominators", "strong_components"]

Graph = Mapping[int, Sequence[int]]
"""The successors of every node; all are nodes themselves."""


@dataclass(frozen=True, slots=True)
class DepthFirst:
    """A depth-first search tree.

    Holds nodes in the order of discovery, the place of each in it, and by place that of the parent
    (-1 for the root) and of the last node below.
    """

    nodes: list[int]
    places: dict[int, int]
    parents: list[int]
    last: list[int]


def depth_first(graph: Graph | Sequence[Sequence[int]], root: int) -> DepthFirst:
    """The depth-first search tree of what `root` reaches, without recursion."""
    nodes, places, parents, last = [root], {root: 0}, [-1], [0]
    path = [(0, iter(graph[root]))]
    while path:
        place, targets = path[-1]
        for target in targets:
            if target not in places:
                path.append((len(nodes), iter(graph[target])))
                places[target] = len(nodes)
                nodes.append(target)
                parents.append(place)
                last.append(0)
                break
        else:
            path.pop()
            last[place] = len(nodes) - 1
    return DepthFirst(nodes, places, parents, last)


def strong_components(graph: Graph) -> list[list[int]]:
    """The sets of nodes that reach one another (Tarjan 1972)."""
    found: list[list[int]] = []
    place: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_nodes: list[int] = []
    closed: set[int] = set()
    for root in graph:
        path = [] if root in place else [(root, iter(graph[root]))]
        while path:
            node, targets = path[-1]
            if node not in place:
                place[node] = lowest[node] = len(place)
                open_nodes.append(node)
            for target in targets:
                if target not in place:
                    path.append((target, iter(graph[target])))
                    break
                if target not in closed:
                    lowest[node] = min(lowest[node], place[target])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] == place[node]:
                    start = len(open_nodes) - 1
                    while open_nodes[start] != node:
                        start -= 1
                    found.append(open_nodes[start:])
                    closed.update(found[-1])
                    del open_nodes[start:]
    return found


def immediate_dominators(graph: Graph | Sequence[Sequence[int]], root: int) -> dict[int, int]:
    """The immediate dominator of each node that `root` reaches, except of `root` itself.

    T. Lengauer and R. E. Tarjan, A fast algorithm for finding dominators in a flowgraph, 1979, with
    the simple form of path compression.
    """
    tree = depth_first(graph, root)
    count = len(tree.nodes)
    before: list[list[int]] = [[] for _ in range(count)]
    for place, node in enumerate(tree.nodes):
        for target in graph[node]:
            before[tree.places[target]].append(place)
    semi = list(range(count))
    forest = _Forest(semi)
    dominator = [0] * count
    waiting: list[list[int]] = [[] for _ in range(count)]
    for place in range(count - 1, 0, -1):
        semi[place] = min(semi[forest.least(other)] for other in before[place])
        waiting[semi[place]].append(place)
        parent = tree.parents[place]
        forest.link(parent, place)
        for other in waiting[parent]:
            least = forest.least(other)
            dominator[other] = least if semi[least] < semi[other] else parent
        waiting[parent].clear()
    for place in range(1, count):
        if dominator[place] != semi[place]:
            dominator[place] = dominator[dominator[place]]
    return {tree.nodes[place]: tree.nodes[dominator[place]] for place in range(1, count)}


class _Forest:
    """The part of the depth-first tree that has been seen, its ways up shortened."""

    def __init__(self, semi: list[int]) -> None:
        self._semi = semi
        self._above = [-1] * len(semi)
        self._least = list(range(len(semi)))

    def link(self, parent: int, child: int) -> None:
        self._above[child] = parent

    def least(self, node: int) -> int:
        """The node of least semidominator on the way up, without the root of the tree."""
        above, least, semi = self._above, self._least, self._semi
        if above[node] < 0:
            return node
        path = []
        while above[above[node]] >= 0:
            path.append(node)
            node = above[node]
        for below in reversed(path):
            if semi[least[above[below]]] < semi[least[below]]:
                least[below] = least[above[below]]
            above[below] = above[above[below]]
        return least[path[0] if path else node]
