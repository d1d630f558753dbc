"""A module of LLVM IR to kernels in the intermediate representation."""

from __future__ import annotations

import re

from kernelcast.errors import UnsupportedInstruction
from kernelcast.ptx_frontend.llvm.lowering.arithmetic import ARITHMETIC
from kernelcast.ptx_frontend.llvm.lowering.calls import lower_call
from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.ptx_frontend.llvm.lowering.control import CONTROL, declare_blocks, take_phis
from kernelcast.ptx_frontend.llvm.lowering.conversions import CONVERSIONS
from kernelcast.ptx_frontend.llvm.lowering.kernel_parameters import (
    place_parameters,
    take_parameters,
    type_names_of,
)
from kernelcast.ptx_frontend.llvm.lowering.memory import MEMORY
from kernelcast.ptx_frontend.llvm.lowering.scope import FunctionScope, KernelScope, Site
from kernelcast.ptx_frontend.llvm.lowering.variables import Variables
from kernelcast.ptx_frontend.llvm.lowering.vectors import VECTORS
from kernelcast.ptx_frontend.llvm.text.cursor import IrProblem
from kernelcast.ptx_frontend.llvm.text.locations import Locations
from kernelcast.ptx_frontend.llvm.text.reader import IrReader
from kernelcast.ptx_frontend.llvm.text.syntax import IrBlock, IrFunction, IrInstruction, IrModule
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.scopes import RegisterFile
from kernelcast.simcore.host.deadline import check_time
from kernelcast.simcore.isa.ir.kernel import Kernel, Module, Operand, Parameter, Register, Symbol

__all__ = ["lower"]

_TABLE = {**ARITHMETIC, **CONVERSIONS, **VECTORS, **MEMORY}
_NAMED_LATER = ("load", "store")
"""Opcodes that count under a name that their operands say."""
_MOST_REFUSALS = 100
_OLD_KERNELS = "opencl.kernels"
_NODE = re.compile(r"!(\d+)")
_SIZES = re.compile(r"i32 (\d+)")


def lower(reader: IrReader) -> Module:
    """All kernels of a module; what is not supported rejects the kernels that need it only."""
    module = reader.module()
    kernels: dict[str, Kernel] = {}
    rejected: dict[str, tuple[Exception, ...]] = {}
    for name in _kernel_names(module, reader):
        if name in reader.problems:
            rejected[name] = (reader.problems[name],)
            continue
        lowering = _KernelLowering(module, reader, module.functions[name])
        kernel = lowering.kernel()
        if kernel is None:
            rejected[name] = tuple(lowering.refusals)
        else:
            kernels[name] = kernel
    return Module(reader.path, kernels, rejected)


def _kernel_names(module: IrModule, reader: IrReader) -> list[str]:
    """Kernels by their calling convention, or by the list that old compilers wrote."""
    names = [function.name for function in module.functions.values() if function.is_kernel]
    names += [name for name in reader.refused_kernels if name not in names]
    for node in _NODE.findall(module.metadata.get(_OLD_KERNELS, "")):
        match = re.search(r'@("[^"]*"|[\w$.\-]+)', module.metadata.get(node, ""))
        name = match[1].strip('"') if match else ""
        if name not in names and (name in module.functions or name in reader.problems):
            names.append(name)
    return names


class _KernelLowering:
    """Lowers one kernel; `refusals` holds what keeps it from running."""

    def __init__(self, module: IrModule, reader: IrReader, function: IrFunction) -> None:
        self._reader = reader
        self._function = function
        self.refusals: list[UnsupportedInstruction] = []
        self._file = RegisterFile()
        self._builder = BasicBlockBuilder(reader.span(function.line), self._file)
        self._variables = Variables(module, reader.problems)
        node = module.metadata.get(function.attachments.get("reqd_work_group_size", ""), "")
        sizes = tuple(map(int, _SIZES.findall(node)))
        self._required = (sizes[0], sizes[1], sizes[2]) if len(sizes) == 3 else None
        self._scope = KernelScope(
            module,
            reader,
            self._variables,
            Code(self._builder),
            Locations(module.metadata),
            self._required,
        )

    def kernel(self) -> Kernel | None:
        """The kernel; None when `refusals` has reasons why it cannot run."""
        scope = FunctionScope(self._scope, self._function)
        try:
            names = type_names_of(self._function, self._scope.module.metadata)
            parameters = place_parameters(self._function.parameters, names)
            take_parameters(scope, parameters)
            self._body(scope)
            symbols = self._variables.symbols(self._reader.types)
        except (IrProblem, UnsupportedInstruction) as problem:
            self._refuse(problem, self._function.line)
        return None if self.refusals else self._assembled(parameters, symbols)

    def _assembled(self, parameters: tuple[Parameter, ...], symbols: dict[str, Symbol]) -> Kernel:
        return Kernel(
            name=self._function.name,
            blocks=self._builder.finish(),
            registers=tuple(self._file.registers),
            parameters=parameters,
            symbols=symbols,
            shared_bytes=self._variables.shared_bytes,
            local_bytes=self._variables.local_bytes,
            target="amdgcn" if self._reader.is_amd else "opencl",
            required_threads=self._required,
            uses_dynamic_shared=self._variables.has_dynamic_array
            or any(parameter.is_local_array for parameter in parameters),
        )

    def _body(self, scope: FunctionScope) -> None:
        """A function from its first basic block on."""
        declare_blocks(scope)
        of_first: dict[tuple[Operand, Operand, int], Register] | None = None
        labels = [block.label for block in scope.function.blocks]
        for block, following in zip(scope.function.blocks, [*labels[1:], ""], strict=True):
            scope.label, scope.following = block.label, following
            self._builder.place(scope.blocks[block.label])
            self._block(scope, block)
            if of_first is None:
                of_first = scope.sums
            scope.sums = dict(of_first)  # what the first one computes holds in all others

    def _block(self, scope: FunctionScope, block: IrBlock) -> None:
        take_phis(scope, block)
        check_time(f"reading {self._reader.path}")
        for instruction in block.instructions:
            if instruction.opcode == "phi":
                continue
            if excess := self._builder.excess():
                raise IrProblem(excess)
            if len(self.refusals) >= _MOST_REFUSALS:
                return
            try:
                self._instruction(scope, instruction)
            except (IrProblem, UnsupportedInstruction) as problem:
                self._refuse(problem, instruction.line)

    def _instruction(self, scope: FunctionScope, instruction: IrInstruction) -> None:
        site, opcode = Site(scope, instruction), instruction.opcode
        code = scope.code
        code.locate(site.span, self._scope.locations.place(instruction.location))
        if opcode == "call":
            lower_call(site, self._body)
        elif (control := CONTROL.get(opcode)) is not None:
            control(site)
        elif (write := _TABLE.get(opcode)) is not None:
            if opcode not in _NAMED_LATER:
                code.begin(opcode)
            write(site)
        else:
            raise IrProblem(f"instruction {opcode!r} is not supported")
        code.finish()

    def _refuse(self, problem: IrProblem | UnsupportedInstruction, line: int) -> None:
        """Every reason once, at the first place; what is no IR ends the whole module."""
        if isinstance(problem, UnsupportedInstruction):
            refusal = problem
        else:
            error = self._reader.error(problem, line)
            if not isinstance(error, UnsupportedInstruction):
                raise error
            refusal = error
        if all(refusal.message != known.message for known in self.refusals):
            self.refusals.append(refusal)
