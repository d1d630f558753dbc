"""A whole module of SPIR-V as the text of a module of LLVM IR."""

from __future__ import annotations

from kernelcast.ptx_frontend.spirv.functions.body import Declarations
from kernelcast.ptx_frontend.spirv.functions.functions import (
    FunctionInstructions,
    function_lines,
    refused_lines,
)
from kernelcast.ptx_frontend.spirv.module.binary import Instruction, module_words
from kernelcast.ptx_frontend.spirv.module.module_reader import IMPORT, ModuleReader
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.source_lines import (
    MetadataNodes,
    SourceLines,
    quoted_text,
)
from kernelcast.ptx_frontend.spirv.module.types import ImageType, SamplerType

__all__ = ["Translation"]

_TARGETS = {
    32: (
        "spir-unknown-unknown",
        "e-p:32:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024",
    ),
    64: (
        "spir64-unknown-unknown",
        "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024",
    ),
}
"""Triple and data layout by the width of pointers."""
_FORWARDING = ("OpLabel", "OpFunctionCall", "OpReturn")


class Translation:
    """One module. `instruction` is the one that is being read, for the place of a problem."""

    def __init__(self) -> None:
        self.instruction: Instruction | None = None
        self._module = ModuleReader()
        self._declarations = Declarations()
        self._functions: list[FunctionInstructions] = []
        self._nodes = MetadataNodes()
        self._unit: list[int] = []

    def text(self, data: bytes) -> str:
        """LLVM IR; SpirvProblem for what is malformed or not supported."""
        self._read(data)
        self.instruction = None
        kernels = self._kernels()
        names = self._names(kernels)
        lines: list[str] = []
        for function in self._functions:
            name = names.get(function.identifier)
            if name is None or not function.body:
                continue
            entry = kernels.get(function.identifier)
            attachment = None if entry is None else self._attachment(entry, function)
            lines += [*self._function(function, names, attachment), ""]
        defined = {names[x.identifier] for x in self._functions if x.body and x.identifier in names}
        declared = self._declarations.lines
        lines += [line for name, line in declared.items() if name not in defined]
        return "\n".join([*self._head(), *lines, *self._nodes.lines(), ""])

    def _function(
        self, function: FunctionInstructions, names: dict[int, str], attachment: str | None
    ) -> list[str]:
        """The function, or why it cannot be executed."""
        places = SourceLines(self._nodes, self._module.strings, self._unit)
        try:
            return function_lines(
                self._module, self._declarations, function, names, attachment, self._at, places
            )
        except SpirvProblem as problem:
            if not problem.is_unsupported:
                raise
            at = self.instruction or function.head
            text = quoted_text(problem.at(at.offset, at.name).message)
            reason = self._nodes.add(f"!{{!{text}}}")
            return refused_lines(names[function.identifier], attachment, reason)

    def _at(self, instruction: Instruction) -> None:
        self.instruction = instruction

    def _read(self, data: bytes) -> None:
        """The module outside of functions, and the functions as they are."""
        current: FunctionInstructions | None = None
        for instruction in module_words(data).instructions():
            self._at(instruction)
            if instruction.name == "OpFunction":
                if current is not None:
                    raise SpirvProblem("a function begins within another one")
                current = FunctionInstructions(instruction)
                self._functions.append(current)
            elif current is None:
                self._module.read(instruction)
            elif instruction.name == "OpFunctionEnd":
                current = None
            elif instruction.name == "OpFunctionParameter":
                if current.body:
                    raise SpirvProblem("a parameter stands within the body of a function")
                current.parameters.append(instruction)
            elif current.body or instruction.name not in ("OpLine", "OpNoLine"):
                current.body.append(instruction)
        if current is not None:
            raise SpirvProblem("the module ends within a function")

    def _kernels(self) -> dict[int, int]:
        """Entry points by the function that is their body.

        An entry point that only calls a function with its own parameters is that function.
        """
        bodies = {x.identifier: x for x in self._functions}
        if len(bodies) != len(self._functions):
            raise SpirvProblem("a function is defined twice")
        found: dict[int, int] = {}
        for entry in self._module.entry_points:
            if entry not in bodies or not bodies[entry].body:
                raise SpirvProblem(f"the entry point %{entry} has no body")
            target = _forwarded(bodies[entry])
            is_free = target in bodies and bodies[target].body and target not in found
            if is_free and target not in self._module.entry_points:
                found[target] = entry
            else:
                found[entry] = entry
        return found

    def _names(self, kernels: dict[int, int]) -> dict[int, str]:
        """Names of functions, those of kernels first; forwarding entry points have none."""
        module = self._module
        names = {
            function: module.symbols.take(module.entry_points[entry], "kernel", is_symbol=True)
            for function, entry in kernels.items()
        }
        for function in self._functions:
            identifier = function.identifier
            if identifier in names or identifier in module.entry_points:
                continue
            linkage = module.decorations.linkage(identifier)
            if (linkage is not None and linkage[1] == IMPORT) or not function.body:
                names[identifier] = self._imported(function, linkage[0] if linkage else "")
            else:
                wanted = linkage[0] if linkage else module.names.get(identifier, "")
                otherwise = f"function.{identifier}"
                names[identifier] = module.symbols.take(wanted, otherwise, is_symbol=True)
        return names

    def _imported(self, function: FunctionInstructions, name: str) -> str:
        """Functions of other modules, built-in ones among them, keep their names."""
        self._at(function.head)
        if not name:
            raise SpirvProblem(f"function %{function.identifier} has neither a body nor a name")
        types = self._module.types
        used = (function.head.type_id, *(x.type_id for x in function.parameters))
        if any(x in types.refused for x in used):
            return name  # whoever calls it is refused for the type
        parameters = [types.type(x.type_id).text for x in function.parameters]
        returned = types.type(function.head.type_id).text
        self._declarations.declare(name, returned, parameters)
        return name

    def _attachment(self, entry: int, function: FunctionInstructions) -> str:
        """What the execution modes require of a launch, and which parameters are images."""
        found = ""
        sizes = self._module.local_size(entry)
        if sizes is not None:
            number = self._nodes.add(f"!{{{', '.join(f'i32 {size}' for size in sizes)}}}")
            found = f" !reqd_work_group_size !{number}"
        names = [_object_name(self._module, x.type_id) for x in function.parameters]
        if any(names):
            text = ", ".join(f'!"{name}"' for name in names)
            found += f" !kernel_arg_type !{self._nodes.add(f'!{{{text}}}')}"
        return found

    def _head(self) -> list[str]:
        triple, layout = _TARGETS[self._module.types.pointer_bits]
        structs = self._module.types.struct_lines
        head = [f'target datalayout = "{layout}"', f'target triple = "{triple}"', *structs]
        return [*head, *self._module.variables, ""]


def _object_name(module: ModuleReader, identifier: int) -> str:
    """OpenCL C's name for the type of an image or a sampler; empty for others."""
    type_ = module.types.type(identifier)
    if isinstance(type_, ImageType):
        return type_.name.removeprefix("ocl_").rpartition("_")[0] + "_t"
    return "sampler_t" if isinstance(type_, SamplerType) else ""


def _forwarded(function: FunctionInstructions) -> int:
    """The function that it calls with its own parameters and does nothing else, or 0."""
    if tuple(x.name for x in function.body) != _FORWARDING:
        return 0
    call = function.body[1]
    same = call.operands[1:] == tuple(x.result for x in function.parameters)
    return call.operand(0) if same else 0
