"""Branches, switches and returns, and the moves on the edges that give phis their values."""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.ptx_frontend.llvm.lowering.call_site import register_bits
from kernelcast.ptx_frontend.llvm.lowering.scope import FunctionScope, Phi, Site
from kernelcast.ptx_frontend.llvm.text.cursor import IrProblem
from kernelcast.ptx_frontend.llvm.text.syntax import IrBlock
from kernelcast.ptx_frontend.llvm.text.types import VoidType, parts_of
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = ["CONTROL", "declare_blocks", "take_phis"]

_MOST_CASES = 1 << 12


def declare_blocks(scope: FunctionScope) -> None:
    """Numbers the basic blocks, and gives every phi its registers, which the edges fill."""
    for block in scope.function.blocks:
        if block.label in scope.blocks:
            raise IrProblem(f"%{block.label} is defined twice", False)
        scope.blocks[block.label] = scope.code.new_block(block.label)
    for block in scope.function.blocks:
        for instruction in block.instructions:
            if instruction.opcode != "phi":
                break
            site = Site(scope, instruction)
            site.cursor.skip_words(*_FLAGS)
            value = scope.named(instruction.result, site.cursor.type())
            scope.phis.setdefault(block.label, []).append(Phi(instruction, value))


def take_phis(scope: FunctionScope, block: IrBlock) -> None:
    """Counts a basic block's phis at its head, where they have their values already."""
    code, kernel = scope.code, scope.kernel
    for phi in scope.phis.get(block.label, ()):
        code.locate(
            kernel.reader.span(phi.instruction.line),
            kernel.locations.place(phi.instruction.location),
        )
        code.begin("phi")
        code.finish()


_FLAGS = ("nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast")


def _fill_phis(scope: FunctionScope, target: str) -> None:
    """The moves on the edge from the basic block that is being lowered, as if at the same time."""
    moves: list[tuple[Register, Operand]] = []
    for phi in scope.phis.get(target, ()):
        site = Site(scope, phi.instruction)
        site.cursor.skip_words(*_FLAGS)
        site.cursor.type()
        if not _seek(site, scope.label):
            raise IrProblem(f"a phi of %{target} has no value for %{scope.label}", False)
        value = site.value(phi.value.type)
        for register, part in zip(phi.value.parts, value.parts, strict=True):
            if isinstance(register, Register) and part != register:
                moves.append((register, part))
    filled = {register for register, _ in moves}
    taken: dict[Operand, Register] = {}
    for _, part in moves:
        if isinstance(part, Register) and part in filled and part not in taken:
            taken[part] = scope.code.register(part.bits)
            scope.code.move(taken[part], part)
    for register, part in moves:
        scope.code.move(register, taken.get(part, part))


def _seek(site: Site, label: str) -> bool:
    """Puts the cursor on the value that comes from `label`."""
    cursor = site.cursor
    while cursor.peek().text == "[":
        ahead = depth = 1
        while depth:
            text = cursor.peek(ahead).text
            if not text:
                return False
            depth += (text in "([{<") - (text in ")]}>")
            ahead += 1
        if cursor.peek(ahead - 2).text == label:
            cursor.take()
            return True
        for _ in range(ahead):
            cursor.take()
        cursor.accept(",")
    return False


def _label(site: Site) -> str:
    site.cursor.expect("label")
    name = site.cursor.name()
    if name not in site.scope.blocks:
        raise IrProblem(f"no basic block %{name}", False)
    return name


def _branch(site: Site) -> None:
    scope, code = site.scope, site.code
    if site.cursor.peek().text == "label":
        target = _label(site)
        _fill_phis(scope, target)
        code.begin("br")
        if target == scope.following:  # native code has no jump to what comes next
            code.finish()
            code.go(scope.blocks[target])
        else:
            code.jump(scope.blocks[target])
        return
    (condition,) = site.operand().parts
    site.cursor.expect(",")
    first = _label(site)
    site.cursor.expect(",")
    second = _label(site)
    predicate = code.in_register(condition, 1)
    edges = [_edge(scope, label) for label in (first, second)]
    code.begin("br")
    code.branch(predicate, *edges)
    _write_edges(scope, (first, second), edges)


def _edge(scope: FunctionScope, label: str) -> int:
    """Where a branch to `label` leads: an edge with moves is a basic block of its own."""
    return scope.code.new_block() if scope.phis.get(label) else scope.blocks[label]


def _write_edges(scope: FunctionScope, labels: Sequence[str], edges: Sequence[int]) -> None:
    done: set[int] = set()
    for label, edge in zip(labels, edges, strict=True):
        if edge != scope.blocks[label] and edge not in done:
            done.add(edge)
            scope.code.place(edge)
            _fill_phis(scope, label)
            scope.code.go(scope.blocks[label])


def _switch(site: Site) -> None:
    """A comparison and a branch for every case; the first of the branches counts."""
    scope, code, cursor = site.scope, site.code, site.cursor
    value = site.operand()
    cursor.expect(",")
    default = _label(site)
    cursor.expect("[")
    cases: list[tuple[int, str]] = []
    while not cursor.accept("]"):
        number = site.constant()
        cursor.expect(",")
        cases.append((number, _label(site)))
    if len(cases) > _MOST_CASES:
        raise IrProblem(f"a switch of more than {_MOST_CASES} cases is not supported")
    labels = [default, *(label for _, label in cases)]
    by_label = {label: _edge(scope, label) for label in labels}
    if len(value.parts) != 1:
        raise IrProblem(f"a switch of type {value.type} is not supported")
    (part,) = value.parts
    bits = register_bits(parts_of(value.type)[0])
    tested = code.in_register(part, bits)
    if not cases:
        code.begin("switch")
    for number, (constant, label) in enumerate(cases):
        if bits == 1:
            same = code.compute("xor.pred", 1, tested, Immediate(1 - constant))
        else:
            same = code.compute(f"setp.eq.u{bits}", 1, tested, Immediate(constant))
        following = code.new_block()
        if not number:
            code.begin("switch")
        code.branch(same, by_label[label], following)
        code.place(following)
    code.go(by_label[default]) if cases else code.jump(by_label[default])
    _write_edges(scope, list(by_label), list(by_label.values()))


def _return(site: Site) -> None:
    scope, code = site.scope, site.code
    type_ = site.cursor.type()
    if scope.return_to is None:
        code.begin("ret")
        code.exit()
        return
    if not isinstance(type_, VoidType):
        value = site.value(type_)
        for register, part in zip(scope.returned, value.parts, strict=True):
            code.move(register, part)
    code.begin("ret")
    code.jump(scope.return_to)


def _unreachable(site: Site) -> None:
    site.code.begin("unreachable")
    site.code.trap("the kernel executed unreachable")


CONTROL = {
    "br": _branch,
    "switch": _switch,
    "ret": _return,
    "unreachable": _unreachable,
}
"""How each of these instructions is lowered, by opcode."""
