"""The flow of control that is being lowered, and the way round guarded parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import IMPLICIT_PC
from kernelcast.ptx_frontend.sass.lowering.flow import Body
from kernelcast.ptx_frontend.sass.lowering.functions import SharedFunction
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.simcore.isa.ir.kernel import Branch

__all__ = ["FLOW", "Flow", "flow", "gone_round"]

FLOW = "flow"
"""The key of the flow of control in what statements share."""


@dataclass(slots=True)
class Flow:
    """The body that is being lowered, and how a call of another one is.

    `call` lowers the function at an address, then goes on behind the call. `shared` gives the
    shared function at an address, `pointed` the addresses that registers may hold, `own` the shared
    function whose body it is.
    """

    body: Body
    call: Callable[[Site, int], None]
    shared: Callable[[int], SharedFunction]
    pointed: tuple[int, ...] = ()
    own: SharedFunction | None = None

    def block(self, address: int) -> int:
        """The basic block that begins at an address; UnsupportedInstruction where none does."""
        return self.body.blocks[address]


def flow(site: Site) -> Flow:
    """The flow of control that a statement stands in."""
    found = site.context.memory[FLOW]
    assert isinstance(found, Flow)
    return found


@contextmanager
def gone_round(site: Site) -> Iterator[None]:
    """Lanes whose guard does not hold leave out what is written inside."""
    guard = site.guard
    if guard is None:
        yield
        return
    builder = site.builder
    inside, following = builder.new(), builder.new()
    around = Branch(
        pc=IMPLICIT_PC,
        mnemonic="",
        span=site.span,
        guard=guard,
        target=inside,
        otherwise=following,
    )
    builder.end_and_continue(around, inside)
    site.guard = None
    yield
    site.guard = guard
    builder.place(following)
