"""The table of SASS opcodes: each base opcode with the function that lowers it.

Which unit executes it is in `traces.sass_opcodes`, for traces of other tools, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from kernelcast.ptx_frontend.sass.lowering.site import Site

__all__ = ["SASS_OPCODES", "Lowering", "SassOpcode", "lowers"]

Lowering: TypeAlias = "Callable[[Site], None]"
"""Writes what a statement does; UnsupportedInstruction for a form that it does not know."""


@dataclass(frozen=True, slots=True)
class SassOpcode:
    """A base opcode: its name without modifiers, and its lowering."""

    name: str
    lower: Lowering


_TABLE: dict[str, SassOpcode] = {}
SASS_OPCODES: Mapping[str, SassOpcode] = MappingProxyType(_TABLE)
"""Every base opcode by name, for instance `IMAD`."""


def lowers(*names: str) -> Callable[[Lowering], Lowering]:
    """Enters a lowering function for base opcodes; a second one for a name is an error."""

    def register(function: Lowering) -> Lowering:
        for name in names:
            if name in _TABLE:
                raise ValueError(f"SASS opcode {name} is entered twice")
            _TABLE[name] = SassOpcode(name, function)
        return function

    return register
