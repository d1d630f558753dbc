"""Graphs of a program: their order, what changes them, and captured streams."""

from __future__ import annotations

import pytest

from kernelcast.program_capture.arena import CallError
from kernelcast.program_capture.graphs import Graph, GraphNode, Graphs
from kernelcast.program_capture.protocol import Kind, Status


def _graph(*edges: tuple[int, int], nodes: int = 6) -> Graph:
    found = Graph()
    for number in range(1, nodes + 1):
        found.add(GraphNode(number, Kind.DONE, b""), ())
    for first, second in edges:
        found.depend(first, second)
    return found


def _levels(graph: Graph) -> list[list[int]]:
    return [[node.number for node in level] for level in graph.levels()]


def test_levels_are_topological() -> None:
    graph = _graph((1, 3), (2, 3), (3, 4), (1, 4), (5, 2))
    assert _levels(graph) == [[1, 5, 6], [2], [3], [4]]


def test_nodes_without_edges_are_one_level() -> None:
    assert _levels(_graph()) == [[1, 2, 3, 4, 5, 6]]


def test_a_circle_is_refused() -> None:
    with pytest.raises(CallError, match="circle"):
        _graph((1, 2), (2, 3), (3, 1)).levels()


def test_edges_are_between_nodes_of_the_graph() -> None:
    with pytest.raises(CallError, match="no node 9"):
        _graph((1, 9))
    with pytest.raises(CallError, match="no node 9"):
        _graph().add(GraphNode(7, Kind.DONE, b""), (9,))


def test_a_copy_keeps_its_nodes_when_the_graph_changes() -> None:
    graphs = Graphs()
    graph = graphs.new()
    node = graphs.add(graph, Kind.FILL, b"old", ())
    executable = graphs.new(graphs.of_number(graph).copy())
    graphs.change(0, node, Kind.FILL, b"new")
    assert graphs.of_number(graph).nodes[node].payload == b"new"
    assert graphs.of_number(executable).nodes[node].payload == b"old"
    graphs.change(executable, node, Kind.FILL, b"newest")
    assert graphs.of_number(executable).nodes[node].payload == b"newest"
    assert graphs.of_number(graph).nodes[node].payload == b"new"


def test_a_node_keeps_its_kind() -> None:
    graphs = Graphs()
    node = graphs.add(graphs.new(), Kind.FILL, b"", ())
    with pytest.raises(CallError, match="of that kind"):
        graphs.change(0, node, Kind.COPY, b"")
    with pytest.raises(CallError) as caught:
        graphs.change(0, node + 1, Kind.FILL, b"")
    assert caught.value.status is Status.INVALID_HANDLE


def test_streams_join_a_capture_by_events_and_leave_it_together() -> None:
    graphs = Graphs()
    graphs.begin(16)
    graphs.keep(16, Kind.LAUNCH, b"a")
    graphs.record(5, 16)
    assert graphs.wait(17, 5)
    graphs.keep(17, Kind.LAUNCH, b"b")
    graphs.keep(16, Kind.LAUNCH, b"c")
    graphs.record(6, 17)
    assert graphs.wait(16, 6)
    graphs.keep(16, Kind.LAUNCH, b"d")
    graph = graphs.of_number(graphs.end(16))
    assert not graphs.capturing
    payloads = [sorted(node.payload for node in level) for level in graph.levels()]
    assert payloads == [[b"a"], [b"b", b"c"], [b""], [b"d"]]
    assert not graphs.wait(18, 5), "the capture has ended"


def test_a_capture_begins_once_and_ends_once() -> None:
    graphs = Graphs()
    graphs.begin(16)
    with pytest.raises(CallError, match="already"):
        graphs.begin(16)
    graphs.end(16)
    with pytest.raises(CallError, match="not being captured"):
        graphs.end(16)
