"""The guard of an instruction that becomes several: a branch around all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import IMPLICIT_PC, BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.simcore.isa.ir.kernel import Branch

__all__ = ["go_round", "gone_round"]


def go_round(site: Site, builder: BasicBlockBuilder, following: int) -> None:
    """Lanes whose guard does not hold go to `following` and leave out what comes now."""
    if site.guard is None:
        return
    inside = builder.new()
    around = Branch(
        pc=IMPLICIT_PC,
        mnemonic="",
        span=site.span,
        guard=site.guard,
        target=inside,
        otherwise=following,
    )
    builder.end_and_continue(around, inside)


@contextmanager
def gone_round(site: Site, builder: BasicBlockBuilder) -> Iterator[None]:
    """Lanes whose guard does not hold leave out what is written inside; no guard, no branch."""
    if site.guard is None:
        yield
        return
    following = builder.new()
    go_round(site, builder, following)
    yield
    builder.place(following)
