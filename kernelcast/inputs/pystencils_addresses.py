"""The accesses of a GPU kernel of pystencils, read off its abstract syntax tree.

Nodes are told by the names of their classes (pystencils.backend.ast), so that pystencils itself
need not be imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kernelcast.errors import InputError
from kernelcast.simcore.address.expression import (
    AXES,
    AddressExpression,
    constant,
    thread_block_index,
    thread_block_size,
    thread_index,
    variable,
)

__all__ = ["KernelAccesses", "read_accesses"]

_LITERALS = {
    f"{name}.{axis}": index(axis)
    for name, index in (
        ("threadIdx", thread_index),
        ("blockIdx", thread_block_index),
        ("blockDim", thread_block_size),
    )
    for axis in AXES
}
_FLOPS = frozenset({"PsAdd", "PsSub", "PsMul", "PsDiv", "PsNeg", "PsCall"})


@dataclass
class KernelAccesses:
    """The accesses of a kernel, each once.

    `loads` and `stores` as (pointer, index of the element), over cells x, y, z from 0 on; `domain`
    the cells along each axis; `flops` floating-point operations of a cell.
    """

    loads: dict[tuple[str, AddressExpression], None] = field(default_factory=dict)
    stores: dict[tuple[str, AddressExpression], None] = field(default_factory=dict)
    domain: dict[str, int] = field(default_factory=dict)
    flops: int = 0


def read_accesses(body: Any, sizes: Mapping[str, int]) -> KernelAccesses:
    """`sizes`: values of the symbols that stand for shapes and strides.

    InputError, naming what it is, for a kernel whose threads do not each update one cell of a box.
    """
    return _Reader(sizes).read(body)


class _Reader:
    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._values = {name: constant(value) for name, value in sizes.items()}
        self._found = KernelAccesses()

    def read(self, body: Any) -> KernelAccesses:
        guards = [item for item in body.statements if _kind(item) == "PsConditional"]
        if len(guards) != 1:
            raise InputError(
                f"the kernel has {len(guards)} conditions around its update instead of the one "
                "that keeps threads within the domain"
            )
        for item in body.statements:
            if _kind(item) == "PsDeclaration":
                self._declare(item)
        self._read_guard(guards[0].condition)
        if guards[0].branch_false is not None:
            raise InputError("threads outside of the domain work too")
        for item in guards[0].branch_true.statements:
            self._read_statement(item)
        missing = [axis for axis in self._used_axes() if axis not in self._found.domain]
        if missing:
            raise InputError(f"the kernel does not say where its domain ends along {missing[0]}")
        return self._found

    def _declare(self, item: Any) -> None:
        """A counter; constants in front of the update are the compiler's, not the cell's."""
        try:
            value = self._index(item.rhs)
        except InputError:
            return  # no integer: nothing that addresses are made of
        self._values[item.declared_symbol.name] = _over_cells(value)

    def _read_guard(self, condition: Any) -> None:
        if _kind(condition) == "PsAnd":
            self._read_guard(condition.operand1)
            self._read_guard(condition.operand2)
            return
        if _kind(condition) != "PsLt":
            raise InputError(
                f"the domain is bounded by {_kind(condition)} instead of counter < end"
            )
        room = self._index(condition.operand2) - self._index(condition.operand1)
        axes = [axis for axis in AXES if axis in room.variables]
        extent = (room + variable(axes[0])).as_constant if len(axes) == 1 else None
        if extent is None:
            raise InputError(f"the domain is bounded by {room} > 0, which is no box")
        if extent < 1:
            raise InputError(f"the domain has {extent} cells along {axes[0]}")
        self._found.domain[axes[0]] = extent

    def _read_statement(self, item: Any) -> None:
        kind = _kind(item)
        if kind in ("PsComment", "PsPragma", "PsEmptyLeafMixIn"):
            return
        if kind not in ("PsAssignment", "PsDeclaration"):
            raise InputError(f"the update of a cell contains {kind}: only assignments are read")
        for node in _nodes(item.rhs):
            self._read_node(node)
        if kind == "PsAssignment" and _kind(item.lhs) == "PsMemAcc":
            self._found.stores[self._access(item.lhs)] = None

    def _read_node(self, node: Any) -> None:
        kind = _kind(node)
        if kind == "PsMemAcc":
            self._found.loads[self._access(node)] = None
        elif kind == "PsTernary":
            raise InputError("which addresses are loaded depends on a condition")
        elif kind in _FLOPS and not _is_integer(node):
            self._found.flops += 1

    def _access(self, node: Any) -> tuple[str, AddressExpression]:
        if _kind(node.pointer) != "PsSymbolExpr":
            raise InputError("an address is computed from a pointer that is no field")
        return node.pointer.symbol.name, self._index(node.offset)

    def _index(self, node: Any) -> AddressExpression:
        match _kind(node):
            case "PsConstantExpr" if isinstance(value := node.constant.value, int) or _is_integer(
                node
            ):
                return constant(int(value))
            case "PsSymbolExpr" if node.symbol.name in self._values:
                return self._values[node.symbol.name]
            case "PsLiteralExpr" if node.literal.text in _LITERALS:
                return _LITERALS[node.literal.text]
            case "PsCast":
                return self._index(node.operand)
            case "PsNeg":
                return -self._index(node.operand)
            case "PsAdd":
                return self._index(node.operand1) + self._index(node.operand2)
            case "PsSub":
                return self._index(node.operand1) - self._index(node.operand2)
            case "PsMul":
                return self._index(node.operand1) * self._index(node.operand2)
        raise InputError(f"an address depends on {node}, which is no sum of known indices")

    def _used_axes(self) -> Iterator[str]:
        for _, index in (*self._found.loads, *self._found.stores):
            yield from (axis for axis in AXES if axis in index.variables)


def _over_cells(index: AddressExpression) -> AddressExpression:
    """`ctaid.x * ntid.x + tid.x` as the cell `x`, where it stands alone along an axis."""
    for axis in AXES:
        thread = thread_block_index(axis) * thread_block_size(axis) + thread_index(axis)
        rest = index - thread
        if rest.as_constant is not None:
            return rest + variable(axis)
    return index


def _nodes(node: Any) -> Iterable[Any]:
    """The node and what is below it, without the arithmetic of addresses."""
    yield node
    if _kind(node) == "PsMemAcc":
        return
    for child in node.children:
        yield from _nodes(child)


def _kind(node: Any) -> str:
    return type(node).__name__


def _is_integer(node: Any) -> bool:
    try:
        return bool(node.get_dtype().is_int())
    except Exception:  # a node that pystencils has given no type
        return False
