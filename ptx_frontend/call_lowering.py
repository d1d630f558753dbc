"""Inlines device functions: each call gets registers, labels and variables of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from kernelcast.ptx_frontend import syntax
from kernelcast.ptx_frontend.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.calls import (
    BUILT_IN,
    Call,
    ParameterBuffer,
    host_call,
    parsed_call,
)
from kernelcast.ptx_frontend.names import Names
from kernelcast.ptx_frontend.operands import Site
from kernelcast.ptx_frontend.scopes import Scope
from kernelcast.ptx_frontend.syntax import VariableDeclaration
from kernelcast.simcore.isa.kernel import (
    HEAP,
    HostFunction,
    Jump,
    Parameter,
    Straight,
)

__all__ = ["CallLowering"]

_HEAP_BYTES = 8 << 20
"""What the CUDA runtime gives `malloc` by default."""
_MOST_INSTRUCTIONS = 1 << 16
"""With all calls inlined: twice the longest kernel known, and lowered within seconds."""
_DEEPEST = 64
_HEAP_DECLARATION = VariableDeclaration(0, "global", "b8", HEAP, _HEAP_BYTES, 16)

Append = Callable[[Iterable[Straight]], None]


@dataclass(slots=True)
class _Frame:
    """A function that is being inlined, and what its caller goes on with."""

    function: syntax.Function | None
    buffers: dict[VariableDeclaration, ParameterBuffer] = field(default_factory=dict)
    outer_scope: Scope | None = None
    outer_parameters: dict[str, Parameter] = field(default_factory=dict)
    outer_return: int | None = None


class CallLowering:
    """Keeps the functions that are being inlined, the innermost last."""

    def __init__(self, names: Names, builder: BasicBlockBuilder) -> None:
        self._names = names
        self._builder = builder
        self._frames = [_Frame(None)]

    def buffer(self, variable: VariableDeclaration) -> ParameterBuffer:
        """The buffer of a `.param` variable of the innermost function."""
        buffers = self._frames[-1].buffers
        if variable not in buffers:
            buffers[variable] = ParameterBuffer(variable.name, self._names.file)
        return buffers[variable]

    def enter(self, site: Site, append: Append) -> syntax.Function | None:
        """Begins to inline a call; None when the call is done already.

        UnsupportedInstruction for calls of functions that are not here, or that call themselves.
        """
        call = parsed_call(site)
        function = self._names.module.functions.get(call.name)
        if call.name in BUILT_IN and (function is None or function.body is None):
            self._call_host(site, call, append)
            return None
        self._refuse(site, call, function)
        assert function is not None
        frame = _Frame(function, outer_scope=self._names.scope)
        frame.outer_parameters = dict(self._names.parameters)
        frame.outer_return = self._builder.return_to
        entry = self._builder.new(function.name)
        scope = Scope(self._names.source, self._names.file)
        passed = self._buffers(site, (*call.results, *call.arguments))
        formals = (*function.results, *function.parameters)
        for formal, buffer in zip(formals, passed, strict=True):
            if formal.space != "param":
                raise site.unsupported("parameters of functions in registers are not supported")
            scope.declare_variable(formal)
            frame.buffers[formal] = buffer
        self._names.scope = scope
        self._names.parameters = {}
        self._builder.return_to = self._builder.new("return")
        self._frames.append(frame)
        jump = Jump(
            pc=site.pc, mnemonic=site.mnemonic, span=site.span, origin=site.origin, target=entry
        )
        self._builder.end_and_continue(jump, entry)
        return function

    def leave(self) -> None:
        """Ends the innermost function; its results are the caller's."""
        frame = self._frames.pop()
        assert self._builder.return_to is not None
        assert frame.outer_scope is not None
        self._builder.place(self._builder.return_to)
        self._builder.return_to = frame.outer_return
        self._names.scope, self._names.parameters = frame.outer_scope, frame.outer_parameters

    def _refuse(self, site: Site, call: Call, function: syntax.Function | None) -> None:
        if function is None:
            raise site.unsupported(f"function {call.name!r} is not declared")
        if function.body is None:
            raise site.unsupported(f"function {call.name!r} is defined in another file")
        if function.is_entry:
            raise site.unsupported(f"a call of the entry {call.name!r}")
        if any(frame.function is function for frame in self._frames):
            raise site.unsupported(f"function {call.name!r} calls itself: recursion")
        if len(self._frames) > _DEEPEST:
            raise site.unsupported(f"calls nested more than {_DEEPEST} deep")
        if site.pc > _MOST_INSTRUCTIONS:
            raise site.unsupported(
                f"more than {_MOST_INSTRUCTIONS:,} instructions with all calls inlined"
            )
        for what, given, wanted in (
            ("arguments", len(call.arguments), len(function.parameters)),
            ("results", len(call.results), len(function.results)),
        ):
            if given != wanted:
                raise site.error(f"function {call.name!r} has {wanted} {what}, got {given}")

    def _buffers(self, site: Site, operands: Iterable[syntax.Operand]) -> list[ParameterBuffer]:
        """Where the `.param` variables that a call passes live."""
        found: list[ParameterBuffer] = []
        for operand in operands:
            variable = None
            if isinstance(operand, syntax.NameOperand):
                variable = self._names.scope.variable(operand.name)
            if variable is None or variable.space != "param":
                raise site.unsupported("a call passes something that is no '.param' variable")
            found.append(self.buffer(variable))
        return found

    def _call_host(self, site: Site, call: Call, append: Append) -> None:
        built_in = BUILT_IN[call.name]
        lowered = host_call(
            site,
            call,
            self._buffers(site, call.arguments),
            self._buffers(site, call.results),
        )
        if built_in.function in (HostFunction.ALLOCATE, HostFunction.FREE):
            self._names.used.setdefault(HEAP, _HEAP_DECLARATION)
        append([lowered])
