"""The straight-line part of symbolic execution: values of registers, and accesses as they occur."""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.simcore.address.expression import AddressExpression, constant
from kernelcast.simcore.address.extraction.launch import LaunchValues, place, signed
from kernelcast.simcore.address.extraction.record import Record
from kernelcast.simcore.address.extraction.rules import computed
from kernelcast.simcore.address.extraction.thread_state import RawAccess, State, Taken
from kernelcast.simcore.address.extraction.values import Condition, Opaque, Value, negated
from kernelcast.simcore.isa.analysis.control_flow import writes
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Atomic,
    BasicBlock,
    Compute,
    Guard,
    Immediate,
    Load,
    Operand,
    Register,
    SpecialRegister,
    Store,
    Straight,
    SymbolAddress,
)
from kernelcast.simcore.isa.opcodes.table import Context
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["BodySteps"]

_OUTER = (AddressSpace.GLOBAL, AddressSpace.GENERIC)


class BodySteps:
    """Executes what addresses and ways depend on; counts floating-point operations."""

    def __init__(self, needed: frozenset[int], launch: LaunchValues, record: Record) -> None:
        self._needed, self._launch, self._record = needed, launch, record

    def run(self, block: BasicBlock, state: State) -> State:
        """Executes the instructions that addresses depend on; returns the state after them."""
        registers = dict(state.registers)
        flops = {32: 0, 64: 0}
        for instruction in block.body:
            condition: Condition = True
            if instruction.guard is not None:
                condition = self.guard(instruction.guard, registers)
                if self._launch.truth(condition) is False:
                    continue
            if isinstance(instruction, Compute):
                _count(instruction, flops)
            if isinstance(instruction, Load | Store | Atomic):
                self._access(instruction, block, registers, state, condition)
            self._write(instruction, registers, condition)
        if any(flops.values()):
            self._record.worked(flops[32], flops[64], state.taken)
        return State(registers, state.taken)

    def guard(self, guard: Guard, registers: Mapping[int, Value]) -> Condition:
        """The condition under which a guarded instruction executes."""
        value = self._value(guard.register, registers, ScalarType.PRED)
        if isinstance(value, AddressExpression):
            return Opaque("a predicate that is a number")
        return negated(value) if guard.negated else value

    def _access(
        self,
        instruction: Load | Store | Atomic,
        block: BasicBlock,
        registers: Mapping[int, Value],
        state: State,
        condition: Condition,
    ) -> None:
        if instruction.address.space not in _OUTER:
            return
        taken = state.taken
        if condition is not True:
            taken = (*taken, Taken(condition, block.index, place(instruction)))
        address = self._address(instruction.address, registers)
        self._record.accessed(RawAccess(instruction, address, taken, self._record.loops))

    def _address(self, address: Address, registers: Mapping[int, Value]) -> Value:
        if address.base is None:
            return constant(address.offset)
        base = self._value(address.base, registers, ScalarType.U64)
        return base + address.offset if isinstance(base, AddressExpression) else base

    def _write(
        self, instruction: Straight, registers: dict[int, Value], condition: Condition
    ) -> None:
        targets = list(writes(instruction))
        if not targets:
            return
        if instruction.pc not in self._needed:
            for register in targets:
                registers.pop(register.index, None)
            return
        destinations = getattr(instruction, "destinations", (targets[0],))
        for register, value in zip(
            destinations, self._results(instruction, registers), strict=False
        ):
            if register is None:
                continue
            old = registers.get(register.index)
            if self._launch.truth(condition) is None and old not in (None, value):
                value = Opaque(
                    f"whether {instruction.mnemonic} at {place(instruction)} is executed"
                )
                if isinstance(condition, Opaque):
                    value = condition.plain()
            registers[register.index] = value

    def _results(self, instruction: Straight, registers: Mapping[int, Value]) -> list[Value]:
        if isinstance(instruction, Compute):
            context = Context(instruction.type, instruction.source_type, instruction.modifiers)
            types = instruction.opcode.operand_types(context)
            sources = [
                self._value(operand, registers, read_as)
                for operand, read_as in zip(instruction.sources, types, strict=True)
            ]
            return computed(instruction, sources, self._launch)
        if isinstance(instruction, Load):
            address = self._address(instruction.address, registers)
            offset = address if isinstance(address, AddressExpression) else None
            count = len(instruction.destinations)
            return [self._launch.loaded(instruction, offset, i) for i in range(count)]
        what = f"data that {instruction.mnemonic} returns at {place(instruction)}"
        return [Opaque(what, is_data=True)] * len(list(writes(instruction)))

    def _value(
        self, operand: Operand, registers: Mapping[int, Value], read_as: ScalarType
    ) -> Value:
        if isinstance(operand, Register):
            return registers.get(operand.index, Opaque(f"{operand.name}, which is never written"))
        if isinstance(operand, Immediate):
            if read_as is ScalarType.PRED:
                return bool(operand.bits & 1)
            return constant(signed(operand.bits, read_as.bits))
        if isinstance(operand, SpecialRegister):
            return self._launch.special(operand.which)
        assert isinstance(operand, SymbolAddress)
        return self._launch.symbol_address(operand.symbol, operand.offset)


def _count(instruction: Compute, flops: dict[int, int]) -> None:
    context = Context(instruction.type, instruction.source_type, instruction.modifiers)
    count = instruction.opcode.flops_of(context)
    if count:
        flops[64 if instruction.type.element.bits == 64 else 32] += count
