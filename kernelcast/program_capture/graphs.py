"""Graphs: requests that are kept and made when the graph is launched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from kernelcast.program_capture.arena import CallError
from kernelcast.program_capture.protocol import Kind, Status

__all__ = ["Graph", "GraphNode", "Graphs"]


@dataclass(frozen=True, slots=True)
class GraphNode:
    """One request; of KC_GRAPH_CREATE the nodes of a graph inside."""

    number: int
    kind: Kind
    payload: bytes
    inside: Graph | None = None


@dataclass
class Graph:
    """Nodes by their numbers, and which ones each comes after."""

    nodes: dict[int, GraphNode] = field(default_factory=dict)
    after: dict[int, set[int]] = field(default_factory=dict)

    def copy(self) -> Graph:
        """A graph with nodes of its own."""
        return Graph(dict(self.nodes), {node: set(before) for node, before in self.after.items()})

    def add(self, node: GraphNode, after: Iterable[int]) -> None:
        """A node that comes after others; CallError when one of them is not in the graph."""
        before = set(after)
        self._check(before)
        self.nodes[node.number] = node
        self.after[node.number] = before

    def depend(self, first: int, second: int) -> None:
        """The second node comes after the first one."""
        self._check((first, second))
        self.after[second].add(first)

    def levels(self) -> list[list[GraphNode]]:
        """Nodes that may happen together, level after level; CallError where they form a circle."""
        order = TopologicalSorter(self.after)
        try:
            order.prepare()
        except CycleError:
            raise CallError(Status.INVALID_VALUE, "the nodes of a graph form a circle") from None
        found: list[list[GraphNode]] = []
        while order.is_active():
            ready = sorted(order.get_ready())
            found.append([self.nodes[number] for number in ready])
            order.done(*ready)
        return found

    def _check(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            if number not in self.nodes:
                raise CallError(Status.INVALID_VALUE, f"the graph has no node {number}")


@dataclass
class Graphs:
    """The graphs of a program, executable ones too, and which streams are being captured."""

    graphs: dict[int, Graph] = field(default_factory=dict)
    capturing: dict[int, int] = field(default_factory=dict)
    """Streams, and the graphs that they are captured to."""
    last: dict[int, int] = field(default_factory=dict)
    """The last node of a captured stream."""
    owners: dict[int, int] = field(default_factory=dict)
    """The graph that each node was made for; its copies and executable graphs keep its number."""
    events: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Events that were recorded in captured streams: the graph and the node before them."""
    _count: int = 15

    def new(self, graph: Graph | None = None) -> int:
        """The number of a new graph."""
        self._count += 1
        self.graphs[self._count] = graph or Graph()
        return self._count

    def of_number(self, number: int) -> Graph:
        """A graph; CallError when there is none of that number."""
        if number not in self.graphs:
            raise CallError(Status.INVALID_HANDLE, f"there is no graph {number}")
        return self.graphs[number]

    def add(
        self, graph: int, kind: Kind, payload: bytes, after: Iterable[int], inside: int = 0
    ) -> int:
        """The number of a new node."""
        self._count += 1
        child = self.of_number(inside).copy() if inside else None
        self.of_number(graph).add(GraphNode(self._count, kind, payload, child), after)
        self.owners[self._count] = graph
        return self._count

    def change(self, graph: int, node: int, kind: Kind, payload: bytes, inside: int = 0) -> None:
        """Another request for a node of a graph, or with 0 of the graph that it was made for."""
        changed = self.of_number(graph or self.owners.get(node, 0))
        if node not in changed.nodes or changed.nodes[node].kind is not kind:
            raise CallError(Status.INVALID_VALUE, f"the graph has no node {node} of that kind")
        child = self.of_number(inside).copy() if inside else None
        changed.nodes[node] = GraphNode(node, kind, payload, child)

    def begin(self, stream: int) -> None:
        """What the stream is given goes to a new graph; CallError when it does already."""
        if stream in self.capturing:
            raise CallError(Status.INVALID_VALUE, "the stream is being captured already")
        self.capturing[stream] = self.new()

    def end(self, stream: int) -> int:
        """The graph of a captured stream; others that joined it are captured no more."""
        if stream not in self.capturing:
            raise CallError(Status.CAPTURE_INVALIDATED, "the stream is not being captured")
        graph = self.capturing[stream]
        for other in [name for name, its in self.capturing.items() if its == graph]:
            del self.capturing[other]
            self.last.pop(other, None)
        return graph

    def keep(self, stream: int, kind: Kind, payload: bytes) -> None:
        """Adds what a captured stream was given, behind what it had."""
        after = [self.last[stream]] if stream in self.last else []
        self.last[stream] = self.add(self.capturing[stream], kind, payload, after)

    def record(self, event: int, stream: int) -> None:
        """Remembers where in a captured stream an event is."""
        if stream not in self.last:
            self.keep(stream, Kind.DONE, b"")
        self.events[event] = (self.capturing[stream], self.last[stream])

    def wait(self, stream: int, event: int) -> bool:
        """Whether the event is of a captured stream, which the other one then joins."""
        if event not in self.events:
            return False
        graph, node = self.events[event]
        if graph not in self.capturing.values():
            return False
        if stream in self.last and self.last[stream] != node:
            before = [self.last[stream], node]
            self.last[stream] = self.add(graph, Kind.DONE, b"", before)
        else:
            self.last[stream] = node
        self.capturing[stream] = graph
        return True
