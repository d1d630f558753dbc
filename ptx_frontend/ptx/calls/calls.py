"""Calls of device functions: what is passed, and how a function's parameters become registers.

A `.param` variable of a body, and each parameter of a function, is a
buffer of bytes; what is stored at an offset lives in a register of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kernelcast.ptx_frontend.ptx.lowering.memory import Access, elements, understood
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.lowering.scopes import RegisterFile
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.simcore.isa.ir.kernel import Compute, HostCall, HostFunction, Operand, Register
from kernelcast.simcore.isa.opcodes.table import OPCODES
from kernelcast.simcore.isa.types import ScalarType

__all__ = [
    "BUILT_IN",
    "BuiltIn",
    "Call",
    "ParameterBuffer",
    "buffer_access",
    "host_call",
    "lower_parameter_access",
    "move",
    "parsed_call",
]

_SMALLEST_REGISTER_BITS = 16
_PARTS = (2, 4)
_MOST_GROUPS = 2


class ParameterBuffer:
    """The bytes of a parameter, a register for each piece that is stored."""

    def __init__(self, name: str, file: RegisterFile) -> None:
        self._name = name
        self._file = file
        self.pieces: dict[tuple[int, int], Register] = {}
        """The registers by the offset and size of what they hold, bytes."""

    def piece(self, offset: int, size: int) -> Register:
        """The register of `size` bytes at `offset`."""
        known = self.pieces.get((offset, size))
        if known is None:
            bits = max(_SMALLEST_REGISTER_BITS, 8 * size)
            known = self._file.new(f"{self._name}+{offset}", bits)
            self.pieces[offset, size] = known
        return known

    def parts(self, offset: int, size: int) -> tuple[Register, ...]:
        """The registers that hold these bytes, lowest first.

        Empty when they were stored in pieces of other sizes.
        """
        overlapping = [o for o, s in self.pieces if o < offset + size and offset < o + s]
        if (offset, size) in self.pieces or not overlapping:
            return (self.piece(offset, size),)
        for count in _PARTS:
            step = size // count
            places = [(offset + i * step, step) for i in range(count)]
            if step > 1 and all(place in self.pieces for place in places):
                return tuple(self.pieces[place] for place in places)
        return ()


@dataclass(frozen=True, slots=True)
class Call:
    """`call (results), name, (arguments)`, as written; with `pointer` instead of a name."""

    name: str
    pointer: Register | None
    results: tuple[syntax.Operand, ...]
    arguments: tuple[syntax.Operand, ...]


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A function of the runtime library and the types of what it takes and returns."""

    function: HostFunction
    types: tuple[ScalarType, ...]
    result: ScalarType | None


_U64, _U32 = ScalarType.U64, ScalarType.U32
BUILT_IN = {
    f.function.value: f
    for f in (
        BuiltIn(HostFunction.PRINT, (_U64, _U64), _U32),
        BuiltIn(HostFunction.ASSERT, (_U64, _U64, _U32, _U64, _U64), None),
        BuiltIn(HostFunction.ALLOCATE, (_U64,), _U64),
        BuiltIn(HostFunction.FREE, (_U64,), None),
    )
}
"""Functions that no PTX defines: the runtime library has them."""


def parsed_call(site: Site) -> Call:
    """What follows the arguments, the prototype of a pointer's functions, says nothing new."""
    if site.mnemonic not in ("call", "call.uni"):
        raise site.refused()
    groups: list[tuple[syntax.Operand, ...]] = []
    name = ""
    for operand in site.operands:
        if isinstance(operand, syntax.GroupOperand):
            groups.append(operand.items)
        elif isinstance(operand, syntax.NameOperand) and not name:
            name = operand.name
            groups = groups or [()]
        elif not isinstance(operand, syntax.NameOperand):
            raise site.error("a call needs the name of a function")
    if not name or len(groups) > _MOST_GROUPS:
        raise site.error("a call needs the name of a function")
    results, *arguments = groups
    pointer = site.names.scope.register(name)
    return Call(name, pointer, results, arguments[0] if arguments else ())


def move(
    site: Site, ahead: int, type_: ScalarType, destination: Register | None, source: Operand
) -> Compute:
    """Copies the bits of `type_`, after `ahead` others; the destination may be wider."""
    return Compute(
        **site.fields(ahead),
        opcode=OPCODES["mov"],
        type=type_,
        source_type=type_,
        destinations=(destination,),
        sources=(source,),
    )


def buffer_access(site: Site) -> tuple[syntax.VariableDeclaration, int] | None:
    """The `.param` variable of a body that a load or store names, and the offset there."""
    index = 1 if site.mnemonic.startswith("ld") else 0
    if index >= len(site.operands):
        return None
    operand = site.operands[index]
    if not isinstance(operand, syntax.AddressOperand) or operand.base is None:
        return None
    variable = site.names.scope.variable(operand.base)
    if variable is None or variable.space != "param":
        return None
    return variable, operand.offset


def lower_parameter_access(site: Site, buffer: ParameterBuffer, offset: int) -> list[Compute]:
    """`ld.param` and `st.param` of a call's parameters: one move for each element."""
    access = understood(site)
    if site.mnemonic.startswith("ld"):
        return list(_loads(site, access, buffer, offset))
    moves = []
    for position, item in enumerate(elements(site, 1, access)):
        source = site.source(item, 1, access.type, wider=True)
        register = buffer.piece(offset + position * access.type.bytes, access.type.bytes)
        moves.append(move(site, position, access.type, register, source))
    return moves


def _loads(site: Site, access: Access, buffer: ParameterBuffer, offset: int) -> Iterable[Compute]:
    type_ = access.type
    for position, item in enumerate(elements(site, 0, access)):
        parts = buffer.parts(offset + position * type_.bytes, type_.bytes)
        if not parts:
            raise site.unsupported("a parameter that was stored in pieces of another size")
        destination = site.destination(item, 0, type_, wider=True)
        if len(parts) == 1:
            yield move(site, position, type_, destination, parts[0])
            continue
        whole = ScalarType.named(f"b{type_.bits}")
        yield Compute(
            **site.fields(position),
            opcode=OPCODES[f"mov.pack{len(parts)}"],
            type=whole,
            source_type=whole,
            destinations=(destination,),
            sources=parts,
        )


def host_call(
    site: Site,
    built_in: BuiltIn,
    arguments: list[ParameterBuffer],
    results: list[ParameterBuffer],
) -> HostCall:
    """A call of a function of the runtime library."""
    destination = None
    if results and built_in.result is not None:
        destination = results[0].piece(0, built_in.result.bytes)
    return HostCall(
        **site.place(),
        guard=None,
        function=built_in.function,
        destination=destination,
        sources=tuple(
            buffer.piece(0, type_.bytes)
            for buffer, type_ in zip(arguments, built_in.types, strict=True)
        ),
        types=built_in.types,
    )
