"""The order of basic blocks: topological in the loop-nest forest."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kernelcast.simcore.isa.analysis.flow_graph import Graph, depth_first, strong_components

__all__ = ["order_basic_blocks"]

_MOST_VISITS = 400_000
"""The most visits of basic blocks while loops with several headers are taken apart."""


@dataclass(frozen=True, slots=True)
class _Region:
    """Basic blocks that control enters at `headers`; of a loop all reach one another."""

    graph: Graph
    headers: frozenset[int]
    is_loop: bool


def order_basic_blocks(successors: Sequence[Sequence[int]]) -> list[int]:
    """The basic blocks that 0 reaches, in the topological order of the loop-nest forest.

    A loop (strongly connected component) stays together; what it exits to comes after all of it;
    within it the edges into its headers do not count, and loops inside are ordered likewise. Among
    the free choices the source order holds. The loop-nest forest of irreducible graphs is
    Steensgaard's: every basic block that is entered from outside is a header. Takes little more
    than linear time for loops with one header each, however deeply nested; others are taken apart
    level by level, and what is left after `_MOST_VISITS` keeps the source order.
    """
    if not successors[0]:
        return [0]
    reached = depth_first(successors, 0).places
    order: list[int] = []
    visits = 0
    whole = _Region({block: successors[block] for block in reached}, frozenset((0,)), False)
    pending = [whole]
    while pending:
        region = pending.pop()
        loop_of = _loops_with_one_header(region) if len(region.headers) == 1 else None
        if loop_of is not None:
            order.extend(_Forest(region.graph, loop_of).order())
            continue
        visits += len(region.graph)
        if visits > _MOST_VISITS:
            order.extend(sorted(region.graph))
        else:
            pending.extend(reversed(_parts(region)))
    return order


def _loops_with_one_header(region: _Region) -> dict[int, int | None] | None:
    """The header of the innermost loop that holds each basic block.

    For a header, that of the loop around its own. None when a loop is entered at several basic
    blocks: R. E. Tarjan, Testing flow graph reducibility, 1974.
    """
    (root,) = region.headers
    tree = depth_first(region.graph, root)
    before: list[list[int]] = [[] for _ in tree.nodes]
    for place, block in enumerate(tree.nodes):
        for target in region.graph[block]:
            before[tree.places[target]].append(place)
    outermost = list(range(len(tree.nodes)))
    loop_of: dict[int, int | None] = dict.fromkeys(tree.nodes)
    for header in reversed(range(len(tree.nodes))):
        last = tree.last[header]
        body = {_root(outermost, place) for place in before[header] if header < place <= last}
        pending = list(body)
        while pending:
            for place in before[pending.pop()]:
                outer = _root(outermost, place)
                if not header <= outer <= last:
                    return None
                if outer != header and outer not in body:
                    body.add(outer)
                    pending.append(outer)
        for place in body:
            outermost[place] = header
            loop_of[tree.nodes[place]] = tree.nodes[header]
    return loop_of


def _root(parents: list[int], node: int) -> int:
    """The root of a node's tree; halves the way to it."""
    while parents[node] != node:
        parents[node] = node = parents[parents[node]]
    return node


class _Forest:
    """Loops with one header each, as a forest.

    Nodes are basic blocks and, as `~header`, loops; the parent of a node is the loop around it, or
    the whole graph.
    """

    def __init__(self, graph: Graph, loop_of: Mapping[int, int | None]) -> None:
        """`loop_of` has headers in front of what their loops hold."""
        self._graph = graph
        self._whole = ~(max(graph) + 1)
        self._parent, self._depth = {self._whole: self._whole}, {self._whole: 0}
        self._jump = {self._whole: self._whole}
        headers = {header for header in loop_of.values() if header is not None}
        for block, header in loop_of.items():
            around = self._whole if header is None else ~header
            if block in headers:
                self._add(~block, around)
                around = ~block
            self._add(block, around)
        self._lowest = {node: max(node, ~node) for node in self._parent}
        for node, parent in reversed(self._parent.items()):
            self._lowest[parent] = min(self._lowest[parent], self._lowest[node])

    def _add(self, node: int, parent: int) -> None:
        """Jumps have the lengths of a skew-binary number system (Myers 1983)."""
        far = self._jump[parent]
        depth = self._depth
        is_even = depth[parent] - depth[far] == depth[far] - depth[self._jump[far]]
        self._parent[node], depth[node] = parent, depth[parent] + 1
        self._jump[node] = self._jump[far] if is_even else parent

    def _ancestor(self, node: int, depth: int) -> int:
        while self._depth[node] > depth:
            far = self._jump[node]
            node = far if self._depth[far] >= depth else self._parent[node]
        return node

    def _followers(self) -> dict[int, list[int]]:
        """Edges between nodes with the same parent. An edge into a header is one to its loop."""
        followers: dict[int, list[int]] = {node: [] for node in self._parent}
        for block, targets in self._graph.items():
            for target in targets:
                node = ~target if ~target in self._parent else target
                start = self._ancestor(block, self._depth[node])
                if start != node:
                    followers[start].append(node)
        return followers

    def order(self) -> list[int]:
        """The basic blocks; the first one of the graph comes first."""
        followers = self._followers()
        waiting = dict.fromkeys(followers, 0)
        for nodes in followers.values():
            for node in nodes:
                waiting[node] += 1
        first = next(node for node, parent in self._parent.items() if parent == self._whole != node)
        order: list[int] = []
        levels = [[(0, first)]]
        while levels:
            if not levels[-1]:
                levels.pop()
                continue
            node = heapq.heappop(levels[-1])[1]
            for follower in followers[node]:
                waiting[follower] -= 1
                if not waiting[follower]:
                    heapq.heappush(levels[-1], (self._lowest[follower], follower))
            if node < 0:
                levels.append([(0, ~node)])
            else:
                order.append(node)
        return order


def _parts(region: _Region) -> list[_Region]:
    """The loops and the other basic blocks of a region, in topological order.

    Where the order leaves a choice, the earliest in the source comes first.
    """
    barred = region.headers if region.is_loop else frozenset()
    graph = {
        block: [target for target in targets if target not in barred]
        for block, targets in region.graph.items()
    }
    components = strong_components(graph)
    number = {block: index for index, component in enumerate(components) for block in component}
    headers = [region.headers.intersection(component) for component in components]
    waiting = [0] * len(components)
    followers: list[list[int]] = [[] for _ in components]
    for block, target in _edges(graph):
        start, end = number[block], number[target]
        if start != end:
            headers[end] |= {target}
            waiting[end] += 1
            followers[start].append(end)
    return [
        _Region(_within(graph, components[index]), headers[index], True)
        for index in _topological(followers, waiting, [min(members) for members in components])
    ]


def _edges(graph: Graph) -> Iterable[tuple[int, int]]:
    return ((block, target) for block, targets in graph.items() for target in targets)


def _topological(
    followers: Sequence[Sequence[int]], waiting: list[int], keys: Sequence[int]
) -> Iterable[int]:
    ready = [(keys[index], index) for index, count in enumerate(waiting) if not count]
    heapq.heapify(ready)
    while ready:
        _, index = heapq.heappop(ready)
        yield index
        for follower in followers[index]:
            waiting[follower] -= 1
            if not waiting[follower]:
                heapq.heappush(ready, (keys[follower], follower))


def _within(graph: Graph, members: Iterable[int]) -> Graph:
    kept = frozenset(members)
    return {block: [target for target in graph[block] if target in kept] for block in members}
