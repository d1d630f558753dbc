"""How far from a load's data those lie that the next thread block along x loads there.

Thread blocks with barriers are longer than a processor looks ahead, and take their data from memory
where each of them begins. What the next one loads can be asked for in time; a wrong guess costs
nothing but that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from kernelcast.simcore.engine.jit.analysis.lane_variance import LaneVariance
from kernelcast.simcore.isa.analysis.control_flow import writes
from kernelcast.simcore.isa.ir.kernel import (
    BarrierSync,
    Compute,
    Immediate,
    Instruction,
    Kernel,
    Load,
    Operand,
    Register,
    Special,
    SpecialRegister,
)
from kernelcast.simcore.isa.opcodes.columns import Algebra
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["bytes_ahead"]

_Step: TypeAlias = int | None
"""What a value grows by from one thread block to the next; None where that is not fixed."""
_MOST_BYTES = 1 << 40
_FIXED_SPACES = (AddressSpace.PARAM, AddressSpace.CONST)


def bytes_ahead(kernel: Kernel, variances: Mapping[int, LaneVariance]) -> dict[int, int]:
    """Distances in bytes by the pc of a load of global memory; without those of distance 0.

    Loads in loops with barriers are left out: they take more than waits in a cache for its turn.
    """
    barriers = [b.index for b in kernel.blocks if isinstance(b.terminator, BarrierSync)]
    if not barriers:
        return {}
    in_long_loops: set[int] = set()
    for block in kernel.blocks:
        for head in block.successors:
            loop = range(head, block.index + 1)
            if any(barrier in loop for barrier in barriers):
                in_long_loops.update(loop)
    steps = _steps(kernel, variances)
    found = {}
    for block in kernel.blocks:
        for load in block.body if block.index not in in_long_loops else ():
            if not isinstance(load, Load) or load.address.space is not AddressSpace.GLOBAL:
                continue
            base = load.address.base
            step = steps.get(base.index) if isinstance(base, Register) else None
            if step:
                found[load.pc] = step
    return found


def _steps(kernel: Kernel, variances: Mapping[int, LaneVariance]) -> dict[int, _Step]:
    """Steps by register: optimistic, to a fixed point."""
    found: dict[int, _Step] = {}
    changed = True
    while changed:
        changed = False
        for instruction in kernel.instructions:
            written = writes(instruction)
            if not written:
                continue
            known, step = _step(instruction, found, variances)
            for register in written if known else ():
                new = step if found.get(register.index, step) == step else None
                if register.index not in found or found[register.index] != new:
                    found[register.index] = new
                    changed = True
    return found


def _step(
    instruction: Instruction, found: Mapping[int, _Step], variances: Mapping[int, LaneVariance]
) -> tuple[bool, _Step]:
    """Whether all inputs are known by now, and the step of the result."""
    if isinstance(instruction, Load):
        return True, 0 if instruction.address.space in _FIXED_SPACES else None
    if not isinstance(instruction, Compute):
        return True, None
    steps: list[_Step] = []
    for source in instruction.sources:
        if isinstance(source, Register) and source.index not in found:
            return False, None
        steps.append(_of_operand(source, found))
    if not any(step is None or step for step in steps):
        return True, 0
    if any(step is None for step in steps):
        return True, None
    moves = [step or 0 for step in steps]
    constants = [_constant(source, variances) for source in instruction.sources]
    step = _of_result(instruction.opcode.algebra, moves, constants)
    return True, step if step is None or abs(step) < _MOST_BYTES else None


def _of_result(algebra: Algebra, steps: list[int], constants: list[int | None]) -> _Step:
    match algebra:
        case Algebra.SUM | Algebra.OR:  # of bits that do not overlap, where addresses are made
            return steps[0] + steps[1]
        case Algebra.DIFFERENCE:
            return steps[0] - steps[1]
        case Algebra.COPY | Algebra.CONVERSION | Algebra.WINDOW:
            return steps[0]
        case Algebra.SHIFT_LEFT:
            amount = constants[1]
            return None if amount is None or amount > 64 else steps[0] << amount
        case Algebra.PRODUCT | Algebra.WIDE_PRODUCT:
            return _of_product(steps, constants)
        case Algebra.PRODUCT_SUM | Algebra.WIDE_PRODUCT_SUM:
            product = _of_product(steps, constants)
            return None if product is None else product + steps[2]
    return None


def _of_product(steps: list[int], constants: list[int | None]) -> _Step:
    for step, other, factor in (
        (steps[0], steps[1], constants[1]),
        (steps[1], steps[0], constants[0]),
    ):
        if other == 0 and (step == 0 or factor is not None):
            return step * (factor or 0)
    return None


def _of_operand(operand: Operand, found: Mapping[int, _Step]) -> _Step:
    if isinstance(operand, Register):
        return found[operand.index]
    if isinstance(operand, SpecialRegister):
        return int(operand.which is Special.CTAID_X)
    return 0


def _constant(operand: Operand, variances: Mapping[int, LaneVariance]) -> int | None:
    if isinstance(operand, Immediate):
        return operand.bits
    if isinstance(operand, Register) and operand.index in variances:
        variance = variances[operand.index]
        return variance.constant if variance.is_uniform else None
    return None
