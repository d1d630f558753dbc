"""Operands from syntax to the intermediate representation, with their widths checked."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from kernelcast.errors import PtxSyntaxError, SourceSpan, UnsupportedInstruction
from kernelcast.ptx_frontend.instruction_writer import GuardedPlace, Place
from kernelcast.ptx_frontend.ptx.lowering.names import SPECIALS, Names, special_register_bits
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.ptx_frontend.ptx.text.literals import packed_float
from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Guard,
    Immediate,
    Operand,
    Register,
    SpecialRegister,
    SymbolAddress,
)
from kernelcast.simcore.isa.types import AddressSpace, Kind, ScalarType

__all__ = ["Site"]

_FLOAT_FORMATS = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}
_ADDRESS_BITS = (32, 64)
_SMALLEST_REGISTER_BITS = 16


@dataclass(frozen=True, slots=True)
class Site:
    """One instruction statement while it is lowered: its place, its guard and its names."""

    names: Names
    statement: syntax.InstructionStatement
    pc: int
    span: SourceSpan
    origin: SourceSpan | None
    guard: Guard | None

    @property
    def mnemonic(self) -> str:
        """The mnemonic with all modifiers."""
        return self.statement.mnemonic

    @property
    def operands(self) -> tuple[syntax.Operand, ...]:
        """The operands as they are written."""
        return self.statement.operands

    def place(self, ahead: int = 0) -> Place:
        """The place that an instruction of this statement gets; `ahead` others come before it."""
        return Place(pc=self.pc + ahead, mnemonic=self.mnemonic, span=self.span, origin=self.origin)

    def fields(self, ahead: int = 0) -> GuardedPlace:
        """What an instruction under the statement's guard has; `ahead` others come before it."""
        return GuardedPlace(**self.place(ahead), guard=self.guard)

    def unsupported(self, reason: str) -> UnsupportedInstruction:
        """The error for what kernelcast does not execute, at this place."""
        return UnsupportedInstruction(reason, self.span)

    def refused(self, why: str = "") -> UnsupportedInstruction:
        """The error for an instruction that has no meaning here, at this place."""
        return self.unsupported(Refusal.of(self.mnemonic, why).reason)

    def error(self, message: str, operand: int | None = None) -> PtxSyntaxError:
        """The error at an operand, or at the mnemonic."""
        if operand is None:
            return PtxSyntaxError(message, self.span)
        return self.names.source.error(message, self.statement.positions[operand])

    def expect_operands(self, *counts: int) -> None:
        """Refuses another number of operands than one of `counts`."""
        got = len(self.operands)
        if got not in counts:
            wanted = " or ".join(dict.fromkeys(map(str, counts)))
            raise self.error(
                f"{self.mnemonic!r} takes {wanted} operand{'s' * (counts[-1] != 1)}, got {got}"
            )

    def source(
        self, operand: syntax.Operand, index: int, type: ScalarType, wider: bool = False
    ) -> Operand:
        """A value of `type`; with `wider`, a register may be wider and its low bits are read."""
        if isinstance(operand, syntax.NameOperand):
            register = self.names.scope.register(operand.name)
            if register is None:
                return self._named(operand.name, 0, index, type)
            self._check_width(register, index, type, wider)
            return register
        if isinstance(operand, syntax.Integer | syntax.Float):
            return Immediate(self._bits(operand, index, type))
        if isinstance(operand, syntax.SumOperand):
            return self._named(operand.name, operand.offset, index, type)
        if isinstance(operand, syntax.VectorOperand) and len(operand.items) == 1:
            return self.source(operand.items[0], index, type, wider)
        raise self.error(f"{self.mnemonic!r} cannot take this operand", index)

    def _named(self, name: str, offset: int, index: int, type: ScalarType) -> Operand:
        """A special register, or the address of a variable or parameter."""
        special = SPECIALS.get(name)
        at = self.statement.positions[index]
        if special is not None and self.names.scope.variable(name) is None:
            if type.bits > special_register_bits(special) or type.kind is Kind.PREDICATE:
                raise self._width_error(name, special_register_bits(special), index, type)
            return SpecialRegister(special)
        if name in self.names.parameters and self.names.scope.variable(name) is None:
            self._check_address_width(name, index, type)
            self.names.addressed_parameters.add(name)
            return SymbolAddress(name, offset)
        variable = self.names.variable(name)
        if variable is None and name in self.names.module.functions:
            self._check_address_width(name, index, type)
            return Immediate(self.names.module.function_addresses[name] + offset)
        if variable is None:
            raise self.names.unknown(name, at)
        if variable in self.names.on_stack:
            return self._on_stack(variable, offset, index, type)
        if variable.space == "param":
            raise self.unsupported(f"address of {name!r}, a parameter of a call, is not supported")
        self._check_address_width(name, index, type)
        return SymbolAddress(self.names.symbol(variable), offset)

    def _on_stack(
        self, variable: syntax.VariableDeclaration, offset: int, index: int, type: ScalarType
    ) -> Register:
        register = self.names.on_stack[variable]
        if offset or type.bits != register.bits:
            raise self.unsupported(f"this way to take the address of {variable.name!r}")
        return register

    def _check_address_width(self, name: str, index: int, type: ScalarType) -> None:
        if type.bits not in _ADDRESS_BITS or type.is_float:
            raise self.error(f"the address of {name!r} does not fit type .{type.ptx_name}", index)

    def _check_width(self, register: Register, index: int, type: ScalarType, wider: bool) -> None:
        bits = type.bits if type is ScalarType.PRED else max(type.bits, _SMALLEST_REGISTER_BITS)
        if register.bits != bits and not (wider and register.bits > bits > 1):
            raise self._width_error(register.name, register.bits, index, type)

    def _width_error(self, name: str, bits: int, index: int, type: ScalarType) -> PtxSyntaxError:
        width = "a predicate" if bits == 1 else f"{bits} bits wide"
        return PtxSyntaxError(
            f"{name!r} is {width}, {self.mnemonic!r} takes .{type.ptx_name} here",
            self.names.source.span_of(name, self.statement.positions[index]),
        )

    def _bits(self, value: syntax.Number, index: int, type: ScalarType) -> int:
        """A constant as raw bits. Integers are cut to the width (PTX ISA, "Integer constants")."""
        if isinstance(value, syntax.Integer):
            if type is ScalarType.PRED:
                return int(value.value != 0)
            if type.is_float:
                raise self.error(f"{self.mnemonic!r} needs a floating-point constant here", index)
            return value.value & ((1 << type.bits) - 1)
        if type.is_float or (type.kind is Kind.BITS and value.bits == 0 and type.bits > 16):
            if value.bits == type.bits:
                return value.raw
            return self._rounded(value.value, type.bits)
        if type.kind is Kind.BITS and value.bits == type.bits:
            return value.raw
        raise self.error(
            f"{self.mnemonic!r} takes .{type.ptx_name} here, not a floating-point constant", index
        )

    def _rounded(self, value: float, bits: int) -> int:
        code, unsigned = _FLOAT_FORMATS[bits]
        found: int = struct.unpack(unsigned, packed_float(code, value))[0]
        return found

    def destination(
        self, operand: syntax.Operand, index: int, type: ScalarType, wider: bool = False
    ) -> Register | None:
        """A register of that width, or None for the sink `_`."""
        if isinstance(operand, syntax.VectorOperand) and len(operand.items) == 1:
            operand = operand.items[0]
        if not isinstance(operand, syntax.NameOperand):
            raise self.error(f"the destination of {self.mnemonic!r} must be a register", index)
        return self.destination_named(operand.name, index, type, wider)

    def destination_named(
        self, name: str, index: int, type: ScalarType, wider: bool = False
    ) -> Register | None:
        """The register to write, checked for its width; None for `_`."""
        if name == "_":
            return None
        register = self.names.register(name, self.statement.positions[index])
        self._check_width(register, index, type, wider)
        return register

    def address(self, index: int, space: AddressSpace, width: int) -> Address:
        """The address that operand `index` gives for an access of `width` bytes."""
        operand = self.operands[index]
        if not isinstance(operand, syntax.AddressOperand):
            raise self.error(f"{self.mnemonic!r} takes an address in brackets here", index)
        if operand.base is None:
            raise self.unsupported("absolute addresses are not supported")
        register = self.names.scope.register(operand.base)
        if register is None:
            return self._variable_address(operand.base, operand.offset, index, space, width)
        if register.bits not in _ADDRESS_BITS:
            raise self._width_error(register.name, register.bits, index, ScalarType.B64)
        return Address(space, register, operand.offset)

    def _variable_address(
        self, name: str, offset: int, index: int, space: AddressSpace, width: int
    ) -> Address:
        at = self.statement.positions[index]
        variable = self.names.variable(name)
        parameter = self.names.parameters.get(name)
        if parameter is not None and self.names.scope.variable(name) is None:
            self._check_space(name, AddressSpace.PARAM, space, index)
            start = parameter.offset + offset
            if start < 0 or start + width > max(
                other.offset + other.size for other in self.names.parameters.values()
            ):
                raise self.error(f"{self.mnemonic!r} reads outside of the parameters", index)
            return Address(AddressSpace.PARAM, None, start)
        if variable is None:
            raise self.names.unknown(name, at)
        if variable in self.names.on_stack:
            self._check_space(name, AddressSpace.LOCAL, space, index)
            return Address(AddressSpace.LOCAL, self.names.on_stack[variable], offset)
        if variable.space == "param":
            raise self.unsupported("parameters of calls are not supported")
        own = AddressSpace(variable.space)
        self._check_space(name, own, space, index)
        return Address(own, SymbolAddress(self.names.symbol(variable)), offset)

    def _check_space(self, name: str, own: AddressSpace, space: AddressSpace, index: int) -> None:
        if space not in (own, AddressSpace.GENERIC):
            raise PtxSyntaxError(
                f"{name!r} is in .{own.value}, {self.mnemonic!r} takes .{space.value}",
                self.names.source.span_of(name, self.statement.positions[index]),
            )
