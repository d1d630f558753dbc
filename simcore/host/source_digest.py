"""What compiled code was made of: a digest of a module's source and of all that it imports of ours.

Constants and functions of other modules become part of compiled code. Code whose digest is another
one is never used again.
"""

from __future__ import annotations

import hashlib
import re
import sys
import time
from functools import cache
from pathlib import Path

__all__ = ["source_digest"]

_IMPORT = re.compile(
    r"^(?:from\s+(kernelcast[\w.]*)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+(kernelcast[\w.]*))",
    re.MULTILINE,
)
_NAME = re.compile(r"\w+")
_HOST = Path(__file__).resolve().parent
_BEGAN = time.time()


@cache
def source_digest(source: Path) -> str | None:
    """32 hexadecimal digits for a file whose module has been imported.

    None where one of the files was written after this process began: what was imported may be
    another text.

    All of this folder counts, which decides how code is made, and every module of the package that
    the source imports, directly or not, wherever they lie.
    """
    files = {*_HOST.glob("*.py"), *_reachable(source.resolve())}
    if max(file.stat().st_mtime for file in files) > _BEGAN:
        return None
    contents = sorted(hashlib.sha256(file.read_bytes()).digest() for file in files)
    return hashlib.sha256(b"".join(contents)).hexdigest()[:32]


def _reachable(source: Path) -> set[Path]:
    found, waiting = {source}, [source]
    while waiting:
        new = _imported(waiting.pop()) - found
        found |= new
        waiting += new
    return found


@cache
def _imported(source: Path) -> frozenset[Path]:
    """Files of modules that a source imports at its beginning, as compiled code can use no others.

    They have been loaded.
    """
    text = source.read_text(encoding="utf-8")
    names: set[str] = set()
    for module, parts, plain in _IMPORT.findall(text):
        names.add(module or plain)
        names.update(f"{module}.{part}" for part in _NAME.findall(parts) if module)
    loaded = (getattr(sys.modules.get(name), "__file__", None) for name in names)
    return frozenset(Path(file).resolve() for file in loaded if file)
