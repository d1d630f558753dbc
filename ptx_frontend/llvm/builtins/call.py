"""A call of a built-in function: its name and parameter types besides what the call site has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kernelcast.ptx_frontend.llvm.builtins.mangling import ParameterType
from kernelcast.ptx_frontend.llvm.lowering.call_site import CallSite, Value
from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.ptx_frontend.llvm.text.types import (
    IrType,
    PointerType,
    ScalarIrType,
    VectorType,
    VoidType,
)
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["BuiltinCall", "Handler", "LaneFunction", "Pointer", "float_bits"]

LaneFunction: TypeAlias = Callable[..., Operand]
"""(call, type, *operands) -> result, of one element; `type` is that of the first parameter."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where a pointer argument points to: what of, in which memory, and the address itself."""

    pointee: ParameterType
    space: AddressSpace
    address: Operand


@dataclass(frozen=True, slots=True)
class BuiltinCall:
    """One call; `name` and `parameters` are those that the mangled name holds."""

    site: CallSite
    name: str
    parameters: tuple[ParameterType, ...]

    @property
    def code(self) -> Code:
        """The writer of the caller's instructions."""
        return self.site.code

    @property
    def result(self) -> IrType:
        """The type of the result; void for a call without one."""
        return self.site.result or VoidType()

    def refused(self, why: str) -> Exception:
        """The exception for a built-in function that is not supported, with the reason."""
        return self.site.unsupported(f"built-in function {self.name!r} is not supported: {why}")

    def expect(self, *counts: int) -> None:
        """Raises unless there are as many arguments and parameters."""
        found = len(self.site.arguments)
        if found not in counts or found != len(self.parameters):
            wanted = " or ".join(map(str, counts))
            raise self.refused(f"{found} arguments, expected {wanted}")

    def element(self, index: int = 0) -> ScalarType:
        """The scalar type that parameter `index` consists of."""
        found = self.parameters[index].element if index < len(self.parameters) else None
        if found is None:
            raise self.refused(f"its argument {index + 1} is no number")
        return found

    def pointer(self, index: int) -> Pointer:
        """Argument `index` as a pointer whose pointee the name tells."""
        argument, parameter = self.site.arguments[index], self.parameters[index]
        if not isinstance(argument.type, PointerType) or parameter.pointee is None:
            raise self.refused(f"its argument {index + 1} is no pointer")
        space = argument.type.address_space
        if space is None:
            raise self.refused(f"address space {argument.type.space}")
        return Pointer(parameter.pointee, space, argument.parts[0])

    @property
    def result_element(self) -> ScalarIrType:
        """The scalar type of the result, or of its elements."""
        kind = self.result.element if isinstance(self.result, VectorType) else self.result
        if not isinstance(kind, ScalarIrType):
            raise self.refused(f"a result of type {self.result}")
        return kind

    @property
    def width(self) -> int:
        """Elements of the result."""
        return self.result.count if isinstance(self.result, VectorType) else 1

    def lanes(
        self, count: int, arguments: Sequence[Value] | None = None
    ) -> Iterator[list[Operand]]:
        """The operands of each of `count` elements; scalars go with every element of a vector."""
        chosen = self.site.arguments if arguments is None else arguments
        for value in chosen:
            if len(value.parts) not in (1, count):
                raise self.refused(f"{len(value.parts)} elements, expected {count}")
        for lane in range(count):
            yield [value.parts[lane if len(value.parts) > 1 else 0] for value in chosen]

    def each(self, function: LaneFunction) -> Value:
        """The function of every element, with the type of the first parameter."""
        type_ = self.element()
        parts = tuple(function(self, type_, *operands) for operands in self.lanes(self.width))
        return Value(self.result, parts)

    def value(self, *parts: Operand) -> Value:
        """The result made of its parts."""
        return Value(self.result, parts)

    def compute(self, mnemonic: str, bits: int, *sources: Operand) -> Operand:
        """What the instruction gives, in a new register of so many bits."""
        return self.code.compute(mnemonic, bits, *sources)

    def select(self, bits: int, condition: Operand, yes: Operand, no: Operand) -> Operand:
        """`yes` where the predicate holds, else `no`."""
        return self.compute(f"selp.b{bits}", bits, yes, no, condition)


Handler: TypeAlias = Callable[[BuiltinCall], Value | None]
"""Writes the instructions of a call; None for a function without a result."""


def float_bits(type_: ScalarType, number: float) -> Immediate:
    """The number as a constant of that type."""
    return Immediate(int(type_.dtype.type(number).view(type_.storage)))
