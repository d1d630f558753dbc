"""The commands and the Python of README and docs, as a reader would copy them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Snippet", "commands_in", "snippets_in"]

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>[\w-]*)[^\n]*\n(?P<text>.*?)^ *```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A fenced block: its language, which may be empty, and the line where its text begins."""

    file: Path
    line: int
    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """The command lines, without comments; lines that end with a backslash are joined."""
        joined = self.text.replace("\\\n", " ")
        plain = (" ".join(shlex.split(line, comments=True)) for line in joined.splitlines())
        kept = zip(plain, joined.splitlines(), strict=True)
        return [_without_comment(line) for short, line in kept if short]


def snippets_in(file: Path) -> Iterator[Snippet]:
    """All fenced blocks of a page."""
    text = file.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start("text")) + 1
        width = len(match["indent"])
        lines = (item[width:] for item in match["text"].splitlines())
        yield Snippet(file, line, match["language"], "\n".join(lines))


def commands_in(file: Path, program: str = "kernelcast") -> list[str]:
    """All command lines of a page's `sh` blocks that call a program."""
    return [
        command
        for snippet in snippets_in(file)
        if snippet.language == "sh"
        for command in snippet.commands
        if command.startswith(f"{program} ")
    ]


def _without_comment(line: str) -> str:
    return re.sub(r"\s#\s.*$", "", line).strip()
