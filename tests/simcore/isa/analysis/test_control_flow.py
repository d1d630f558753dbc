"""Order of basic blocks, post-dominators and liveness, against ten-line oracles."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelcast.ptx_frontend import read_module
from kernelcast.simcore.isa.analysis.control_flow import (
    dominators,
    live_out,
    max_live_registers,
    order_basic_blocks,
    post_dominators,
    reads,
    writes,
)
from kernelcast.simcore.isa.ir.kernel import Kernel, Register

Graph = list[list[int]]
Compile = Callable[..., Kernel]

TOUR = read_module(Path(__file__).parents[3] / "ptx_frontend" / "data" / "nvcc_tour.ptx")


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 9))
    return [draw(st.lists(st.integers(0, size - 1), max_size=2)) for _ in range(size)]


def reached(start: Iterable[int], edges: set[tuple[int, int]]) -> set[int]:
    """What `start` reaches by one edge or more."""
    found: set[int] = set()
    pending = set(start)
    while pending:
        pending = {b for a, b in edges if a in pending} - found
        found |= pending
    return found


def edges_of(graph: Graph) -> set[tuple[int, int]]:
    return {(a, b) for a, targets in enumerate(graph) for b in targets}


def check_forest_order(order: list[int], edges: set[tuple[int, int]], entries: set[int]) -> None:
    """Loops are contiguous, edges between them go forward, and so on without edges to headers."""
    after = {node: reached([node], edges) for node in order}
    loops = [{n} | {m for m in after[n] if n in after[m]} for n in order]
    for node, loop in zip(order, loops, strict=True):
        places = sorted(order.index(member) for member in loop)
        assert places == list(range(places[0], places[0] + len(places)))
        if len(loop) > 1 and node == order[places[0]]:
            headers = {b for a, b in edges if b in loop and a not in loop} | (entries & loop)
            inside = {(a, b) for a, b in edges if {a, b} <= loop and b not in headers}
            check_forest_order([n for n in order if n in loop], inside, headers)
    for a, b in edges:
        assert b in loops[order.index(a)] or order.index(a) < order.index(b)


@given(graphs())
@settings(deadline=None, max_examples=300)
def test_order_is_topological_in_the_loop_nest_forest(graph: Graph) -> None:
    order = order_basic_blocks(graph)
    edges = edges_of(graph)
    assert sorted(order) == sorted(reached([0], edges) | {0})
    check_forest_order(order, {(a, b) for a, b in edges if a in order}, {0})
    assert order[0] == 0


@pytest.mark.parametrize(
    ("name", "graph", "expected"),
    [
        ("straight line", [[1], [2], []], [0, 1, 2]),
        ("if and else", [[1, 2], [3], [3], []], [0, 1, 2, 3]),
        ("join placed before its branches", [[2, 3], [], [1], [1]], [0, 2, 3, 1]),
        ("exit placed before the loop body", [[2], [], [3, 1], [2]], [0, 2, 3, 1]),
        ("exit of a loop at the entry", [[2, 1], [], [0]], [0, 2, 1]),
        ("unreachable", [[2], [2], []], [0, 2]),
        ("inner loop, then its latch", [[1], [2], [2, 3], [1, 4], []], [0, 1, 2, 3, 4]),
        ("break placed inside", [[1], [2, 4], [3], [1, 2], []], [0, 1, 2, 3, 4]),
        ("two loops one after the other", [[1], [1, 2], [2, 3], []], [0, 1, 2, 3]),
        ("irreducible", [[1, 2], [2, 3], [1], []], [0, 1, 2, 3]),
    ],
)
def test_order_of_well_known_shapes(name: str, graph: Graph, expected: list[int]) -> None:
    assert order_basic_blocks(graph) == expected, name


@given(graphs())
@settings(deadline=None, max_examples=300)
def test_post_dominators_are_those_that_cut_all_paths_to_the_end(graph: Graph) -> None:
    edges = edges_of(graph)
    ends = {node for node, targets in enumerate(graph) if not targets}

    def ends_without(node: int, removed: int) -> bool:
        left = {(a, b) for a, b in edges if removed not in (a, b)}
        return bool(ends - {removed} & ({node} | reached([node], left)))

    for node, found in enumerate(post_dominators(graph)):
        if not ends & ({node} | reached([node], edges)):
            assert found is None
            continue
        others = set(range(len(graph))) - {node}
        strict = {other for other in others if not ends_without(node, other)}
        # the immediate one has all others behind it
        nearest = [a for a in strict if all(a == b or not ends_without(a, b) for b in strict)]
        expected: list[int | None] = [*nearest] or [None]
        assert [found] == expected


@given(graphs())
@settings(deadline=None, max_examples=300)
def test_dominators_are_those_that_cut_all_paths_from_the_entry(graph: Graph) -> None:
    edges, found = edges_of(graph), dominators(graph)
    assert found[0] == {0}
    reachable = reached([0], edges)
    for block in range(1, len(graph)):
        expected = {
            other
            for other in range(len(graph))
            if other in (0, block)
            or block not in reached([0], {edge for edge in edges if other not in edge})
        }
        assert found[block] == (expected if block in reachable else set())


def is_live_after(kernel: Kernel, index: int, register: Register) -> bool:
    """Walks every path until the register is read or surely overwritten."""
    pending, seen = list(kernel.blocks[index].successors), set()
    while pending:
        number = pending.pop()
        if number in seen:
            continue
        seen.add(number)
        block = kernel.blocks[number]
        for instruction in (*block.body, block.terminator):
            if register in list(reads(instruction)):
                return True
            if instruction.guard is None and register in list(writes(instruction)):
                break
        else:
            pending.extend(block.successors)
    return False


@pytest.mark.parametrize("name", ["_Z8tile_sumPdPKdi", "_Z4gridPii", "_Z10inline_asmPi"])
def test_live_out_agrees_with_a_walk_over_all_paths(name: str) -> None:
    kernel = TOUR.kernels[name]
    for block, live in zip(kernel.blocks, live_out(kernel), strict=True):
        assert live == {r for r in kernel.registers if is_live_after(kernel, block.index, r)}


def test_guarded_write_keeps_the_old_value_live(compile_ptx: Compile) -> None:
    body = (
        "mov.u32 %r1, 1; setp.eq.s32 %p1, %r2, 0; bra L;"
        "L: {} mov.u32 %r1, 2; bra M; M: mov.u32 %r3, %r1; ret;"
    )
    for guard, is_kept in (("", False), ("@%p1", True)):
        kernel = compile_ptx(body.format(guard))
        live = {register.name for register in live_out(kernel)[0]}
        assert ("%r1" in live) is is_kept


@pytest.mark.parametrize("count", [1, 3, 9])
@pytest.mark.parametrize(
    ("letter", "type_", "words"), [("r", "u32", 1), ("rd", "u64", 2), ("rs", "u16", 1)]
)
def test_values_that_are_all_needed_later_are_live_at_once(
    compile_ptx: Compile, count: int, letter: str, type_: str, words: int
) -> None:
    loads = "".join(f"ld.param.{type_} %{letter}{i}, [out];" for i in range(count))
    sums = "".join(f"add.{type_} %{letter}0, %{letter}0, %{letter}{i};" for i in range(1, count))
    kernel = compile_ptx(f"{loads} {sums} ret;", "u64 out")
    assert max_live_registers(kernel) == count * words


def test_predicates_and_dead_results_in_the_register_count(compile_ptx: Compile) -> None:
    assert max_live_registers(compile_ptx("setp.eq.s32 %p1, 1, 2; @%p1 ret; ret;")) == 0
    assert max_live_registers(compile_ptx("mov.u64 %rd1, 0; ret;")) == 2
