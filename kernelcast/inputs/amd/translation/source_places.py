"""Places in the source as LLVM's debug information, so that machine code tells what it came from.

A place is that of the higher-level source where the PTX says it, else that in the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator

from kernelcast.errors import SourceSpan
from kernelcast.simcore.isa.ir.kernel import Instruction, Kernel

__all__ = ["FUNCTION_PLACE", "SourcePlaces"]

_HEAD = """!llvm.dbg.cu = !{{!1}}
!llvm.module.flags = !{{!2}}
!0 = !{{}}
!1 = distinct !DICompileUnit(language: DW_LANG_C99, file: !3, emissionKind: LineTablesOnly)
!2 = !{{i32 2, !"Debug Info Version", i32 3}}
!3 = !DIFile(filename: "{file}", directory: "")
!4 = distinct !DISubprogram(name: "{name}", file: !3, line: 1, type: !5, unit: !1, spFlags: \
DISPFlagDefinition)
!5 = !DISubroutineType(types: !0)"""
FUNCTION_PLACE = "!dbg !4"
"""What is written behind the definition of the function."""


def _quoted(text: str) -> str:
    """A string of LLVM's, all but plain characters as their codes."""
    plain = (chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in text.encode())
    return "".join(plain)


class SourcePlaces:
    """Numbers places and files as nodes of metadata."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._main = kernel.blocks[0].terminator.span.file
        self._nodes: dict[str, int] = {}

    def mark(self, lines: list[str], first: int, instruction: Instruction) -> None:
        """Says of the lines from `first` on that they were made of an instruction."""
        place = instruction.origin or instruction.span
        note = f", !dbg !{self._location(place)}"
        for number in range(first, len(lines)):
            if lines[number].startswith(" "):
                lines[number] += note

    def nodes(self) -> Iterator[str]:
        """The metadata of the module."""
        yield _HEAD.format(file=_quoted(self._main), name=_quoted(self._kernel.name))
        for text, number in self._nodes.items():
            yield f"!{number} = {text}"

    def _location(self, place: SourceSpan) -> int:
        scope = 4
        if place.file != self._main:
            file = self._node(f'!DIFile(filename: "{_quoted(place.file)}", directory: "")')
            scope = self._node(f"!DILexicalBlockFile(scope: !4, file: !{file}, discriminator: 0)")
        column = min(place.column, 0xFFFF)
        return self._node(f"!DILocation(line: {place.line}, column: {column}, scope: !{scope})")

    def _node(self, text: str) -> int:
        return self._nodes.setdefault(text, len(self._nodes) + 6)
