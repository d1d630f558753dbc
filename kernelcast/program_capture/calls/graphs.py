"""Graphs and the capture of streams."""

from __future__ import annotations

from kernelcast.program_capture.calls.memory import copy_in_graph, fill
from kernelcast.program_capture.graphs import Graph, GraphNode
from kernelcast.program_capture.protocol import Action, Kind, LaunchRequest, packed, words
from kernelcast.program_capture.session import Session

__all__ = ["CALLS"]

_NODE_STREAMS = 1 << 63
"""Each node of a graph that is launched is a stream of its own, with numbers from here on."""


def _capture_begin(session: Session, payload: bytes) -> bytes:
    session.graphs.begin(words(payload, 1)[0])
    return b""


def _capture_end(session: Session, payload: bytes) -> bytes:
    return packed(session.graphs.end(words(payload, 1)[0]))


def _capture_status(session: Session, payload: bytes) -> bytes:
    graph = session.graphs.capturing.get(words(payload, 1)[0], 0)
    return packed(int(bool(graph)), graph)


def _create(session: Session, payload: bytes) -> bytes:
    _, cloned = words(payload, 2)
    return packed(session.graphs.new(session.graphs.of_number(cloned).copy() if cloned else None))


def _destroy(session: Session, payload: bytes) -> bytes:
    (number,) = words(payload, 1)
    session.graphs.of_number(number)
    del session.graphs.graphs[number]
    return b""


def _add(session: Session, payload: bytes) -> bytes:
    graph, kind, after, request = _node(payload)
    return packed(session.graphs.add(graph, kind, request, after, _inside(kind, request)))


def _inside(kind: Kind, request: bytes) -> int:
    """The number of the graph inside of a node; 0 where there is none."""
    return words(request, 1)[0] if kind is Kind.GRAPH_CREATE else 0


def _node(payload: bytes) -> tuple[int, Kind, tuple[int, ...], bytes]:
    """Graph, kind of request, nodes that are named, and the request."""
    graph, kind, count = words(payload, 3)
    named = words(payload, 3 + count)[3:]
    return graph, Kind(kind), named, payload[8 * (3 + count) :]


def _instantiate(session: Session, payload: bytes) -> bytes:
    graph = session.graphs.of_number(words(payload, 1)[0]).copy()
    graph.levels()
    return packed(session.graphs.new(graph))


def _set(session: Session, payload: bytes) -> bytes:
    """Another request for a node, or with a graph in place of a kind all of its nodes."""
    executable, other, count = words(payload, 3)
    if not count:
        session.graphs.graphs[executable] = session.graphs.of_number(other).copy()
        return b""
    _, kind, (number,), request = _node(payload)
    session.graphs.change(executable, number, kind, request, _inside(kind, request))
    return b""


def _depend(session: Session, payload: bytes) -> bytes:
    graph, first, second = words(payload, 3)
    session.graphs.of_number(graph).depend(first, second)
    return b""


def _nodes(session: Session, payload: bytes) -> bytes:
    number, is_root = words(payload, 2)
    graph = session.graphs.of_number(number)
    return packed(*(node for node in graph.nodes if not (is_root and graph.after[node])))


def _launch(session: Session, payload: bytes) -> bytes:
    number, stream = words(payload, 2)
    graph = session.graphs.of_number(number)
    if stream in session.graphs.capturing:
        session.graphs.keep(stream, Kind.GRAPH_CREATE, packed(number))
        node = session.graphs.last[stream]
        captured = session.graphs.of_number(session.graphs.capturing[stream])
        captured.nodes[node] = GraphNode(node, Kind.GRAPH_CREATE, b"", graph.copy())
        return b""
    for timeline in session.timelines:
        timeline.begin_graph()
    _run(session, graph, stream)
    return b""


def _run(session: Session, graph: Graph, stream: int) -> None:
    """Makes all requests; each begins when those before it and the stream are done."""
    for level in graph.levels():
        for node in level:
            own = _NODE_STREAMS + node.number
            before = [_NODE_STREAMS + item for item in graph.after[node.number]]
            for timeline in session.timelines:
                timeline.begin_node(own, before or [stream])
            _make(session, node, own)
    for timeline in session.timelines:
        timeline.end_nodes(stream, [_NODE_STREAMS + number for number in graph.nodes])


def _make(session: Session, node: GraphNode, stream: int) -> None:
    match node.kind:
        case Kind.LAUNCH:
            request, parameters = LaunchRequest.of(node.payload)
            session.launch(request._replace(stream=stream), parameters, is_in_graph=True)
        case Kind.COPY:
            copy_in_graph(session, node.payload, stream)
        case Kind.FILL:
            fill(session, node.payload, stream, is_in_graph=True)
        case Kind.CALL:
            session.act(Action.ACT_CALL, node.payload[:16])
        case _ if node.inside is not None:
            _run(session, node.inside, stream)


CALLS = {
    Kind.CAPTURE_BEGIN: _capture_begin,
    Kind.CAPTURE_END: _capture_end,
    Kind.CAPTURE_STATUS: _capture_status,
    Kind.GRAPH_CREATE: _create,
    Kind.GRAPH_DESTROY: _destroy,
    Kind.GRAPH_EXEC_DESTROY: _destroy,
    Kind.GRAPH_ADD: _add,
    Kind.GRAPH_INSTANTIATE: _instantiate,
    Kind.GRAPH_SET: _set,
    Kind.GRAPH_DEPEND: _depend,
    Kind.GRAPH_NODES: _nodes,
    Kind.GRAPH_LAUNCH: _launch,
}
