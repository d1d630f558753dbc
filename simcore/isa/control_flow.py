"""Control flow and liveness: an order of basic blocks, post-dominators, live registers."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import networkx as nx

from kernelcast.simcore.isa.kernel import (
    Atomic,
    BarrierArrive,
    BarrierResult,
    BarrierSync,
    BarrierVote,
    BasicBlock,
    Compute,
    Exit,
    HostCall,
    Instruction,
    Jump,
    Kernel,
    Load,
    Operand,
    Register,
    Store,
    WarpOperation,
)
from kernelcast.simcore.isa.kernel_analysis import once_per_kernel

__all__ = [
    "dominators",
    "ending_blocks",
    "flow",
    "live_at_ends",
    "live_in",
    "live_out",
    "max_live_registers",
    "order_basic_blocks",
    "post_dominators",
    "reads",
    "writes",
]

_WORD_BITS = 32


def order_basic_blocks(successors: Sequence[Sequence[int]]) -> list[int]:
    """The basic blocks that 0 reaches, in the topological order of the loop-nest forest.

    A loop (strongly connected component) stays together; what it exits to comes after all of it;
    within it the edges into its headers do not count, and loops inside are ordered likewise. Among
    the free choices the source order holds. The loop-nest forest of irreducible graphs is
    Steensgaard's: every basic block that is entered from outside is a header.
    """
    graph: Any = nx.DiGraph()
    graph.add_node(0)
    graph.add_edges_from((a, b) for a, targets in enumerate(successors) for b in targets)
    graph = graph.subgraph(nx.descendants(graph, 0) | {0})
    order: list[int] = []
    pending = _loops_in_order(graph, frozenset((0,)))
    while pending:
        members, headers = pending.pop()
        if len(members) == 1:
            order.extend(members)
            continue
        loop = graph.subgraph(members).copy()
        loop.remove_edges_from(list(loop.in_edges(headers)))
        pending.extend(_loops_in_order(loop, headers))
    return order


def _loops_in_order(
    graph: Any, entries: frozenset[int]
) -> list[tuple[frozenset[int], frozenset[int]]]:
    """Components of the graph with the basic blocks where control enters them, the last first."""
    return [
        (
            component,
            (entries & component) | {b for a, b in graph.in_edges(component) if a not in component},
        )
        for component in reversed(_components_in_order(graph))
    ]


def _components_in_order(graph: Any) -> list[frozenset[int]]:
    """Strongly connected components in topological order, those earliest in the source first."""
    condensed: Any = nx.condensation(graph)
    members: dict[int, frozenset[int]] = {
        node: frozenset(found) for node, found in condensed.nodes(data="members")
    }
    waiting = {node: condensed.in_degree(node) for node in condensed}
    ready = [(min(members[node]), node) for node, count in waiting.items() if count == 0]
    heapq.heapify(ready)
    order: list[frozenset[int]] = []
    while ready:
        _, node = heapq.heappop(ready)
        order.append(members[node])
        for target in condensed.successors(node):
            waiting[target] -= 1
            if waiting[target] == 0:
                heapq.heappush(ready, (min(members[target]), target))
    return order


def post_dominators(successors: Sequence[Sequence[int]]) -> tuple[int | None, ...]:
    """The immediate post-dominator of every basic block.

    None where only the end of the kernel follows on all paths, or where no path ends (endless loops
    have no post-dominator).
    """
    end = len(successors)
    graph: Any = nx.DiGraph()
    graph.add_nodes_from(range(end + 1))
    for block, targets in enumerate(successors):
        graph.add_edges_from((target, block) for target in targets or (end,))
    immediate: dict[int, int | None] = nx.immediate_dominators(graph, end)
    return tuple(_inside(immediate.get(block), end) for block in range(end))


def dominators(successors: Sequence[Sequence[int]]) -> tuple[frozenset[int], ...]:
    """The basic blocks through which every way from the entry leads, each block itself included.

    Empty for unreachable ones.
    """
    graph: Any = nx.DiGraph()
    graph.add_nodes_from(range(len(successors)))
    graph.add_edges_from((block, to) for block, targets in enumerate(successors) for to in targets)
    immediate: dict[int, int | None] = nx.immediate_dominators(graph, 0)
    found: list[frozenset[int]] = []
    for block in range(len(successors)):
        chain: list[int] = []
        at: int | None = block if block == 0 or block in immediate else None
        while at is not None:
            chain.append(at)
            at = immediate.get(at) if at != 0 else None
        found.append(frozenset(chain))
    return tuple(found)


def ending_blocks(kernel: Kernel) -> frozenset[int]:
    """Basic blocks that do nothing but end the thread: lanes that wait for them are as good as
    gone."""
    found: set[int] = set()
    size = -1
    while size != len(found):
        size = len(found)
        for block in kernel.blocks:
            end = block.terminator
            if not block.body and (
                (isinstance(end, Exit) and not end.trap)
                or (isinstance(end, Jump) and end.target in found)
            ):
                found.add(block.index)
    return frozenset(found)


def _inside(block: int | None, end: int) -> int | None:
    return None if block == end else block


def reads(instruction: Instruction) -> Iterator[Register]:
    """Registers that the instruction reads, its guard included."""
    if instruction.guard is not None:
        yield instruction.guard.register
    operands: tuple[Operand, ...] = ()
    if isinstance(instruction, Compute | Store | Atomic | WarpOperation | HostCall):
        operands = instruction.sources
    if isinstance(instruction, BarrierArrive | BarrierSync):
        operands = tuple(x for x in (instruction.number, instruction.count) if x is not None)
    if isinstance(instruction, BarrierVote):
        operands = (instruction.predicate,)
    if isinstance(instruction, WarpOperation) and instruction.members is not None:
        operands = (*operands, instruction.members)
    yield from (operand for operand in operands if isinstance(operand, Register))
    if isinstance(instruction, Load | Store | Atomic):
        base = instruction.address.base
        if isinstance(base, Register):
            yield base


def writes(instruction: Instruction) -> Iterator[Register]:
    """Registers that the instruction writes; under a guard only in some lanes."""
    if isinstance(instruction, Compute | Load | WarpOperation):
        yield from (register for register in instruction.destinations if register is not None)
    elif (
        isinstance(instruction, Atomic | BarrierResult | HostCall)
        and instruction.destination is not None
    ):
        yield instruction.destination


def live_out(kernel: Kernel) -> tuple[frozenset[Register], ...]:
    """Registers live at the end of each basic block. A guarded write leaves the old value live."""
    by_index = {register.index: register for register in kernel.registers}
    return tuple(
        frozenset(by_index[index] for index in _members(bits)) for bits in _live_out_bits(kernel)
    )


def live_in(kernel: Kernel) -> tuple[frozenset[int], ...]:
    """Indices of registers live at the start of each basic block."""
    found = []
    for block, out in zip(kernel.blocks, _live_out_bits(kernel), strict=True):
        used, killed = _flow(block)
        found.append(frozenset(_members(used | (out & ~killed))))
    return tuple(found)


@once_per_kernel
def max_live_registers(kernel: Kernel) -> int:
    """Registers of 32 bits that are live at once, at most: 64-bit values count two, predicates
    none."""
    words = {register.index: _words(register) for register in kernel.registers}
    most = 0
    for block, out in zip(kernel.blocks, _live_out_bits(kernel), strict=True):
        live = set(_members(out))
        count = sum(words[index] for index in live)
        for instruction in (block.terminator, *reversed(block.body)):
            written = {register.index for register in writes(instruction)}
            # a result that nobody reads still needs a place
            most = max(most, count + sum(words[index] for index in written - live))
            if instruction.guard is None:
                count -= sum(words[index] for index in written & live)
                live -= written
            needed = {register.index for register in reads(instruction)} - live
            count += sum(words[index] for index in needed)
            live |= needed
            most = max(most, count)
    return most


def _words(register: Register) -> int:
    return 0 if register.bits == 1 else max(1, register.bits // _WORD_BITS)


def _members(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _live_out_bits(kernel: Kernel) -> list[int]:
    """Live registers at the end of each basic block, one bit per register index."""
    return live_at_ends(
        [_flow(block) for block in kernel.blocks], [block.successors for block in kernel.blocks]
    )


def live_at_ends(
    flows: Sequence[tuple[int, int]], successors: Sequence[Sequence[int]]
) -> list[int]:
    """Live registers at the end of each basic block, of which `flow` is known; one bit each."""
    live_in = [0] * len(flows)
    predecessors: list[list[int]] = [[] for _ in flows]
    for index, targets in enumerate(successors):
        for successor in targets:
            predecessors[successor].append(index)
    out = [0] * len(flows)
    pending = list(range(len(flows)))
    while pending:
        index = pending.pop()
        out[index] = 0
        for successor in successors[index]:
            out[index] |= live_in[successor]
        used, killed = flows[index]
        before = used | (out[index] & ~killed)
        if before != live_in[index]:
            live_in[index] = before
            pending.extend(predecessors[index])
    return out


def _flow(block: BasicBlock) -> tuple[int, int]:
    return flow((*block.body, block.terminator))


def flow(instructions: Iterable[Instruction]) -> tuple[int, int]:
    """Registers that a basic block reads before it writes them, and those that it overwrites; one
    bit per register index."""
    used = killed = 0
    for instruction in instructions:
        for register in reads(instruction):
            if not killed >> register.index & 1:
                used |= 1 << register.index
        if instruction.guard is None:
            for register in writes(instruction):
                killed |= 1 << register.index
    return used, killed
