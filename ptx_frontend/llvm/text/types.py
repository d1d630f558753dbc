"""The types of LLVM IR, and how values of them lie in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = [
    "PARAMETER_SPACE",
    "POINTER_BYTES",
    "ArrayType",
    "IntegerIrType",
    "IrType",
    "PointerType",
    "ScalarIrType",
    "StructType",
    "VectorType",
    "VoidType",
    "align_of",
    "align_up",
    "component",
    "element_offset",
    "leaves_of",
    "parts_of",
    "size_of",
]

POINTER_BYTES = 8
PARAMETER_SPACE = 101
"""Our number of what no type of OpenCL names: the arguments of a launch."""
_WIDEST_VECTOR_ALIGNMENT = 128
_WORD_BITS = 64


class ScalarIrType(Enum):
    """A number: how LLVM spells it, its width, and whether it is a floating-point one."""

    I1 = ("i1", 1, False)
    I8 = ("i8", 8, False)
    I16 = ("i16", 16, False)
    I32 = ("i32", 32, False)
    I64 = ("i64", 64, False)
    HALF = ("half", 16, True)
    BFLOAT = ("bfloat", 16, True)
    FLOAT = ("float", 32, True)
    DOUBLE = ("double", 64, True)

    def __init__(self, spelling: str, bits: int, is_float: bool) -> None:
        self.spelling = spelling
        self.bits = bits
        self.is_float = is_float

    @property
    def bytes(self) -> int:
        """Bytes in memory; i1 takes one."""
        return max(1, self.bits // 8)

    @property
    def register_bits(self) -> int:
        """A byte lies in a register of 16 bits, whose upper half is then always zero."""
        return 16 if self.bits == 8 else self.bits

    @property
    def float_name(self) -> str:
        """How instructions call a floating-point type: `f16`, `bf16`, `f32`, `f64`."""
        return "bf16" if self is ScalarIrType.BFLOAT else f"f{self.bits}"

    def as_scalar(self, kind: str) -> ScalarType:
        """The type of our instructions; `kind` `u`, `s` or `b` for integers, ignored for floats."""
        if self is ScalarIrType.I1:
            return ScalarType.PRED
        return ScalarType.named(self.float_name if self.is_float else f"{kind}{self.bits}")

    def __str__(self) -> str:
        return self.spelling


@dataclass(frozen=True, slots=True)
class IntegerIrType:
    """An integer of another width, in as many words of 64 bits as it needs."""

    bits: int

    @property
    def words(self) -> int:
        """The number of 64-bit words."""
        return -(-self.bits // _WORD_BITS)

    @property
    def top_bits(self) -> int:
        """The bits that the last word has."""
        return self.bits - _WORD_BITS * (self.words - 1)

    @property
    def bytes(self) -> int:
        """What a load or store touches, without padding."""
        return -(-self.bits // 8)

    def __str__(self) -> str:
        return f"i{self.bits}"


@dataclass(frozen=True, slots=True)
class PointerType:
    """An address of 64 bits; `space` is LLVM's number of the address space."""

    space: int

    @property
    def address_space(self) -> AddressSpace | None:
        """The space of what the pointer points to; None for one that OpenCL does not have.

        Constant buffers are allocated like global ones, so both are one memory.
        """
        return _SPACES.get(self.space)

    def __str__(self) -> str:
        return f"ptr addrspace({self.space})" if self.space else "ptr"


_SPACES = {
    0: AddressSpace.LOCAL,
    1: AddressSpace.GLOBAL,
    2: AddressSpace.GLOBAL,
    3: AddressSpace.SHARED,
    4: AddressSpace.GENERIC,
    PARAMETER_SPACE: AddressSpace.PARAM,
}


@dataclass(frozen=True, slots=True)
class VectorType:
    """A vector type: `<count x element>`."""

    element: ScalarIrType | PointerType
    count: int

    def __str__(self) -> str:
        return f"<{self.count} x {self.element}>"


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An array type: `[count x element]`."""

    element: IrType
    count: int

    def __str__(self) -> str:
        return f"[{self.count} x {self.element}]"


@dataclass(frozen=True, slots=True)
class StructType:
    """`is_packed`: without padding. `name` is empty for a type without one."""

    fields: tuple[IrType, ...]
    is_packed: bool = False
    name: str = ""

    def __str__(self) -> str:
        return self.name or f"{{ {', '.join(map(str, self.fields))} }}"


@dataclass(frozen=True, slots=True)
class VoidType:
    """No value, or an opaque type of which only pointers exist; `name` is how it is spelt."""

    name: str = "void"

    def __str__(self) -> str:
        return self.name


IrType: TypeAlias = (
    ScalarIrType | IntegerIrType | PointerType | VectorType | ArrayType | StructType | VoidType
)


def align_up(offset: int, align: int) -> int:
    """The lowest multiple of `align` that is not below `offset`."""
    return -(-offset // align) * align


def align_of(type_: IrType) -> int:
    """ABI alignment in bytes; that of a vector is its size, rounded up to a power of two."""
    match type_:
        case ScalarIrType():
            return type_.bytes
        case IntegerIrType():
            return min(_power_above(type_.bytes), _WORD_BITS // 8)
        case PointerType():
            return POINTER_BYTES
        case VectorType():
            bits = type_.count * _bits(type_.element)
            return min(_power_above(-(-bits // 8)), _WIDEST_VECTOR_ALIGNMENT)
        case ArrayType():
            return align_of(type_.element)
        case StructType():
            if type_.is_packed:
                return 1
            return max((align_of(field) for field in type_.fields), default=1)
    return 1


def size_of(type_: IrType) -> int:
    """Bytes from one element of an array to the next, padding at the end included."""
    match type_:
        case ScalarIrType():
            return type_.bytes
        case IntegerIrType():
            return align_up(type_.bytes, align_of(type_))
        case PointerType():
            return POINTER_BYTES
        case VectorType():
            return align_up(-(-type_.count * _bits(type_.element) // 8), align_of(type_))
        case ArrayType():
            return type_.count * size_of(type_.element)
        case StructType():
            end = _field_offset(type_, len(type_.fields))
            return align_up(end, align_of(type_))
    return 0


def component(type_: IrType, index: int) -> IrType | None:
    """The type of element or field `index`; None where there is none."""
    match type_:
        case ArrayType() | VectorType():
            return type_.element
        case StructType() if 0 <= index < len(type_.fields):
            return type_.fields[index]
    return None


def element_offset(type_: IrType, index: int) -> int:
    """Where element or field `index` begins, in bytes."""
    match type_:
        case StructType():
            return _field_offset(type_, index)
        case VectorType():
            return index * _bits(type_.element) // 8
        case ArrayType():
            return index * size_of(type_.element)
    return 0


def _field_offset(type_: StructType, index: int) -> int:
    """Where field `index` begins; the end of the last field for the number of fields."""
    offset = 0
    for number, field in enumerate(type_.fields):
        if not type_.is_packed:
            offset = align_up(offset, align_of(field))
        if number == index:
            return offset
        offset += size_of(field)
    return offset


def parts_of(type_: IrType) -> tuple[ScalarIrType | PointerType, ...]:
    """The scalars and pointers that a value consists of, in order: a register each."""
    match type_:
        case ScalarIrType() | PointerType():
            return (type_,)
        case IntegerIrType():
            return (ScalarIrType.I64,) * type_.words
        case VectorType():
            return (type_.element,) * type_.count
        case ArrayType():
            return parts_of(type_.element) * type_.count
        case StructType():
            return tuple(part for field in type_.fields for part in parts_of(field))
    return ()


def leaves_of(type_: IrType, offset: int = 0) -> Iterator[tuple[ScalarIrType | PointerType, int]]:
    """The parts of a value with their places in memory, in bytes."""
    match type_:
        case ScalarIrType() | PointerType():
            yield type_, offset
        case IntegerIrType():
            for number in range(type_.words):
                yield ScalarIrType.I64, offset + number * _WORD_BITS // 8
        case VectorType() | ArrayType():
            for index in range(type_.count):
                yield from leaves_of(type_.element, offset + element_offset(type_, index))
        case StructType():
            for index, field in enumerate(type_.fields):
                yield from leaves_of(field, offset + _field_offset(type_, index))


def _bits(type_: ScalarIrType | PointerType) -> int:
    return type_.bits if isinstance(type_, ScalarIrType) else 8 * POINTER_BYTES


def _power_above(size: int) -> int:
    return 1 << max(0, size - 1).bit_length()
