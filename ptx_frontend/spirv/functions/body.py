"""The function that is being written: its values, labels and lines of LLVM IR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kernelcast.ptx_frontend.spirv.functions.llvm_names import NameSpace, quoted
from kernelcast.ptx_frontend.spirv.functions.mangling import MangledParameter, mangled
from kernelcast.ptx_frontend.spirv.functions.values import Value
from kernelcast.ptx_frontend.spirv.module.binary import Instruction
from kernelcast.ptx_frontend.spirv.module.module_reader import ModuleReader
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.types import (
    FunctionType,
    PointerType,
    SpirvType,
    VoidType,
)

__all__ = ["Argument", "Body", "Declarations"]


class Declarations:
    """The functions that the module calls and does not define."""

    def __init__(self) -> None:
        self.lines: dict[str, str] = {}

    def declare(
        self, name: str, returned: str, parameters: Sequence[str], attributes: str = ""
    ) -> None:
        """Only once, however often a function is called."""
        convention = "" if name.startswith("llvm.") else "spir_func "
        line = f"declare {convention}{returned} @{quoted(name)}({', '.join(parameters)})"
        self.lines.setdefault(name, line + (f" {attributes}" if attributes else ""))


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a built-in function, with what its mangled name says besides the type."""

    value: Value
    is_signed: bool = True
    pointee: SpirvType | None = None
    qualifiers: str = ""


@dataclass(slots=True)
class _Phi:
    """Written when all edges are known."""

    line: int
    target: str
    type: SpirvType
    operands: tuple[int, ...]
    label: int


@dataclass
class Body:
    """`function_names` has the functions of the module by identifier."""

    module: ModuleReader
    declarations: Declarations
    function_names: dict[int, str]
    returned: SpirvType
    lines: list[str] = field(default_factory=list)
    label: int = 0
    """The basic block that is being written; 0 between two."""
    local_variables: set[int] = field(default_factory=set)
    builtin_loads: dict[int, int] = field(default_factory=dict)
    """Loads of built-in variables whose elements alone are used, with their variables."""
    aliases: dict[int, int] = field(default_factory=dict)
    """Casts that leave a pointer as it is, with what they cast."""
    sampled_images: dict[int, tuple[Value, Value]] = field(default_factory=dict)
    """Images with their samplers."""
    samplers: dict[tuple[int, int], Value] = field(default_factory=dict)
    """Constant samplers, by basic block and identifier."""
    _values: dict[int, Value] = field(default_factory=dict)
    _names: dict[int, str] = field(default_factory=dict)
    _space: NameSpace = field(default_factory=NameSpace)
    _phis: list[_Phi] = field(default_factory=list)
    _edges: dict[tuple[int, int], int] = field(default_factory=dict)
    _labels: set[int] = field(default_factory=set)

    def name(self, identifier: int) -> str:
        """The local name of a value or basic block, defined already or not."""
        found = self._names.get(identifier)
        if found is None:
            wanted = self.module.names.get(identifier, "")
            found = f"%{self._space.take(wanted, f'v{identifier}')}"
            self._names[identifier] = found
        return found

    def value(self, identifier: int) -> Value:
        """A value that is defined already."""
        found = self._values.get(identifier)
        return self.module.value(identifier) if found is None else found

    def operand(self, instruction: Instruction, index: int) -> Value:
        """The value of an operand."""
        return self.value(instruction.operand(index))

    def set_value(self, identifier: int, value: Value) -> None:
        """Defines an identifier; SpirvProblem for one that is defined already."""
        if identifier in self._values or self.module.has_value(identifier):
            raise SpirvProblem(f"%{identifier} is defined twice")
        self._values[identifier] = value

    def result_type(self, instruction: Instruction) -> SpirvType:
        """The type of an instruction's result; SpirvProblem for a type that no value has."""
        type_ = self.module.types.type(instruction.type_id)
        if isinstance(type_, VoidType | FunctionType):
            raise SpirvProblem(f"{instruction.name} gives a value of type {type_.text}")
        return type_

    def pointee(self, pointer: Value) -> SpirvType:
        """The type that a pointer points to; SpirvProblem for another value."""
        if not isinstance(pointer.type, PointerType):
            raise SpirvProblem(f"{pointer.text} is no pointer")
        return self.module.types.pointee(pointer.type)

    def emit(self, line: str) -> None:
        """Appends a line of LLVM IR."""
        self.lines.append(f"  {line}")

    def define(self, instruction: Instruction, expression: str) -> Value:
        """The result of the instruction: `%name = expression`."""
        made = Value(self.result_type(instruction), self.name(instruction.result))
        self.set_value(instruction.result, made)
        self.emit(f"{made.text} = {expression}")
        return made

    def compute(self, type_: SpirvType, expression: str) -> Value:
        """A value between two instructions."""
        made = Value(type_, f"%{self._space.take('t', 't')}")
        self.emit(f"{made.text} = {expression}")
        return made

    def begin_block(self, instruction: Instruction) -> None:
        """Begins a basic block; SpirvProblem inside of another or for a label used twice."""
        if self.label:
            raise SpirvProblem("a basic block begins before the one before it ended")
        if instruction.result in self._labels:
            raise SpirvProblem(f"%{instruction.result} is defined twice")
        self._labels.add(instruction.result)
        self.label = instruction.result
        self.lines.append(f"{self.name(instruction.result)[1:]}:")

    def end_block(self, line: str, *targets: int) -> None:
        """Writes the last instruction, which may lead to `targets`."""
        self.emit(line)
        for target in targets:
            edge = (self.label, target)
            self._edges[edge] = self._edges.get(edge, 0) + 1
        self.label = 0

    def add_phi(self, instruction: Instruction) -> None:
        """Begins a phi, whose operands are written when all values are known."""
        type_ = self.result_type(instruction)
        made = Value(type_, self.name(instruction.result))
        self.set_value(instruction.result, made)
        self.emit("")
        phi = _Phi(len(self.lines) - 1, made.text, type_, instruction.operands, self.label)
        self._phis.append(phi)

    def finish(self) -> list[str]:
        """The lines of all basic blocks."""
        if self.label:
            raise SpirvProblem("a function ends within a basic block")
        for _, target in self._edges:
            if target not in self._labels:
                raise SpirvProblem(f"a branch leads to %{target}, which is no basic block")
        for phi in self._phis:
            self.lines[phi.line] = f"  {phi.target} = phi {phi.type.text} {self._incoming(phi)}"
        return self.lines

    def _incoming(self, phi: _Phi) -> str:
        """One entry an edge: SPIR-V has one a predecessor."""
        known: dict[int, str] = {}
        for value, label in zip(phi.operands[::2], phi.operands[1::2], strict=False):
            incoming = self.value(value)
            if incoming.type.text != phi.type.text or label not in self._labels:
                raise SpirvProblem(f"OpPhi of {phi.type.text} takes {incoming.typed} from %{label}")
            known[label] = f"[ {incoming.text}, {self.name(label)} ]"
        if len(phi.operands) % 2 or not known:
            raise SpirvProblem("OpPhi has too few operands")
        times = {label: self._edges.get((label, phi.label), 1) for label in known}
        return ", ".join(known[label] for label in known for _ in range(times[label]))

    def call(
        self, name: str, returned: SpirvType, arguments: Sequence[Value], attributes: str = ""
    ) -> str:
        """The expression of a call of a function of another module."""
        self.declarations.declare(name, returned.text, [x.type.text for x in arguments], attributes)
        convention = "" if name.startswith("llvm.") else "spir_func "
        shown = ", ".join(x.typed for x in arguments)
        return f"call {convention}{returned.text} @{quoted(name)}({shown})"

    def call_builtin(
        self, name: str, returned: SpirvType, arguments: Sequence[Argument], attributes: str = ""
    ) -> str:
        """The expression of a call of a function of OpenCL C."""
        parameters = [
            MangledParameter(x.value.type, x.is_signed, x.pointee, x.qualifiers) for x in arguments
        ]
        symbol = mangled(name, parameters)
        return self.call(symbol, returned, [x.value for x in arguments], attributes)
