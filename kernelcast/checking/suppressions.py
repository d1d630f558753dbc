"""A file of findings that are known and accepted: one pattern a line."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from kernelcast.errors import KernelcastError, nearest
from kernelcast.input_files import read_text_input
from kernelcast.simcore.checking.findings import Finding, Kind

__all__ = ["Suppression", "read_suppressions"]

_KINDS = {kind.value: kind for kind in Kind}


@dataclass(frozen=True, slots=True)
class Suppression:
    """`kind`, `kernel` and `place` (`file:line`) as patterns of a shell; `*` is anything."""

    kind: str
    kernel: str
    place: str

    def covers(self, finding: Finding, kernel: str) -> bool:
        """Whether a finding of a kernel is meant; one of its two places is enough."""
        sides = (finding.second, finding.first)
        spans = [side.place for side in sides if side is not None and side.place is not None]
        places = [f"{Path(span.file).name}:{span.line}" for span in spans]
        return (
            fnmatchcase(finding.kind.value, self.kind)
            and fnmatchcase(kernel, self.kernel)
            and (self.place == "*" or any(fnmatchcase(place, self.place) for place in places))
        )


def _lines(path: Path) -> list[str]:
    try:
        return read_text_input(path).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise KernelcastError(f"{path}: suppressions cannot be read ({error})") from None


def read_suppressions(path: Path) -> tuple[Suppression, ...]:
    """The lines `KIND [KERNEL [FILE:LINE]]` of a file; `#` begins a comment.

    KernelcastError, with the line, where one cannot be read.
    """
    found = []
    for number, line in enumerate(_lines(path), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) > 3:
            raise KernelcastError(f"{path}:{number}: a line is KIND [KERNEL [FILE:LINE]]")
        kind, kernel, place = (*words, "*", "*")[:3]
        if not any(fnmatchcase(name, kind) for name in _KINDS):
            known = ", ".join(_KINDS)
            raise KernelcastError(
                f"{path}:{number}: no kind of finding {kind!r}{nearest(kind, _KINDS)}; "
                f"known: {known}"
            )
        found.append(Suppression(kind, kernel, place))
    return tuple(found)
