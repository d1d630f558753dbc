"""Cuts straight-line instructions into basic blocks and brings these into their final order."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernelcast.errors import SourceSpan
from kernelcast.ptx_frontend.ptx.lowering.scopes import RegisterFile
from kernelcast.simcore.host.limits import kernel_excess
from kernelcast.simcore.isa.analysis.control_flow import flow, order_basic_blocks
from kernelcast.simcore.isa.ir.changed_instructions import changed
from kernelcast.simcore.isa.ir.kernel import (
    BarrierSync,
    BasicBlock,
    Branch,
    Exit,
    Jump,
    Register,
    Straight,
    Terminator,
)

__all__ = ["IMPLICIT_PC", "BasicBlockBuilder"]

IMPLICIT_PC = -1
"""The pc of terminators that are not in the source."""
_FIRST_ADDED_PC = 1 << 40
"""Added instructions come after those of the source: `finish` gives all of them dense pcs."""


@dataclass(slots=True)
class _Draft:
    label: str
    body: list[Straight] = field(default_factory=list)
    terminator: Terminator | None = None
    is_kept_rolled: bool = False


class BasicBlockBuilder:
    """Takes instructions in source order and cuts them into basic blocks.

    Basic blocks are numbered when they are first named, and for good by `finish`.
    """

    def __init__(self, start: SourceSpan, file: RegisterFile) -> None:
        self._file = file
        self.added = 0
        """Instructions that the source does not have, so far."""
        self._count = 0
        self._drafts: list[_Draft] = []
        self._order: list[int] = []
        self._current: _Draft | None = None
        self._extra: list[int] = []
        self._exit: int | None = None
        self.start = start
        """The place of the kernel in the source."""
        self._here = start
        self.return_to: int | None = None
        """Where `ret` leads inside of a function that is inlined."""
        self.place(self.new("entry"))

    def new(self, label: str = "") -> int:
        """The number of a basic block that is placed later."""
        self._drafts.append(_Draft(label))
        return len(self._drafts) - 1

    def excess(self) -> str:
        """Half a sentence when the kernel has become too long to go on; empty before that."""
        return kernel_excess(self._count, len(self._order))

    def added_pc(self) -> int:
        """A pc for an instruction that the source does not have."""
        self.added += 1
        return _FIRST_ADDED_PC + self.added

    def temporary(self, bits: int) -> Register:
        """A register that no source names."""
        return self._file.new("%added", bits)

    def fall_into(self, block: int) -> None:
        """The basic block before, if it is open, goes on to `block`, wherever that is placed."""
        if self._current is not None:
            self._current.terminator = self._implicit_jump(block)
            self._current = None

    def place(self, block: int) -> None:
        """What follows belongs to `block`; the one before falls through into it."""
        self.fall_into(block)
        self._order.append(block)
        self._current = self._drafts[block]

    def append(self, instruction: Straight) -> None:
        """Appends an instruction that does not end a basic block."""
        self._count += 1
        self._open().body.append(instruction)
        self._here = instruction.span

    def end(self, terminator: Terminator) -> None:
        """Ends the basic block; what follows is reached only by a label."""
        self._count += 1
        self._open().terminator = terminator
        self._here = terminator.span
        self._current = None

    def end_and_continue(self, terminator: Terminator, following: int) -> None:
        """Ends the basic block with a terminator that may go on to the next, `following`."""
        self.end(terminator)
        self.place(following)

    def keep_rolled(self) -> None:
        """The loop that begins with the present basic block is not to be unrolled."""
        self._open().is_kept_rolled = True

    def shared_exit(self) -> int:
        """The basic block where all threads go that leave by a guarded `ret` or `exit`."""
        if self._exit is None:
            self._exit = self.new("exit")
            self._extra.append(self._exit)
            self._drafts[self._exit].terminator = self._implicit_exit()
        return self._exit

    def trap(self, span: SourceSpan, reason: str, is_part: bool = False) -> int:
        """A basic block that fails at `span`; `is_part`: of what hardware does itself."""
        block = self.new("trap")
        self._extra.append(block)
        self._drafts[block].terminator = Exit(
            pc=self.added_pc(),
            mnemonic="trap",
            span=span,
            trap=True,
            is_added=not is_part,
            is_part=is_part,
            reason=reason,
        )
        return block

    def begin_with(self, instruction: Straight) -> None:
        """Puts an instruction before all others."""
        self._drafts[0].body.insert(0, instruction)

    def flows(self) -> list[tuple[int, int]]:
        """Registers that each basic block reads before it writes them, and those it overwrites.

        The list is in the order of numbers, one bit per register.
        """
        return [
            flow((*d.body, *(() if d.terminator is None else (d.terminator,))))
            for d in self._drafts
        ]

    def successors(self) -> list[tuple[int, ...]]:
        """The successors of each basic block so far, in the order of numbers."""
        return [_targets(draft.terminator) for draft in self._drafts]

    def exit(self) -> None:
        """The threads that come to the end of what is written so far are done."""
        if self._current is not None:
            self._current.terminator = self._implicit_exit()
            self._current = None

    def finish(self) -> tuple[BasicBlock, ...]:
        """All basic blocks that the entry reaches, ordered and numbered, with dense pcs."""
        self.exit()
        placed = [*self._order, *self._extra]
        position = {number: index for index, number in enumerate(placed)}
        drafts = [self._drafts[number] for number in placed]
        successors = [[position[n] for n in _targets(draft.terminator)] for draft in drafts]
        order = order_basic_blocks(successors)
        final = {placed[source]: index for index, source in enumerate(order)}
        kept = [drafts[source] for source in order]
        pcs = _dense_pcs(kept)
        return tuple(
            BasicBlock(
                index,
                draft.label,
                tuple(_renumbered(instruction, pcs) for instruction in draft.body),
                _retargeted(draft.terminator, final, pcs),
                draft.is_kept_rolled,
            )
            for index, draft in enumerate(kept)
        )

    def _open(self) -> _Draft:
        if self._current is None:
            self.place(self.new())
        assert self._current is not None
        return self._current

    def _implicit_jump(self, target: int) -> Jump:
        return Jump(pc=IMPLICIT_PC, mnemonic="", span=self._here, target=target)

    def _implicit_exit(self) -> Exit:
        return Exit(pc=IMPLICIT_PC, mnemonic="", span=self._here)


def _targets(terminator: Terminator | None) -> tuple[int, ...]:
    match terminator:
        case Branch():
            return terminator.target, terminator.otherwise
        case Jump() | BarrierSync():
            return (terminator.target,)
    return ()


def _dense_pcs(drafts: list[_Draft]) -> dict[int, int] | None:
    """New pcs for the old ones where unreachable instructions left gaps; None without gaps."""
    pcs = [instruction.pc for draft in drafts for instruction in draft.body]
    pcs += [d.terminator.pc for d in drafts if d.terminator and d.terminator.pc != IMPLICIT_PC]
    if not pcs or max(pcs) == len(pcs) - 1:
        return None
    return {old: new for new, old in enumerate(sorted(pcs))}


def _renumbered(instruction: Straight, pcs: dict[int, int] | None) -> Straight:
    return instruction if pcs is None else changed(instruction, pc=pcs[instruction.pc])


def _retargeted(
    terminator: Terminator | None, final: dict[int, int], pcs: dict[int, int] | None
) -> Terminator:
    assert terminator is not None, "a basic block without an end"
    pc = terminator.pc if pcs is None else pcs.get(terminator.pc, IMPLICIT_PC)
    match terminator:
        case Branch():
            target, otherwise = final[terminator.target], final[terminator.otherwise]
            return changed(terminator, pc=pc, target=target, otherwise=otherwise)
        case Jump() | BarrierSync():
            return changed(terminator, pc=pc, target=final[terminator.target])
    return changed(terminator, pc=pc)
