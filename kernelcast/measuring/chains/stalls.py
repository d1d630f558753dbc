"""Latencies that an assembler states: how long it has a warp stall between dependent instructions.

Units of fixed latency have no scoreboard, so that the stall cycles between an instruction and the
one that reads its result are the latency that the assembler counts on. No GPU is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kernelcast.errors import CompilationError
from kernelcast.inputs.native.cubins import assembled_module
from kernelcast.measuring.chains.machine import TimedInstruction, longest_path, timed_instructions
from kernelcast.measuring.chains.operations import CHAINS, LENGTHS, Chain
from kernelcast.measuring.chains.ptx import chain_kernel, chain_ptx
from kernelcast.ptx_frontend import read_ptx

__all__ = [
    "CHAIN_OF_UNIT",
    "StatedLatency",
    "chain_latencies",
    "stated_latencies",
    "unit_latency",
]

CHAIN_OF_UNIT: Mapping[str, str] = MappingProxyType(
    {
        "fp32": "fma.f32",
        "integer": "lop3",
        "integer_multiply": "mad.lo.u32",
        "half": "fma.f16x2",
        "fp64": "fma.f64",
    }
)
"""The chain that tells the latency of a unit in [timing] of a device file."""
_PATH = "chain.ptx"


@dataclass(frozen=True, slots=True)
class StatedLatency:
    """What an assembler counts on from `producer` to `consumer`, both with their modifiers.

    `cycles`: the fewest that were found; None where a scoreboard is waited for, as the time is not
    fixed. `times`: how often the two stand in the chain.
    """

    architecture: str
    chain: str
    producer: str
    consumer: str
    cycles: int | None
    times: int


def stated_latencies(architecture: str) -> Iterator[StatedLatency]:
    """All chains on one architecture; those that it lacks are left out.

    InputError where no assembler or no disassembler for the architecture is installed.
    """
    for chain in CHAINS:
        try:
            yield from chain_latencies(architecture, chain)
        except CompilationError:
            continue


def chain_latencies(architecture: str, chain: Chain) -> Iterator[StatedLatency]:
    """The pairs of instructions of a chain; CompilationError where the architecture lacks one."""
    found: dict[tuple[str, str], list[int | None]] = {}
    for producer, consumer, cycles in _pairs(_timed(architecture, chain_ptx(chain))):
        found.setdefault((producer, consumer), []).append(cycles)
    for (producer, consumer), every in found.items():
        known = [cycles for cycles in every if cycles is not None]
        fewest = min(known) if len(known) == len(every) else None
        yield StatedLatency(architecture, chain.name, producer, consumer, fewest, len(every))


def unit_latency(architecture: str, unit: str) -> float | None:
    """The mean cycles from one step of the unit's chain to the next.

    None where that is not fixed. `unit` is a name of [timing] in a device file.
    """
    chain = next(item for item in CHAINS if item.name == CHAIN_OF_UNIT[unit])
    rows = list(chain_latencies(architecture, chain))
    known = [(item.cycles, item.times) for item in rows if item.cycles is not None]
    if not known or len(known) < len(rows):
        return None
    return sum(cycles * times for cycles, times in known) / sum(times for _, times in known)


def _timed(architecture: str, ptx: str) -> list[TimedInstruction]:
    module = assembled_module(ptx, architecture, _PATH, read_ptx(ptx, _PATH))
    for reasons in module.rejected.values():
        raise reasons[0]
    return timed_instructions(module.kernels[chain_kernel(LENGTHS[-1])])


def _pairs(timed: list[TimedInstruction]) -> Iterator[tuple[str, str, int | None]]:
    """Producers, consumers, and the cycles between them; None where a scoreboard is waited for."""
    begins, now = [], 0
    for item in timed:
        begins.append(now)
        now += 0 if item.facts.control is None else item.facts.control.stall_cycles
    for consumer, producer in enumerate(longest_path(timed)):
        if producer is not None:
            control = timed[producer].facts.control
            is_fixed = control is not None and control.written is None
            between = begins[consumer] - begins[producer] if is_fixed else None
            yield timed[producer].name, timed[consumer].name, between
