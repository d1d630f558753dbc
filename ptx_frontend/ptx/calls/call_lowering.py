"""Lowers calls: each inlined call gets registers, labels and variables of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kernelcast.errors import SourceSpan
from kernelcast.ptx_frontend.ptx.calls.added_instructions import AddedCode
from kernelcast.ptx_frontend.ptx.calls.call_stack import Activation, CalledFunction, CallStack
from kernelcast.ptx_frontend.ptx.calls.calls import (
    BUILT_IN,
    Call,
    ParameterBuffer,
    host_call,
    parsed_call,
)
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.names import Names
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.lowering.scopes import Scope
from kernelcast.ptx_frontend.ptx.lowering.variables import size_of
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.ptx_frontend.ptx.text.mnemonics import scalar_type
from kernelcast.ptx_frontend.ptx.text.syntax import RegisterDeclaration, VariableDeclaration
from kernelcast.simcore.isa.ir.kernel import (
    HEAP,
    HostFunction,
    Immediate,
    Jump,
    Parameter,
    Register,
)
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["CallLowering"]

_HEAP_BYTES = 8 << 20
"""What the CUDA runtime gives `malloc` by default."""
_MOST_INLINED = 1 << 14
"""Instructions of a kernel, from which on calls stay calls."""
_MOST_INLINED_IN_A_FILE = 1 << 17
_DEEPEST = 32
_HEAP_DECLARATION = VariableDeclaration(0, "global", "b8", HEAP, _HEAP_BYTES, 16)
_NO_FUNCTION = "the kernel called through a pointer that is no function with these parameters"


@dataclass(slots=True)
class _Frame:
    """A function whose body is being lowered, and what its caller goes on with."""

    function: syntax.Function | None
    activation: Activation
    buffers: dict[VariableDeclaration, ParameterBuffer] = field(default_factory=dict)
    outer_scope: Scope | None = None
    outer_parameters: dict[str, Parameter] = field(default_factory=dict)
    outer_return: int | None = None
    first_pc: int = 0
    top: Register | None = None
    """Keeps what `alloca` had taken before the call, where the function takes more."""


class CallLowering:
    """Keeps the functions that are being lowered, the innermost last."""

    def __init__(self, names: Names, builder: BasicBlockBuilder) -> None:
        self._names = names
        self._builder = builder
        self._frames = [_Frame(None, Activation())]
        self.stack = CallStack(names, builder)

    def buffer(self, variable: VariableDeclaration) -> ParameterBuffer:
        """The buffer of a `.param` variable of the innermost function."""
        buffers = self._frames[-1].buffers
        if variable not in buffers:
            buffers[variable] = ParameterBuffer(variable.name, self._names.file)
        return buffers[variable]

    def declare_local(self, variable: VariableDeclaration) -> None:
        """Local variables of recursive functions are on the stack, each time anew."""
        activation = self._frames[-1].activation
        if variable.space != "local" or not activation.is_recursive:
            return
        offset = activation.place(self._bytes(variable), max(variable.align or 1, 8))
        place = self._names.file.new(variable.name, 64)
        span = self._names.source.span(variable.at, len(variable.name))
        code = AddedCode(self._builder, span, None)
        code.assign("add.s64", place, self.stack.pointer(), Immediate(offset))
        self._names.on_stack[variable] = place

    def enter(self, site: Site) -> syntax.Function | None:
        """Lowers a call, or begins to inline a function, whose body is to follow.

        UnsupportedInstruction for calls of functions that are not here, and for too many.
        """
        call = parsed_call(site)
        if self.stack.is_full:
            raise site.unsupported(
                "more calls of functions that are not inlined than can be lowered"
            )
        if self._names.module.inlined.instructions > _MOST_INLINED_IN_A_FILE:
            raise site.unsupported(
                f"more than {_MOST_INLINED_IN_A_FILE:,} instructions of functions in this file's "
                "kernels: call it in a file of its own"
            )
        if call.pointer is not None:
            self._call_pointer(site, call, call.pointer)
            return None
        function = self._names.module.functions.get(call.name)
        if call.name in BUILT_IN and (function is None or function.body is None):
            self._call_host(site, call)
            return None
        function = self._checked(site, call, function)
        graph = self._names.module.call_graph
        is_long = len(self._frames) > _DEEPEST or site.pc > _MOST_INLINED
        if is_long or graph.is_recursive(function.name):
            self._call(site, call, function)
            return None
        self._inline(site, call, function)
        return function

    def leave(self, pc: int) -> None:
        """Ends the innermost function; its results are the caller's."""
        frame = self._frames.pop()
        if len(self._frames) == 1:
            self._names.module.inlined.instructions += pc - frame.first_pc
        assert self._builder.return_to is not None
        assert frame.outer_scope is not None
        self._builder.place(self._builder.return_to)
        self._builder.return_to = frame.outer_return
        assert frame.function is not None
        code = AddedCode(self._builder, self._span(frame.function), None)
        for formal in frame.function.results:
            if formal.space == "reg":
                register, size = self._formal_register(formal)
                code.move(frame.buffers[formal].piece(0, size), register)
        if frame.top is not None:
            code.move(self.stack.top(), frame.top)
        self._names.scope, self._names.parameters = frame.outer_scope, frame.outer_parameters

    def begin_body(self, called: CalledFunction) -> None:
        """Begins the body of a function that stays one."""
        self._builder.place(called.entry)
        self._builder.return_to = called.leave
        self._frames = [_Frame(called.function, called.activation, called.buffers)]
        self._declare_formals(called.function)
        for formal, buffer in called.buffers.items():
            if formal.space == "reg":
                register, size = self._formal_register(formal)
                buffer.pieces[0, size] = register

    def end_body(self, called: CalledFunction) -> None:
        """Ends the body of a function that stays one: control falls into its return."""
        self._builder.fall_into(called.leave)

    def _inline(self, site: Site, call: Call, function: syntax.Function) -> None:
        frame = _Frame(function, self._frames[-1].activation, outer_scope=self._names.scope)
        frame.outer_parameters = dict(self._names.parameters)
        frame.outer_return, frame.first_pc = self._builder.return_to, site.pc
        entry = self._builder.new(function.name)
        passed = (
            *self._results(site, call, function.results),
            *self._arguments(site, call, function.parameters),
        )
        formals = (*function.results, *function.parameters)
        frame.buffers.update(zip(formals, passed, strict=True))
        self._builder.end_and_continue(_jump(site, entry), entry)
        self._declare_formals(function)
        code = AddedCode(self._builder, self._span(function), None)
        for formal in function.parameters:
            if formal.space == "reg":
                register, size = self._formal_register(formal)
                code.move(register, frame.buffers[formal].piece(0, size))
        self._builder.return_to = self._builder.new("return")
        if self._names.module.call_graph.allocates(function.name):
            frame.top = self._builder.temporary(64)
            code.move(frame.top, self.stack.top())
        self._frames.append(frame)

    def _declare_formals(self, function: syntax.Function) -> None:
        scope = Scope(self._names.source, self._names.file)
        for formal in (*function.results, *function.parameters):
            if formal.space == "reg":
                names = ((formal.name, None),)
                scope.declare_registers(RegisterDeclaration(formal.at, formal.type, names))
            else:
                scope.declare_variable(formal)
        self._names.scope = scope
        self._names.parameters = {}

    def _formal_register(self, formal: VariableDeclaration) -> tuple[Register, int]:
        """A parameter that the function declares as a register, and its bytes."""
        register = self._names.scope.register(formal.name)
        assert register is not None
        return register, self._bytes(formal)

    def _span(self, function: syntax.Function) -> SourceSpan:
        return self._names.source.span(function.at, len(function.name))

    def _call(self, site: Site, call: Call, function: syntax.Function) -> None:
        following = self._builder.new()
        begin = self._link(site, call, function, following)
        self._builder.end_and_continue(_jump(site, begin), following)

    def _call_pointer(self, site: Site, call: Call, pointer: Register) -> None:
        """A comparison for every function that it may be."""
        module = self._names.module
        candidates = [
            function
            for function in (module.functions[name] for name in module.call_graph.addressed)
            if self._fits(call.arguments, function.parameters)
            and self._fits(call.results, function.results)
        ]
        if not candidates:
            raise site.unsupported("no function of this file can be what the pointer calls")
        following = self._builder.new()
        code = AddedCode(self._builder, site.span, site.origin)
        for position, function in enumerate(candidates):
            begin = self._link(site, call, function, following)
            address = module.function_addresses[function.name]
            code.branch_if_equal(pointer, address, begin, None if position else site)
        code.trap(_NO_FUNCTION)
        self._builder.place(following)

    def _fits(
        self, operands: Sequence[syntax.Operand], formals: Sequence[VariableDeclaration]
    ) -> bool:
        """Whether a function may be meant: as many values, `.param` variables of the same size."""
        if len(operands) != len(formals):
            return False
        for operand, formal in zip(operands, formals, strict=True):
            variable = self._named_variable(operand)
            if variable is not None and self._bytes(variable) != self._bytes(formal):
                return False
        return True

    def _bytes(self, variable: VariableDeclaration) -> int:
        return size_of(variable, self._names.source)

    def _link(self, site: Site, call: Call, function: syntax.Function, following: int) -> int:
        passed = (
            self._arguments(site, call, function.parameters),
            self._results(site, call, function.results),
        )
        caller = self._frames[-1].activation
        return self.stack.link(site, caller, function, passed, following)

    def _checked(self, site: Site, call: Call, function: syntax.Function | None) -> syntax.Function:
        if function is None:
            raise site.unsupported(f"function {call.name!r} is not declared")
        if function.body is None:
            raise site.unsupported(f"function {call.name!r} is defined in another file")
        if function.is_entry:
            raise site.unsupported(f"a call of the entry {call.name!r}")
        for what, given, wanted in (
            ("arguments", len(call.arguments), len(function.parameters)),
            ("results", len(call.results), len(function.results)),
        ):
            if given != wanted:
                raise site.error(f"function {call.name!r} has {wanted} {what}, got {given}")
        return function

    def _arguments(
        self, site: Site, call: Call, formals: Sequence[VariableDeclaration]
    ) -> list[ParameterBuffer]:
        """The buffers that a call passes; values that it names directly are copied into one."""
        code = AddedCode(self._builder, site.span, site.origin)
        found = []
        for operand, formal in zip(call.arguments, formals, strict=True):
            buffer = self._named_buffer(operand)
            if buffer is None:
                type_ = self._register_type(site, formal)
                value = site.source(operand, 0, type_)
                buffer = ParameterBuffer(formal.name, self._names.file)
                code.move(buffer.piece(0, type_.bytes), value)
            found.append(buffer)
        return found

    def _results(
        self, site: Site, call: Call, formals: Sequence[VariableDeclaration]
    ) -> list[ParameterBuffer]:
        found = []
        for operand, formal in zip(call.results, formals, strict=True):
            buffer = self._named_buffer(operand)
            if buffer is None:
                type_ = self._register_type(site, formal)
                buffer = ParameterBuffer(formal.name, self._names.file)
                register = site.destination(operand, 0, type_)
                if register is not None:
                    buffer.pieces[0, type_.bytes] = register
            found.append(buffer)
        return found

    def _named_buffer(self, operand: syntax.Operand) -> ParameterBuffer | None:
        """The buffer of a `.param` variable; None for registers and constants."""
        variable = self._named_variable(operand)
        return None if variable is None else self.buffer(variable)

    def _named_variable(self, operand: syntax.Operand) -> VariableDeclaration | None:
        if not isinstance(operand, syntax.NameOperand):
            return None
        variable = self._names.scope.variable(operand.name)
        return None if variable is None or variable.space != "param" else variable

    def _register_type(self, site: Site, formal: VariableDeclaration) -> ScalarType:
        type_ = scalar_type(formal.type)
        if type_ is None or formal.count is not None:
            raise site.error(f"{formal.name!r} does not fit a register")
        return type_

    def _call_host(self, site: Site, call: Call) -> None:
        built_in = BUILT_IN[call.name]
        if len(call.arguments) != len(built_in.types):
            raise site.error(
                f"{call.name!r} takes {len(built_in.types)} arguments, got {len(call.arguments)}"
            )
        arguments = self._arguments(site, call, [_formal(type_) for type_ in built_in.types])
        results = self._results(site, call, [_formal(t) for t in (built_in.result,) if t])
        if built_in.function in (HostFunction.ALLOCATE, HostFunction.FREE):
            self._names.used.setdefault(HEAP, _HEAP_DECLARATION)
        self._builder.append(host_call(site, built_in, arguments, results))


def _formal(type_: ScalarType) -> VariableDeclaration:
    return VariableDeclaration(0, "param", type_.ptx_name, "value", None, None)


def _jump(site: Site, target: int) -> Jump:
    return Jump(**site.place(), target=target)
