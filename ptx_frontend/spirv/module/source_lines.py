"""OpLine as debug metadata of LLVM IR: which line of the OpenCL source an instruction is of."""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.ptx_frontend.spirv.module.binary import Instruction

__all__ = ["MetadataNodes", "SourceLines", "quoted_text"]

_DEBUG_VERSION = 3


class MetadataNodes:
    """The numbered nodes of a module, and the lists that have a name."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._nodes: list[str] = []
        self._named: list[str] = []

    def add(self, text: str) -> int:
        """The number of a node; equal ones are one, unless they are distinct."""
        known = self._numbers.get(text)
        if known is not None and not text.startswith("distinct"):
            return known
        self._nodes.append(text)
        self._numbers[text] = len(self._nodes) - 1
        return len(self._nodes) - 1

    def name(self, name: str, node: int) -> None:
        """A list of one node."""
        self._named.append(f"!{name} = !{{!{node}}}")

    def lines(self) -> list[str]:
        """Lines of LLVM IR."""
        return [*self._named, *(f"!{number} = {text}" for number, text in enumerate(self._nodes))]


def quoted_text(text: str) -> str:
    """A string of metadata."""
    plain = (
        chr(x) if 0x20 <= x < 0x7F and x not in b'"\\' else f"\\{x:02X}" for x in text.encode()
    )
    return f'"{"".join(plain)}"'


class SourceLines:
    """The source lines of one function; `strings` are the texts of OpString by identifier."""

    def __init__(self, nodes: MetadataNodes, strings: Mapping[int, str], unit: list[int]) -> None:
        self._nodes = nodes
        self._strings = strings
        self._unit = unit
        """The compile unit of the module, once there is one."""
        self._current: tuple[int, int, int] | None = None
        self._places: dict[int, tuple[int, int, int] | None] = {}

    def read(self, instruction: Instruction) -> None:
        """OpLine holds until the next one, OpNoLine, or the end of the basic block."""
        if instruction.name == "OpLine":
            line, column = instruction.operand(1), instruction.operand(2)
            self._current = (instruction.operand(0), line, column)
        elif instruction.name in ("OpNoLine", "OpLabel"):
            self._current = None

    def note(self, first: int, end: int) -> None:
        """The lines of LLVM IR that the instruction became, by their numbers in the body."""
        for number in range(first, end):
            self._places[number] = self._current

    def attach(self, name: str, lines: list[str]) -> tuple[str, list[str]]:
        """What the function's head says of its source, and the lines with theirs.

        Where one has a place all have: LLVM wants it of calls.
        """
        known = [place for place in self._places.values() if place and place[0] in self._strings]
        if not known:
            return "", lines
        file = self._file(known[0][0])
        empty = self._nodes.add("!{}")
        type_ = self._nodes.add(f"!DISubroutineType(types: !{empty})")
        function = self._nodes.add(
            f"distinct !DISubprogram(name: {quoted_text(name)}, scope: !{file}, file: !{file}, "
            f"line: {known[0][1]}, type: !{type_}, spFlags: DISPFlagDefinition, "
            f"unit: !{self._compile_unit(file)})"
        )
        found = [
            line
            if line.endswith(":")
            else f"{line}, !dbg !{self._location(number, function, file)}"
            for number, line in enumerate(lines)
        ]
        return f" !dbg !{function}", found

    def _location(self, line: int, function: int, file: int) -> int:
        place = self._places.get(line)
        if place is None or place[0] not in self._strings:
            return self._nodes.add(f"!DILocation(line: 0, scope: !{function})")
        scope, own = function, self._file(place[0])
        if own != file:
            scope = self._nodes.add(
                f"!DILexicalBlockFile(scope: !{function}, file: !{own}, discriminator: 0)"
            )
        # LLVM keeps columns of 16 bits
        column = place[2] if place[2] < 1 << 16 else 0
        return self._nodes.add(f"!DILocation(line: {place[1]}, column: {column}, scope: !{scope})")

    def _file(self, identifier: int) -> int:
        name = quoted_text(self._strings[identifier])
        return self._nodes.add(f'!DIFile(filename: {name}, directory: "")')

    def _compile_unit(self, file: int) -> int:
        if not self._unit:
            self._unit.append(
                self._nodes.add(
                    f"distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !{file}, "
                    "emissionKind: LineTablesOnly)"
                )
            )
            self._nodes.name("llvm.dbg.cu", self._unit[0])
            version = self._nodes.add(f'!{{i32 2, !"Debug Info Version", i32 {_DEBUG_VERSION}}}')
            self._nodes.name("llvm.module.flags", version)
        return self._unit[0]
