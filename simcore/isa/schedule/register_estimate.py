"""Registers per thread that an assembler takes, after the schedule that it makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kernelcast.simcore.host.deadline import watched
from kernelcast.simcore.isa.analysis.control_flow import live_out
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.isa.schedule.dependences import dependences
from kernelcast.simcore.isa.schedule.hoist_loads import Before, compact_order, hoisted, spread
from kernelcast.simcore.isa.schedule.predicate_branches import predicated_edges
from kernelcast.simcore.isa.schedule.pressure import Liveness, liveness, pressures
from kernelcast.simcore.isa.schedule.region import Region, region_of
from kernelcast.simcore.isa.schedule.register_facts import register_facts
from kernelcast.simcore.isa.schedule.unroll_loops import loop_bodies, unrolled_loops
from kernelcast.traces.static_schedule import FACTORS

__all__ = [
    "Prepared",
    "estimated_registers",
    "fewest_registers",
    "order_limit",
    "pcs_of_block",
    "prepared",
    "register_limit",
]

_RESERVED = 2
"""Registers that no value is in: the stack pointer, and what pairs and quadruples leave free."""
_FEWEST = 32
"""What fills a register file of 64 Ki with 2048 threads: fewer let no more warps in."""
_STEP = 8
"""Registers are allocated to warps in units of 256."""
_MOST = 255
_WHAT = "ordering instructions"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A region with its dependences and an order that takes few registers."""

    region: Region
    before: Before
    live: Liveness
    order: list[int]
    fewest: int

    def scheduled(self, limit: int) -> list[int]:
        """The order with loads as early as that many registers allow."""
        early = hoisted(self.region, self.before, self.live, self.order, limit)
        apart = spread(self.region, self.before, early)
        most = max(pressures(self.region, early, self.live), default=0)
        if max(pressures(self.region, apart, self.live), default=0) > max(most, limit):
            return early
        return apart

    def registers(self, limit: int) -> int:
        """Registers that values take in the schedule, of `limit`."""
        order = self.scheduled(limit)
        needed = max(pressures(self.region, order, self.live), default=0)
        held = pressures(self.region, order, self.live, holds_operands=True)
        return max(needed, min(limit, max(held, default=0)))


def pcs_of_block(kernel: Kernel, block: int) -> list[int]:
    """Pcs of a basic block, those of the source and of what native code adds."""
    found = kernel.blocks[block]
    end = [found.terminator] if found.terminator.mnemonic else []
    return [item.pc for item in (*found.body, *end)]


def prepared(kernel: Kernel, pcs: Sequence[int], dropped: frozenset[int], last: int) -> Prepared:
    """The region of `pcs`, whose last instruction is of the basic block `last`."""
    region = region_of(kernel, pcs, dropped)
    before = dependences(region)
    alive = {register.index for register in live_out(kernel)[last]}
    live = liveness(region, alive, _words(kernel))
    order = compact_order(region, before, live)
    return Prepared(region, before, live, order, max(pressures(region, order, live), default=0))


@once_per_kernel
def _words(kernel: Kernel) -> dict[int, int]:
    """32-bit registers of each register; none of those that are constants in native code."""
    facts = register_facts(kernel)
    return {r: 0 if r in facts.constants else count for r, count in facts.words.items()}


def order_limit(kernel: Kernel) -> int:
    """How many of the registers hold values of the source."""
    return register_limit(kernel) - _RESERVED


@once_per_kernel
def fewest_registers(kernel: Kernel) -> int:
    """Registers per thread that no order of loads can do without."""
    return max((item.fewest for item in _regions(kernel)), default=0) + _RESERVED


@once_per_kernel
def register_limit(kernel: Kernel) -> int:
    """How many registers the assembler uses to hoist loads: up to the next step of occupancy."""
    fewest = fewest_registers(kernel)
    step = max(_FEWEST, -(-fewest // _STEP) * _STEP)
    return max(fewest, min(step, _MOST, kernel.max_registers or _MOST))


@once_per_kernel
def estimated_registers(kernel: Kernel) -> int:
    """Registers per thread after the schedule."""
    limit = register_limit(kernel)
    most = 0
    for item in _regions(kernel):
        most = max(most, item.registers(limit - _RESERVED))
    return min(most + _RESERVED, _MOST)


@once_per_kernel
def _regions(kernel: Kernel) -> tuple[Prepared, ...]:
    return tuple(
        prepared(kernel, pcs, dropped, last)
        for pcs, dropped, last in watched(list(_pieces(kernel)), _WHAT)
    )


def _pieces(kernel: Kernel) -> Iterator[tuple[list[int], frozenset[int], int]]:
    """Every piece of code as native code has it: unrolled loops, what branches skip, the rest."""
    glued, loops = predicated_edges(kernel), unrolled_loops(kernel)
    done: set[int] = set()
    for header, body in loop_bodies(kernel).items():
        if header in loops:
            pcs = [pc for block in body for pc in pcs_of_block(kernel, block)]
            last = len(pcs) * (FACTORS[0] - 1)
            whole = pcs * FACTORS[0]
            dropped = frozenset(i for i in range(last) if whole[i] in loops[header])
            yield whole, dropped, body[-1]
            done.update(body)
    chain: list[int] = []
    for block in range(len(kernel.blocks)):
        if block in done:
            continue
        if chain and not all((earlier, block) in glued for earlier in chain[-1:]):
            yield _piece(kernel, chain)
            chain = []
        chain.append(block)
    if chain:
        yield _piece(kernel, chain)


def _piece(kernel: Kernel, chain: list[int]) -> tuple[list[int], frozenset[int], int]:
    pcs = [pc for block in chain for pc in pcs_of_block(kernel, block)]
    return pcs, frozenset(), chain[-1]
