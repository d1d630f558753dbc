"""The function of a kernel while it is written: registers, operands, guards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from kernelcast.errors import UnsupportedInstruction
from kernelcast.inputs.amd.translation.directed import AmdLaneCode, NotTranslated
from kernelcast.simcore.isa.ir.kernel import (
    Guard,
    Immediate,
    Instruction,
    Kernel,
    Operand,
    Register,
    Special,
    SpecialRegister,
    SymbolAddress,
)
from kernelcast.simcore.isa.numerics.lane_code import LLVM_TYPES
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["FunctionCode", "slot"]

SpecialValue = Callable[["FunctionCode", Special], tuple[str, int]]
SymbolValue = Callable[["FunctionCode", SymbolAddress], tuple[str, int]]


def slot(register: Register) -> str:
    """The name of the stack slot that a register is until LLVM makes values of them."""
    return f"%r{register.index}"


class FunctionCode:
    """Collects the body; `special` and `address` give the value and the bits of such operands."""

    def __init__(self, kernel: Kernel, special: SpecialValue, address: SymbolValue) -> None:
        self.kernel = kernel
        self.lines: list[str] = []
        self.declarations: dict[str, str] = {}
        names = count()
        self.lanes = AmdLaneCode(1, self.lines, self.declarations, lambda: f"%t{next(names)}")
        self._labels = count()
        self._special, self._address = special, address
        self._instruction: Instruction | None = None

    # ---- instructions ----

    @contextmanager
    def translating(self, instruction: Instruction) -> Iterator[None]:
        """What is written belongs to the instruction; UnsupportedInstruction names it."""
        self._instruction = instruction
        try:
            yield
        except NotTranslated as reason:
            raise UnsupportedInstruction(
                f"{instruction.mnemonic} is not translated for AMD's GPUs: {reason}",
                instruction.span,
            ) from None

    def call(self, result: str, name: str, operands: str = "", types: str = "") -> str:
        """Calls an intrinsic or a function of the device library; the result's name."""
        self.declarations[name] = f"declare {result} {name}({types})"
        if result == "void":
            self.lanes.do(f"call void {name}({operands})")
            return ""
        return self.lanes.op(f"call {result} {name}({operands})")

    def label(self) -> str:
        """A new label, without the mark of a name."""
        return f"l{next(self._labels)}"

    @contextmanager
    def guarded(self, guard: Guard | None) -> Iterator[None]:
        """What is written within is executed by the lanes whose guard holds."""
        if guard is None:
            yield
            return
        then, rest = self.label(), self.label()
        self.lanes.do(f"br i1 {self.condition(guard)}, label %{then}, label %{rest}")
        self.lines.append(f"{then}:")
        yield
        self.lanes.do(f"br label %{rest}")
        self.lines.append(f"{rest}:")

    def condition(self, guard: Guard) -> str:
        """Whether a guard holds, as i1."""
        held = self.read(guard.register, ScalarType.PRED)
        return self.lanes.binary("xor", "i1", held, "true") if guard.negated else held

    # ---- operands ----

    def read(self, operand: Operand, type_: ScalarType) -> str:
        """An operand as a value of the LLVM type that the type has."""
        bits = self.read_bits(operand, type_.bits)
        return self.lanes.cast("bitcast", f"i{type_.bits}", bits, LLVM_TYPES[type_])

    def read_bits(self, operand: Operand, bits: int) -> str:
        """The low bits of an operand, zeros above a narrower one."""
        if isinstance(operand, Immediate):
            number = operand.bits & ((1 << bits) - 1)
            return ("false", "true")[number] if bits == 1 else str(number)
        if isinstance(operand, Register):
            value = self.lanes.op(
                f"load i{operand.bits}, ptr addrspace(5) {slot(operand)}, align 4"
            )
            return self.fitted(value, operand.bits, bits)
        if isinstance(operand, SpecialRegister):
            return self.fitted(*self._special(self, operand.which), bits)
        return self.fitted(*self._address(self, operand), bits)

    def fitted(self, value: str, bits: int, wanted: int, *, is_signed: bool = False) -> str:
        """An integer cut or extended."""
        if bits == wanted:
            return value
        how = "trunc" if bits > wanted else "sext" if is_signed else "zext"
        return self.lanes.cast(how, f"i{bits}", value, f"i{wanted}")

    def write(
        self, register: Register | None, value: str, type_: ScalarType, guard: Guard | None = None
    ) -> None:
        """Writes a value of a type, extended as the type says where the register is wider."""
        if register is None:
            return
        held = self.lanes.cast("bitcast", LLVM_TYPES[type_], value, f"i{type_.bits}")
        held = self.fitted(held, type_.bits, register.bits, is_signed=type_.is_signed)
        if guard is not None:
            old = self.read_bits(register, register.bits)
            held = self.lanes.select(f"i{register.bits}", self.condition(guard), held, old)
        self.store_register(register, held)

    def store_register(self, register: Register, value: str) -> None:
        """Writes all bits of a register."""
        self.lanes.do(f"store i{register.bits} {value}, ptr addrspace(5) {slot(register)}, align 4")
