"""The syntax tree of a file to kernels in the intermediate representation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from kernelcast.errors import SourceSpan, UnsupportedInstruction
from kernelcast.ptx_frontend.ptx.asynchronous.roots import is_asynchronous, lower_asynchronous
from kernelcast.ptx_frontend.ptx.calls.call_lowering import CallLowering
from kernelcast.ptx_frontend.ptx.calls.calls import buffer_access, lower_parameter_access
from kernelcast.ptx_frontend.ptx.calls.stack import STACK, lower_stack
from kernelcast.ptx_frontend.ptx.legal.hints import HINT_ROOTS
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.compute import lower_compute
from kernelcast.ptx_frontend.ptx.lowering.control import CONTROL, instruction_count
from kernelcast.ptx_frontend.ptx.lowering.guards import go_round
from kernelcast.ptx_frontend.ptx.lowering.memory import (
    is_vector_atomic,
    lower_atomic,
    lower_hint,
    lower_load,
    lower_store,
    lower_vector_atomic,
)
from kernelcast.ptx_frontend.ptx.lowering.names import ModuleNames, Names
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.lowering.parameters import parameter_symbols, place_parameters
from kernelcast.ptx_frontend.ptx.lowering.scopes import Scope
from kernelcast.ptx_frontend.ptx.lowering.special_moves import is_special_move, lower_special_move
from kernelcast.ptx_frontend.ptx.lowering.variables import MemoryLayout, is_dynamic, lay_out
from kernelcast.ptx_frontend.ptx.lowering.vector_registers import (
    is_vector_move,
    lower_vector_move,
    with_elements,
)
from kernelcast.ptx_frontend.ptx.lowering.video import VIDEO_ROOTS, lower_video
from kernelcast.ptx_frontend.ptx.lowering.warp import is_warp_operation, lower_warp_operation
from kernelcast.ptx_frontend.ptx.lowering.wide_atomics import is_wide_atomic, lower_wide_atomic
from kernelcast.ptx_frontend.ptx.matrix.roots import MATRIX_ROOTS, lower_matrix
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.ptx_frontend.ptx.text.source import SourceText
from kernelcast.ptx_frontend.ptx.textures.objects import takes_object
from kernelcast.ptx_frontend.ptx.textures.roots import TEXTURES, lower_texture_instruction
from kernelcast.simcore.host.deadline import watched
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    Fence,
    Guard,
    Kernel,
    Load,
    Module,
    Parameter,
    Store,
    Straight,
)

__all__ = ["lower"]

_MEMORY: dict[str, Callable[[Site], Load | Store | Atomic | Fence]] = {
    "ld": lower_load,
    "ldu": lower_load,
    "st": lower_store,
    **dict.fromkeys(HINT_ROOTS, lower_hint),
}


_MOST_REFUSALS = 100
_NO_UNROLLING = "nounroll"
"""The most refusals of a kernel: whoever mends that many looks again anyway."""


def lower(module: syntax.ModuleSyntax, source: SourceText) -> Module:
    """All kernels of a file; an unsupported instruction rejects its own kernel only."""
    names = ModuleNames(source, _by_name(module.variables, source), _functions(module))
    files = {file.index: file.path for file in module.files}
    kernels: dict[str, Kernel] = {}
    rejected: dict[str, tuple[Exception, ...]] = {}
    for function in module.functions:
        if not function.is_entry or function.body is None:
            continue
        if function.name in kernels or function.name in rejected:
            raise source.error(
                f"entry {function.name!r} is defined twice", function.at, len(function.name)
            )
        lowering = _KernelLowering(function, names, files)
        kernel = lowering.kernel(module.target)
        if kernel is None:
            rejected[function.name] = tuple(lowering.refusals)
        else:
            kernels[function.name] = replace(kernel, is_for_debugging=module.is_for_debugging)
    return Module(source.path, kernels, rejected)


def _functions(module: syntax.ModuleSyntax) -> dict[str, syntax.Function]:
    """Functions by name; a definition takes the place of a declaration."""
    found: dict[str, syntax.Function] = {}
    for function in module.functions:
        if function.body is not None or function.name not in found:
            found[function.name] = function
    for alias in module.aliases:
        if alias.function in found:
            found[alias.name] = found[alias.function]
    return found


def _by_name(
    variables: Iterable[syntax.VariableDeclaration], source: SourceText
) -> dict[str, syntax.VariableDeclaration]:
    """Module variables; a definition takes the place of an `.extern` declaration."""
    found: dict[str, syntax.VariableDeclaration] = {}
    for variable in variables:
        before = found.get(variable.name)
        if before is not None and "extern" not in (before.linkage, variable.linkage):
            raise source.error(
                f"variable {variable.name!r} is declared twice", variable.at, len(variable.name)
            )
        if before is None or before.linkage == "extern":
            found[variable.name] = variable
    return found


class _KernelLowering:
    """Lowers one entry; `refusals` holds what keeps it from running."""

    def __init__(
        self, function: syntax.Function, module: ModuleNames, files: Mapping[int, str]
    ) -> None:
        self._function = function
        self._source = module.source
        self._files = files
        self.refusals: list[UnsupportedInstruction] = []
        self._names = Names(module)
        start = module.source.span(function.at, len(function.name))
        self._builder = BasicBlockBuilder(start, self._names.file)
        self._targets: frozenset[str] = frozenset()
        self._pc = 0
        self._target = ""
        self._calls = CallLowering(self._names, self._builder)
        self._origin: SourceSpan | None = None

    def kernel(self, target: str) -> Kernel | None:
        """The kernel; None when `refusals` has reasons why it cannot run."""
        body = self._function.body or ()
        self._target = target
        self._targets = frozenset(_branch_targets(body))
        try:
            parameters = place_parameters(self._function.parameters, self._source)
            self._names.parameters = {p.name: p for p in parameters}
            self._statements(body)
            self._called_functions()
            opaque = sorted(self._names.opaque.items(), key=lambda item: item[0].at)
            parameters += tuple(parameter for _, parameter in opaque)
            functions = self._names.module.function_addresses
            layout = lay_out(self._names.used, functions, self._source)
        except UnsupportedInstruction as refusal:
            self._refuse(refusal)
        return None if self.refusals else self._assembled(target, parameters, layout)

    def _called_functions(self) -> None:
        """The bodies of the functions that are not inlined."""
        self._builder.exit()
        for called in self._calls.stack.bodies():
            body = called.function.body or ()
            self._origin, self._targets = None, frozenset(_branch_targets(body))
            self._calls.begin_body(called)
            self._statements(body)
            self._calls.end_body(called)
        if not self.refusals:
            self._calls.stack.finish()

    def _assembled(
        self, target: str, parameters: tuple[Parameter, ...], layout: MemoryLayout
    ) -> Kernel:
        names, performance = self._names, self._function.performance
        addressed = parameter_symbols(parameters, names.addressed_parameters)
        return Kernel(
            name=self._function.name,
            blocks=self._builder.finish(),
            registers=tuple(names.file.registers),
            parameters=parameters,
            symbols={**layout.symbols, **addressed},
            shared_bytes=layout.shared_bytes,
            local_bytes=layout.local_bytes,
            target=target,
            max_threads=performance.max_threads,
            required_threads=performance.required_threads,
            max_registers=performance.max_registers,
            required_cluster=performance.required_cluster,
            uses_dynamic_shared=any(is_dynamic(variable) for variable in names.used.values()),
        )

    def _statements(self, statements: tuple[syntax.Statement, ...]) -> None:
        self._declare_labels(statements)
        for statement in watched(statements, f"reading {self._source.path}"):
            if len(self.refusals) >= _MOST_REFUSALS or self._is_too_long():
                return
            try:
                self._statement(statement)
            except UnsupportedInstruction as refusal:
                self._refuse(refusal)

    def _is_too_long(self) -> bool:
        """Refuses a kernel of too many instructions, at its name."""
        excess = self._builder.excess()
        if excess:
            self._refuse(UnsupportedInstruction(excess, self._builder.start))
        return bool(excess)

    def _refuse(self, refusal: UnsupportedInstruction) -> None:
        """Every reason once, at the first place."""
        if all(refusal.message != known.message for known in self.refusals):
            self.refusals.append(refusal)

    def _declare_labels(self, statements: tuple[syntax.Statement, ...]) -> None:
        for statement in statements:
            if isinstance(statement, syntax.LabelStatement):
                block = self._builder.new(statement.name)
                self._names.scope.declare_label(statement.name, block, statement.at)

    def _statement(self, statement: syntax.Statement) -> None:
        match statement:
            case syntax.InstructionStatement():
                self._instruction(statement)
            case syntax.LabelStatement():
                self._label(statement)
            case syntax.PragmaStatement() if _NO_UNROLLING in statement.text:
                self._builder.keep_rolled()
            case syntax.LocationStatement():
                self._origin = self._located(statement)
            case syntax.RegisterDeclaration():
                self._names.scope.declare_registers(statement)
            case syntax.VariableDeclaration():
                self._names.scope.declare_variable(statement)
                self._calls.declare_local(statement)
            case syntax.LabelledList() if not statement.is_calls:
                self._names.branch_targets[statement.name] = statement.targets
            case syntax.Scope():
                self._nested(statement)

    def _nested(self, statement: syntax.Scope) -> None:
        outer = self._names.scope
        self._names.scope = Scope(self._source, self._names.file, outer)
        self._statements(statement.statements)
        self._names.scope = outer

    def _label(self, statement: syntax.LabelStatement) -> None:
        """Only labels that branches name begin a basic block; compilers write many others."""
        if statement.name in self._targets:
            block = self._names.scope.label(statement.name)
            assert block is not None
            self._builder.place(block)

    def _located(self, statement: syntax.LocationStatement) -> SourceSpan | None:
        """Line 0 says that the following instructions come from nowhere."""
        path = self._files.get(statement.file)
        if path is None:
            raise self._source.error(
                f"'.loc' names file {statement.file}, which no '.file' declares",
                statement.at,
                len(".loc"),
            )
        return (
            SourceSpan(path, statement.line, max(1, statement.column)) if statement.line else None
        )

    def _instruction(self, statement: syntax.InstructionStatement) -> None:
        root = statement.mnemonic.split(".", 1)[0]
        at = statement.at if statement.guard is None else self._mnemonic_offset(statement)
        if self._names.file.has_vectors:
            statement = with_elements(statement, self._names.scope)
        span = self._source.span(at, len(statement.mnemonic))
        guard = self._guard(statement)
        site = Site(self._names, statement, self._pc, span, self._origin, guard)
        if is_warp_operation(statement.mnemonic):
            self._append(lower_warp_operation(site))
        elif is_asynchronous(statement.mnemonic, root):
            lower_asynchronous(site, self._builder)
            self._pc += 1
        elif (control := CONTROL.get(root)) is not None:
            self._pc += instruction_count(site)
            control(site, self._builder, self._function.performance.required_threads)
        elif root in ("ld", "st") and (accessed := buffer_access(site)) is not None:
            variable, offset = accessed
            self._append(lower_parameter_access(site, self._calls.buffer(variable), offset))
        elif root in ("atom", "red"):
            self._atomic(site)
        elif (memory := _MEMORY.get(root)) is not None:
            self._builder.append(memory(site))
            self._pc += 1
        elif root == "call":
            self._call(site)
        elif root in MATRIX_ROOTS:
            lower_matrix(site, self._builder, self._target)
            self._pc += 1
        elif root in STACK:
            lower_stack(site, self._builder, self._calls.stack)
            self._pc += 1
        elif (lower_own := _lowering_of_its_own(site, root)) is not None:
            lower_own(site, self._builder)
            self._pc += 1
        else:
            self._append(lower_video(site) if root in VIDEO_ROOTS else lower_compute(site))

    def _append(self, instructions: Iterable[Straight]) -> None:
        for instruction in instructions:
            self._builder.append(instruction)
            self._pc += 1

    def _atomic(self, site: Site) -> None:
        """Lowers an atomic; of a vector, the first element's counts as the instruction."""
        if is_wide_atomic(site.mnemonic):
            lower_wide_atomic(site, self._builder)
            self._pc += 1
            return
        first, *others = (
            lower_vector_atomic(site) if is_vector_atomic(site) else [lower_atomic(site)]
        )
        self._builder.append(first)
        for atomic in others:
            self._builder.append(replace(atomic, pc=self._builder.added_pc(), is_added=True))
        self._pc += 1

    def _call(self, site: Site) -> None:
        """Inlines a function, or calls one."""
        following = self._builder.new()
        go_round(site, self._builder, following)
        function = self._calls.enter(site)
        self._pc += 1
        if function is not None:
            origin, targets = self._origin, self._targets
            self._targets = frozenset(_branch_targets(function.body or ()))
            self._statements(function.body or ())
            self._calls.leave(self._pc)
            self._origin, self._targets = origin, targets
        self._builder.place(following)

    def _mnemonic_offset(self, statement: syntax.InstructionStatement) -> int:
        return self._source.text.index(statement.mnemonic.split(".", 1)[0], statement.at)

    def _guard(self, statement: syntax.InstructionStatement) -> Guard | None:
        if statement.guard is None:
            return None
        register = self._names.register(statement.guard, statement.at)
        if register.bits != 1:
            raise self._source.error(
                f"the guard {statement.guard!r} is no predicate",
                self._source.text.index(statement.guard, statement.at),
                len(statement.guard),
            )
        return Guard(register, statement.guard_negated)


def _lowering_of_its_own(site: Site, root: str) -> Callable[[Site, BasicBlockBuilder], None] | None:
    """The lowering of textures, and of moves that are none of one register."""
    if root in TEXTURES or (root == "mov" and takes_object(site)):
        return lower_texture_instruction
    if root == "mov" and is_vector_move(site):
        return lower_vector_move
    if root == "mov" and is_special_move(site):
        return lower_special_move
    return None


def _branch_targets(statements: Iterable[syntax.Statement]) -> Iterable[str]:
    for statement in statements:
        if isinstance(statement, syntax.Scope):
            yield from _branch_targets(statement.statements)
        elif isinstance(statement, syntax.LabelledList):
            yield from statement.targets
        elif isinstance(statement, syntax.InstructionStatement) and statement.mnemonic[:3] == "bra":
            for operand in statement.operands:
                if isinstance(operand, syntax.NameOperand):
                    yield operand.name
