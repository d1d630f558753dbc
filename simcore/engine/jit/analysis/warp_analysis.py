"""What the code generator must know of a kernel before it writes code.

Lanes of a warp that part wait in *pending* basic blocks; the lowest runs first. `pending_with[a]`
holds the places where other lanes may wait while basic block `a` runs. A register may be kept as
one scalar for the warp only if no lanes wait at a place that still reads its old value while
others write it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

from kernelcast.simcore.engine.jit.analysis.lane_variance import (
    VARYING,
    LaneVariance,
    apply_rule,
    immediate_variance,
    joined,
    resized,
    uniform,
)
from kernelcast.simcore.engine.jit.analysis.waiting_places import WaitingPlaces
from kernelcast.simcore.host.deadline import check_time, watched
from kernelcast.simcore.isa.analysis.control_flow import live_in, reads, writes
from kernelcast.simcore.isa.analysis.uniformity import launch_constants
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    BarrierResult,
    Compute,
    Exit,
    Guard,
    HostCall,
    Immediate,
    Instruction,
    Kernel,
    Load,
    Operand,
    Register,
    Special,
    SpecialRegister,
    TensorMemoryOperation,
    WarpOperation,
)
from kernelcast.simcore.isa.opcodes.table import Context
from kernelcast.simcore.isa.opcodes.warp import GROUP
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["Analysis", "Facts", "across_lanes_variance", "analyse"]

_WHAT = "analysing the kernel"


@dataclass(frozen=True)
class Facts:
    """What is fixed for all launches that share compiled code.

    `special`: variances of special registers; `parameter`: the variance of a parameter load by byte
    offset and bits; `is_partial`: whether the last warp of a thread block lacks lanes.
    """

    width: int
    is_partial: bool
    special: Mapping[Special, LaneVariance]
    parameter: Callable[[int, int], LaneVariance]
    parameter_bytes: int


@dataclass(frozen=True)
class Analysis:
    """`live_in[b]`: register indices; `pending_with[b]`: numbers of `places`.

    `is_dynamic[b]`: whether fewer than all lanes may run `b`. `blends`: (basic block, register)
    pairs where a write must keep what other lanes still need. `crossing`: registers live between
    basic blocks. `parameter_places`: what loads of parameters read, by pc, where that is fixed.
    """

    variances: Mapping[int, LaneVariance]
    live_in: tuple[frozenset[int], ...]
    places: WaitingPlaces
    pending_with: tuple[frozenset[int], ...]
    is_dynamic: tuple[bool, ...]
    blends: frozenset[tuple[int, int]]
    crossing: frozenset[int]
    parameter_places: Mapping[int, int]

    def variance(self, register: Register) -> LaneVariance:
        """The register's variance; varying where nothing is known."""
        return self.variances.get(register.index, VARYING)


def _reachable(kernel: Kernel, starts: tuple[int, ...]) -> set[int]:
    found, pending = set(starts), list(starts)
    while pending:
        for target in kernel.blocks[pending.pop()].successors:
            if target not in found:
                found.add(target)
                pending.append(target)
    return found


def analyse(kernel: Kernel, facts: Facts) -> Analysis:
    """Optimistic: everything is uniform until the opposite is found, to a fixed point."""
    live = live_in(kernel)
    constants = launch_constants(kernel)
    single = _warp_constants(kernel, constants)
    places = WaitingPlaces(kernel)
    forced: set[int] = set()
    while True:
        check_time(_WHAT)
        variances = _variances(kernel, facts, forced)
        is_uniform = {index: variance.is_uniform for index, variance in variances.items()}
        pending = places.pending_with(is_uniform)
        conflicts = {
            (block.index, register.index)
            for block in kernel.blocks
            for instruction in block.body
            for register in writes(instruction)
            if any(register.index in live[places.target(y)] for y in pending[block.index])
        }
        wrong = {
            index
            for _, index in conflicts
            if index not in forced and index not in single and not variances[index].is_varying
        }
        if not wrong:
            break
        forced |= wrong
    crossing = frozenset(index for registers in live for index in registers)
    blends = frozenset(pair for pair in conflicts if variances[pair[1]].is_varying)
    dynamic = _dynamic(kernel, places, pending, facts.is_partial)
    parameter_places = {
        instruction.pc: place
        for instruction in kernel.instructions
        if isinstance(instruction, Load)
        and (place := _parameter_place(instruction, variances, facts)) is not None
    }
    return Analysis(variances, live, places, pending, dynamic, blends, crossing, parameter_places)


def _warp_constants(kernel: Kernel, constants: frozenset[int]) -> frozenset[int]:
    """Registers whose one definition gives the same lanes the same values whenever it runs."""
    unset = live_in(kernel)[0]
    counts: dict[int, int] = {}
    for instruction in kernel.instructions:
        for register in writes(instruction):
            counts[register.index] = counts.get(register.index, 0) + 1
    found = set(constants)
    waiting: dict[int, list[Compute]] = defaultdict(list)  # by a register that they read
    for first in watched(kernel.instructions, _WHAT):
        pending = [first]
        while pending:
            instruction = pending.pop()
            if not isinstance(instruction, Compute) or instruction.guard is not None:
                continue
            targets = {r.index for r in writes(instruction)}
            if targets <= found or any(counts[t] > 1 or t in unset for t in targets):
                continue
            missing = next((r.index for r in reads(instruction) if r.index not in found), None)
            if missing is not None:
                waiting[missing].append(instruction)
            elif all(_is_fixed(source, found) for source in instruction.sources):
                found |= targets
                pending += [later for target in targets for later in waiting.pop(target, ())]
    return frozenset(found)


_CLOCKS = (Special.CLOCK, Special.CLOCK64, Special.GLOBALTIMER)


def _is_fixed(operand: Operand, known: set[int]) -> bool:
    if isinstance(operand, Register):
        return operand.index in known
    return not (isinstance(operand, SpecialRegister) and operand.which in _CLOCKS)


def _variances(kernel: Kernel, facts: Facts, forced: set[int]) -> dict[int, LaneVariance]:
    found: dict[int, LaneVariance] = {}
    entry_live = live_in(kernel)[0]
    by_index = {r.index: r for r in kernel.registers}
    for index in entry_live:
        zero = immediate_variance(Immediate(0), by_index[index].bits, facts.width)
        found[index] = zero.guessed() if index in forced else zero
    exact = _read_under_guard_only(kernel)
    readers: dict[int, list[int]] = defaultdict(list)
    for place, instruction in enumerate(kernel.instructions):
        for register in reads(instruction):
            readers[register.index].append(place)
    # the first in the source comes first, so that most are looked at after what they read
    pending = list(range(len(kernel.instructions)))
    is_pending = [True] * len(pending)
    for place in watched(_popped(pending), _WHAT):
        is_pending[place] = False
        instruction = kernel.instructions[place]
        for register, variance in _results(instruction, found, facts):
            new = joined(found.get(register.index), variance)
            if instruction.guard is not None and register.index not in exact:
                new = _guarded(new, instruction.guard, found, facts.width)
            if register.index in forced:
                new = new.guessed()
            if new != found.get(register.index):
                found[register.index] = new
                for reader in readers[register.index]:
                    if not is_pending[reader]:
                        is_pending[reader] = True
                        heappush(pending, reader)
    for register in kernel.registers:
        found.setdefault(register.index, uniform(facts.width))
    return found | {index: found[index].guessed() for index in forced}


def _read_under_guard_only(kernel: Kernel) -> set[int]:
    """Registers with one write, under a guard, that nobody reads where the guard does not hold.

    They are alive in no basic block but their own, so what other lanes hold does not matter.
    """
    live: set[int] = set().union(*live_in(kernel))
    counts: dict[int, int] = {}
    found: set[int] = set()
    for instruction in kernel.instructions:
        for register in writes(instruction):
            counts[register.index] = counts.get(register.index, 0) + 1
            if instruction.guard is not None and register.index not in live:
                found.add(register.index)
    return {index for index in found if counts[index] == 1}


def _popped(pending: list[int]) -> Iterator[int]:
    """The numbers of a heap, the lowest first, while any are left."""
    while pending:
        yield heappop(pending)


def _guarded(
    new: LaneVariance, guard: Guard, found: Mapping[int, LaneVariance], width: int
) -> LaneVariance:
    """The variance after a guarded write: under a varying guard some lanes keep what they had."""
    condition = found.get(guard.register.index, uniform(width))
    if not condition.is_uniform or not new.is_uniform:
        return new.guessed()
    # the old value may be anything of the same offsets; only uniform ones are simple enough
    return uniform(width)


def _results(
    instruction: Instruction, found: Mapping[int, LaneVariance], facts: Facts
) -> list[tuple[Register, LaneVariance]]:
    """The variances that an instruction gives its registers; nothing while an input is unknown."""
    width = facts.width
    if isinstance(instruction, Compute):
        if not instruction.destinations:
            return []
        context = Context(instruction.type, instruction.source_type, instruction.modifiers)
        types = instruction.opcode.operand_types(context)
        sources: list[LaneVariance] = []
        for operand, read_as in zip(instruction.sources, types, strict=True):
            variance = operand_variance(operand, read_as, found, facts)
            if variance is None:
                return []
            sources.append(variance)
        variance = apply_rule(instruction, sources, width)
        results = zip(
            instruction.destinations, instruction.opcode.result_types(context), strict=False
        )
        return [
            (register, resized(variance, written.bits, register.bits, written.is_signed))
            for register, written in results
            if register is not None
        ]
    if isinstance(instruction, Load):
        variances = _loaded(instruction, found, facts)
        return [
            (r, s)
            for r, s in zip(instruction.destinations, variances, strict=False)
            if r is not None
        ]
    if isinstance(instruction, WarpOperation):
        variance = across_lanes_variance(instruction, found, facts)
        return [
            (register, variance)
            for register in instruction.destinations
            if register is not None and variance is not None
        ]
    if isinstance(instruction, TensorMemoryOperation):
        return [(register, VARYING) for register in instruction.destinations if register]
    if isinstance(instruction, BarrierResult) and instruction.destination is not None:
        return [(instruction.destination, uniform(width))]
    if isinstance(instruction, Atomic | HostCall) and instruction.destination is not None:
        return [(instruction.destination, VARYING)]
    return []


def across_lanes_variance(
    operation: WarpOperation, found: Mapping[int, LaneVariance], facts: Facts
) -> LaneVariance | None:
    """The variance of an operation's result if all lanes take part together; None if unknown."""
    opcode = operation.opcode
    if not opcode.is_common or not (opcode.is_whole or facts.width == GROUP):
        return VARYING
    if operation.members is None:
        return uniform(facts.width)
    members = operand_variance(operation.members, ScalarType.B32, found, facts)
    if members is None:
        return None
    return uniform(facts.width) if members.is_uniform else VARYING


def _loaded(load: Load, found: Mapping[int, LaneVariance], facts: Facts) -> list[LaneVariance]:
    address = load.address
    place = _parameter_place(load, found, facts)
    if place is not None:
        size = load.type.bytes
        return [
            _extended(facts.parameter(place + i * size, load.type.bits), load.type, r)
            for i, r in enumerate(load.destinations)
        ]
    if isinstance(address.base, Register):
        base = found.get(address.base.index)
        if base is None:
            return []
        if not base.is_uniform:
            return [VARYING] * len(load.destinations)
    if address.space in (AddressSpace.LOCAL, AddressSpace.GENERIC):
        return [VARYING] * len(load.destinations)
    return [uniform(facts.width)] * len(load.destinations)


def _parameter_place(load: Load, found: Mapping[int, LaneVariance], facts: Facts) -> int | None:
    """Where in the memory of parameters a load reads, if that is known before it runs."""
    address = load.address
    if address.space is not AddressSpace.PARAM or not load.destinations:
        return None
    place, size = address.offset, load.type.bytes * len(load.destinations)
    if isinstance(address.base, Register):
        base = found.get(address.base.index)
        if base is None or base.constant is None or not base.is_uniform:
            return None
        place += base.constant
    elif address.base is not None:
        return None
    return place if 0 <= place <= facts.parameter_bytes - size and place % size == 0 else None


def _extended(variance: LaneVariance, type_: ScalarType, register: Register | None) -> LaneVariance:
    if register is None:
        return variance
    return resized(variance, type_.bits, register.bits, type_.is_signed)


def operand_variance(
    operand: Operand, read_as: ScalarType, found: Mapping[int, LaneVariance], facts: Facts
) -> LaneVariance | None:
    """The variance of an operand as the instruction reads it; None while unknown."""
    if isinstance(operand, Register):
        variance = found.get(operand.index)
        return None if variance is None else resized(variance, operand.bits, read_as.bits)
    if isinstance(operand, Immediate):
        return immediate_variance(operand, read_as.bits, facts.width)
    if isinstance(operand, SpecialRegister):
        bits = 64 if operand.which in _WIDE else 32
        return resized(facts.special[operand.which], bits, read_as.bits)
    return uniform(facts.width)


_WIDE = (Special.CLOCK64, Special.GLOBALTIMER, Special.GRIDID)


def _dynamic(
    kernel: Kernel,
    places: WaitingPlaces,
    pending: tuple[frozenset[int], ...],
    is_partial: bool,
) -> tuple[bool, ...]:
    """Basic blocks that fewer than all lanes may run."""
    count = len(kernel.blocks)
    if is_partial:
        return (True,) * count
    dynamic = [bool(others) for others in pending]
    for others in pending:
        for place in others:
            dynamic[places.target(place)] = True
            dynamic[places.block(place)] = True
    lossy: set[int] = set()
    for block in kernel.blocks:
        if isinstance(block.terminator, Exit):
            lossy.update(places.target(place) for place in pending[block.index])
    for index in _reachable(kernel, tuple(lossy)):
        dynamic[index] = True
    return tuple(dynamic)
