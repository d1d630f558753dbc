"""Dominators, components and the order of basic blocks against other formulations, and in time."""

from __future__ import annotations

import heapq
import random
import time
from collections.abc import Callable
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelcast.simcore.isa.analysis.control_flow import dominators, post_dominators
from kernelcast.simcore.isa.analysis.flow_graph import immediate_dominators, strong_components
from kernelcast.simcore.isa.analysis.loop_nests import order_basic_blocks

Graph = list[list[int]]
SECONDS = 10.0


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Graphs with up to three ways from each basic block; mostly near, as compilers make them."""
    size = draw(st.integers(1, 24))
    generator = random.Random(draw(st.integers(0, 1 << 32)))
    reach = draw(st.sampled_from((2, 5, size)))
    return [
        [
            max(0, min(size - 1, block + generator.randint(-reach, reach)))
            for _ in range(generator.choice((0, 1, 1, 2, 2, 3)))
        ]
        for block in range(size)
    ]


def directed(graph: Graph) -> Any:
    found: Any = nx.DiGraph()
    found.add_nodes_from(range(len(graph)))
    found.add_edges_from((a, b) for a, targets in enumerate(graph) for b in targets)
    return found


def components_in_order(graph: Any) -> list[frozenset[int]]:
    condensed: Any = nx.condensation(graph)
    members = {node: frozenset(found) for node, found in condensed.nodes(data="members")}
    waiting = {node: condensed.in_degree(node) for node in condensed}
    ready = [(min(members[node]), node) for node, count in waiting.items() if count == 0]
    heapq.heapify(ready)
    order = []
    while ready:
        _, node = heapq.heappop(ready)
        order.append(members[node])
        for target in condensed.successors(node):
            waiting[target] -= 1
            if waiting[target] == 0:
                heapq.heappush(ready, (min(members[target]), target))
    return order


def nested_order(graph: Any, entries: frozenset[int]) -> list[int]:
    """The definition: components in topological order, loops without the edges to headers."""
    order: list[int] = []
    for component in components_in_order(graph):
        headers = (entries & component) | {
            b for a, b in graph.in_edges(component) if a not in component
        }
        loop = graph.subgraph(component).copy()
        loop.remove_edges_from(list(loop.in_edges(headers)))
        order += component if len(component) == 1 else nested_order(loop, headers)
    return order


@given(graphs())
@settings(deadline=None, max_examples=400)
def test_order_is_that_of_the_definition(graph: Graph) -> None:
    whole = directed(graph)
    reached = whole.subgraph(nx.descendants(whole, 0) | {0})
    assert order_basic_blocks(graph) == nested_order(reached, frozenset((0,)))


@given(graphs())
@settings(deadline=None, max_examples=300)
def test_dominators_and_components_are_those_of_networkx(graph: Graph) -> None:
    whole = directed(graph)
    wanted = nx.immediate_dominators(whole, 0)
    wanted.pop(0, None)  # some versions name the root too
    assert immediate_dominators(graph, 0) == wanted
    found = strong_components(dict(enumerate(graph)))
    components = nx.strongly_connected_components(whole)
    assert sorted(map(sorted, found)) == sorted(map(sorted, components))


def diamonds(count: int) -> Graph:
    return [[b + 1, b + 2] if b % 2 == 0 else [b + 1] for b in range(2 * count)] + [[]]


def loop_nest(depth: int) -> Graph:
    """Headers one after the other, then the branches back to them, the innermost first."""
    tails = [[depth + i + 1, depth - 1 - i] for i in range(depth)]
    return [[b + 1] for b in range(depth)] + tails + [[]]


def exits_of_a_nest(depth: int) -> Graph:
    """Every header may leave all loops."""
    graph = loop_nest(depth)
    return [[*targets, 2 * depth] if b < depth else targets for b, targets in enumerate(graph)]


def loops_with_two_headers(depth: int) -> Graph:
    inward = [[b + 1, 2 * depth - 1 - b] for b in range(depth)]
    return inward + [[b + 1, 2 * depth - 1 - b] for b in range(depth, 2 * depth)] + [[]]


@pytest.mark.parametrize(
    ("make", "size"),
    [
        (diamonds, 12_000),
        (loop_nest, 10_000),
        (exits_of_a_nest, 10_000),
        (loops_with_two_headers, 6000),
    ],
)
def test_tens_of_thousands_of_basic_blocks_take_seconds(
    make: Callable[[int], Graph], size: int
) -> None:
    graph = make(size)
    start = time.process_time()
    order = order_basic_blocks(graph)
    post_dominators(graph)
    dominators(graph)
    assert time.process_time() - start < SECONDS
    assert order[0] == 0
    assert sorted(order) == list(range(len(graph)))


def test_a_deep_nest_keeps_the_source_order() -> None:
    assert order_basic_blocks(loop_nest(3000)) == list(range(6001))


def test_sets_of_dominators_are_made_one_at_a_time() -> None:
    chain = [[b + 1] for b in range(30_000)] + [[]]
    found = dominators(chain)
    assert len(found) == 30_001
    assert found[20_000] == frozenset(range(20_001))
    assert found[-1] == frozenset(range(30_001))
    assert found[:2] == (frozenset((0,)), frozenset((0, 1)))
    with pytest.raises(IndexError):
        found[30_001]
