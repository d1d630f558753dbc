"""The part of a module before its functions: settings, types, constants and variables."""

from __future__ import annotations

from collections.abc import Callable

from kernelcast.ptx_frontend.spirv.functions.builtin_variables import (
    BuiltInVariable,
    builtin_variable,
)
from kernelcast.ptx_frontend.spirv.functions.llvm_names import NameSpace, quoted
from kernelcast.ptx_frontend.spirv.functions.values import Value
from kernelcast.ptx_frontend.spirv.module.binary import Instruction
from kernelcast.ptx_frontend.spirv.module.capabilities import check_capability
from kernelcast.ptx_frontend.spirv.module.constant_expressions import ConstantExpressions
from kernelcast.ptx_frontend.spirv.module.constants import is_constant, read_constant
from kernelcast.ptx_frontend.spirv.module.decorations import Decoration, Decorations
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.type_reader import TypeReader
from kernelcast.ptx_frontend.spirv.module.types import (
    FunctionType,
    PointerType,
    SpirvType,
    StorageClass,
    VoidType,
)

__all__ = ["IMPORT", "ModuleReader"]

IMPORT = 1
"""The linkage of what another module defines."""
_IGNORED = (
    *("OpSource", "OpSourceContinued", "OpSourceExtension", "OpLine", "OpNoLine"),
    *("OpMemberName", "OpModuleProcessed", "OpNop", "OpExtension"),
)
_POINTER_BITS = {1: 32, 2: 64}
"""Bits of a pointer by addressing model: Physical32 and Physical64."""
_OPENCL_MEMORY_MODEL = 2
_KERNEL_MODEL = 6
_LOCAL_SIZE, _LOCAL_SIZE_ID = 17, 38
_IGNORED_SETS = ("OpenCL.DebugInfo.100", "SPIRV.debug", "DebugInfo", "NonSemantic.")


class ModuleReader:
    """Everything that functions refer to, by identifier."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.decorations = Decorations()
        self.types = TypeReader(self.decorations, self.names, self._array_length)
        self.entry_points: dict[int, str] = {}
        self.extended_sets: dict[int, str] = {}
        self.builtin_variables: dict[int, BuiltInVariable] = {}
        self.strings: dict[int, str] = {}
        self.variables: list[str] = []
        """Lines of LLVM IR."""
        self.symbols = NameSpace()
        self._local_sizes: dict[int, tuple[tuple[int, ...], bool]] = {}
        self._values: dict[int, Value] = {}
        self._expressions = ConstantExpressions(self.types, self.value)
        self._readers: dict[str, Callable[[Instruction], None]] = {
            "OpCapability": lambda x: check_capability(x.operand(0)),
            "OpExtInstImport": self._extended_set,
            "OpMemoryModel": self._memory_model,
            "OpEntryPoint": self._entry_point,
            "OpExecutionMode": self._execution_mode,
            "OpExecutionModeId": self._execution_mode,
            "OpName": self._name,
            "OpString": self._string,
            "OpVariable": self._variable,
            "OpUndef": self._undefined,
            "OpSpecConstantOp": self._expression,
            "OpExtInst": self._debug_information,
        }

    def read(self, instruction: Instruction) -> None:
        """Takes one instruction outside of functions.

        A type, constant or variable that is not supported refuses the functions that use it.
        """
        try:
            self._take(instruction)
        except SpirvProblem as problem:
            is_setting = not instruction.result or instruction.name == "OpExtInstImport"
            if is_setting or not problem.is_unsupported:
                raise
            known = problem.at(instruction.offset, instruction.name)
            self.types.refused[instruction.result] = known

    def _take(self, instruction: Instruction) -> None:
        if instruction.name in _IGNORED or self.decorations.read(instruction):
            return
        if self.types.read(instruction):
            return
        if is_constant(instruction):
            type_ = self.types.type(instruction.type_id)
            self._values[instruction.result] = read_constant(instruction, type_, self.value)
            return
        reader = self._readers.get(instruction.name)
        if reader is None:
            raise SpirvProblem(
                f"{instruction.name} outside of a function is not supported", is_unsupported=True
            )
        reader(instruction)

    def value(self, identifier: int) -> Value:
        """A constant or variable of the module."""
        found = self._values.get(identifier)
        if identifier in self.types.refused:
            raise self.types.refused[identifier]
        if identifier in self.builtin_variables:
            raise SpirvProblem("a built-in variable is not loaded as a whole", is_unsupported=True)
        if found is None:
            raise SpirvProblem(f"%{identifier} is not defined before its use")
        return found

    def has_value(self, identifier: int) -> bool:
        """Whether the identifier is a constant, a variable or built in."""
        return identifier in self._values or identifier in self.builtin_variables

    def whole_number(self, identifier: int) -> int:
        """The value of an integer constant."""
        found = self.value(identifier).bits
        if found is None:
            raise SpirvProblem(f"%{identifier} is no integer constant")
        return found

    def is_debug_set(self, identifier: int) -> bool:
        """Whether an extended instruction set only describes the program."""
        return self.extended_sets.get(identifier, "").startswith(_IGNORED_SETS)

    def _array_length(self, identifier: int) -> int:
        return self.whole_number(identifier)

    def _extended_set(self, instruction: Instruction) -> None:
        name, _ = instruction.string(0)
        if name != "OpenCL.std" and not name.startswith(_IGNORED_SETS):
            raise SpirvProblem(f"instruction set {name!r} is not supported", is_unsupported=True)
        self.extended_sets[instruction.result] = name

    def _memory_model(self, instruction: Instruction) -> None:
        addressing, memory = instruction.operand(0), instruction.operand(1)
        if addressing not in _POINTER_BITS or memory != _OPENCL_MEMORY_MODEL:
            raise SpirvProblem(
                "only the addressing models Physical32 and Physical64 with the memory model "
                "OpenCL are supported",
                is_unsupported=True,
            )
        self.types.pointer_bits = _POINTER_BITS[addressing]

    def _entry_point(self, instruction: Instruction) -> None:
        model, function = instruction.operand(0), instruction.operand(1)
        name, _ = instruction.string(2)
        if model != _KERNEL_MODEL:
            raise SpirvProblem(f"entry point {name!r} is no kernel", is_unsupported=True)
        if function in self.entry_points:
            raise SpirvProblem(
                f"a function with two names, {self.entry_points[function]!r} and {name!r}, "
                "is not supported",
                is_unsupported=True,
            )
        self.entry_points[function] = name

    def _execution_mode(self, instruction: Instruction) -> None:
        function, mode = instruction.operand(0), instruction.operand(1)
        if mode in (_LOCAL_SIZE, _LOCAL_SIZE_ID):
            sizes = tuple(instruction.operand(x) for x in (2, 3, 4))
            self._local_sizes[function] = (sizes, mode == _LOCAL_SIZE_ID)

    def local_size(self, function: int) -> tuple[int, ...] | None:
        """The size of a thread block that an entry point requires."""
        sizes, are_identifiers = self._local_sizes.get(function, ((), False))
        return tuple(map(self.whole_number, sizes)) if are_identifiers else sizes or None

    def _name(self, instruction: Instruction) -> None:
        self.names[instruction.operand(0)] = instruction.string(1)[0]

    def _string(self, instruction: Instruction) -> None:
        self.strings[instruction.result] = instruction.string(0)[0]

    def _undefined(self, instruction: Instruction) -> None:
        type_ = self._value_type(instruction.type_id)
        self._values[instruction.result] = Value(type_, "undef")

    def _value_type(self, identifier: int) -> SpirvType:
        type_ = self.types.type(identifier)
        if isinstance(type_, VoidType | FunctionType):
            raise SpirvProblem(f"%{identifier} is no type of a value")
        return type_

    def _expression(self, instruction: Instruction) -> None:
        self._values[instruction.result] = self._expressions.value(instruction)

    def _debug_information(self, instruction: Instruction) -> None:
        if not self.is_debug_set(instruction.operand(0)):
            raise SpirvProblem("OpExtInst outside of a function is no debug information")

    def _variable(self, instruction: Instruction) -> None:
        type_ = self.types.type(instruction.type_id)
        if not isinstance(type_, PointerType):
            raise SpirvProblem("a variable is no pointer")
        identifier, held = instruction.result, self.types.pointee(type_)
        number = self.decorations.literal(identifier, Decoration.BUILT_IN)
        if number is not None:
            self.builtin_variables[identifier] = builtin_variable(number)
            return
        if type_.storage in (StorageClass.INPUT, StorageClass.FUNCTION, StorageClass.GENERIC):
            raise SpirvProblem("a variable of the module is in no memory of a module")
        linkage = self.decorations.linkage(identifier)
        wanted = linkage[0] if linkage else self.names.get(identifier, "")
        name = self.symbols.take(wanted, f"variable.{identifier}", is_symbol=True)
        self._values[identifier] = Value(type_, f"@{quoted(name)}")
        is_import = linkage is not None and linkage[1] == IMPORT
        initial = "" if is_import else " " + self._initial(instruction, held)
        visibility = "external" if is_import else "" if linkage else "internal"
        is_constant_ = self.decorations.has(identifier, Decoration.CONSTANT)
        kind = "constant" if is_constant_ or type_.space == 2 else "global"
        words = f"{visibility} addrspace({type_.space}) {kind} {held.text}{initial}".strip()
        self.variables.append(
            f"@{quoted(name)} = {words}, align {self.alignment(identifier, held)}"
        )

    def _initial(self, instruction: Instruction, held: SpirvType) -> str:
        if not instruction.operands[1:]:
            return "undef"
        initial = self.value(instruction.operand(1))
        if initial.type.text != held.text:
            raise SpirvProblem(f"a variable {held.text} begins as {initial.type.text}")
        return initial.text

    def alignment(self, identifier: int, held: SpirvType) -> int:
        """Bytes: as decorated, or the natural one."""
        decorated = self.decorations.literal(identifier, Decoration.ALIGNMENT)
        return checked_alignment(decorated) if decorated else held.align


def checked_alignment(align: int) -> int:
    """The alignment; SpirvProblem where it is no power of two."""
    if align & (align - 1) or not 0 < align < 1 << 32:
        raise SpirvProblem(f"an alignment of {align} bytes is no power of two")
    return align
