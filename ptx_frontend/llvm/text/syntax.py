"""What a module of LLVM IR holds, as far as kernels need it.

Instructions stay tokens: their meaning is read when they are lowered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from kernelcast.ptx_frontend.llvm.text.tokens import Token, tokens_of
from kernelcast.ptx_frontend.llvm.text.types import IrType

__all__ = [
    "IrBlock",
    "IrFunction",
    "IrGlobal",
    "IrInstruction",
    "IrModule",
    "IrParameter",
]


@dataclass(frozen=True)
class IrInstruction:
    """`line` of the IR counts from 1; `result` is the name that it defines, if any."""

    line: int
    text: str
    result: str
    opcode: str
    location: str
    """The number of its debug location, or empty."""
    start: int
    """Where the operands begin in `text`."""

    @cached_property
    def tokens(self) -> list[Token]:
        """The tokens of the instruction, cut on demand."""
        return tokens_of(self.text[self.start :])


@dataclass(frozen=True, slots=True)
class IrBlock:
    """A basic block under the name that branches use."""

    label: str
    instructions: tuple[IrInstruction, ...]


@dataclass(frozen=True, slots=True)
class IrParameter:
    """`by_value`: what a pointer points to that the caller copies, else None.

    `by_reference`: what it points to within the arguments of the launch.
    """

    name: str
    type: IrType
    by_value: IrType | None = None
    by_reference: IrType | None = None


@dataclass(frozen=True, slots=True)
class IrFunction:
    """A function with a body: signature, basic blocks and attached metadata."""

    name: str
    line: int
    is_kernel: bool
    result: IrType
    parameters: tuple[IrParameter, ...]
    blocks: tuple[IrBlock, ...]
    attachments: Mapping[str, str]
    """Metadata of the function: numbers of nodes by kind, for instance `reqd_work_group_size`."""


@dataclass(frozen=True, slots=True)
class IrGlobal:
    """`initial` holds the tokens of the initialiser; empty for one that is only declared."""

    name: str
    line: int
    space: int
    type: IrType
    align: int
    initial: tuple[Token, ...]


@dataclass(frozen=True)
class IrModule:
    """`metadata`: the text of nodes by number or name, without the exclamation mark."""

    globals: Mapping[str, IrGlobal]
    functions: Mapping[str, IrFunction]
    types: Mapping[str, IrType]
    metadata: Mapping[str, str] = field(default_factory=dict)
