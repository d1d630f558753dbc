"""Which functions of a file call which: what has to stay a call, and what a pointer may call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from kernelcast.ptx_frontend.ptx.lowering.variables import references
from kernelcast.ptx_frontend.ptx.text import syntax

__all__ = ["CallGraph", "function_addresses"]

_FIRST_ADDRESS = 0x10
_STEP = 0x10


def function_addresses(functions: Iterable[str]) -> dict[str, int]:
    """A number for each function: what its address is as data, no address of any memory."""
    return {name: _FIRST_ADDRESS + _STEP * i for i, name in enumerate(functions)}


class CallGraph:
    """Calls through a pointer may reach every function whose address is taken somewhere."""

    def __init__(
        self,
        functions: Mapping[str, syntax.Function],
        variables: Mapping[str, syntax.VariableDeclaration],
    ) -> None:
        self._functions = functions
        self._variables = variables

    @cached_property
    def addressed(self) -> tuple[str, ...]:
        """Functions with a body whose address is taken, in the order of the file."""
        taken = {
            reference.name
            for variable in self._variables.values()
            for reference in references(variable.initial)
        }
        for function in self._functions.values():
            for statement in _instructions(function.body or ()):
                if not _is_call(statement):
                    taken.update(_names(statement.operands))
        return tuple(
            name
            for name, function in self._functions.items()
            if name in taken and function.body is not None and not function.is_entry
        )

    def is_recursive(self, function: str) -> bool:
        """Whether the function may be under way more than once in a thread."""
        return function in self._cycle_of

    def allocates(self, function: str) -> bool:
        """Whether the function takes memory by `alloca`."""
        body = self._functions[function].body or ()
        return any(s.mnemonic.startswith("alloca") for s in _instructions(body))

    @cached_property
    def _cycle_of(self) -> dict[str, int]:
        """Functions that may come to call themselves, each with the number of its cycle."""
        import networkx as nx  # few files have functions that are called

        graph: Any = nx.DiGraph()
        for name, function in self._functions.items():
            graph.add_edges_from((name, callee) for callee in self._callees(function))
        found = {}
        for number, members in enumerate(nx.strongly_connected_components(graph)):
            if len(members) > 1 or any(graph.has_edge(name, name) for name in members):
                found.update(dict.fromkeys(members, number))
        return found

    def _callees(self, function: syntax.Function) -> set[str]:
        found: set[str] = set()
        calls_pointers = False
        for statement in _instructions(function.body or ()):
            if _is_call(statement):
                named = [x.name for x in statement.operands if isinstance(x, syntax.NameOperand)]
                if named and named[0] in self._functions:
                    found.add(named[0])
                else:
                    calls_pointers = True
        return found.union(self.addressed) if calls_pointers else found


def _is_call(statement: syntax.InstructionStatement) -> bool:
    return statement.mnemonic.split(".", 1)[0] == "call"


def _instructions(
    statements: Iterable[syntax.Statement],
) -> Iterator[syntax.InstructionStatement]:
    for statement in statements:
        if isinstance(statement, syntax.InstructionStatement):
            yield statement
        elif isinstance(statement, syntax.Scope):
            yield from _instructions(statement.statements)


def _names(operands: Iterable[syntax.Operand]) -> Iterator[str]:
    for operand in operands:
        if isinstance(operand, syntax.NameOperand | syntax.SumOperand):
            yield operand.name
        elif isinstance(operand, syntax.VectorOperand):
            yield from _names(operand.items)
