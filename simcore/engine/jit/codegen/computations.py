"""What computations give, as LLVM IR: scalars where lanes follow a pattern, or vectors."""

from __future__ import annotations

from kernelcast.simcore.engine.jit.analysis.lane_variance import LaneVariance, apply_rule
from kernelcast.simcore.engine.jit.codegen.guesses import GuessCode
from kernelcast.simcore.engine.jit.codegen.memory.accesses import Value
from kernelcast.simcore.engine.jit.codegen.registers import Guess, Registers
from kernelcast.simcore.engine.jit.codegen.warp_code import WarpCode
from kernelcast.simcore.isa.ir.kernel import Compute, Instruction
from kernelcast.simcore.isa.opcodes.table import Context

__all__ = ["ComputationCode"]


class ComputationCode:
    """Writes computations by the opcode's emitter."""

    def __init__(self, warp: WarpCode, registers: Registers) -> None:
        self._warp = warp
        self._registers = registers
        self._guesses = GuessCode(warp, registers)

    def values(self, instruction: Compute) -> list[Value]:
        """One value for each result."""
        context = Context(instruction.type, instruction.source_type, instruction.modifiers)
        opcode = instruction.opcode
        variance = self._result_variance(instruction, context)
        pairs = zip(instruction.sources, opcode.operand_types(context), strict=True)
        if variance.is_varying:
            operands = [self._registers.vector(s, t) for s, t in pairs]
            code = self._warp.vector
        else:
            operands = [self._registers.base(s, t) for s, t in pairs]
            code = self._warp.scalar
        assert opcode.emit is not None
        result = opcode.emit(code, context, *operands)
        results = result if isinstance(result, tuple) else (result,)
        types = opcode.result_types(context)
        return [(value, type_, variance) for value, type_ in zip(results, types, strict=False)]

    def guess(self, instruction: Instruction) -> Guess | None:
        """The scalar beside the vector that an instruction gives, where there is one."""
        if not isinstance(instruction, Compute) or len(instruction.destinations) != 1:
            return None
        context = Context(instruction.type, instruction.source_type, instruction.modifiers)
        variance = self._result_variance(instruction, context)
        written = instruction.opcode.result_types(context)[0]
        return self._guesses.of_result(instruction, variance, written.bits)

    def _result_variance(self, instruction: Compute, context: Context) -> LaneVariance:
        types = instruction.opcode.operand_types(context)
        sources = [
            self._registers.variance(operand, read_as)
            for operand, read_as in zip(instruction.sources, types, strict=True)
        ]
        return apply_rule(instruction, sources, self._warp.width)
