"""Which machine instructions a chain really has, and which of them waits for which.

An assembler adds two numbers at once, or takes two instructions for one: what a step of a chain
costs is known only for the instructions of its machine code between the two readings of the clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kernelcast.errors import InputError, KernelcastError
from kernelcast.inputs.native.cubins import AssembledSource, cubin_module
from kernelcast.measuring.chains.operations import CHAINS, LENGTHS
from kernelcast.measuring.chains.ptx import chain_kernel, chain_ptx
from kernelcast.measuring.machine_code import assembled
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.isa.ir.kernel import Compute, Kernel, Special, SpecialRegister
from kernelcast.simcore.isa.ir.machine_code import MachineInstruction
from kernelcast.validation.latency_chains import ChainMachine, MeasuredLatencies
from kernelcast.validation.measured_times import DeviceFacts

__all__ = [
    "TimedInstruction",
    "chain_machine",
    "longest_path",
    "timed_instructions",
    "with_machine",
]

_SHORT, _LONG = LENGTHS[-2:]
_PATH = "chain.ptx"


@dataclass(frozen=True, slots=True)
class TimedInstruction:
    """An instruction between the readings of the clock, called by its name with modifiers."""

    name: str
    facts: MachineInstruction


@dataclass(frozen=True, slots=True)
class _Body:
    """What one kernel has between the readings of the clock."""

    opcodes: Counter[str]
    pairs: Counter[str]
    stall_cycles: int | None


def chain_machine(ptx: str, cubin: bytes, architecture: str, *, is_loaded: bool) -> ChainMachine:
    """What one step of the chain of `chain_ptx` is in a cubin that was assembled from it.

    `is_loaded`: this very cubin was timed. InputError without a disassembler.
    """
    module = cubin_module(cubin, _PATH, AssembledSource(ptx, read_ptx(ptx, _PATH)))
    for reasons in module.rejected.values():
        raise reasons[0]
    short, long = (_body(module.kernels[chain_kernel(n)]) for n in (_SHORT, _LONG))
    stalls = None
    if short.stall_cycles is not None and long.stall_cycles is not None:
        stalls = (long.stall_cycles - short.stall_cycles) / (_LONG - _SHORT)
    return ChainMachine(
        architecture=architecture,
        opcodes=_per_step(short.opcodes, long.opcodes),
        pairs=_per_step(short.pairs, long.pairs),
        stall_cycles=stalls,
        is_loaded=is_loaded,
    )


def with_machine(latencies: MeasuredLatencies, facts: DeviceFacts) -> MeasuredLatencies:
    """The chains with the machine code that the assembler here makes of them, where they have none.

    It is not what was timed, only what another compiler made of the same PTX. Chains that are not
    known any more, and those that cannot be assembled, stay as they are.
    """
    texts = {chain.name: chain_ptx(chain) for chain in CHAINS}
    return replace(
        latencies,
        chains=tuple(
            replace(item, machine=_assembled(texts[item.name], facts))
            if item.machine is None and item.name in texts
            else item
            for item in latencies.chains
        ),
    )


def _assembled(text: str, facts: DeviceFacts) -> ChainMachine | None:
    try:
        made = assembled(text, _PATH, facts)
        return chain_machine(text, made.content, made.code, is_loaded=False)
    except KernelcastError:
        return None


def _per_step(short: Mapping[str, int], long: Mapping[str, int]) -> dict[str, float]:
    more = {name: (long[name] - short.get(name, 0)) / (_LONG - _SHORT) for name in sorted(long)}
    return {name: count for name, count in more.items() if count}


def _body(kernel: Kernel) -> _Body:
    timed = timed_instructions(kernel)
    controls = [item.facts.control for item in timed]
    known = [control.stall_cycles for control in controls if control is not None]
    return _Body(
        opcodes=Counter(item.name for item in timed),
        pairs=Counter(_pairs(timed)),
        stall_cycles=sum(known) if len(known) == len(timed) else None,
    )


def timed_instructions(kernel: Kernel) -> list[TimedInstruction]:
    """The instructions between the first and the last reading of the clock, in their order."""
    assert kernel.machine is not None
    facts = kernel.machine.instructions
    lines = {i.span.line for i in kernel.instructions if isinstance(i, Compute) and _is_clock(i)}
    if len(lines) != 2:
        raise InputError(f"{kernel.name} reads the clock {len(lines)} times, not twice")
    first, last = sorted(lines)
    found = [
        TimedInstruction(i.mnemonic, facts[i.pc])
        for i in kernel.instructions
        if i.pc in facts and first < i.span.line < last
    ]
    return sorted(found, key=lambda item: item.facts.address)


def _is_clock(instruction: Compute) -> bool:
    return any(
        isinstance(source, SpecialRegister) and source.which is Special.CLOCK64
        for source in instruction.sources
    )


def _pairs(timed: Sequence[TimedInstruction]) -> list[str]:
    """Producers and consumers along the longest path of dependences.

    Where nothing depends on anything, as in a chain of barriers, instructions wait in their order.
    """
    before = longest_path(timed)
    if not any(item is not None for item in before):
        return [f"{a.name} -> {b.name}" for a, b in pairwise(timed)]
    depths = [0] * len(timed)
    for number, producer in enumerate(before):
        depths[number] = 0 if producer is None else depths[producer] + 1
    found = []
    here: int | None = max(range(len(timed)), key=depths.__getitem__)
    while here is not None and (producer := before[here]) is not None:
        found.append(f"{timed[producer].name} -> {timed[here].name}")
        here = producer
    return found


def longest_path(timed: Sequence[TimedInstruction]) -> list[int | None]:
    """The producer of each instruction, of those that it waits for, with the longest path."""
    writers: dict[int, int] = {}
    depths: list[int] = []
    found: list[int | None] = []
    for place, item in enumerate(timed):
        producers = [writers[number] for number in item.facts.reads if number in writers]
        best = max(producers, key=depths.__getitem__, default=None)
        found.append(best)
        depths.append(0 if best is None else depths[best] + 1)
        writers.update(dict.fromkeys(item.facts.writes, place))
    return found
