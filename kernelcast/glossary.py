"""What the words of an answer mean."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from kernelcast.errors import KernelcastError, nearest

__all__ = ["explained", "glossary"]


@cache
def glossary() -> Mapping[str, str]:
    """Every word with its meaning, in the order of the glossary."""
    text = (resources.files("kernelcast") / "glossary.toml").read_text(encoding="utf-8")
    return {str(word): str(meaning) for word, meaning in tomllib.loads(text).items()}


def explained(word: str) -> str:
    """The meaning of a word, however it is capitalised; KernelcastError, with the nearest ones."""
    known = {name.lower(): name for name in glossary()}
    name = known.get(" ".join(word.lower().split()))
    if name is None:
        raise KernelcastError(
            f"no word {word!r} in the glossary{nearest(word.lower(), known)}; "
            "`--explain list` shows all"
        )
    return f"{name}: {glossary()[name]}"
