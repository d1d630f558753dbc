"""Branches, barriers and exits: the instructions that end a basic block."""

from __future__ import annotations

from collections.abc import Callable

from kernelcast.ptx_frontend.ptx.calls.added_instructions import AddedCode
from kernelcast.ptx_frontend.ptx.lowering.barriers import barrier_kind, lower_barrier
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.guards import go_round
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.simcore.isa.ir.kernel import Branch, Exit, Jump
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["CONTROL", "Lowering", "instruction_count"]

_FAILING = ("trap", "brkpt")
"""Instructions that fail: without a debugger a breakpoint ends the kernel as a trap does."""
_MOST_ADDED = 1 << 15
"""Lowered within seconds; no compiler writes tables of a hundredth of it."""

Lowering = Callable[[Site, BasicBlockBuilder, tuple[int, int, int] | None], None]
"""Lowers a statement into the builder; the triple is the thread block that `.reqntid` demands."""


def _branch(site: Site, builder: BasicBlockBuilder, _required: tuple[int, int, int] | None) -> None:
    if site.mnemonic not in ("bra", "bra.uni"):
        raise site.refused()
    site.expect_operands(1)
    operand = site.operands[0]
    if not isinstance(operand, syntax.NameOperand):
        raise site.error("a branch needs a label", 0)
    _go(site, builder, _label(site, operand.name, 0))


def _go(site: Site, builder: BasicBlockBuilder, target: int) -> None:
    """Goes to `target`, under a guard or without."""
    if site.guard is not None:
        _leave(site, builder, target)
    else:
        _jump(site, builder, target)


def _jump(site: Site, builder: BasicBlockBuilder, target: int) -> None:
    jump = Jump(**site.place(), target=target)
    builder.end(jump)


def _leave(site: Site, builder: BasicBlockBuilder, target: int) -> None:
    """The lanes of the guard go to `target`, the others go on."""
    assert site.guard is not None
    following = builder.new()
    builder.end_and_continue(
        Branch(**site.place(), guard=site.guard, target=target, otherwise=following),
        following,
    )


def _exit(site: Site, builder: BasicBlockBuilder, _required: tuple[int, int, int] | None) -> None:
    if site.mnemonic not in ("ret", "ret.uni", "exit", *_FAILING):
        raise site.refused()
    site.expect_operands(0)
    if builder.return_to is not None and site.mnemonic.startswith("ret"):
        _go(site, builder, builder.return_to)
        return
    is_trap = site.mnemonic in _FAILING
    reason = f"the kernel executed {site.mnemonic}"
    if site.guard is not None:
        _leave(site, builder, builder.trap(site.span, reason) if is_trap else builder.shared_exit())
        return
    builder.end(
        Exit(
            **site.place(),
            trap=is_trap,
            reason=reason,
        )
    )


def _indexed_branch(
    site: Site, builder: BasicBlockBuilder, _required: tuple[int, int, int] | None
) -> None:
    """Lowers `brx.idx` to a comparison and a branch for every label but the last.

    The last takes all other numbers; the first of the branches counts as the instruction.
    """
    if site.mnemonic not in ("brx.idx", "brx.idx.uni"):
        raise site.refused()
    site.expect_operands(2)
    listed = site.operands[1]
    names = site.names.branch_targets.get(getattr(listed, "name", ""))
    if not names:
        raise site.error("a branch by number needs the name of a '.branchtargets' list", 1)
    following = builder.new()
    go_round(site, builder, following)
    if builder.added + len(names) > _MOST_ADDED:
        raise site.unsupported(f"more than {_MOST_ADDED:,} branches by number")
    code = AddedCode(builder, site.span, site.origin)
    index = builder.temporary(ScalarType.U32.bits)
    code.move(index, site.source(site.operands[0], 0, ScalarType.U32))
    targets = [_label(site, name, 1) for name in names]
    if len(targets) == 1:
        _jump(site, builder, targets[0])
    else:
        code.branch_if_equal(index, 0, targets[0], site)
        for number, target in enumerate(targets[1:-1], 1):
            code.branch_if_equal(index, number, target)
        code.jump(targets[-1])
    builder.place(following)


def _label(site: Site, name: str, operand: int) -> int:
    target = site.names.scope.label(name)
    if target is None:
        raise site.names.source.error(
            f"no label {name!r}{site.names.scope.nearest_label(name)}",
            site.statement.positions[operand],
            len(name),
        )
    return target


def instruction_count(site: Site) -> int:
    """How many instructions a control statement becomes."""
    return 3 if barrier_kind(site) == "red" else 1


CONTROL: dict[str, Lowering] = {
    "bra": _branch,
    "brx": _indexed_branch,
    "ret": _exit,
    "exit": _exit,
    **dict.fromkeys(_FAILING, _exit),
    "bar": lower_barrier,
    "barrier": lower_barrier,
}
"""How the instructions are lowered that end a basic block, by opcode root."""
