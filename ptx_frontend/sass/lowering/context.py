"""What all statements of a kernel share while they are lowered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.sass.lowering.entry_values import EntryValues
from kernelcast.ptx_frontend.sass.lowering.registers import SassRegisters
from kernelcast.ptx_frontend.sass.lowering.wide_sums import WideSum

__all__ = ["FunctionContext"]


@dataclass(slots=True)
class FunctionContext:
    """What all statements of a kernel share.

    `wide`: registers (file, number) that some instruction takes as the lower half of 64 bits.
    `wide_sums`: sums of 64 bits by the addresses of their halves, in the body that is lowered.
    `memory`: what families keep from one statement to another, by their own keys.
    """

    builder: BasicBlockBuilder
    registers: SassRegisters
    entry: EntryValues
    architecture: int
    wide: frozenset[tuple[str, int]] = frozenset()
    wide_sums: Mapping[int, WideSum] = field(default_factory=dict)
    memory: dict[str, object] = field(default_factory=dict)
    pc: int = 0
    """Instructions that count, so far."""
