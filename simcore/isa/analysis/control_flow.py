"""Control flow and liveness: an order of basic blocks, post-dominators, live registers."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, overload

from kernelcast.simcore.host.deadline import check_time, watched
from kernelcast.simcore.isa.analysis.flow_graph import immediate_dominators
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.analysis.loop_nests import order_basic_blocks
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    BarrierArrive,
    BarrierResult,
    BarrierSync,
    BarrierVote,
    BasicBlock,
    BulkCopy,
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
    TensorMemoryOperation,
    WarpOperation,
)

__all__ = [
    "dominators",
    "ending_blocks",
    "flow",
    "live_at_ends",
    "live_in",
    "live_out",
    "max_live_registers",
    "members",
    "order_basic_blocks",
    "post_dominators",
    "reads",
    "writes",
]

_WORD_BITS = 32
_WORD = 64
_STEPS_PER_LOOK = 1024
_WHAT = "looking for live registers"


def post_dominators(successors: Sequence[Sequence[int]]) -> tuple[int | None, ...]:
    """The immediate post-dominator of every basic block.

    None where only the end of the kernel follows on all paths, or where no path ends (endless loops
    have no post-dominator).
    """
    end = len(successors)
    predecessors: list[list[int]] = [[] for _ in range(end + 1)]
    for block, targets in enumerate(successors):
        for target in targets or (end,):
            predecessors[target].append(block)
    immediate = immediate_dominators(predecessors, end)
    return tuple(_inside(immediate.get(block, end), end) for block in range(end))


def dominators(successors: Sequence[Sequence[int]]) -> Sequence[frozenset[int]]:
    """The basic blocks through which every way from the entry leads, each block itself included.

    Empty for unreachable ones. The sets are made when they are asked for.
    """
    return _DominatorSets(immediate_dominators(successors, 0), len(successors))


class _DominatorSets(Sequence[frozenset[int]]):
    """All sets together would take memory with the square of the number of basic blocks."""

    def __init__(self, immediate: Mapping[int, int], count: int) -> None:
        self._immediate = immediate
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, block: int) -> frozenset[int]: ...

    @overload
    def __getitem__(self, block: slice) -> tuple[frozenset[int], ...]: ...

    def __getitem__(self, block: int | slice) -> frozenset[int] | tuple[frozenset[int], ...]:
        if isinstance(block, slice):
            return tuple(self[index] for index in range(self._count)[block])
        at = range(self._count)[block]
        chain: list[int] = []
        while at in self._immediate:
            chain.append(at)
            at = self._immediate[at]
        return frozenset((*chain, 0)) if at == 0 else frozenset()


def ending_blocks(kernel: Kernel) -> frozenset[int]:
    """Basic blocks that do nothing but end the thread.

    Lanes that wait for lanes there need not wait: those are as good as gone.
    """
    found: set[int] = set()
    leads_to: dict[int, list[int]] = {}
    pending: list[int] = []
    for block in kernel.blocks:
        end = block.terminator
        if not block.body and isinstance(end, Exit) and not end.trap:
            pending.append(block.index)
        elif not block.body and isinstance(end, Jump):
            leads_to.setdefault(end.target, []).append(block.index)
    while pending:
        index = pending.pop()
        found.add(index)
        pending.extend(leads_to.get(index, ()))
    return frozenset(found)


def _inside(block: int | None, end: int) -> int | None:
    return None if block == end else block


def reads(instruction: Instruction) -> tuple[Register, ...]:
    """Registers that the instruction reads, its guard included."""
    operands = _OPERANDS.get(type(instruction), _nothing)(instruction)
    found = [operand for operand in operands if isinstance(operand, Register)]
    guard = instruction.guard
    return tuple(found) if guard is None else (guard.register, *found)


def writes(instruction: Instruction) -> tuple[Register, ...]:
    """Registers that the instruction writes; under a guard only in some lanes."""
    results = _RESULTS.get(type(instruction), _nothing)(instruction)
    return tuple([register for register in results if register is not None])


_Part: TypeAlias = Operand | None
_Parts: TypeAlias = Callable[[Any], Sequence[_Part]]


def _nothing(_: Instruction) -> Sequence[_Part]:
    return ()


def _sources(instruction: Any) -> Sequence[_Part]:
    sources: Sequence[_Part] = instruction.sources
    return sources


def _sources_and_base(instruction: Store | Atomic) -> Sequence[_Part]:
    return (*instruction.sources, instruction.address.base)


_OPERANDS: Mapping[type[Instruction], _Parts] = {
    Compute: _sources,
    Load: lambda load: (load.address.base,),
    Store: _sources_and_base,
    Atomic: _sources_and_base,
    WarpOperation: lambda operation: (*operation.sources, operation.members),
    HostCall: _sources,
    BulkCopy: _sources,
    TensorMemoryOperation: _sources,
    BarrierArrive: lambda arrive: (arrive.number, arrive.count),
    BarrierSync: lambda sync: (sync.number, sync.count),
    BarrierVote: lambda vote: (vote.predicate,),
}
"""What instructions read besides their guards."""


def _destinations(instruction: Any) -> Sequence[Register | None]:
    destinations: Sequence[Register | None] = instruction.destinations
    return destinations


def _destination(instruction: Any) -> Sequence[Register | None]:
    return (instruction.destination,)


_RESULTS: Mapping[type[Instruction], Callable[[Any], Sequence[Any]]] = {
    Compute: _destinations,
    Load: _destinations,
    WarpOperation: _destinations,
    TensorMemoryOperation: _destinations,
    Atomic: _destination,
    BarrierResult: _destination,
    HostCall: _destination,
}
"""What instructions write."""


@once_per_kernel
def live_out(kernel: Kernel) -> tuple[frozenset[Register], ...]:
    """Registers live at the end of each basic block. A guarded write leaves the old value live."""
    by_index = {register.index: register for register in kernel.registers}
    return tuple(
        frozenset(by_index[index] for index in members(bits)) for bits in _live_out_bits(kernel)
    )


def live_in(kernel: Kernel) -> tuple[frozenset[int], ...]:
    """Indices of registers live at the start of each basic block."""
    found = []
    for block, out in zip(kernel.blocks, _live_out_bits(kernel), strict=True):
        used, killed = _flow(block)
        found.append(frozenset(members(used | (out & ~killed))))
    return tuple(found)


@once_per_kernel
def max_live_registers(kernel: Kernel) -> int:
    """The register pressure: the most registers of 32 bits that are live at once.

    Values of 64 bits count two, predicates none.
    """
    words = {register.index: _words(register) for register in kernel.registers}
    most = 0
    for block, out in watched(zip(kernel.blocks, _live_out_bits(kernel), strict=True), _WHAT):
        live = set(members(out))
        count = sum(words[index] for index in live)
        for instruction in (block.terminator, *reversed(block.body)):
            written = {register.index for register in writes(instruction)}
            # a result that nobody reads still needs a place; what is within one instruction of the
            # hardware needs none
            if not instruction.is_part:
                most = max(most, count + sum(words[index] for index in written - live))
            if instruction.guard is None:
                count -= sum(words[index] for index in written & live)
                live -= written
            needed = {register.index for register in reads(instruction)} - live
            count += sum(words[index] for index in needed)
            live |= needed
            if not instruction.is_part:
                most = max(most, count)
    return most


def _words(register: Register) -> int:
    return 0 if register.bits == 1 else max(1, register.bits // _WORD_BITS)


def members(bits: int) -> Iterator[int]:
    """The positions of the bits that are set, rising."""
    # word by word: to work on all bits for each that is set takes time with their square
    for place, word in enumerate(_words_of(bits)):
        while word:
            lowest = word & -word
            yield place * _WORD + lowest.bit_length() - 1
            word ^= lowest


def _words_of(bits: int) -> Iterator[int]:
    count = -(-bits.bit_length() // _WORD)
    return iter(struct.unpack(f"<{count}Q", bits.to_bytes(count * _WORD // 8, "little")))


def _bits_of(places: set[int]) -> int:
    """A number with those bits set."""
    if not places:
        return 0
    found = bytearray((max(places) >> 3) + 1)
    for place in places:
        found[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(found, "little")


def _live_out_bits(kernel: Kernel) -> list[int]:
    """Live registers at the end of each basic block, one bit per register index."""
    return live_at_ends(
        [_flow(block) for block in watched(kernel.blocks, _WHAT)],
        [block.successors for block in kernel.blocks],
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
    steps = 0
    while pending:
        index = pending.pop()
        steps += 1
        if not steps % _STEPS_PER_LOOK:
            check_time(_WHAT)
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
    """Upward-exposed uses and definitions of a basic block, one bit per register index.

    The first are registers that it reads before it writes them, the second those it overwrites.
    """
    used: set[int] = set()
    killed: set[int] = set()
    partly: dict[int, _Condition] = {}
    for instruction in instructions:
        guard = instruction.guard
        condition = None if guard is None else (guard.register.index, guard.negated)
        for register in reads(instruction):
            index = register.index
            is_given = index in partly and partly[index] == condition and index != condition[0]
            if index not in killed and not is_given:
                used.add(index)
        _overwrite(instruction, condition, killed, partly)
    return _bits_of(used), _bits_of(killed)


_Condition: TypeAlias = tuple[int, bool]
"""A predicate and whether it must be false."""


def _overwrite(
    instruction: Instruction,
    condition: _Condition | None,
    killed: set[int],
    partly: dict[int, _Condition],
) -> None:
    """Adds what an instruction overwrites: in all lanes, or where its guard holds."""
    registers = writes(instruction)
    written = [register.index for register in registers]
    if partly and any(register.bits == 1 for register in registers):
        for index in [i for i, known in partly.items() if known[0] in written]:
            del partly[index]  # the predicate is another one now
    if condition is None:
        killed.update(written)
        return
    for index in written:
        if partly.get(index) == (condition[0], not condition[1]):
            killed.add(index)
        elif condition[0] not in written:
            partly[index] = condition
