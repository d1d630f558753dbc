"""What names mean in one function as it is lowered, and where one instruction's operands are."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernelcast.errors import SourceSpan
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value, register_bits
from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.ptx_frontend.llvm.lowering.variables import Variables
from kernelcast.ptx_frontend.llvm.text.constants import MOST_PARTS, ConstantReader
from kernelcast.ptx_frontend.llvm.text.cursor import Cursor, IrProblem
from kernelcast.ptx_frontend.llvm.text.locations import Locations
from kernelcast.ptx_frontend.llvm.text.reader import IrReader
from kernelcast.ptx_frontend.llvm.text.syntax import IrFunction, IrInstruction, IrModule
from kernelcast.ptx_frontend.llvm.text.tokens import TokenKind
from kernelcast.ptx_frontend.llvm.text.types import (
    PARAMETER_SPACE,
    IrType,
    PointerType,
    VoidType,
    parts_of,
)
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register, SymbolAddress
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["ConstantParts", "FunctionScope", "KernelScope", "Phi", "Pointer", "Site", "space_of"]

_ADDRESS_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class KernelScope:
    """What all functions of a kernel share."""

    module: IrModule
    reader: IrReader
    variables: Variables
    code: Code
    locations: Locations
    required_threads: tuple[int, int, int] | None = None

    def converted(self, pointer: Operand, source: PointerType, target: PointerType) -> Operand:
        """A pointer into one address space as one into another."""
        own, wanted = space_of(source), space_of(target)
        if own is wanted:
            return pointer
        if wanted is AddressSpace.GENERIC:
            mnemonic = f"cvta.{own.value}.u64"
        elif own is AddressSpace.GENERIC:
            mnemonic = f"cvta.to.{wanted.value}.u64"
        else:
            raise IrProblem(f"a conversion from {source} to {target} is not supported")
        return self.code.compute(mnemonic, 64, self.code.in_register(pointer, 64))


def space_of(pointer: IrType) -> AddressSpace:
    """The address space of a pointer; IrProblem unless it is into memory of OpenCL."""
    if isinstance(pointer, PointerType) and pointer.address_space is not None:
        return pointer.address_space
    raise IrProblem(f"memory of type {pointer} is not supported")


def is_parameter_pointer(type_: IrType) -> bool:
    """Whether a type is that of addresses within the arguments of the launch."""
    return isinstance(type_, PointerType) and type_.space == PARAMETER_SPACE


@dataclass(frozen=True, slots=True)
class Pointer:
    """An address in two parts: base + offset, bytes."""

    type: IrType
    base: Operand
    offset: int = 0

    @property
    def space(self) -> AddressSpace:
        """The address space that the pointer's type names."""
        return space_of(self.type)


@dataclass(frozen=True, slots=True)
class Phi:
    """`value`: the registers that the edges into the basic block fill."""

    instruction: IrInstruction
    value: Value


@dataclass(frozen=True, slots=True)
class ConstantParts:
    """Registers as sums: `narrow` of 32 bits with what is said of them, `wide` of 64 bits."""

    narrow: dict[Register, tuple[Register, int, frozenset[str]]] = field(default_factory=dict)
    wide: dict[Register, tuple[Register, int]] = field(default_factory=dict)


@dataclass
class FunctionScope:
    """One call of a function, inlined, or the kernel itself."""

    kernel: KernelScope
    function: IrFunction
    callers: tuple[str, ...] = ()
    """The functions around, from the kernel on."""
    values: dict[str, Value] = field(default_factory=dict)
    pointers: dict[str, Pointer] = field(default_factory=dict)
    """Addresses whose sum is written where something other than an access needs it."""
    sums: dict[tuple[Operand, Operand, int], Register] = field(default_factory=dict)
    """Addresses pointer + number * scale, by these three, where the basic block finds them; also
    extensions (see `constant_parts`)."""
    constant_parts: ConstantParts = field(default_factory=ConstantParts)
    blocks: dict[str, int] = field(default_factory=dict)
    phis: dict[str, list[Phi]] = field(default_factory=dict)
    return_to: int | None = None
    returned: tuple[Register, ...] = ()
    label: str = ""
    """The label of the basic block that is being lowered."""
    following: str = ""
    """The label of the basic block that comes next in the text."""

    @property
    def code(self) -> Code:
        """The writer of the kernel's instructions."""
        return self.kernel.code

    def registers(self, type_: IrType) -> tuple[Register, ...]:
        """New registers for the parts of a value; IrProblem for too many elements."""
        parts = parts_of(type_)
        if len(parts) > MOST_PARTS:
            raise IrProblem(f"values of type {type_} are not supported: too many elements")
        return tuple(self.code.register(register_bits(part)) for part in parts)

    def named(self, name: str, type_: IrType) -> Value:
        """The value of a name; one that is defined later gets its registers here."""
        known = self.values.get(name)
        if name in self.pointers:
            known = self._sum(self.pointers[name])
        elif known is None:
            known = self.values[name] = Value(type_, self.registers(type_))
        elif is_parameter_pointer(known.type) and known.type != type_:
            raise IrProblem(
                f"%{name}, an address of a parameter, is not only accessed: unsupported"
            )
        elif known.type != type_:
            raise IrProblem(f"%{name} is of type {known.type}, not {type_}", False)
        return known

    def pointer_to_parameter(self, name: str) -> Value | None:
        """What a name stands for if it is an address within the arguments of the launch."""
        known = self.pointers.get(name) or self.values.get(name)
        if known is None or not is_parameter_pointer(known.type):
            return None
        return self.named(name, known.type)

    def _sum(self, pointer: Pointer) -> Value:
        offset = Immediate(pointer.offset & _ADDRESS_MASK)
        return Value(pointer.type, (self.code.compute("add.s64", 64, pointer.base, offset),))

    def define_pointer(self, name: str, pointer: Pointer) -> None:
        """Gives a name an address."""
        base, offset = pointer.base, pointer.offset
        if isinstance(base, SymbolAddress):
            value = Value(pointer.type, (SymbolAddress(base.symbol, base.offset + offset),))
        elif isinstance(base, Immediate):
            value = Value(pointer.type, (Immediate((base.bits + offset) & _ADDRESS_MASK),))
        elif not offset:
            value = Value(pointer.type, (base,))
        elif name in self.values:
            value = self._sum(pointer)
        else:
            self.pointers[name] = pointer
            return
        self.define(name, value)

    def define(self, name: str, value: Value) -> None:
        """Gives a name its value; where it was used before, by moves."""
        known = self.values.get(name)
        if known is None:
            self.values[name] = value
            return
        for register, part in zip(known.parts, value.parts, strict=True):
            if isinstance(register, Register) and register != part:
                self.code.move(register, part)


class Site:
    """One instruction with a cursor over its operands."""

    def __init__(self, scope: FunctionScope, instruction: IrInstruction) -> None:
        self.scope = scope
        self.instruction = instruction
        try:
            tokens = instruction.tokens
        except ValueError as error:
            raise IrProblem(str(error), False) from None
        self.cursor = Cursor(tokens, scope.kernel.reader.types)
        self._constants = ConstantReader(
            self.cursor, scope.kernel.variables.address, scope.kernel.converted
        )

    @property
    def code(self) -> Code:
        """The writer of the kernel's instructions."""
        return self.scope.code

    @property
    def opcode(self) -> str:
        """The instruction's opcode, without flags and types."""
        return self.instruction.opcode

    @property
    def span(self) -> SourceSpan:
        """The instruction's place in the IR."""
        return self.scope.kernel.reader.span(self.instruction.line)

    def value(self, type_: IrType) -> Value:
        """An operand whose type is known already."""
        if self.cursor.peek().kind is TokenKind.LOCAL:
            return self.scope.named(self.cursor.name(), type_)
        if isinstance(type_, VoidType):
            raise IrProblem(f"operands of type {type_} are not supported")
        return self._constants.value(type_)

    def operand(self) -> Value:
        """A type and an operand of it."""
        return self.value(self.cursor.type())

    def next_pointer(self) -> Pointer:
        """An address, in two parts where the source computed it so."""
        self.cursor.expect(",")
        type_ = self.cursor.type()
        if self.cursor.peek().kind is TokenKind.LOCAL:
            known = self.scope.pointers.get(self.cursor.peek().text)
            if known is not None and (known.type == type_ or is_parameter_pointer(known.type)):
                self.cursor.take()
                return known
        value = self.argument(type_)
        return Pointer(value.type, value.parts[0])

    def argument(self, type_: IrType) -> Value:
        """An operand of a type, or an address of a parameter, whose type nothing in the IR says."""
        if self.cursor.peek().kind is TokenKind.LOCAL:
            known = self.scope.pointer_to_parameter(self.cursor.peek().text)
            if known is not None:
                self.cursor.take()
                return known
        return self.value(type_)

    def next_operand(self) -> Value:
        """Reads the operand after a comma."""
        self.cursor.expect(",")
        return self.operand()

    def constant(self) -> int:
        """Reads a constant: a type and a number."""
        (part,) = self.operand().parts
        if not isinstance(part, Immediate):
            raise IrProblem("expected a number", False)
        return part.bits

    def result(self, type_: IrType, parts: tuple[Operand, ...]) -> None:
        """The value of the instruction."""
        if self.instruction.result:
            self.scope.define(self.instruction.result, Value(type_, parts))

    def result_pointer(self, pointer: Pointer) -> None:
        """The value of an instruction that computes an address."""
        self.scope.define_pointer(self.instruction.result, pointer)
