"""Reads the `OpType...` instructions."""

from __future__ import annotations

from collections.abc import Callable

from kernelcast.ptx_frontend.spirv.functions.llvm_names import NameSpace, quoted
from kernelcast.ptx_frontend.spirv.module.binary import Instruction
from kernelcast.ptx_frontend.spirv.module.decorations import Decoration, Decorations
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.types import (
    ArrayType,
    BoolType,
    FloatType,
    FunctionType,
    ImageType,
    IntType,
    OpaqueType,
    PointerType,
    SampledImageType,
    SamplerType,
    SpirvType,
    StructType,
    VectorType,
    VoidType,
    address_space,
)

__all__ = ["TypeReader"]

_INTEGER_BITS = (8, 16, 32, 64)
_FLOATS = {16: "half", 32: "float", 64: "double"}
_VECTOR_SIZES = (2, 3, 4, 8, 16)
_LONGEST_INLINE = 1000
_BUFFER = 5
_IMAGE_DIMENSIONS = {0: 1, 1: 2, 2: 3, _BUFFER: 1}
_IMAGE_ACCESS = ("ro", "wo", "rw")
_MOST_NESTED = 255
"""The universal limit of the specification."""


class TypeReader:
    """The types by identifier. `length_of` gives the value of an integer constant."""

    def __init__(
        self, decorations: Decorations, names: dict[int, str], length_of: Callable[[int], int]
    ) -> None:
        self.pointer_bits = 64
        self.struct_lines: list[str] = []
        """Lines of LLVM IR."""
        self.refused: dict[int, SpirvProblem] = {}
        """Types, constants and variables that are not supported, by identifier."""
        self._types: dict[int, SpirvType] = {}
        self._decorations = decorations
        self._names = names
        self._struct_names = NameSpace()
        self._struct_texts: dict[tuple[str, str], str] = {}
        self._length_of = length_of
        self._readers: dict[str, Callable[[Instruction], SpirvType]] = {
            "OpTypeVoid": lambda _: VoidType("void"),
            "OpTypeBool": lambda _: BoolType("i1", 1, 1),
            "OpTypeInt": _integer,
            "OpTypeFloat": _float,
            "OpTypeVector": self._vector,
            "OpTypeArray": self._array,
            "OpTypeStruct": self._struct,
            "OpTypePointer": self._pointer,
            "OpTypeFunction": self._function,
            "OpTypeImage": _image,
            "OpTypeSampler": lambda _: SamplerType("ptr addrspace(2)", 8, 8, name="ocl_sampler"),
            "OpTypeSampledImage": lambda _: SampledImageType("image with sampler"),
            "OpTypeEvent": lambda _: OpaqueType("ptr", 8, 8, name="ocl_event"),
        }

    def read(self, instruction: Instruction) -> bool:
        """Takes the instruction if it declares a type."""
        if instruction.name == "OpTypeForwardPointer":
            self._announce(instruction)
            return True
        if not instruction.name.startswith("OpType"):
            return False
        reader = self._readers.get(instruction.name)
        if reader is None:
            raise SpirvProblem(f"{instruction.name} is not supported", is_unsupported=True)
        made = reader(instruction)
        if made.depth > _MOST_NESTED:
            raise SpirvProblem(f"types are nested more than {_MOST_NESTED} deep")
        self._types[instruction.result] = made
        return True

    def type(self, identifier: int) -> SpirvType:
        """The type of an identifier; SpirvProblem where it is none or refused."""
        found = self._types.get(identifier)
        if identifier in self.refused:
            raise self.refused[identifier]
        if found is None:
            raise SpirvProblem(f"%{identifier} is no type")
        return found

    def pointee(self, pointer: PointerType) -> SpirvType:
        """The type that the pointer type points to."""
        return self.type(pointer.pointee)

    def size_type(self) -> IntType:
        """The type of `size_t`."""
        size = self.pointer_bits // 8
        return IntType(f"i{self.pointer_bits}", size, size, bits=self.pointer_bits)

    def _announce(self, instruction: Instruction) -> None:
        """A pointer to what is declared later; structs only need to know that it is one."""
        if instruction.operand(0) not in self._types:
            self._types[instruction.operand(0)] = self._pointer_to(0, instruction.operand(1))

    def _member(self, identifier: int) -> SpirvType:
        found = self.type(identifier)
        if isinstance(found, VoidType | FunctionType):
            raise SpirvProblem(f"%{identifier} is no type of a value")
        return found

    def _vector(self, instruction: Instruction) -> SpirvType:
        element, count = self.type(instruction.operand(0)), instruction.operand(1)
        if not isinstance(element, BoolType | IntType | FloatType):
            raise SpirvProblem("the elements of a vector are no numbers")
        if count not in _VECTOR_SIZES:
            raise SpirvProblem(f"a vector has {count} elements")
        size = element.size * (4 if count == 3 else count)
        return VectorType(f"<{count} x {element.text}>", size, size, element=element, count=count)

    def _array(self, instruction: Instruction) -> SpirvType:
        element = self._member(instruction.operand(0))
        count = self._length_of(instruction.operand(1))
        return ArrayType(
            f"[{count} x {element.text}]",
            element.size * count,
            element.align,
            element.depth + 1,
            element=element,
            count=count,
        )

    def _struct(self, instruction: Instruction) -> SpirvType:
        members = tuple(map(self._member, instruction.operands))
        is_packed = self._decorations.has(instruction.result, Decoration.C_PACKED)
        size, align = 0, 1
        for member in members:
            step = 1 if is_packed else member.align
            size = -(-size // step) * step + member.size
            align = max(align, step)
        inner = "{ " + ", ".join(member.text for member in members) + " }" if members else "{}"
        definition = f"<{inner}>" if is_packed else inner
        return StructType(
            self._struct_text(instruction.result, definition),
            -(-size // align) * align,
            align,
            max((member.depth for member in members), default=0) + 1,
            name=self._names.get(instruction.result, ""),
            definition=definition,
            members=members,
        )

    def _struct_text(self, identifier: int, definition: str) -> str:
        """Structs with a name or a long definition are declared; equal ones only once."""
        wanted = self._names.get(identifier, "")
        if not wanted and len(definition) < _LONGEST_INLINE:
            return definition
        text = self._struct_texts.get((wanted, definition))
        if text is None:
            text = f"%{quoted(self._struct_names.take(wanted, f'struct.{identifier}'))}"
            self._struct_texts[wanted, definition] = text
            self.struct_lines.append(f"{text} = type {definition}")
        return text

    def _pointer(self, instruction: Instruction) -> SpirvType:
        return self._pointer_to(instruction.operand(1), instruction.operand(0))

    def _pointer_to(self, pointee: int, storage: int) -> PointerType:
        space = address_space(storage)
        size = self.pointer_bits // 8
        text = f"ptr addrspace({space})" if space else "ptr"
        return PointerType(text, size, size, space=space, storage=storage, pointee=pointee)

    def _function(self, instruction: Instruction) -> SpirvType:
        returned = self.type(instruction.operand(0))
        parameters = tuple(map(self._member, instruction.operands[1:]))
        text = f"{returned.text} ({', '.join(x.text for x in parameters)})"
        return FunctionType(text, returned=returned, parameters=parameters)


def _image(instruction: Instruction) -> SpirvType:
    """The name is that of OpenCL C: `ocl_image2d_array_ro`."""
    dim, depth, arrayed, samples = (instruction.operand(index) for index in range(1, 5))
    access = instruction.operands[7] if len(instruction.operands) > 7 else 0
    dimensions = _IMAGE_DIMENSIONS.get(dim)
    if dimensions is None or samples or access >= len(_IMAGE_ACCESS):
        raise SpirvProblem(f"images of dimension {dim} are not supported", is_unsupported=True)
    words = [f"ocl_image{dimensions}d", *(["array"] if arrayed else [])]
    words += [*(["buffer"] if dim == _BUFFER else []), *(["depth"] if depth == 1 else [])]
    return ImageType(
        "ptr addrspace(1)",
        8,
        8,
        name="_".join([*words, _IMAGE_ACCESS[access]]),
        dimensions=dimensions,
        is_array=bool(arrayed),
        is_depth=depth == 1,
    )


def _integer(instruction: Instruction) -> SpirvType:
    bits = instruction.operand(0)
    if bits not in _INTEGER_BITS:
        raise SpirvProblem(f"integers of {bits} bits are not supported", is_unsupported=True)
    return IntType(f"i{bits}", bits // 8, bits // 8, bits=bits)


def _float(instruction: Instruction) -> SpirvType:
    bits = instruction.operand(0)
    if bits not in _FLOATS or len(instruction.operands) > 1:
        raise SpirvProblem(
            f"OpTypeFloat of {bits} bits in this encoding is not supported", is_unsupported=True
        )
    return FloatType(_FLOATS[bits], bits // 8, bits // 8, bits=bits)
