"""Basic blocks, branches, calls and returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kernelcast.ptx_frontend.spirv.functions.body import Body
from kernelcast.ptx_frontend.spirv.functions.llvm_names import quoted
from kernelcast.ptx_frontend.spirv.module.binary import Instruction
from kernelcast.ptx_frontend.spirv.module.constants import integer
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.types import BoolType, IntType, VoidType

__all__ = ["CONTROL"]

_Handler = Callable[[Body, Instruction], None]


def _label(body: Body, instruction: Instruction) -> None:
    body.begin_block(instruction)


def _phi(body: Body, instruction: Instruction) -> None:
    body.add_phi(instruction)


def _branch(body: Body, instruction: Instruction) -> None:
    target = instruction.operand(0)
    body.end_block(f"br label {body.name(target)}", target)


def _conditional_branch(body: Body, instruction: Instruction) -> None:
    condition = body.operand(instruction, 0)
    if not isinstance(condition.type, BoolType):
        raise SpirvProblem("the condition of a branch is no Boolean")
    targets = instruction.operand(1), instruction.operand(2)
    shown = ", ".join(f"label {body.name(x)}" for x in targets)
    body.end_block(f"br {condition.typed}, {shown}", *targets)


def _switch(body: Body, instruction: Instruction) -> None:
    """Literals take as many words as the selector; between the cases stand the targets."""
    selector, default = body.operand(instruction, 0), instruction.operand(1)
    if not isinstance(selector.type, IntType):
        raise SpirvProblem("the selector of OpSwitch is no integer")
    literal_words = 2 if selector.type.bits == 64 else 1
    words = instruction.operands[2:]
    step = literal_words + 1
    if len(words) % step:
        raise SpirvProblem("OpSwitch has a case without a target")
    cases: dict[str, int] = {}
    for start in range(0, len(words), step):
        literal = sum(x << 32 * n for n, x in enumerate(words[start : start + literal_words]))
        cases.setdefault(integer(selector.type, literal).typed, words[start + literal_words])
    shown = " ".join(f"{literal}, label {body.name(target)}" for literal, target in cases.items())
    line = f"switch {selector.typed}, label {body.name(default)} [ {shown} ]"
    body.end_block(line, default, *cases.values())


def _return(body: Body, instruction: Instruction) -> None:
    if not isinstance(body.returned, VoidType):
        raise SpirvProblem("OpReturn in a function that gives a value")
    body.end_block("ret void")


def _return_value(body: Body, instruction: Instruction) -> None:
    value = body.operand(instruction, 0)
    if value.type.text != body.returned.text:
        raise SpirvProblem(f"a function {body.returned.text} returns {value.type.text}")
    body.end_block(f"ret {value.typed}")


def _unreachable(body: Body, _instruction: Instruction) -> None:
    body.end_block("unreachable")


def _call(body: Body, instruction: Instruction) -> None:
    """Writes a call, of which LLVM needs no more than the types of the arguments."""
    name = body.function_names.get(instruction.operand(0))
    if name is None:
        raise SpirvProblem(f"%{instruction.operand(0)} is no function")
    arguments = [body.value(x) for x in instruction.operands[1:]]
    returned = body.module.types.type(instruction.type_id)
    shown = ", ".join(x.typed for x in arguments)
    expression = f"call spir_func {returned.text} @{quoted(name)}({shown})"
    if isinstance(returned, VoidType):
        body.emit(expression)
    else:
        body.define(instruction, expression)


def _hint(_body: Body, _instruction: Instruction) -> None:
    """Writes nothing: a hint changes nothing."""


def _expectation(body: Body, instruction: Instruction) -> None:
    """The value, whatever was expected of it."""
    body.set_value(instruction.result, body.operand(instruction, 0))


CONTROL: Mapping[str, _Handler] = {
    "OpLabel": _label,
    "OpPhi": _phi,
    "OpBranch": _branch,
    "OpBranchConditional": _conditional_branch,
    "OpSwitch": _switch,
    "OpReturn": _return,
    "OpReturnValue": _return_value,
    "OpUnreachable": _unreachable,
    "OpFunctionCall": _call,
    "OpExpectKHR": _expectation,
    "OpAssumeTrueKHR": _hint,
    "OpSelectionMerge": _hint,
    "OpLoopMerge": _hint,
    "OpNop": _hint,
    "OpLine": _hint,
    "OpNoLine": _hint,
}
