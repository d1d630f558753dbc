"""Functions: their signatures, and what becomes of each instruction in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kernelcast.ptx_frontend.spirv.functions.arithmetic import ARITHMETIC
from kernelcast.ptx_frontend.spirv.functions.atomics import ATOMICS
from kernelcast.ptx_frontend.spirv.functions.block_order import in_order_of_dominance
from kernelcast.ptx_frontend.spirv.functions.body import Body, Declarations
from kernelcast.ptx_frontend.spirv.functions.composites import COMPOSITES
from kernelcast.ptx_frontend.spirv.functions.compound_arithmetic import COMPOUND_ARITHMETIC
from kernelcast.ptx_frontend.spirv.functions.control import CONTROL
from kernelcast.ptx_frontend.spirv.functions.conversions import CONVERSIONS
from kernelcast.ptx_frontend.spirv.functions.extended_instructions import write_extended
from kernelcast.ptx_frontend.spirv.functions.images import IMAGES
from kernelcast.ptx_frontend.spirv.functions.llvm_names import quoted
from kernelcast.ptx_frontend.spirv.functions.memory import MEMORY
from kernelcast.ptx_frontend.spirv.functions.sub_groups import SUB_GROUPS
from kernelcast.ptx_frontend.spirv.functions.synchronisation import SYNCHRONISATION
from kernelcast.ptx_frontend.spirv.functions.values import Value
from kernelcast.ptx_frontend.spirv.module.binary import Instruction
from kernelcast.ptx_frontend.spirv.module.decorations import Decoration
from kernelcast.ptx_frontend.spirv.module.module_reader import ModuleReader, checked_alignment
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.source_lines import SourceLines
from kernelcast.ptx_frontend.spirv.module.types import FunctionType, PointerType, SpirvType

__all__ = ["FunctionInstructions", "function_lines", "refused_lines"]

_TABLE: Mapping[str, Callable[[Body, Instruction], None]] = {
    **ARITHMETIC,
    **ATOMICS,
    **COMPOSITES,
    **COMPOUND_ARITHMETIC,
    **CONTROL,
    **CONVERSIONS,
    **IMAGES,
    **MEMORY,
    **SUB_GROUPS,
    **SYNCHRONISATION,
    "OpExtInst": write_extended,
}
_PARAMETER_ATTRIBUTES = {
    0: "zeroext",
    1: "signext",
    4: "noalias",
    5: "captures(none)",
    6: "readonly",
    7: "readnone",
}
_BETWEEN_BLOCKS = ("OpLabel", "OpLine", "OpNoLine", "OpNop")
_BY_VALUE, _STRUCT_RESULT = 2, 3
REFUSED = "kernelcast.refused"
"""The attachment of a function that cannot be executed: a text that says why."""


@dataclass(slots=True)
class FunctionInstructions:
    """`OpFunction`, its parameters and the rest; `body` is empty in a declaration."""

    head: Instruction
    parameters: list[Instruction] = field(default_factory=list)
    body: list[Instruction] = field(default_factory=list)

    @property
    def identifier(self) -> int:
        """The identifier of the function."""
        return self.head.result


def function_lines(
    module: ModuleReader,
    declarations: Declarations,
    function: FunctionInstructions,
    names: Mapping[int, str],
    attachment: str | None,
    at: Callable[[Instruction], None],
    places: SourceLines,
) -> list[str]:
    """The definition in LLVM IR.

    `attachment` is the metadata of a kernel; None makes a function that kernels call. `at` is told
    of every instruction before it is written, `places` of what it became.
    """
    at(function.head)
    type_ = _signature(module, function)
    body = Body(module, declarations, dict(names), type_.returned)
    _find_builtin_loads(body, function)
    parameters = _parameters(body, function, type_)
    convention = "spir_func" if attachment is None else "spir_kernel"
    head = f"{convention} {type_.returned.text} @{quoted(names[function.identifier])}"
    for instruction in in_order_of_dominance(function.body):
        at(instruction)
        write = _TABLE.get(instruction.name)
        if write is None:
            raise SpirvProblem(f"{instruction.name} is not supported", is_unsupported=True)
        if not body.label and instruction.name not in _BETWEEN_BLOCKS:
            raise SpirvProblem("an instruction stands outside of a basic block")
        first = len(body.lines)
        places.read(instruction)
        write(body, instruction)
        places.note(first, len(body.lines))
    lines = body.finish()
    if not function.body:
        raise SpirvProblem("a function without a body")
    source, lines = places.attach(names[function.identifier], lines)
    return [f"define {head}({', '.join(parameters)}){attachment or ''}{source} {{", *lines, "}"]


def refused_lines(name: str, attachment: str | None, reason: int) -> list[str]:
    """A function that cannot be called: metadata node `reason` says why."""
    convention = "spir_func" if attachment is None else "spir_kernel"
    head = f"{convention} void @{quoted(name)}(){attachment or ''} !{REFUSED} !{reason}"
    return [f"define {head} {{", "  unreachable", "}"]


def _signature(module: ModuleReader, function: FunctionInstructions) -> FunctionType:
    type_ = module.types.type(function.head.operand(1))
    if not isinstance(type_, FunctionType):
        raise SpirvProblem(f"the type of %{function.identifier} is no type of a function")
    if len(function.parameters) != len(type_.parameters):
        raise SpirvProblem(f"%{function.identifier} has not the parameters of its type")
    if module.types.type(function.head.type_id).text != type_.returned.text:
        raise SpirvProblem(f"%{function.identifier} has not the result of its type")
    return type_


def _parameters(body: Body, function: FunctionInstructions, signature: FunctionType) -> list[str]:
    """The parameters as LLVM declares them; those without a name stay without one."""
    shown = []
    unnamed = 0
    for parameter, type_ in zip(function.parameters, signature.parameters, strict=True):
        if body.module.names.get(parameter.result):
            name = body.name(parameter.result)
        else:
            name = f"%{unnamed}"
            unnamed += 1
        body.set_value(parameter.result, Value(type_, name))
        words = [type_.text, *_attributes(body.module, parameter.result, type_), name]
        shown.append(" ".join(words))
    return shown


def _attributes(module: ModuleReader, identifier: int, type_: SpirvType) -> list[str]:
    found: list[str] = []
    for number in module.decorations.literals(identifier, Decoration.FUNCTION_PARAMETER_ATTRIBUTE):
        if number in (_BY_VALUE, _STRUCT_RESULT) and isinstance(type_, PointerType):
            held = module.types.pointee(type_).text
            found.append(f"{'byval' if number == _BY_VALUE else 'sret'}({held})")
        elif number in _PARAMETER_ATTRIBUTES:
            found.append(_PARAMETER_ATTRIBUTES[number])
    align = module.decorations.literal(identifier, Decoration.ALIGNMENT)
    if align and isinstance(type_, PointerType):
        found.append(f"align {checked_alignment(align)}")
    return list(dict.fromkeys(found))


def _find_builtin_loads(body: Body, function: FunctionInstructions) -> None:
    """Loads of vectors of which all uses take one element: those call for that element alone."""
    variables = body.module.builtin_variables
    loads = {
        x.result: x.operand(0)
        for x in function.body
        if x.name == "OpLoad" and x.operand(0) in variables and variables[x.operand(0)].is_vector
    }
    for instruction in function.body:
        for identifier in _used_whole(instruction):
            loads.pop(identifier, None)
    body.builtin_loads.update(loads)


def _used_whole(instruction: Instruction) -> tuple[int, ...]:
    """The operands of which more than one element may matter, without most literals."""
    operands = instruction.operands
    if instruction.name == "OpVectorExtractDynamic":
        return operands[1:]
    if instruction.name == "OpCompositeExtract":
        return () if len(operands) == 2 else operands[:1]
    if instruction.name == "OpExtInst":
        return operands[2:]
    leading = {"OpLoad": 1, "OpStore": 2, "OpSwitch": 1}
    return operands[: leading.get(instruction.name, len(operands))]
