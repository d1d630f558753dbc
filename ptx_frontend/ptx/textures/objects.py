"""What a texture or surface instruction names: the number of an object, or a declared variable.

The number is the place of the object's descriptor; a variable is a parameter that holds it.
"""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.ptx_frontend.images.code import ObjectCode, parts_writer
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.lowering.parameters import opaque_parameter
from kernelcast.ptx_frontend.ptx.lowering.variables import OPAQUE_TYPES
from kernelcast.ptx_frontend.ptx.text.syntax import (
    NameOperand,
    Operand,
    SamplerField,
    VariableDeclaration,
    VectorOperand,
)
from kernelcast.simcore.isa.ir.kernel import Address, Compute, Parameter, Register
from kernelcast.simcore.isa.opcodes.table import OPCODES
from kernelcast.simcore.isa.types import AddressSpace, ScalarType
from kernelcast.simcore.launch.images import AXIS_BITS, Addressing, Filter

__all__ = ["TextureCode", "declared_sampler", "object_number", "takes_object", "vector_items"]

_ADDRESSING = {
    "wrap": Addressing.WRAP,
    "mirror": Addressing.MIRROR,
    "clamp_to_edge": Addressing.CLAMP_TO_EDGE,
    "clamp_to_border": Addressing.BORDER,
}
_FILTERS = {"nearest": Filter.NEAREST, "linear": Filter.LINEAR}
_AXES = 3


@dataclass(frozen=True, slots=True)
class TextureCode(ObjectCode):
    """Writes the parts of one instruction of PTX."""

    site: Site

    @staticmethod
    def begun(site: Site, builder: BasicBlockBuilder) -> TextureCode:
        """A writer for one instruction, at whose place all parts are."""
        return TextureCode(parts_writer(builder, site.span, site.origin), site.span, site)

    def is_sampler(self, operand: NameOperand) -> bool:
        """Whether a name is declared as a sampler."""
        parameter = _parameter(self.site, operand.name)
        return parameter is not None and parameter.is_sampler

    def accessed(self, operand: Operand, index: int, opcode: str = "image") -> Register:
        """The number of the object, by the one instruction that counts: the rest is part of it."""
        number = object_number(self, operand, index)
        return self.counted(number, opcode)

    def counted(self, number: Register, opcode: str) -> Register:
        """Emits the opcode that counts as the instruction itself; the object's address."""
        handle = self.code.register(64)
        site = self.site
        self.code.builder.append(
            Compute(
                **site.place(),
                opcode=OPCODES[opcode],
                type=ScalarType.B64,
                source_type=ScalarType.B64,
                destinations=(handle,),
                sources=(number,),
            )
        )
        return handle


def takes_object(site: Site) -> bool:
    """Whether a `mov` takes the number of a variable that stands for an object."""
    sources = site.operands[1:]
    return any(isinstance(x, NameOperand) and _parameter(site, x.name) for x in sources)


def object_number(code: TextureCode, operand: Operand, index: int) -> Register:
    """The number of the object that an operand names, 64 bits; of a sampler its bits."""
    site = code.site
    if not isinstance(operand, NameOperand):
        raise site.error(f"{site.mnemonic!r} takes a texture, surface or sampler here", index)
    register = site.names.scope.register(operand.name)
    if register is not None:
        site.source(operand, index, ScalarType.B64)
        return register
    parameter = _parameter(site, operand.name)
    if parameter is None:
        if site.names.variable(operand.name) is None:
            raise site.names.unknown(operand.name, site.statement.positions[index])
        raise site.error(f"{operand.name!r} is no texture, surface or sampler", index)
    number = code.code.register(64)
    code.code.load(ScalarType.B64, Address(AddressSpace.PARAM, None, parameter.offset), (number,))
    return number


def _parameter(site: Site, name: str) -> Parameter | None:
    """What holds the number of a variable; that of the file is entered as used."""
    names = site.names
    declaration = names.variable(name)
    if declaration is None or declaration.type not in OPAQUE_TYPES:
        parameter = names.parameters.get(name)
        is_object = parameter is not None and parameter.is_opaque
        return parameter if is_object and declaration is None else None
    known = names.opaque.get(declaration)
    if known is None:
        if declaration.count is not None:
            raise site.unsupported(f"arrays of .{declaration.type} such as {name!r}")
        placed = (*names.parameters.values(), *names.opaque.values())
        end = max((other.offset + other.size for other in placed), default=0)
        known = names.opaque[declaration] = opaque_parameter(declaration, end)
    return known


def declared_sampler(site: Site, operand: Operand) -> tuple[int, bool] | None:
    """The bits of a sampler that stands in the file; None for one that the launch sets.

    The second value: whether coordinates are not normalized whatever the texture says.
    """
    if not isinstance(operand, NameOperand) or site.names.scope.register(operand.name):
        return None
    declaration = site.names.variable(operand.name)
    if declaration is None or declaration.type != "samplerref" or not declaration.initial:
        return None
    return _sampler_bits(site, declaration)


def _sampler_bits(site: Site, declaration: VariableDeclaration) -> tuple[int, bool]:
    addressing = [Addressing.CLAMP_TO_EDGE] * _AXES
    filter_, is_forced = Filter.NEAREST, False
    for field in declaration.initial:
        value = field.value if isinstance(field, SamplerField) else ""
        name = field.name if isinstance(field, SamplerField) else ""
        if name[:-1] == "addr_mode_" and name[-1] in "012" and value in _ADDRESSING:
            addressing[int(name[-1])] = _ADDRESSING[value]
        elif name == "filter_mode" and value in _FILTERS:
            filter_ = _FILTERS[value]
        elif name == "force_unnormalized_coords" and value in ("0", "1"):
            is_forced = value == "1"
        else:
            raise site.unsupported(f"this field of the sampler {declaration.name!r}: {name!r}")
    bits = filter_.value
    for axis, how in enumerate(addressing):
        bits |= how.value << (AXIS_BITS * axis)
    return bits, is_forced


def vector_items(operand: Operand) -> tuple[Operand, ...]:
    """The elements of a vector; of anything else that alone."""
    return operand.items if isinstance(operand, VectorOperand) else (operand,)
