"""Branches, barriers and exits: the instructions that end a basic block."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from kernelcast.ptx_frontend import syntax
from kernelcast.ptx_frontend.basic_blocks import IMPLICIT_PC, BasicBlockBuilder
from kernelcast.ptx_frontend.operands import Site
from kernelcast.simcore.isa.kernel import BarrierSync, Branch, Exit, Jump

__all__ = ["CONTROL", "Lowering"]

Lowering = Callable[[Site, BasicBlockBuilder, tuple[int, int, int] | None], None]
"""Lowers a statement into the builder; the triple is the thread block that `.reqntid` demands."""

_MAX_BARRIERS = 16
_WAITING = ("bar.sync", "barrier.sync", "bar.cta.sync", "barrier.cta.sync")


def _branch(site: Site, builder: BasicBlockBuilder, _required: tuple[int, int, int] | None) -> None:
    if site.mnemonic not in ("bra", "bra.uni"):
        raise site.unsupported(f"instruction {site.mnemonic!r} is not supported")
    site.expect_operands(1)
    operand = site.operands[0]
    if not isinstance(operand, syntax.NameOperand):
        raise site.error("a branch needs a label", 0)
    target = site.names.scope.label(operand.name)
    if target is None:
        raise site.names.source.error(
            f"no label {operand.name!r}{site.names.scope.nearest_label(operand.name)}",
            site.statement.positions[0],
            len(operand.name),
        )
    if site.guard is not None:
        _leave(site, builder, target)
    else:
        builder.end(
            Jump(
                pc=site.pc,
                mnemonic=site.mnemonic,
                span=site.span,
                origin=site.origin,
                target=target,
            )
        )


def _leave(site: Site, builder: BasicBlockBuilder, target: int) -> None:
    """The lanes of the guard go to `target`, the others go on."""
    assert site.guard is not None
    following = builder.new()
    builder.end_and_continue(
        Branch(
            pc=site.pc,
            mnemonic=site.mnemonic,
            span=site.span,
            origin=site.origin,
            guard=site.guard,
            target=target,
            otherwise=following,
        ),
        following,
    )


def _exit(site: Site, builder: BasicBlockBuilder, _required: tuple[int, int, int] | None) -> None:
    if site.mnemonic not in ("ret", "ret.uni", "exit", "trap"):
        raise site.unsupported(f"instruction {site.mnemonic!r} is not supported")
    site.expect_operands(0)
    is_trap = site.mnemonic == "trap"
    if site.guard is not None:
        _leave(site, builder, builder.trap(site.span) if is_trap else builder.shared_exit())
        return
    builder.end(
        Exit(pc=site.pc, mnemonic=site.mnemonic, span=site.span, origin=site.origin, trap=is_trap)
    )


def _barrier(site: Site, builder: BasicBlockBuilder, required: tuple[int, int, int] | None) -> None:
    """Guarded, it becomes a branch around the barrier."""
    if site.mnemonic.removesuffix(".aligned") not in _WAITING:
        raise site.unsupported(f"instruction {site.mnemonic!r} is not supported")
    site.expect_operands(1, 2)
    barrier = site.operands[0]
    if not isinstance(barrier, syntax.Integer):
        raise site.unsupported("a barrier whose number is in a register is not supported")
    if not 0 <= barrier.value < _MAX_BARRIERS:
        raise site.error(f"barriers have numbers from 0 to {_MAX_BARRIERS - 1}", 0)
    if len(site.operands) == 2:
        _check_thread_count(site, required)
    if site.guard is not None:
        inside, following = builder.new(), builder.new()
        around = Branch(
            pc=IMPLICIT_PC,
            mnemonic="",
            span=site.span,
            guard=site.guard,
            target=inside,
            otherwise=following,
        )
        builder.end_and_continue(around, inside)
    else:
        following = builder.new()
    builder.end_and_continue(
        BarrierSync(
            pc=site.pc,
            mnemonic=site.mnemonic,
            span=site.span,
            origin=site.origin,
            barrier=barrier.value,
            target=following,
        ),
        following,
    )


def _check_thread_count(site: Site, required: tuple[int, int, int] | None) -> None:
    count = site.operands[1]
    if required is None or count != syntax.Integer(prod(required)):
        raise site.unsupported("a barrier for a part of the thread block is not supported")


CONTROL: dict[str, Lowering] = {
    "bra": _branch,
    "ret": _exit,
    "exit": _exit,
    "trap": _exit,
    "bar": _barrier,
    "barrier": _barrier,
}
"""How the instructions are lowered that end a basic block, by opcode root."""
