"""Functions that stay functions: recursive ones, and those that a pointer may call.

Each is in the kernel once, with registers of its own. A call notes its number in a register of the
callee, which goes back by it. A function that calls itself pushes what it still needs onto a stack
in local memory and pops it afterwards, as native code does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kernelcast.ptx_frontend.ptx.calls.added_instructions import AddedCode
from kernelcast.ptx_frontend.ptx.calls.calls import ParameterBuffer
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.names import Names
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.lowering.variables import align_up
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.simcore.isa.analysis.control_flow import live_at_ends, members
from kernelcast.simcore.isa.ir.kernel import Immediate, Register, SymbolAddress
from kernelcast.simcore.isa.ir.operands import CALL_STACK

__all__ = ["Activation", "CallStack", "CalledFunction"]

_ALLOCATED = "%alloca"
_STACK_BYTES = 16 << 10
"""Bytes of every thread's stack in kernels with recursion, and again in those with `alloca`."""
_STACK_ALIGNMENT = 16
_MOST_LINKS = 1 << 15
_PLACED_LAST = 1 << 62


@dataclass(slots=True)
class Activation:
    """What a function, or the kernel itself, keeps on the stack while it calls others."""

    is_recursive: bool = False
    bytes: int = 0
    places: dict[int, int] = field(default_factory=dict)
    """Where registers are pushed, by their index."""

    def place(self, size: int, align: int) -> int:
        """A new place, as a distance from the stack's pointer."""
        offset = align_up(self.bytes, align)
        self.bytes = offset + size
        return offset


@dataclass(slots=True)
class CalledFunction:
    """`entry` and `leave` are basic blocks: its first, and the one where it returns."""

    function: syntax.Function
    entry: int
    leave: int
    came_from: Register
    buffers: dict[syntax.VariableDeclaration, ParameterBuffer]
    activation: Activation
    links: list[_Link] = field(default_factory=list)

    @property
    def parameters(self) -> list[ParameterBuffer]:
        """The buffers of the parameters, in their order."""
        return [self.buffers[formal] for formal in self.function.parameters]

    @property
    def results(self) -> list[ParameterBuffer]:
        """The buffers of the results, in their order."""
        return [self.buffers[formal] for formal in self.function.results]


@dataclass(frozen=True, slots=True)
class _Link:
    """One way into a function and back: basic blocks `begin` and `end`, then `following`."""

    number: int
    site: Site
    caller: Activation
    callee: CalledFunction
    arguments: list[ParameterBuffer]
    results: list[ParameterBuffer]
    begin: int
    end: int
    following: int
    top: Register
    """Keeps what `alloca` had taken before the call."""

    def moves_in(self) -> list[tuple[Register, tuple[Register, ...]]]:
        return _moves(self.site, self.arguments, self.callee.parameters)

    def moves_out(self) -> list[tuple[Register, tuple[Register, ...]]]:
        return _moves(self.site, self.callee.results, self.results)


class CallStack:
    """The called functions of a kernel; `finish` writes what leads to them and back."""

    def __init__(self, names: Names, builder: BasicBlockBuilder) -> None:
        self._names = names
        self._builder = builder
        self._called: dict[str, CalledFunction] = {}
        self._order: list[CalledFunction] = []
        self._links: list[_Link] = []
        self._pushed: list[list[tuple[Register, int]]] = []
        self._pointer: Register | None = None
        self._top: Register | None = None

    def pointer(self) -> Register:
        """The register with the address of the running function's part of the stack."""
        if self._pointer is None:
            self._pointer = self._names.file.new(CALL_STACK, 64)
        return self._pointer

    def top(self) -> Register:
        """The register with the address behind all that `alloca` took."""
        if self._top is None:
            self._top = self._names.file.new(_ALLOCATED, 64)
        return self._top

    def room(self) -> tuple[SymbolAddress, int]:
        """Where the memory of `alloca` ends, and how many bytes it has."""
        return SymbolAddress(self.top().name, _STACK_BYTES), _STACK_BYTES

    @property
    def is_full(self) -> bool:
        """Whether more calls would take too long to lower."""
        return len(self._links) > _MOST_LINKS

    def link(
        self,
        site: Site,
        caller: Activation,
        function: syntax.Function,
        passed: tuple[list[ParameterBuffer], list[ParameterBuffer]],
        following: int,
    ) -> int:
        """Makes a basic block that calls a function and goes on at `following`.

        `passed` are the buffers of the arguments and of the results.
        """
        begin, end = self._builder.new(function.name), self._builder.new("return")
        callee = self._function(function)
        top, number = self._builder.temporary(64), len(self._links)
        link = _Link(number, site, caller, callee, *passed, begin, end, following, top)
        self._links.append(link)
        callee.links.append(link)
        return begin

    def bodies(self) -> Iterator[CalledFunction]:
        """Functions whose body must be lowered, those included that come up meanwhile."""
        yield from self._order  # which grows

    def finish(self) -> None:
        """All bodies are lowered: writes the ways to them and back."""
        if any(link.caller.is_recursive for link in self._links):
            self._choose_what_is_pushed()
        else:
            self._pushed = [[] for _ in self._links]
        for link in self._links:
            self._write_call(link)
            self._write_return(link)
        for called in self._called.values():
            self._write_dispatch(called)
        # what is placed last may not grow into anything else unnoticed; `alloca` looks by itself
        for position, register in enumerate((self._top, self._pointer)):
            if register is not None:
                self._place(register, _PLACED_LAST + position)

    def _function(self, function: syntax.Function) -> CalledFunction:
        known = self._called.get(function.name)
        if known is None:
            file = self._names.file
            formals = (*function.results, *function.parameters)
            known = self._called[function.name] = CalledFunction(
                function,
                self._builder.new(function.name),
                self._builder.new("return"),
                file.new(f"%{function.name}.caller", 32),
                {formal: ParameterBuffer(formal.name, file) for formal in formals},
                Activation(self._names.module.call_graph.is_recursive(function.name)),
            )
            self._order.append(known)
        return known

    def _choose_what_is_pushed(self) -> None:
        """Chooses what recursive callers push: the registers that they read again after a call."""
        flows, successors = self._builder.flows(), self._builder.successors()
        for called in self._called.values():
            read = 1 << called.came_from.index
            for link in called.links:
                read |= _bits(r for _, parts in link.moves_out() for r in parts)
            flows[called.leave] = (read, 0)
        for link in self._links:
            # seen from its caller, a call reads the arguments and writes the results
            flows[link.begin] = (_bits(r for _, parts in link.moves_in() for r in parts), 0)
            flows[link.end] = (0, _bits(register for register, _ in link.moves_out()))
            successors[link.begin], successors[link.end] = (link.end,), (link.following,)
        live = live_at_ends(flows, successors)
        for link in self._links:
            needed = live[link.end] & ~flows[link.end][1]
            if self._top is not None:
                needed |= 1 << self._top.index
            self._pushed.append(
                list(self._places(link.caller, needed)) if link.caller.is_recursive else []
            )

    def _places(self, caller: Activation, needed: int) -> Iterator[tuple[Register, int]]:
        """Where the caller keeps registers, the same place for a register at all its calls."""
        for index in members(needed):
            register = self._names.file.registers[index]
            if register is not self._pointer:
                if index not in caller.places:
                    size = 4 if register.bits == 1 else register.bits // 8
                    caller.places[index] = caller.place(size, size)
                yield register, caller.places[index]

    def _write_call(self, link: _Link) -> None:
        self._builder.place(link.begin)
        code = AddedCode(self._builder, link.site.span, link.site.origin)
        for register, offset in self._pushed[link.number]:
            code.push(register, self.pointer(), offset)
        if self._top is not None and not link.caller.is_recursive:
            code.move(link.top, self._top)
        code.move(link.callee.came_from, Immediate(link.number))
        _write_moves(code, link.moves_in())
        if link.caller.is_recursive:
            self._move_pointer(code, link, +1)
        code.jump(link.callee.entry)

    def _write_return(self, link: _Link) -> None:
        self._builder.place(link.end)
        code = AddedCode(self._builder, link.site.span, link.site.origin)
        _write_moves(code, link.moves_out())
        if link.caller.is_recursive:
            self._move_pointer(code, link, -1)
        for register, offset in self._pushed[link.number]:
            code.pop(register, self.pointer(), offset)
        if self._top is not None and not link.caller.is_recursive:
            code.move(self._top, link.top)
        code.jump(link.following)

    def _move_pointer(self, code: AddedCode, link: _Link, direction: int) -> None:
        distance = direction * align_up(link.caller.bytes, _STACK_ALIGNMENT)
        step = Immediate(distance & (1 << 64) - 1)
        code.assign("add.s64", self.pointer(), self.pointer(), step)

    def _write_dispatch(self, called: CalledFunction) -> None:
        """Back to the call that led here."""
        self._builder.place(called.leave)
        at = self._names.source.span(called.function.at, len(called.function.name))
        code = AddedCode(self._builder, at, None)
        for link in called.links[:-1]:
            code.branch_if_equal(called.came_from, link.number, link.end)
        code.jump(called.links[-1].end)

    def _place(self, register: Register, at: int) -> None:
        """Gives a register, when the kernel begins, a stack of its own to point to."""
        self._names.used[register.name] = syntax.VariableDeclaration(
            at, "local", "b8", register.name, _STACK_BYTES, _STACK_ALIGNMENT
        )
        code = AddedCode(self._builder, self._builder.start, None)
        self._builder.begin_with(
            code.computed("mov.u64", (register,), SymbolAddress(register.name))
        )


def _moves(
    site: Site, sources: Iterable[ParameterBuffer], targets: Iterable[ParameterBuffer]
) -> list[tuple[Register, tuple[Register, ...]]]:
    """(register, the registers whose bits it gets, lowest first) for all that is passed."""
    found = []
    for source, target in zip(sources, targets, strict=True):
        for (offset, size), register in target.pieces.items():
            parts = source.parts(offset, size)
            if not parts:
                raise site.unsupported("a parameter that was stored in pieces of another size")
            found.append((register, parts))
    return found


def _write_moves(code: AddedCode, moves: Iterable[tuple[Register, tuple[Register, ...]]]) -> None:
    """All at once: a target may be another's source where a function calls itself."""
    moves = list(moves)
    read = {part.index for _, parts in moves for part in parts}
    late: list[tuple[Register, Register]] = []
    for register, parts in moves:
        target = register
        if register.index in read and parts != (register,):
            target = code.builder.temporary(register.bits)
            late.append((register, target))
        if len(parts) > 1:
            code.pack(target, parts)
        elif parts[0] is not target:
            code.move(target, parts[0])
    for register, temporary in late:
        code.move(register, temporary)


def _bits(registers: Iterable[Register]) -> int:
    found = 0
    for register in registers:
        found |= 1 << register.index
    return found
