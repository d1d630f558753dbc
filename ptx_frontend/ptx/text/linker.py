"""Several PTX texts as one, as the driver's linker makes one module of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from kernelcast.ptx_frontend.ptx.text.parser import parse
from kernelcast.ptx_frontend.ptx.text.source import SourceText
from kernelcast.ptx_frontend.ptx.text.syntax import Function, ModuleSyntax, VariableDeclaration

__all__ = ["linked"]

_HEADER = re.compile(
    r"^[ \t]*\.(?:version[ \t]+[\d.]+|target[^\n/]*|address_size[ \t]+\d+)", re.MULTILINE
)
_EXTERNAL = ("visible", "extern", "common", "weak")


def linked(texts: Sequence[str]) -> str:
    """One text with all that the texts define; PtxSyntaxError when one of them is not PTX.

    Names that a module keeps for itself are changed where another one has them, too. Of functions
    that several modules define as `.weak`, each module calls its own.
    """
    if len(texts) == 1:
        return texts[0]
    sources = [SourceText(f"input {number}", text) for number, text in enumerate(texts, 1)]
    modules = [parse(source) for source in sources]
    users = Counter(name for module in modules for name in _linkages(module))
    defined: set[str] = set()
    parts = [_header(modules)]
    for number, (text, module) in enumerate(zip(texts, modules, strict=True), 1):
        changed = {}
        for name, linkage in _linkages(module).items():
            is_weak_again = linkage == "weak" and name in defined
            if users[name] > 1 and (linkage not in _EXTERNAL or is_weak_again):
                changed[name] = f"{name}$input{number}"
        defined |= {function.name for function in module.functions if function.body is not None}
        parts.append(_renamed(_HEADER.sub("", text), changed))
    return "\n".join(parts)


def _linkages(module: ModuleSyntax) -> dict[str, str]:
    """The linkage of each name of a module, empty for what it keeps for itself."""
    found: dict[str, str] = {}
    declarations: list[VariableDeclaration | Function] = [*module.variables, *module.functions]
    for declared in declarations:
        found[declared.name] = declared.linkage or found.get(declared.name, "")
    return found


def _header(modules: Sequence[ModuleSyntax]) -> str:
    """The newest version and target of them."""
    version = max((module.version for module in modules), key=_numbers)
    target = max((module.target for module in modules), key=_numbers)
    return f".version {version}\n.target {target}\n.address_size {modules[0].address_size}\n"


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text))


def _renamed(text: str, changed: Mapping[str, str]) -> str:
    """Names are whole words that are no part of a mnemonic or directive."""
    if not changed:
        return text
    names = "|".join(re.escape(name) for name in changed)
    return re.sub(rf"(?<![\w$%.])(?:{names})(?![\w$.])", lambda found: changed[found[0]], text)
