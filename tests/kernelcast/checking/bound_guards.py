"""Which branches of PTX text are bound guards: those that compare a thread's index with a size.

An index is computed from the numbers of threads and thread blocks, and is compared with what is
computed from parameters alone. Written over the text, so that it shares nothing with the checker.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["unguarded"]

_STATEMENT = re.compile(r"^\s*(?:@!?%\w+\s+)?([\w.]+)\s+(.*);\s*$")
_BRANCH = re.compile(r"^\s*@(!?)(%\w+)\s+bra(?:\.uni)?\s+(\S+);\s*$")
_REGISTER = re.compile(r"%[a-zA-Z_]\w*(?:\.\w+)?|\w+")
_INDEX = {"%tid", "%ctaid", "%laneid", "%clusterid"}
_BELOW, _ABOVE = {"lt", "le", "lo", "ls"}, {"gt", "ge", "hi", "hs"}


class _Text:
    """Definitions by register of the lines of one kernel."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._definitions: dict[str, list[tuple[str, list[str]]]] = {}
        for line in lines:
            for statement in line.split(";"):
                found = _STATEMENT.match(f"{statement};")
                if not found:
                    continue
                opcode, operands = found.groups()
                names = _REGISTER.findall(operands)
                count = 1
                if operands.strip().startswith("{"):
                    count = len(_REGISTER.findall(operands.partition("}")[0]))
                for target in names[:count]:
                    if target.startswith("%"):
                        kept = (opcode, names[count:])
                        self._definitions.setdefault(target, []).append(kept)

    def origins(self, name: str, seen: frozenset[str] = frozenset()) -> frozenset[str]:
        """`index`, `size`, `memory`: what a register is computed from."""
        if name.partition(".")[0] in _INDEX:
            return frozenset(["index"])
        if name in seen or name not in self._definitions:
            return frozenset()
        found: set[str] = set()
        for opcode, sources in self._definitions[name]:
            if opcode.startswith("ld.param"):
                found.add("size")
            elif opcode.startswith(("ld", "atom", "shfl", "vote")):
                found.add("memory")
            else:
                for source in sources:
                    found |= self.origins(source, seen | {name})
        return frozenset(found)

    def leaves(self, predicate: str) -> bool | None:
        """Whether threads for which a predicate holds are outside; None if it is no bound."""
        definitions = self._definitions.get(predicate, [])
        if len(definitions) != 1:
            return None
        ((opcode, sources),) = definitions
        parts = opcode.split(".")
        if parts[0] == "setp" and len(sources) == 2:
            return self._compares(parts[1], *sources)
        inner = [self.leaves(source) for source in sources if source.startswith("%p")]
        if parts[0] == "not" and inner and inner[0] is not None:
            return not inner[0]
        wanted = {"or": True, "and": False}.get(parts[0])
        return wanted if wanted is not None and wanted in inner else None

    def _compares(self, how: str, left: str, right: str) -> bool | None:
        if how not in _BELOW | _ABOVE:
            return None
        first, second = self.origins(left), self.origins(right)
        if "index" in first and second == {"size"}:
            return how in _ABOVE
        if "index" in second and first == {"size"}:
            return how in _BELOW
        return None


def unguarded(lines: Sequence[str]) -> dict[int, str]:
    """Texts that take bound guards away, by the number of the line: nobody is outside then.

    Branches back, which end loops, are none.
    """
    text, found = _Text(lines), {}
    labels = {line.partition(":")[0]: at for at, line in enumerate(lines) if ":" in line}
    for at, line in enumerate(lines):
        match = _BRANCH.match(line)
        if not match or labels.get(match[3], len(lines)) < at:
            continue
        leaves = text.leaves(match[2])
        if leaves is not None:
            goes_out = leaves is not bool(match[1])
            found[at] = "" if goes_out else f"bra {match[3]};"
    return found
